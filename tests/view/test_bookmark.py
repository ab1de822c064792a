"""Links: what is written comes back; what cannot be used is named and left out."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.construct import as_settings
from segviz.conversation import TITLES, UNIT_RULES
from segviz.memory import make_system, nested
from segviz.retrieval import OPENING, POLICIES, PRESETS, RELEVANCE, RetrievalSettings, Retriever
from segviz.retrieval.settings import METHODS
from segviz.systems import SYSTEMS
from segviz.view.bookmark import (
    _READERS,
    CONTROLS,
    Bookmark,
    build_name,
    decode,
    differing,
    encode,
    usual_method,
)
from segviz.view.coloring import COLOURS, LABELS

count = st.integers(0, 2**31)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
retrievals = st.builds(
    RetrievalSettings,
    policy=st.sampled_from(tuple(POLICIES)),
    alpha=st.floats(0, 0.99),
    horizon=st.integers(0, 5),
    k=st.integers(1, 1000),
    relevance=st.sampled_from(tuple(RELEVANCE)),
    levels=st.none() | st.sets(st.integers(0, 9)),
    literal=st.booleans(),
    budget=st.none() | st.integers(50, 100_000),
    expand=st.none() | st.integers(1, 20),
    method=st.sampled_from(METHODS),
    step=st.none() | st.integers(1, 2**31),
)
OTHER_BUILD = Bookmark(
    system="segment-tree",
    settings={"compatibility": "cosine", "compatibility.threshold": 0.25},
    texts="extracts",
)
bookmarks = st.builds(
    Bookmark,
    beside=st.none() | retrievals.map(RetrievalSettings().ranked_as) | st.just(OTHER_BUILD),
    sample=st.none() | st.sampled_from(tuple(TITLES)),
    path=st.none() | words.map(lambda text: "a" + text),
    conversation=st.none() | words,
    unit=st.sampled_from(tuple(UNIT_RULES)),
    system=st.sampled_from(tuple(SYSTEMS)),
    question=st.none() | count,
    text=st.none() | words,
    retrieval=retrievals,
    step=st.none() | st.integers(1, 2**31),
    node=st.none() | count,
    colour=st.sampled_from(("", *COLOURS)),
    labels=st.sampled_from(("", *LABELS)),
    pins=st.lists(count, max_size=2, unique=True).map(tuple),
    sweep_cell=st.none()
    | st.tuples(st.sampled_from(tuple(POLICIES)), st.floats(0, 1), st.integers(0, 5)),
)


@given(bookmarks)
def test_what_is_written_comes_back(bookmark):
    assert decode(encode(bookmark)) == (bookmark, [])


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("system=memtree&question=3", "'question' is not a part of a build"),
        ("system=none", "expected one of segment-tree"),
        ("system=memtree&beside=system%3Dmemtree", "'beside' is not a part of a build"),
        ("system=segment-tree&compatibility=cosine&compatibility.threshold=high", "a number"),
    ],
)
def test_a_build_in_a_link_names_a_system_its_settings_and_texts_alone(given, problem):
    bookmark, (said,) = decode({"beside": given})
    assert bookmark.beside is None
    assert problem in said


def test_a_build_is_named_by_what_differs():
    present = Bookmark(settings={"compatibility": "cosine", "compatibility.threshold": 0.1})
    assert build_name(OTHER_BUILD, present) == "threshold 0.25, extracts"
    assert build_name(present, OTHER_BUILD) == "threshold 0.1, written"
    assert build_name(Bookmark(system="memtree"), present) == SYSTEMS["memtree"].label


def test_an_unknown_part_is_named_and_the_rest_opens():
    bookmark, problems = decode({"done": "merge.3.4", "k": "3", "sweep-k": "5"})
    assert bookmark == Bookmark(retrieval=replace(PRESETS[OPENING], k=3), controls={"sweep-k": "5"})
    assert decode(encode(bookmark)) == (bookmark, [])
    assert problems == ["'done' is not a part of a view"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_link_without_a_method_means_the_systems_usual_one(name):
    native = isinstance(make_system(name), Retriever)
    found = decode({"system": name})[0].retrieval.method
    assert found == usual_method(name) == ("native" if native else "propagate")


def test_the_default_view_is_an_empty_link():
    assert encode(Bookmark()) == {}


@pytest.mark.parametrize("name", SYSTEMS)
def test_default_settings_are_not_written(name):
    assert differing(SYSTEMS[name], as_settings(make_system(name))) == {}


def test_a_parameter_called_like_a_part_of_the_link_survives():
    bookmark = Bookmark(
        system="raptor", settings={"budget": 900}, retrieval=RetrievalSettings(method="native", k=7)
    )
    assert encode(bookmark) == {"system": "raptor", "system.budget": "900", "k": "7"}
    assert decode(encode(bookmark)) == (bookmark, [])


def test_settings_survive():
    built = make_system(
        "segment-tree",
        compatibility={"name": "cosine", "threshold": 0.35},
        annotate={"name": "extractive", "max_words": 40},
        refresh="lazy",
    )
    flat = differing(type(built), as_settings(built))
    assert flat == {
        "compatibility": "cosine",
        "compatibility.threshold": 0.35,
        "annotate.max_words": 40,
        "refresh": "lazy",
    }
    link = encode(Bookmark(settings=flat))
    bookmark, problems = decode(link)
    assert (bookmark.settings, problems) == (flat, [])
    again = make_system("segment-tree", **nested(segviz.SegmentTree, bookmark.settings))
    assert again == built


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("system", "mind", "expected one of segment-tree"),
        ("alpha", "1.5", "expected 0 to 0.99"),
        ("alpha", "nan", "finite"),
        ("levels", "0,x", "expected a whole number"),
        ("distinct", "true", "expected yes or no"),
        ("text", "x" * 5000, "longer than 2000"),
        ("text", "\ud800", "whole characters"),
        ("path", "\\\\host\\share\\a.json", "of this machine only"),
        ("colour", "<b>", "expected one of session"),
        ("labels", "text", "expected one of marked, none"),
        ("pins", "", "expected a whole number"),
        ("pins", "4,4", "one node or two"),
        ("pins", "-1", "expected 0 to"),
        ("sweep-cell", "both,0.5", "expected a policy, α and H"),
        ("sweep-cell", "both,nan,2", "expected a finite number"),
        ("compatibility.threshold", "0.3", "not a part of a view"),
        ("<script>", "1", "not a part of a view"),
    ],
)
def test_what_cannot_be_used_is_named_and_left_out(name, given, message):
    bookmark, problems = decode({name: given, "k": "3"})
    assert bookmark == Bookmark(retrieval=replace(PRESETS[OPENING], k=3))
    assert len(problems) == 1
    assert message in problems[0]


@given(
    st.dictionaries(
        st.sampled_from([*_READERS, *CONTROLS, "refresh", "compatibility", "?"]), st.text()
    )
)
def test_no_link_breaks_it(link):
    bookmark, problems = decode(link)
    assert len(problems) <= len(link)
    encode(bookmark)


def test_a_link_without_a_setting_opens_the_tree_at_work():
    assert decode({})[0].retrieval == PRESETS[OPENING]
    assert decode({"k": "5"})[0].retrieval == replace(PRESETS[OPENING], k=5)
    assert decode({"system": "h-mem"})[0].retrieval == RetrievalSettings(method="native")


@pytest.mark.parametrize(
    ("link", "settings"),
    [
        ({"policy": "bottom-up"}, RetrievalSettings(policy="bottom-up")),
        ({"alpha": "0.3"}, RetrievalSettings(alpha=0.3)),
        ({"relevance": "dense"}, RetrievalSettings(relevance="dense")),
        ({"policy": "top-down"}, RetrievalSettings()),
    ],
)
def test_a_link_that_names_a_setting_keeps_it(link, settings):
    assert decode(link)[0].retrieval == settings
    assert decode(encode(Bookmark(retrieval=settings)))[0].retrieval == settings
