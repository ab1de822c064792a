"""``python -m tests.benchmarks`` knows every benchmark there is."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks import growth
from tests.benchmarks.report import README, Line, block, show, write
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


def test_the_drawing_names_every_cost_alternative_and_slope(tmp_path: Path):
    lines = [Line("ask", n, n / 10, "s", n**2 / 5, "an <other>", 3.0) for n in (10, 100, 1_000)]
    growth.draw([*lines, Line("file", 10, 3.0, "MB")], tmp_path / "growth.svg")
    root = ElementTree.parse(tmp_path / "growth.svg").getroot()
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"ask, s", "file, MB", "segviz, slope 1.00", "an <other>, slope 2.00"} <= texts


def test_a_block_is_replaced_alone(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("above\n<!-- shape: begin -->\nold\n<!-- shape: end -->\nbelow\n", "utf-8")
    write("shape", block("shape", "| new |\n"), page)
    text = page.read_text("utf-8")
    assert text.startswith("above\n<!-- shape: begin -->\n| new |\n\n<sub>")
    assert "`python -m tests.benchmarks shape --write`" in text
    assert "numpy" in text
    assert text.endswith("\n<!-- shape: end -->\nbelow\n")
    write("shape", block("shape", "one line\nanother"), page)
    assert "\n```text\none line\nanother\n```\n" in page.read_text("utf-8")
    text = page.read_text("utf-8")
    with pytest.raises(ValueError, match="recall: begin"):
        write("recall", "text", page)
    page.write_text(text * 2, "utf-8")
    with pytest.raises(ValueError, match="once each"):
        write("shape", "text", page)


def test_the_readme_has_a_block_for_every_benchmark():
    text = README.read_text("utf-8")
    for name in benchmarks.TABLES:
        found = re.findall(f"<!-- {name}: begin -->\n(.*?)<!-- {name}: end -->", text, re.DOTALL)
        assert len(found) == 1, name
        assert f"`python -m tests.benchmarks {name} --write`" in found[0], name
    assert len(re.findall(": begin -->", text)) == len(benchmarks.TABLES)
