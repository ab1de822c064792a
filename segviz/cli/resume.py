"""What was measured, on file, so that an interrupted sweep or comparison goes on there.

JSON Lines: a line that names what is measured, then one for each piece, written as soon as
it is measured. A last line cut short by a killed process is passed over. A piece is a cell
of one sweep (:class:`Kept`), or a whole run where there are many (:class:`KeptRuns`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TextIO, TypeVar

from segviz import store
from segviz.cli.console import plain
from segviz.cli.exits import UsageError, user_errors
from segviz.evaluate import Cell, Mean, Sweep
from segviz.evaluate.compare import Comparison, Standing
from segviz.memory import Memory
from segviz.tree.shape import Shape

Piece = TypeVar("Piece")

_SWEEP, _RUNS = "segviz-sweep", "segviz-runs"


def identity(memory: Memory, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a sweep: the memory with its questions, and all but the axes."""
    content = hashlib.sha256(store.dump(memory.saved)).hexdigest()
    return {"format": _SWEEP, "version": 1, "memory": content, "settings": plain(dict(settings))}


def run_identity(plan: store.Saved, settings: Mapping[str, Any]) -> str:
    """What makes a run: the conversation with its questions, how its memory is built
    (``plan``, without steps), and what is measured of it."""
    wanted = json.dumps(plain(dict(settings)), sort_keys=True).encode()
    return hashlib.sha256(store.dump(plan) + b"\0" + wanted).hexdigest()


class _Lines(Generic[Piece]):
    """A file of JSON lines behind a ``head``; ``found`` are those from before, ``read``."""

    def __init__(
        self, path: Path, head: dict[str, Any], read: Callable[[dict[str, Any]], Piece]
    ) -> None:
        """Open it, or begin it. UsageError where it is damaged or belongs to something
        else."""
        with user_errors(OSError, UnicodeDecodeError):
            text = path.read_text("utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        first, *lines = whole.split("\n")[:-1] or [""]
        if text and _parsed(first) != head:
            other = _parsed(first).get("format") == head["format"]
            what = "another memory or other settings" if other else "something else"
            raise UsageError(f"{path} holds {what}; name another file with --resume")
        try:
            self.found = [read(_parsed(line)) for line in lines]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UsageError(f"{path} is damaged; delete it and measure again") from None
        with user_errors(OSError):
            self._file: TextIO = path.open("r+" if whole else "w", encoding="utf-8", newline="\n")
            self._file.seek(len(whole.encode("utf-8")))
            self._file.truncate()
        if not whole:
            self.write(head)

    def write(self, content: Any) -> None:
        """Add a line; it is on file when this returns. UsageError where that fails."""
        with user_errors(OSError):
            self._file.write(json.dumps(plain(content), allow_nan=False) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Nothing more comes."""
        self._file.close()


class Kept:
    """The file of one sweep: ``cells`` known from before, and ``keep`` for new ones."""

    def __init__(self, path: Path, sweep: dict[str, Any]) -> None:
        """Open it, or begin it. UsageError where it belongs to something else."""
        self._lines = _Lines(path, sweep, _cell)
        held = {(cell.policy, cell.alpha, cell.horizon): cell for cell in self._lines.found}
        self.cells = tuple(held.values())
        self._held = set(held)

    def keep(self, cell: Cell) -> None:
        """Write a cell, unless the file holds it; it is on file when this returns."""
        setting = (cell.policy, cell.alpha, cell.horizon)
        if setting not in self._held:
            self._held.add(setting)
            self._lines.write(cell)

    def close(self) -> None:
        """Nothing more comes."""
        self._lines.close()


class KeptRuns:
    """The file of many runs: what was ``found`` of each by its identity. Runs that are not
    asked for now stay in it."""

    def __init__(self, path: Path) -> None:
        """Open it, or begin it. UsageError where it belongs to something else."""
        self._lines = _Lines(path, {"format": _RUNS, "version": 1}, _run)
        self.found: dict[str, Sweep | Comparison] = dict(self._lines.found)

    def keep(self, run: str, result: Sweep | Comparison) -> None:
        """Write a run; it is on file when this returns."""
        measure = "sweep" if isinstance(result, Sweep) else "compare"
        self._lines.write({"run": run, "measure": measure, "result": result})

    def close(self) -> None:
        """Nothing more comes."""
        self._lines.close()


def _parsed(line: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _run(content: dict[str, Any]) -> tuple[str, Sweep | Comparison]:
    measure, result = content["measure"], content["result"]
    return content["run"], _sweep(result) if measure == "sweep" else _comparison(result)


def _sweep(content: dict[str, Any]) -> Sweep:
    axes = {name: tuple(content[name]) for name in ("policies", "alphas", "horizons")}
    cells = {
        "baseline": _cell(content["baseline"]),
        "cells": tuple(_cell(cell) for cell in content["cells"]),
    }
    return Sweep(**{**content, **axes, **cells})


def _cell(content: dict[str, Any]) -> Cell:
    return Cell(
        content["policy"],
        float(content["alpha"]),
        int(content["horizon"]),
        _mean(content["recall"]),
        {
            None if label == "none" else int(label): _mean(mean)
            for label, mean in content["by_category"].items()
        },
        {int(level): float(share) for level, share in content["levels"].items()},
    )


def _comparison(content: dict[str, Any]) -> Comparison:
    return Comparison(**{**content, "rows": tuple(_standing(row) for row in content["rows"])})


_MEANS = ("recall", "budget_recall", "coverage", "units", "words", "tokens")


def _standing(content: dict[str, Any]) -> Standing:
    means = {name: _mean(content[name]) for name in _MEANS}
    return Standing(**{**content, **means, "shape": Shape(**content["shape"])})


def _mean(content: dict[str, Any]) -> Mean:
    value, low, high = (
        math.nan if content[name] is None else float(content[name])
        for name in ("value", "low", "high")
    )
    return Mean(value, low, high, int(content["n"]))
