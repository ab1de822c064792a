"""The memory as of a time and what changed between two moments, restated slowly."""

import csv
import io
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import segviz
from segviz.conversation import Conversation, Session, Turn
from segviz.embedding import HashingEmbedder
from segviz.export.tables import changes_csv
from segviz.retrieval.gold import LATER
from segviz.systems import SYSTEMS
from tests.memories import KINDS
from tests.systems.test_contract import OWN

EMBEDDER = HashingEmbedder()
START = datetime(2024, 3, 1, 9, 30)
WORDS = (
    "I painted the garden fence green.",
    "My sister Ada sold her red bicycle.",
    "We baked rye bread at the harbour.",
    "Ben moved from Utrecht to Leiden.",
    "The fence is blue now, not green.",
)


def diary() -> Conversation:
    """Three sessions; turns every five hours, so that a session runs over a midnight."""
    sessions, number = [], 0
    for row, length in enumerate((5, 6, 4)):
        begin = START + timedelta(days=20 * row)
        turns = []
        for place in range(length):
            time = begin + timedelta(hours=5 * place)
            text = f"{WORDS[(row + place) % len(WORDS)]} Page {number}."
            turns.append(Turn(f"D{row}:{place}", ("Ada", "Ben")[place % 2], text, time=time))
            number += 1
        sessions.append(Session(f"s{row}", begin, "", tuple(turns)))
    return Conversation("diary", ("Ada", "Ben"), tuple(sessions))


TALK = diary()
TIMES = sorted({turn.time for turn in TALK.turns})
MOMENTS = [
    *(START - timedelta(1), date(2024, 3, 2), "2024-03-21", "2024-03-22 00:30"),
    *(TIMES[3], TIMES[7] + timedelta(seconds=1), "2024-05-01T00:00:00Z"),
]


def at(when) -> datetime:
    """A moment as a time, its zone left out."""
    if isinstance(when, str):
        return datetime.fromisoformat(when).replace(tzinfo=None)
    return when if isinstance(when, datetime) else datetime(when.year, when.month, when.day)


def shorter(when) -> Conversation:
    """The conversation of what was said before a time."""
    sessions = []
    for session in TALK.sessions:
        if turns := tuple(turn for turn in session.turns if turn.time < at(when)):
            sessions.append(replace(session, turns=turns))
    return replace(TALK, sessions=tuple(sessions))


def build(system, conversation=TALK):
    return segviz.build(conversation, system, "turn", embedder=EMBEDDER)


@pytest.mark.parametrize("system", KINDS)
def test_as_of_is_the_memory_of_the_shorter_conversation(system):
    """Exactly for online systems; RAPTOR rebuilds where a session ends."""
    memory = build(system)
    for when in MOMENTS:
        past = build(system, shorter(when))
        assert memory.as_of(when) == len(past.steps)
        ended = len(past.conversation.turns) in (0, 5, 11, 15)
        if not SYSTEMS[system].online and not ended:
            continue
        for method in ("propagate", "native") if system in OWN else ("propagate",):
            now = memory.ask("Is the fence green?", as_of=when, method=method)
            assert now.evidence == past.ask("Is the fence green?", method=method).evidence


@pytest.mark.parametrize("system", KINDS)
def test_changes_against_two_memories(system):
    """Built apart up to each moment, node by node."""
    memory = build(system)
    for first, last in ((0, 15), (5, 11), (11, 15), (5, 5)):
        one, two = (
            build(system, shorter(TIMES[n] if n < 15 else "2025-01-01")) for n in (first, last)
        )
        one, two = one.structure.collapsed, two.structure.collapsed
        old = {n: one.text[n] for n in range(len(one)) if one.active[n]}
        new = {n: two.text[n] for n in range(len(two)) if two.active[n]}
        found = memory.changes(first, last)
        assert {c.node: c.after for c in found.added} == {n: new[n] for n in new.keys() - old}
        assert {c.node: c.before for c in found.retired} == {n: old[n] for n in old.keys() - new}
        assert {c.node: (c.before, c.after) for c in found.rewritten} == {
            n: (old[n], new[n]) for n in old.keys() & new if old[n] != new[n]
        }
        assert found.superseded == ()


def test_moments_may_be_times_and_the_question_is_asked_at_both():
    memory = build("segment-tree")
    found = memory.changes("2024-03-15", "2024-04-05")
    assert found.steps == (5, 11)
    assert found.rows == memory.changes(5, 11).rows
    change = found.evidence("Is the fence green?", k=3)
    before = memory.ask("Is the fence green?", k=3, step=5)
    after = memory.ask("Is the fence green?", k=3, step=11)
    assert set(change.entered) == set(after.after) - set(before.after)
    assert set(change.left) == set(before.after) - set(after.after)
    assert not set(change.rewritten) - set(after.after) & set(before.after)
    for row in found.rows:
        either = {*before.after, *after.after} if row.kind != "retired" else {*before.after}
        assert change.retrieves(row) == (row.node in either)
    assert any(change.retrieves(row) for row in found.added)


