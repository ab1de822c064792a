"""The kept corpus, every time; a short run of the fuzzer, with the slow tests."""

import importlib.util
import re
import subprocess
import sys

import pytest

from tests.data import ROOT
from tests.fuzz.__main__ import NAMES
from tests.fuzz.targets import TARGETS, kept


def test_every_target_has_a_corpus():
    assert tuple(TARGETS) == NAMES
    assert all(len(kept(name)) > 3 for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_kept_does_no_harm(name: str):
    for data in kept(name):
        TARGETS[name](data)


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("atheris"), reason="no wheel of atheris here")
@pytest.mark.parametrize("name", NAMES)
def test_a_short_run_finds_nothing(name: str):
    ran = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", name, "--minutes", "0.1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (executions,) = re.findall(rf"{name}: (\d+) executions", ran.stdout)
    assert int(executions) > (10 if name == "replies" else 100)  # a reply travels over a socket
