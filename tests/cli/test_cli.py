import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from contextlib import contextmanager, suppress

import pytest

import segviz.cli.serve as serve_module
from segviz.cli import main
from segviz.cli.command import Options
from segviz.cli.console import Console
from segviz.cli.serve import SETTINGS, flags
from tests.data import ROOT


@pytest.mark.parametrize("file", ["nowhere.json", "~nobody-of-this-name/a.json", "x" * 5000])
def test_a_file_that_cannot_be_opened_is_a_user_error(file, capsys):
    assert main([file]) == 2
    assert file[:9] in capsys.readouterr().err


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


COMMAND = [sys.executable, "-P", "-c", "import sys; from segviz.cli import main; sys.exit(main())"]


@contextmanager
def running(*options, folder=None):
    """The command in a session of its own; whatever happens, nothing of it is left."""
    process = subprocess.Popen(
        [*COMMAND, "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        cwd=folder,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # all gone, as it should be
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)
        process.stdout.close()


def url_printed(process):
    line = process.stdout.readline()
    assert line.startswith("segviz runs at http://")
    assert line.endswith(" (stop with Ctrl+C)\n")
    return line.split()[3]


def group_is_gone(process):
    """Whether no process of the session is left, waiting a moment for the system."""
    for _ in range(50):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
def test_a_module_in_the_folder_where_it_is_started_hides_no_library(tmp_path):
    (tmp_path / "click.py").write_text("raise SystemExit('not the library')")
    with running(folder=tmp_path) as process:
        url_printed(process)


@pytest.fixture
def taken():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


needs_ipv6 = pytest.mark.skipif(not os.path.exists("/proc/net/if_inet6"), reason="no IPv6 here")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", pytest.param("::1", marks=[needs_ipv6, pytest.mark.slow])]
)
def test_the_url_is_printed_once_the_server_answers(host):
    with running("--host", host) as process:
        url = url_printed(process)
        assert url.startswith("http://[::1]:" if host == "::1" else "http://127.0.0.1:")
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as reply:
            assert reply.read() == b"ok"
        os.killpg(process.pid, signal.SIGINT)  # Ctrl+C reaches the server as well
        assert process.wait(20) == 0
        assert group_is_gone(process)


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGTERM]])
@pytest.mark.slow
def test_a_signal_to_the_command_alone_stops_the_server_too(signals):
    with running() as process:
        url_printed(process)
        for number in signals:
            os.kill(process.pid, number)
        assert process.wait(20) == 0
        assert group_is_gone(process)


@pytest.mark.slow
def test_two_commands_started_together_take_two_ports():
    with running() as one, running() as two:
        urls = {url_printed(one), url_printed(two)}
        assert len(urls) == 2
        for url in urls:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as reply:
                assert reply.status == 200


class FakeServer:
    """Stands for Streamlit; ends at once with a code of its own."""

    started = ()
    stdout = ()

    def __init__(self, host, port, environment):
        FakeServer.started += ((port, environment),)

    def poll(self):
        return 7


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(FakeServer, "started", ())
    monkeypatch.setattr(serve_module, "start_streamlit", FakeServer)
    return FakeServer


def test_a_given_port_that_is_taken_starts_nothing(fake, taken, capsys):
    assert main(["--port", str(taken)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"segviz: port {taken} is taken; ")
    assert (printed.out, fake.started) == ("", ())


def test_a_server_that_fails_hands_on_its_code(fake, capsys):
    assert main(["--no-browser"]) == 7
    assert len(fake.started) == 1
    assert "segviz runs" not in capsys.readouterr().out


@pytest.mark.parametrize("port", ["99999", "0", "-1", "http", "", "9" * 5000, "²"])
def test_what_is_not_a_port_is_a_user_error(port, capsys):
    assert main([f"--port={port}"]) == 2
    said = capsys.readouterr().err
    assert "--port" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("host", ["300.1.1.1", "192.0.2.77", "", "no host", "a" * 70 + ".b", "1:2"])
def test_an_address_that_is_not_ours_is_told_apart_from_a_taken_port(host, capsys):
    assert main(["--host", host]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"segviz: cannot listen on {host!r} (")
    assert "free port" not in printed


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "box.lan"])
def test_who_can_reach_the_app_is_told_where_that_is_more_than_this_machine(host, capsys, tmp_path):
    loopback = host in ("127.0.0.1", "::1", "localhost")
    for folder in (None, str(tmp_path)):
        options = Options(host=host, allow_paths=folder, allow_model=())
        serve_module._warn(options, Console())
        said = capsys.readouterr().err
        assert bool(said) is not loopback
        assert loopback or ("without a password" in said and (folder or "none") in said)


def test_what_is_allowed_reaches_the_server(fake, tmp_path):
    """And what is no folder is refused."""
    names = ["--allow-host", "a.example", "--allow-host", "*.b"]
    names += ["--allow-model", "http://localhost:11434/v1", "--allow-model", "https://b.example/v1"]
    main([*names, "--allow-paths", str(tmp_path)])
    ((_, found),) = fake.started
    assert found["SEGVIZ_ALLOW_HOSTS"] == "a.example,*.b"
    assert found["SEGVIZ_ALLOW_PATHS"] == str(tmp_path)
    assert found["SEGVIZ_ALLOW_MODELS"] == "http://localhost:11434/v1,https://b.example/v1"
    assert "SEGVIZ_PUBLIC" not in found
    assert "SEGVIZ_JOIN" not in found
    (tmp_path / "chats.json").touch()
    main([str(tmp_path / "chats.json"), "--join"])
    assert fake.started[-1][1]["SEGVIZ_JOIN"] == "1"
    assert main(["--join"]) == 2  # of no file
    assert main(["--allow-model", "no address"]) == 2
    (tmp_path / "file").touch()
    assert main(["--allow-paths", str(tmp_path / "file")]) == 2
    assert main(["--allow-paths", str(tmp_path / "none")]) == 2


def test_the_command_of_the_container_starts_a_public_server(fake, monkeypatch):
    """On the port that the Space is configured for."""
    recipes = ROOT / ".github" / "host"
    lines = (recipes / "Dockerfile").read_text().splitlines()
    command = json.loads(next(line for line in lines if line.startswith("CMD "))[4:])
    assert command[0] == "segviz"
    monkeypatch.setattr(serve_module, "is_free", lambda host, port: True)
    main(command[1:])
    ((port, found),) = fake.started
    assert found["SEGVIZ_PUBLIC"] == "1"
    said = (recipes / "README.md").read_text()
    assert f"app_port: {port}\n" in said
    assert len(re.search("short_description: (.*)", said)[1]) <= 60  # or the Space is refused
    assert {*flags()} < {*flags(public=True)}
    # Where `streamlit run` starts it, the settings come from a file.
    (written,) = re.findall("```toml\n(.*?)```", said, re.DOTALL)
    wanted = {**serve_module.SETTINGS, **serve_module.PUBLIC_SETTINGS, "server.address": "0.0.0.0"}
    server = {name: value for name, value in wanted.items() if name.startswith("server.")}
    assert {f"server.{k}": v for k, v in tomllib.loads(written)["server"].items()} == server


def test_signal_handlers_are_put_back():
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    main(["nowhere.json"])
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_streamlit_takes_every_setting():
    """A name Streamlit does not know would only be a warning in its log."""
    from streamlit.web import cli

    given = cli.main_run.make_context("run", ["app.py", *flags()]).params
    for name, value in SETTINGS.items():
        found = given[name.replace(".", "_")]
        # A list is read when the theme is sent to the page.
        assert (json.loads(found) if isinstance(value, list) else found) == value, name