def test_changes_are_a_table():
    found = build("segment-tree").changes(5, 11)
    rows = list(csv.DictReader(io.StringIO(changes_csv(found))))
    assert [row["change"] for row in rows] == [change.kind for change in found.rows]
    assert [row["after"] for row in rows] == [change.after for change in found.rows]
    assert {(row["first_step"], row["last_step"]) for row in rows} == {("5", "11")}


def test_gold_that_was_not_said_yet_is_marked():
    memory = build("segment-tree")
    result = memory.ask("fence", as_of="2024-03-15", k=1)
    fate = memory.gold(("D0:0", "D2:1"), result.structure).fate(result.evidence)
    assert fate["D2:1"] == LATER
    assert fate["D0:0"] != LATER


def test_a_zone_counts_if_both_have_one():
    east = datetime(2024, 3, 1, 1, tzinfo=UTC) + timedelta(hours=0)
    turns = (
        Turn("a", "Ada", "One.", time=east),
        Turn("b", "Ben", "Two.", time=east + timedelta(hours=2)),
    )
    talk = Conversation("z", ("Ada", "Ben"), (Session("s", east, "", turns),))
    memory = build("segment-tree", talk)
    assert memory.as_of("2024-03-01 02:00") == 1
    assert memory.as_of("2024-03-01T02:00:00Z") == 1
    assert memory.as_of("2024-03-01T02:00:00+02:00") == 0


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        ({"as_of": "some day"}, "no time"),
        ({"as_of": 20240302}, "no time"),
        ({"as_of": "2024-03-02", "step": 3}, "choose one"),
        ({"step": 2.5}, "must be whole"),
    ],
)
def test_a_moment_that_cannot_be_used_is_named(ask, said):
    with pytest.raises(ValueError, match=said):
        build("bm25").ask("fence", **ask)


def test_a_conversation_without_times_has_no_moments():
    sessions = tuple(
        replace(s, start=None, turns=tuple(replace(t, time=None) for t in s.turns))
        for s in TALK.sessions
    )
    memory = build("bm25", replace(TALK, sessions=sessions))
    with pytest.raises(ValueError, match="has no times"):
        memory.as_of("2024-03-02")
    assert len(memory.changes(2, 4).added) == 2
    with pytest.raises(ValueError, match="earlier moment first"):
        memory.changes(4, 2)


FACTS = [
    {
        "id": "f1",
        "text": "The garden fence of Ada is green",
        "turns": "D0:0",
        "created_at": "2024-03-01T20:00:00",
        "invalid_at": "2024-03-22T06:00:00",
    },
    {
        "id": "f2",
        "text": "The garden fence of Ada is blue",
        "turns": "D1:3",
        "created_at": "2024-03-22T06:00:00",
    },
    {"id": "f3", "text": "Ben lives in Leiden", "turns": "D0:3", "valid_at": "2030-01-01"},
]


def test_texts_of_a_store_are_there_from_their_time_and_superseded_by_it():
    memory = segviz.memory_from(FACTS, conversation=TALK, unit="turn", embedder=EMBEDDER)
    texts = lambda when: {  # noqa: E731
        memory.at(memory.as_of(when)).text[n]
        for n in np.flatnonzero(memory.at(memory.as_of(when)).retrievable)
    }
    assert texts("2024-03-01 19:00") == set()
    # f3 was written after the conversation: it is there with its last turn.
    assert texts("2024-03-15") == {FACTS[0]["text"], FACTS[2]["text"]}
    found = memory.changes("2024-03-15", "2024-04-05")
    assert [change.after for change in found.added] == [FACTS[1]["text"]]
    (old,) = found.superseded
    assert (old.before, old.after) == (FACTS[0]["text"], FACTS[1]["text"])
    assert not memory.changes("2024-04-05", "2025-01-01").superseded


