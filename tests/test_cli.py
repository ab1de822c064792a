from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tomllib
import urllib.request

import pytest

from segviz.cli import free_port, main
from segviz.theme import SETTINGS, flags
from tests.data import ROOT


def test_free_port_skips_a_taken_one():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(first=port) > port


def test_a_missing_file_is_a_user_error(capsys):
    assert main(["nowhere.json"]) == 2
    assert "there is no file 'nowhere.json'" in capsys.readouterr().err


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    assert all(option in printed for option in ("file", "--port", "--host", "--no-browser"))


def test_config_file_and_command_use_the_same_settings():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())

    def flat(table, prefix=""):
        for key, value in table.items():
            if isinstance(value, dict):
                yield from flat(value, f"{prefix}{key}.")
            else:
                yield f"{prefix}{key}", value

    assert dict(flat(config)) == SETTINGS
    assert "--client.toolbarMode=viewer" in list(flags())


def test_the_command_serves_the_app_and_stops_on_interrupt():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", "import sys; from segviz.cli import main; sys.exit(main())"]
    process = subprocess.Popen(
        [*command, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("segviz runs at http://127.0.0.1:")
        url = line.split()[3]
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as reply:
                    assert reply.read() == b"ok"
                break
            except OSError:
                assert process.poll() is None
                import time

                time.sleep(0.1)
        else:
            pytest.fail("the server did not answer")
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.stdout.close()
        assert process.wait(20) == 0
