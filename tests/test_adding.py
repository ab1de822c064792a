"""Adding: what is declared once is found everywhere, without a change of any other file."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.data import ROOT

# A process of its own: all of segviz is imported after the new field is declared.
ADD_A_SETTING = """
import contextlib, io, json
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
from segviz.cli import main
from segviz.conversation import sample_path
from segviz.export import python_snippet, sweep_csv, view_of
from segviz.view.bookmark import Bookmark, decode, encode
from tests.app.conftest import page

def printed(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(list(words))
    return out.getvalue()

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
    command = [sys.executable, "-c", ADD_A_SETTING]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    added = json.loads(ran.stdout)
    assert added["link"]["skip_short"] == "yes"
    assert added["decoded"] is True
    assert all("--skip-short" in text and "Skip short texts." in text for text in added["help"])
    assert added["json"]["settings"]["skip_short"] is True
    assert ["Skip short", "skipped"] in added["view"]
    assert "skip_short=True" in added["snippet"]
    assert "skip_short" in added["csv"].splitlines()[0]
    assert added["faults"] == []
    assert added["widgets"]["Skip short"] is True
