"""Where the sources and the real conversations are; these never become part of the project."""

import ast
import os
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

SOURCES = [ROOT / "app.py", *sorted((ROOT / "segviz").rglob("*.py"))]


@cache
def parsed(path: Path) -> list[ast.AST]:
    """Every node of the syntax tree of a source, in any order."""
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


TUNED_ON = ("conv-26", "conv-30", "conv-43")
HELD_OUT = ("conv-47", "conv-49")
"""The halves of the LoCoMo conversations in sight of which constants of segviz were chosen. What is
chosen on one half is reported on the other, in both directions; of the whole, every number is of
conversations that were seen."""


def data_path(*parts: str) -> Path:
    """The file ``parts`` below SEGVIZ_DATA (default: ../shared/data beside the project)."""
    return Path(os.environ.get("SEGVIZ_DATA") or ROOT.parent / "shared" / "data", *parts)


def real_data(*parts: str) -> Path:
    """As ``data_path``; skips the calling test, naming the path, when the file is not there."""
    path = data_path(*parts)
    if not path.is_file():
        pytest.skip(f"real data absent: {path} (set SEGVIZ_DATA to the folder that holds it)")
    return path
