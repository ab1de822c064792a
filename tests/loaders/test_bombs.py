"""Any input of 1 MB or less is read or refused in 10 seconds and 1 GB."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.data import ROOT
from tests.loaders.bombs import BOMBS

SECONDS, MEGABYTES = 10, 1024


@pytest.fixture(scope="module")
def reader():
    """Imports the package once, and reads every input in a process of its own."""
    command = [sys.executable, "-m", "tests.loaders.bombs"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:
        yield process
        process.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_small_input_costs_little(reader, name, tmp_path):
    data = BOMBS[name]()
    assert len(data) <= 1_000_100
    (tmp_path / "bomb").write_bytes(data)
    reader.stdin.write(f"{tmp_path / 'bomb'}\n")
    reader.stdin.flush()
    took = json.loads(reader.stdout.readline())
    assert isinstance(took, list), f"ended with {took}"
    seconds, megabytes, _ = took
    assert seconds < SECONDS
    assert megabytes < MEGABYTES
