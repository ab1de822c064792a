"""The notebook runs, and what is stored in it is what running it gives."""

import json

import pytest

from segviz.embedding import get_embedder
from tests.tour import NOTEBOOK, executed

STORED = json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def texts(notebook):
    """What every code cell printed and gave."""
    return [
        ["".join(each.get("text") or each["data"]["text/plain"]) for each in cell["outputs"]]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def test_the_stored_outputs_are_those_of_a_run():
    fresh = executed(STORED)
    if not get_embedder().name.startswith("wordllama"):
        pytest.skip("the stored numbers are those of wordllama, which is not installed")
    assert texts(fresh) == texts(STORED), "python -m tests.tour stores what a run gives"


def test_it_is_a_small_notebook_of_version_4():
    assert (STORED["nbformat"], STORED["nbformat_minor"]) == (4, 5)
    assert NOTEBOOK.stat().st_size < 60_000
    ids = [cell["id"] for cell in STORED["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(texts(STORED)), "every code cell shows something"
