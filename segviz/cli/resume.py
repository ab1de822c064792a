"""The cells of a sweep on file, so that an interrupted sweep goes on where it stopped.

JSON Lines: a line that names the sweep, then one for each measured cell, written as soon as
it is measured. A last line cut short by a killed process is passed over.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from segviz import store
from segviz.cli.console import plain
from segviz.cli.exits import UsageError, user_errors
from segviz.evaluate import Cell, Mean
from segviz.memory import Memory

_FORMAT = "segviz-sweep"


def identity(memory: Memory, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a sweep: the memory with its questions, and all but the axes."""
    content = hashlib.sha256(store.dump(memory.saved)).hexdigest()
    return {"format": _FORMAT, "version": 1, "memory": content, "settings": plain(dict(settings))}


class Kept:
    """The file of one sweep: ``cells`` known from before, and ``keep`` for new ones."""

    def __init__(self, path: Path, sweep: dict[str, Any]) -> None:
        """Open it, or begin it. UsageError where it belongs to something else."""
        with user_errors(OSError, UnicodeDecodeError):
            text = path.read_text("utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        head, *lines = whole.splitlines() or [""]
        if text and _parsed(head) != sweep:
            other = _parsed(head).get("format") == _FORMAT
            what = "another memory or other settings" if other else "something else"
            raise UsageError(f"{path} holds {what}; name another file with --resume")
        cells = {}
        for line in lines:
            cell = _cell(_parsed(line), path)
            cells[cell.policy, cell.alpha, cell.horizon] = cell
        self.cells = tuple(cells.values())
        self._held = set(cells)
        with user_errors(OSError):
            self._file: TextIO = path.open("w" if not whole else "r+", encoding="utf-8")
            self._file.seek(len(whole.encode("utf-8")))
            self._file.truncate()
        if not whole:
            self._write(sweep)

    def keep(self, cell: Cell) -> None:
        """Write a cell, unless the file holds it; it is on file when this returns."""
        setting = (cell.policy, cell.alpha, cell.horizon)
        if setting not in self._held:
            self._held.add(setting)
            self._write(plain(cell))

    def close(self) -> None:
        """Nothing more comes."""
        self._file.close()

    def _write(self, content: dict[str, Any]) -> None:
        self._file.write(json.dumps(content, allow_nan=False) + "\n")
        self._file.flush()


def _parsed(line: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _cell(content: dict[str, Any], path: Path) -> Cell:
    try:
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
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(f"{path} is damaged; delete it and sweep again") from None


def _mean(content: dict[str, Any]) -> Mean:
    value, low, high = (
        math.nan if content[name] is None else float(content[name])
        for name in ("value", "low", "high")
    )
    return Mean(value, low, high, int(content["n"]))
