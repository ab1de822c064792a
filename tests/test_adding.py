"""Adding: what is declared once is found everywhere, without a change of any other file."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.data import ROOT

PRINTED = """
import contextlib, io, json

def printed(*words):
    from segviz.cli import main
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(list(words))
    return out.getvalue()
"""


def run_in_process(program: str) -> dict[str, Any]:
    """Runs a program in a process of its own; returns the JSON that it prints."""
    command = [sys.executable, "-c", PRINTED + program]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    added: dict[str, Any] = json.loads(ran.stdout)
    return added


# All of segviz is imported after the new field is declared.
ADD_A_SETTING = """
from dataclasses import asdict, make_dataclass

import segviz.retrieval
from segviz.construct import param
from segviz.retrieval import settings

field = param(
    False, "Skip short texts.", label="Skip short", words={True: "skipped"}, part="reading"
)
wider = make_dataclass(
    "Wider", [("skip_short", bool, field)], bases=(settings.RetrievalSettings,), frozen=True,
    kw_only=True, slots=True,
)
segviz.retrieval.RetrievalSettings = settings.RetrievalSettings = wider
settings.PRESETS.update({name: wider(**asdict(one)) for name, one in settings.PRESETS.items()})

from segviz import build, load, sweep
from segviz.conversation import sample_path
from segviz.export import sweep_csv, view_of
from segviz.export.snippet import python_snippet
from segviz.view.bookmark import Bookmark, decode, encode
from tests.app.conftest import page

(talk,) = load(sample_path("ines-theo"))
memory = build(talk)
view = view_of(memory, number=3, skip_short=True)
link = encode(Bookmark(retrieval=wider(skip_short=True)))
app = page("ask", linked=True)
app.query_params.update(link)
app.session_state["more-settings"] = True  # open
app.run()
print(json.dumps({
    "link": link,
    "decoded": decode(link)[0].retrieval.skip_short,
    "help": [printed(command, "--help") for command in ("ask", "sweep", "compare", "grade")],
    "json": json.loads(printed("ask", "sample:ines-theo", "Who?", "--skip-short", "--json")),
    "view": view.setting,
    "snippet": python_snippet(view),
    "csv": sweep_csv(sweep(memory, talk.questions[:2], alphas=[0.1], skip_short=True)),
    "widgets": {one.label: one.value for one in app.toggle},
    "faults": [str(one) for one in app.exception],
}))
"""


def test_a_retrieval_setting():
    added = run_in_process(ADD_A_SETTING)
    assert added["link"]["skip_short"] == "yes"
    assert added["decoded"] is True
    assert all("--skip-short" in text and "Skip short texts." in text for text in added["help"])
    assert added["json"]["settings"]["skip_short"] is True
    assert ["Skip short", "skipped"] in added["view"]
    assert "skip_short=True" in added["snippet"]
    assert "skip_short" in added["csv"].splitlines()[0]
    assert added["faults"] == []
    assert added["widgets"]["Skip short"] is True


# Two places: a row of MEASURES, and its values in QuestionBatch.
ADD_A_MEASURE = """
from segviz.evaluation import measures
from segviz.evaluation.question_batch import QuestionBatch

measures.MEASURES["half_recall"] = measures.Measure("half recall", "Recall / 2.", leaves=True)
measures.CHOICES = (*measures.CHOICES, "half_recall")  # made of the rows at the import
of_leaves = QuestionBatch._of_leaves

def with_half(batch, ranked):
    columns = of_leaves(batch, ranked)
    return columns | {"half_recall": columns["recall"] / 2}

QuestionBatch._of_leaves = with_half

from segviz import build, load, sweep
from segviz.conversation import sample_path
from segviz.export import sweep_csv
from tests.app.conftest import page

(talk,) = load(sample_path("recurrence"))
app = page("sweep", linked=True)
app.query_params.update({"sample": "recurrence", "measured-by": "half_recall"})
box = app.run().selectbox(key="measured-by")
once = ("sweep", "sample:recurrence", "--preset", "paper, top-down", "--measure", "half_recall")
print(json.dumps({
    "options": box.options,
    "value": box.value,
    "shown": [one.value for one in app.main.markdown],
    "link": app.session_state["address-written"]["link"]["measured-by"],
    "faults": [str(one) for one in app.exception],
    "help": printed("sweep", "--help"),
    "text": printed(*once),
    "json": json.loads(printed(*once, "--json")),
    "csv": sweep_csv(sweep(build(talk), talk.questions, alphas=[0.1])),
}))
"""


def test_a_measure_over_questions():
    added = run_in_process(ADD_A_MEASURE)
    assert "half recall" in added["options"]
    assert added["value"] == "half_recall"
    assert any("half recall" in each for each in added["shown"])
    assert added["link"] == "half_recall"
    assert added["faults"] == []
    assert "half_recall" in added["help"]
    assert "half recall" in added["text"]
    (run,) = added["json"]["runs"]
    means = run["baseline"]["measures"]
    assert means["half_recall"]["all"]["value"] == pytest.approx(
        means["recall"]["all"]["value"] / 2
    )
    assert run["measure"] == "half_recall"
    assert '"half_recall"' in added["csv"]


# Three places: the page's module, a row of PAGES, the control's name in CONTROLS. A file would need
# the package's ``__init__``, too.
ADD_A_PAGE = """
import sys
from types import ModuleType

import streamlit as st

from segviz.view import bookmark

bookmark.CONTROLS = (*bookmark.CONTROLS, "shortest")

from segviz.ui import main
from segviz.ui.main import PAGES
from segviz.ui.state import linked

def render(session):
    least = st.slider("Shortest", 0, 50, **linked("shortest", 5, range(51)))
    words = [len(unit.text.split()) for unit in session.memory.units]
    st.bar_chart([count for count in words if count >= least])

module = sys.modules["segviz.ui.pages.lengths.page"] = ModuleType("segviz.ui.pages.lengths.page")
module.render = render
main.PAGES = (*PAGES, "Lengths")

from tests.app.conftest import grow, page

app = grow()
app.query_params["sample"] = "recurrence"
app.session_state["page-wanted"] = "lengths"
app.run()
opened = page("lengths", linked=True)
opened.query_params.update({"sample": "recurrence", "shortest": "9"})
opened.run()
print(json.dumps({
    "pages": {path: page.title for path, page in app.session_state["pages"].items()},
    "pictures": len(app.get("vega_lite_chart")) + len(app.get("arrow_vega_lite_chart")),
    "in_link": opened.session_state["address-written"]["link"]["shortest"],
    "opened": opened.slider(key="shortest").value,
    "problems": [one.value for one in opened.text],
    "faults": [str(one) for one in (*app.exception, *opened.exception)],
}))
"""


def test_a_page_with_a_picture_and_a_control():
    added = run_in_process(ADD_A_PAGE)
    assert list(added["pages"].items())[-1] == ("lengths", "Lengths")
    assert added["pictures"] == 1
    assert added["in_link"] == "9"
    assert added["opened"] == 9
    assert not any("is not a part of a view" in each for each in added["problems"])
    assert added["faults"] == []