def test_a_text_is_untrue_from_its_time_on_with_what_replaced_it():
    memory = segviz.memory_from(FACTS, conversation=TALK, unit="turn", embedder=EMBEDDER)
    at = lambda when: memory.at(memory.as_of(when))  # noqa: E731
    assert memory.ended_in(at("2024-03-15")) == {}
    structure = at("2024-04-05")
    ((node, old),) = memory.ended_in(structure).items()
    assert (structure.text[node], structure.text[old.newer_node]) == (old.text, old.newer)
    assert str(old) == (
        f"no longer true from 22 Mar 2024; a later text about the same: {FACTS[1]['text']}"
    )
    # A text that is stored after it ended is not there before.
    late = [{**FACTS[0], "created_at": "2024-04-01", "invalid_at": "2024-03-02"}, *FACTS[1:]]
    memory = segviz.memory_from(late, conversation=TALK, unit="turn", embedder=EMBEDDER)
    assert not memory.changes(np.int64(0), "2024-03-15").superseded
    # A store that names the later text is believed, and its time may be missing.
    named = [{**FACTS[0], "superseded_by": "f3", "invalid_at": None}, *FACTS[1:]]
    numbers = [{**row, "id": at, "superseded_by": None} for at, row in enumerate(named)]
    numbers[0]["superseded_by"] = 2  # in a data frame 2.0, since others have none
    for rows in (named, *map(pd.DataFrame, (named, numbers))):
        memory = segviz.memory_from(rows, conversation=TALK, unit="turn", embedder=EMBEDDER)
        (old,) = memory.ended_in(memory.structure).values()
        assert str(old) == f"no longer true; replaced by: {FACTS[2]['text']}"
    # Times of a data frame count.
    dated = pd.DataFrame(FACTS).astype({"invalid_at": "datetime64[ns]"})
    memory = segviz.memory_from(dated, conversation=TALK, unit="turn", embedder=EMBEDDER)
    (old,) = memory.ended_in(memory.structure).values()
    assert old.ended == FACTS[0]["invalid_at"]


def test_rows_of_a_table_without_conversation_have_moments():
    rows = [
        {
            "id": 1,
            "text": "The fence of Ada is green",
            "created_at": "2024-03-01",
            "invalid_at": "2024-04-01",
        },
        {"id": 2, "text": "The fence of Ada is blue", "created_at": "2024-04-01"},
    ]
    memory = segviz.memory_from(rows, embedder=EMBEDDER)
    assert memory.as_of("2024-03-15") == 1
    found = memory.changes("2024-03-15", "2024-05-01")
    assert [change.node for change in found.added] == [1]
    assert [(c.before, c.after) for c in found.superseded] == [(rows[0]["text"], rows[1]["text"])]


def node_at(memory, step):
    """Text of each inner node or leaf by the units it covers, and the first units of level 1."""
    shown = memory.at(step).collapsed
    nodes = [n for n in range(len(shown)) if shown.active[n]]
    texts = {(shown.coverage(n), shown.level[n] > 0): shown.text[n] for n in nodes}
    firsts = {int(shown.start[n]) for n in nodes if shown.level[n] <= 1 <= shown.top[n]}
    return texts, firsts


@pytest.mark.parametrize("step", [6, 15])
def test_two_builds_differ_in_the_nodes_over_units_that_only_one_has(step):
    cut = lambda threshold: segviz.build(  # noqa: E731
        TALK, unit="turn", embedder=EMBEDDER, compatibility={"name": "cosine", **threshold}
    )
    one, two = cut({"threshold": 0.1}), cut({"threshold": 0.5})
    (old, old_firsts), (new, new_firsts) = node_at(one, step), node_at(two, step)
    found = two.changes_from(one, step)
    last = two.at(step).collapsed
    first = one.at(step).collapsed
    where = lambda shown, rows: sorted(  # noqa: E731
        (shown.coverage(c.node), shown.level[c.node] > 0) for c in rows
    )
    assert where(last, found.added) == sorted(new.keys() - old)
    assert where(first, found.retired) == sorted(old.keys() - new)
    assert where(last, found.rewritten) == sorted(k for k in old.keys() & new if old[k] != new[k])
    assert found.added
    assert found.boundaries == (
        tuple(sorted(old_firsts - new_firsts)),
        tuple(sorted(new_firsts - old_firsts)),
    )
    assert {first.coverage(b): last.coverage(a) for a, b in found.twins.items()} == {
        units: units for units, _ in old.keys() & new
    }
    change = found.evidence("Is the fence green?", k=3)
    before = {first.coverage(n) for n in one.ask("Is the fence green?", k=3, step=step).after}
    after = {last.coverage(n) for n in two.ask("Is the fence green?", k=3, step=step).after}
    assert {last.coverage(n) for n in change.entered} == after - before
    assert {first.coverage(n) for n in change.left} == before - after


def test_builds_over_other_units_cannot_be_compared():
    with pytest.raises(ValueError, match="use the same units"):
        build("segment-tree").changes_from(segviz.build(TALK, embedder=EMBEDDER))


def test_other_texts_are_the_only_difference_of_the_same_tree():
    memory = build("segment-tree")
    node = next(n for n in memory.structure.collapsed.nodes if memory.structure.level[n])
    span = int(memory.structure.start[node]), int(memory.structure.stop[node])
    found = memory.with_texts({span: ("Fence", "The fence.")}).changes_from(memory)
    assert [change.after for change in found.rows] == ["The fence."]
    assert found.boundaries == ((), ())
