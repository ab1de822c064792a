"""The table of systems in the README beside them is the one the registry gives."""

from __future__ import annotations

from segviz.systems import SYSTEMS
from tests.systems.readme import README, listed, source


def test_the_table_is_that_of_the_registry():
    begin, end = "<!-- systems: begin -->\n", "\n<!-- systems: end -->"
    stored = README.read_text("utf-8").partition(begin)[2].partition(end)[0]
    assert stored == listed(), "run python -m tests.systems.readme"


def test_every_system_names_its_source():
    for name, kind in SYSTEMS.items():
        assert len(source(kind)) > 20, name
