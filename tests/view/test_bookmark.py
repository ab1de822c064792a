"""Links: what is written comes back; what cannot be used is named and left out."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.construct import Operates, as_settings
from segviz.conversation import TITLES, UNIT_RULES
from segviz.memory import make_system
from segviz.retrieval import POLICIES, RELEVANCE
from segviz.systems import SYSTEMS
from segviz.view import look
from segviz.view.bookmark import (
    _READERS,
    COLOURS,
    LABELS,
    METHODS,
    Bookmark,
    decode,
    differing,
    encode,
    nested,
)
from segviz.view.link_readers import MOST_OPERATIONS

count = st.integers(0, 2**31)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
bookmarks = st.builds(
    Bookmark,
    sample=st.none() | st.sampled_from(tuple(TITLES)),
    path=st.none() | words.map(lambda text: "a" + text),
    conversation=st.none() | words,
    unit=st.sampled_from(tuple(UNIT_RULES)),
    system=st.sampled_from(tuple(SYSTEMS)),
    question=st.none() | count,
    text=st.none() | words,
    policy=st.sampled_from(tuple(POLICIES)),
    alpha=st.floats(0, 0.99),
    horizon=st.integers(0, 5),
    k=st.integers(1, 1000),
    relevance=st.sampled_from(tuple(RELEVANCE)),
    levels=st.none() | st.sets(st.integers(0, 9)).map(lambda s: tuple(sorted(s))),
    distinct=st.booleans(),
    budget=st.none() | st.integers(50, 100_000),
    method=st.none() | st.sampled_from(METHODS),
    step=st.none() | st.integers(1, 2**31),
    node=st.none() | count,
    colour=st.sampled_from(("", *COLOURS)),
    labels=st.sampled_from(("", *LABELS)),
    pins=st.lists(count, max_size=2, unique=True).map(tuple),
)


@given(bookmarks)
def test_what_is_written_comes_back(bookmark):
    assert decode(encode(bookmark)) == (bookmark, [])


@given(st.data())
def test_operations_come_back_with_any_system(data):
    name = data.draw(st.sampled_from([n for n in SYSTEMS if isinstance(make_system(n), Operates)]))
    known = make_system(name).operations()
    one = st.sampled_from(list(known)).flatmap(
        lambda op: st.tuples(st.just(op), st.tuples(*[count] * len(known[op].arguments)))
    )
    done = tuple(data.draw(st.lists(one, max_size=MOST_OPERATIONS)))
    bookmark = Bookmark(system=name, done=done)
    assert decode(encode(bookmark)) == (bookmark, [])


def test_operations_are_short_and_readable():
    done = (("merge", (3, 4)), ("upkeep", ()), ("delete", (12,)))
    assert encode(Bookmark(done=done)) == {"done": "merge.3.4,upkeep,delete.12"}


def test_the_names_are_those_of_the_canvas():
    assert (COLOURS, LABELS) == (look.COLOURS, look.LABELS)


def test_every_field_can_be_read():
    assert set(_READERS) | {"settings"} == {field.name for field in fields(Bookmark)}


def test_the_default_view_is_an_empty_link():
    assert encode(Bookmark()) == {}


@pytest.mark.parametrize("name", SYSTEMS)
def test_default_settings_are_not_written(name):
    assert differing(SYSTEMS[name], as_settings(make_system(name))) == {}


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
        ("k", "ten", "expected a whole number"),
        ("levels", "0,x", "expected a whole number"),
        ("distinct", "true", "expected yes or no"),
        ("text", "x" * 5000, "longer than 2000"),
        ("path", "\\\\host\\share\\a.json", "of this machine only"),
        ("path", "//host/share/a.json", "of this machine only"),
        ("colour", "<b>", "expected one of session"),
        ("colour", "", "expected one of session"),
        ("labels", "text", "expected one of session"),
        ("pins", "", "expected a whole number"),
        ("pins", "1,2,3", "one node or two"),
        ("pins", "4,4", "one node or two"),
        ("pins", "-1", "expected 0 to"),
        ("pins", "1e9", "expected a whole number"),
        ("done", "", "expected operations such as"),
        ("done", "compress,", "expected operations such as"),
        ("done", "__class__", "expected operations such as"),
        ("done", "drop table.1", "expected operations such as"),
        ("done", "delete.1", "expected one of compress"),
        ("done", "compress.1", "compress takes no arguments"),
        ("done", "rebuild", "rebuild takes node"),
        ("done", "rebuild.x", "expected a whole number"),
        ("done", "rebuild.-1", "expected 0 to"),
        ("done", "rebuild." + ".".join("1" * 50), "expected operations such as"),
        ("done", ",".join(["compress"] * 21), "at most 20 operations"),
        ("done", "compress" * 500, "longer than 2000"),
        ("compatibility.threshold", "0.3", "not a part of a view"),
        ("<script>", "1", "not a part of a view"),
    ],
)
def test_what_cannot_be_used_is_named_and_left_out(name, given, message):
    bookmark, problems = decode({name: given, "k": "3"} if name != "k" else {name: given})
    assert bookmark == Bookmark(k=3 if name != "k" else 10)
    assert len(problems) == 1
    assert message in problems[0]


@given(st.dictionaries(st.sampled_from([*_READERS, "refresh", "compatibility", "?"]), st.text()))
def test_no_link_breaks_it(link):
    bookmark, problems = decode(link)
    assert len(problems) <= len(link)
    encode(bookmark)
