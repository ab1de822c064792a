"""kill -9 at random moments: nothing finished is lost, nothing half-written is whole.

Ten moments (seeded; SEGVIZ_KILLS changes the number) while a sweep is measured with ``--resume``.
"""

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from segviz.cli import main

KILLS = int(os.environ.get("SEGVIZ_KILLS", "10"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL"),
]
SAMPLE = ["sample:ines-theo", "--embedder", "hashing", "-q"]
GRID = ["--policies", "top-down,both", "--alphas", "0.1,0.5,0.9"]


def run(*arguments: object) -> None:
    """A command, its output dropped; it must succeed."""
    with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        assert main([str(each) for each in arguments]) == 0


def killed(work: Callable[[], None], seconds: float) -> None:
    """Runs ``work`` in a process of its own and kills that after so many seconds of it, or when
    the work is done."""
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(told, b"!")
        try:
            work()
        finally:
            os._exit(0)
    os.read(heard, 1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(heard)
    os.close(told)


def moments(name: str, longest: float) -> list[float]:
    """Seconds from the start of the work to its end by force."""
    chance = random.Random(name)
    return [chance.uniform(0, longest) for _ in range(KILLS)]


def test_sweeping(tmp_path: Path):
    def found(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.glob("*.json")}

    known, sweep = (
        tmp_path / "known",
        ["sweep", *SAMPLE, *GRID, "--systems", "segment-tree,bm25,dense"],
    )
    run(*sweep, "--resume", tmp_path / "whole", "-o", tmp_path / "whole.csv")
    whole, seen, counts = found(tmp_path / "whole"), dict[str, bytes](), []
    began = time.monotonic()
    run(*sweep, "--resume", tmp_path / "timed")
    for seconds in moments("sweep", time.monotonic() - began):
        killed(lambda: run(*sweep, "--resume", known), seconds)
        kept = found(known)
        assert seen.items() <= kept.items() <= whole.items(), "a run was lost or half-written"
        counts.append(len(kept))
        seen = kept
        if kept == whole:
            shutil.rmtree(known)
            seen = {}
    run(*sweep, "--resume", known, "-o", tmp_path / "again.csv")
    assert found(known) == whole
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert any(0 < n < len(whole) for n in counts), "no kill fell into the measuring"
