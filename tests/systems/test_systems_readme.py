"""The README beside the systems says what the registry says, and names code that exists."""

import re
from pkgutil import resolve_name

import pytest

from segviz.construct import make, parameters
from segviz.memory import COMPONENTS
from segviz.retrieval.relevance import RELEVANCE
from segviz.systems import SYSTEMS
from tests.benchmarks.report import RESULTS
from tests.systems.readme import MEASURED, README, TABLES, departures, listed, source
from tests.systems.test_contract import SOURCE

PAGE = README.read_text("utf-8")
ROW = re.compile(r"^\| ([^|]+) \| ([^|]*) \| ([^|]*) \| ([^|]+) \|$", re.MULTILINE)


def block(name):
    return PAGE.partition(f"<!-- {name}: begin -->\n")[2].partition(f"\n<!-- {name}: end -->")[0]


def test_the_table_is_that_of_the_registry():
    assert block("systems") == listed(), "run python -m tests.systems.readme"


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_has_its_page_and_names_its_source(name):
    assert len(source(SYSTEMS[name])) > 20
    assert block(name) == departures(name), "run python -m tests.systems.readme"
    results = (RESULTS / f"system-{name}.md").read_text("utf-8")
    assert "conv-47, 190 questions" in results


def test_every_mechanism_names_its_passage_its_code_and_its_status():
    rows = [
        [cell.strip() for cell in row.groups()]
        for row in ROW.finditer(PAGE)
        if row[4].split()[0].strip(",") in ("as", "stand-in", "ours", "absent")
    ]
    assert len(rows) > 50
    for what, passage, code, status in rows:
        named = re.findall(r"`([\w.]+)`", code)
        assert bool(named) != (status == "absent"), what
        for dotted in named:
            resolve_name(f"segviz.{dotted}")
        assert passage or status.startswith("ours"), what
    packages = {
        code.split("systems.")[1].split(".")[0] for *_, code, _ in rows if "systems." in code
    }
    assert {SYSTEMS[name].__module__.split(".")[2] for name in (*MEASURED, *TABLES)} <= packages


@pytest.mark.parametrize("registry", [*COMPONENTS, "relevance"])
def test_every_parameter_of_a_part_has_a_source_and_a_range_that_is_checked(registry):
    for part in {**COMPONENTS, "relevance": RELEVANCE}[registry].values():
        for parameter in parameters(part):
            assert SOURCE.search(parameter.spec.source), (part, parameter.name)
            if parameter.spec.high is not None:
                with pytest.raises(ValueError, match=f"{parameter.name} is .* must lie between"):
                    make(part, {parameter.name: parameter.spec.high + 1})
