"""``python -m tests.benchmarks`` knows every benchmark there is."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks.report import RESULTS, Line, show, write
from tests.data import ROOT

HELPERS = {"__main__", "report", "synthetic"}


def test_every_benchmark_is_listed():
    there = {path.stem for path in (ROOT / "tests" / "benchmarks").glob("*.py")} - HELPERS
    assert set(benchmarks.TABLES) == there


@pytest.mark.parametrize("name", list(benchmarks.TABLES))
def test_every_benchmark_can_be_imported(name):
    module = import_module(f"tests.benchmarks.{name}")
    assert callable(module.main)
    assert f"python -m tests.benchmarks.{name}" in module.__doc__


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (Line("ask", 10, 1.0, "s", 2.0, "another", 3.0), ["0.5x", "3", "met", "another"]),
        (Line("ask", 10, 4.0, "s", 2.0, "another", 3.0), ["2x", "MISSED"]),
        (Line("ask", 10, 4.0, "s", 1.0, "another", 3.0, True), ["4x", "3x", "MISSED"]),
        (Line("ask", 10, 4.0, "s"), ["10", "4 s"]),
    ],
)
def test_a_line_says_ratio_and_budget(line, parts, capsys):
    show([line])
    printed = capsys.readouterr().out.splitlines()[2]
    for part in parts:
        assert part in printed
    assert ("met" in printed or "MISSED" in printed) == (line.budget is not None)


def test_a_result_names_its_command_and_versions(tmp_path):
    text = write("shape", "Shape", "| new |\n", folder=tmp_path).read_text("utf-8")
    assert text.startswith("# Shape\n\n| new |\n\n<sub>`python -m tests.benchmarks shape --write`")
    assert "numpy" in text
    text = write("shape", "Shape", "one line\nanother", folder=tmp_path).read_text("utf-8")
    assert "\n```text\none line\nanother\n```\n" in text


def test_every_benchmark_has_its_results():
    there = {path.stem for path in RESULTS.glob("*.md") if not path.stem.startswith("system-")}
    assert there == set(benchmarks.TABLES)
