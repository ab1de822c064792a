"""``python -m tests.benchmarks`` knows every benchmark there is."""

from importlib import import_module

import pytest

from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks.report import RESULTS
from tests.data import ROOT

HELPERS = {"__main__", "report", "synthetic"}


def test_every_benchmark_is_listed_and_has_its_results():
    there = {path.stem for path in (ROOT / "tests" / "benchmarks").glob("*.py")} - HELPERS
    written = {path.stem for path in RESULTS.glob("*.md") if not path.stem.startswith("system-")}
    assert set(benchmarks.TABLES) == there == written


@pytest.mark.parametrize("name", list(benchmarks.TABLES))
def test_every_benchmark_can_be_imported(name):
    module = import_module(f"tests.benchmarks.{name}")
    assert callable(module.main)
    assert f"python -m tests.benchmarks.{name}" in module.__doc__
