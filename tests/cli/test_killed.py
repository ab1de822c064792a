"""kill -9 at fifty random moments: nothing finished is lost, nothing half-written is whole.

Ten moments each (seeded; SEGVIZ_KILLS changes the number) while memories are built, saved and
exported, a sweep is measured with ``--resume`` and the cache of model replies is written.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import segviz
from segviz.cli import main
from segviz.llm import ModelCache
from segviz.llm.cache import Completion, Embedding, content_key

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


def forever(*works: Callable[[], None]) -> Callable[[], None]:
    """Does these in turn, without end."""

    def loop() -> None:
        for turn in count():
            works[turn % len(works)]()

    return loop


def moments(name: str, longest: float) -> list[float]:
    """Seconds from the start of the work to its end by force."""
    chance = random.Random(name)
    return [chance.uniform(0, longest) for _ in range(KILLS)]


def check_wholes(folder: Path, write: Callable[[str, Path], None], longest: float) -> None:
    """Kills while two versions of a file replace each other; one of them is there, whole."""
    versions = {}
    for version in "ab":
        write(version, folder / f"{version}.gz")
        versions[version] = (folder / f"{version}.gz").read_bytes()
    target = folder / "there" / "target.gz"
    target.parent.mkdir()
    write("a", target)
    for seconds in moments(write.__name__, longest):
        killed(forever(lambda: write("b", target), lambda: write("a", target)), seconds)
        assert target.read_bytes() in versions.values(), f"half-written after {seconds} s"
    write("b", target)
    assert target.read_bytes() == versions["b"]


def test_saving(tmp_path: Path, memory: segviz.Memory):
    other = segviz.build(memory.conversation, unit="exchange", embedder=memory.embedder)

    def save(version: str, path: Path) -> None:
        {"a": memory, "b": other}[version].save(path)

    check_wholes(tmp_path, save, 0.2)
    assert segviz.open(tmp_path / "there" / "target.gz").check() == []


def test_sweeping(tmp_path: Path):
    def found(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.glob("*.json")}

    known, sweep = tmp_path / "known", ["sweep", *SAMPLE, *GRID, "--seeds", "0,1,2"]
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


def test_writing_the_cache(tmp_path: Path):
    path, told = tmp_path / "models.sqlite", tmp_path / "told"

    def row(number: int) -> tuple[bytes, Completion]:
        return content_key("chat", "e", number), Completion(f"answer {number} " * 50, number, 1)

    def vectors(number: int) -> dict[bytes, Embedding]:
        return {
            content_key("embedding", "e", [number, place]): Embedding(
                np.full(64, number, np.float32), place
            )
            for place in range(20)
        }

    def write() -> None:
        with ModelCache(path) as cache, told.open("ab", buffering=0) as finished:
            for number in count(finished.tell()):
                cache.keep_completion(*row(number))
                cache.keep_embeddings(vectors(number))
                finished.write(b".")

    for seconds in moments("cache", 0.5):
        killed(write, seconds)
        finished = told.stat().st_size if told.exists() else 0
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        with ModelCache(path) as cache:
            for number in range(finished):
                assert cache.completion(row(number)[0]) == row(number)[1]
            for number in range(finished + 1):
                found = cache.embeddings([*vectors(number)])
                assert len(found) in ((20,) if number < finished else (0, 20))
                assert all((vector == number).all() for vector, _ in found.values())
            assert cache.counts()[0] <= finished + 1
            assert cache.notes == ()
    assert finished > 0
