"""Any input of 1 MB or less is read or refused in 10 seconds and 1 GB."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.data import ROOT
from tests.loaders.bombs import BOMBS

SECONDS, MEGABYTES = 10, 1024


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_small_input_costs_little(name, tmp_path):
    data = BOMBS[name]()
    assert len(data) <= 1_000_100
    (tmp_path / "bomb").write_bytes(data)
    command = [sys.executable, "-m", "tests.loaders.bombs", str(tmp_path / "bomb")]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert ran.returncode == 0, ran.stderr
    seconds, megabytes, _ = json.loads(ran.stdout)
    assert seconds < SECONDS
    assert megabytes < MEGABYTES
