"""Labels and vectors that stand in files beside the conversation."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import segviz
from segviz.conversation import Question
from segviz.embedding import get_embedder
from segviz.memory import given_vectors, label_columns, read_labels
from tests.memories import built, sample

MEMORY = built(sessions=5)
TURNS = MEMORY.conversation.turns


def topics(every=1):
    return [
        {"turn": turn.id, "topic": ("boat", "garden", "tea")[number // 7 % 3], "n": number}
        for number, turn in enumerate(TURNS)
        if number % every == 0
    ]


def slow(labels, structure, node, units=MEMORY.units):
    """The label that most turns below a node have."""
    if node in labels.nodes:
        return labels.nodes[node]
    turns = [t for unit in structure.coverage(node) for t in units[unit].turn_ids]
    counts = Counter(labels.turns[turn] for turn in turns if turn in labels.turns)
    most = max(counts.values(), default=0)
    return min((label for label, count in counts.items() if count == most), default=-1)


@pytest.mark.parametrize("every", [1, 5])
def test_every_node_has_the_label_of_most_turns_below_it(every):
    rows = [*topics(every), {"node": 3, "topic": "tea"}]
    labels = read_labels(rows, MEMORY, "topic")
    assert labels.unknown == 0
    for structure in (MEMORY.structure, MEMORY.structure.collapsed):
        found = labels.of(structure, MEMORY.units)
        for node in np.flatnonzero(structure.active).tolist():
            assert found[node] == slow(labels, structure, node), node


@pytest.mark.parametrize("system", ["raptor", "h-mem", "memforest", "xmemory"])
def test_a_turn_counts_once_however_many_ways_lead_down_to_it(system):
    memory = segviz.build(MEMORY.conversation, system)
    labels = read_labels(topics(), memory, "topic")
    found = labels.of(memory.structure, memory.units)
    assert set(found[memory.structure.active].tolist()) >= {0, 1, 2}
    for node in np.flatnonzero(memory.structure.active).tolist():
        assert found[node] == slow(labels, memory.structure, node, memory.units), node


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_a_file_gives_the_labels(tmp_path, ending):
    path = tmp_path / f"labels.{ending}"
    if ending == "csv":
        lines = ["id,topic", *(f'"{r["turn"]}",{r["topic"]}' for r in topics())]
        path.write_text("\n".join(lines))
    elif ending == "json":
        path.write_text(json.dumps(topics()))
    else:
        import pandas

        pandas.DataFrame(topics()).to_parquet(path)
    assert read_labels(path, MEMORY, "topic").turns == read_labels(topics(), MEMORY, "topic").turns


def test_rare_labels_are_one_and_hostile_ones_are_text():
    rows = [{"turn": turn.id, "label": f"<b>{n % 20}\n</b>"} for n, turn in enumerate(TURNS)]
    rows += [{"turn": "nobody", "label": "x"}, {"node": -4, "label": "x"}, {"node": "1e9"}]
    labels = read_labels(rows, MEMORY, "label")
    assert labels.names[-1] == "other"
    assert len(labels.names) == 8
    assert labels.unknown == 2
    assert labels.names[0].startswith("<b>")
    assert "\n" not in labels.names[0]
    assert label_columns(topics()) == ["topic", "n"]


def test_a_table_without_an_id_is_refused():
    with pytest.raises(ValueError, match="expected the column 'topic' and a column turn or node"):
        read_labels([{"name": "x", "topic": "y"}], MEMORY, "topic")
    with pytest.raises(ValueError, match="expected the column 'mood'"):
        read_labels(topics(), MEMORY, "mood")


def test_labels_slice_the_questions():
    labels = read_labels(topics(), MEMORY, "topic")
    found = labels.slices(MEMORY.conversation)
    for name, indices in found.items():
        for question in MEMORY.conversation.questions:
            held = {labels.names[labels.turns[t]] for t in question.evidence}
            assert (question.index in indices) == (name in held)
    assert found
    assert isinstance(MEMORY.conversation.questions[0], Question)


# --- vectors ---------------------------------------------------------------------------------


def vectors(width=12, seed=0):
    """Of every turn: a fixed linear map of the offline vectors, as another model might be."""
    base = get_embedder("auto").embed([turn.content for turn in TURNS])
    to = np.random.default_rng(seed).normal(size=(base.shape[1], width))
    return base @ to


def rows(made):
    return [{"turn": t.id, "vector": v.tolist()} for t, v in zip(TURNS, made, strict=True)]


def test_a_memory_is_built_of_given_vectors(tmp_path):
    made = vectors()
    path = tmp_path / "vectors.json"
    question = {"text": "What is the boat called now?", "vector": made[3].tolist()}
    path.write_text(json.dumps([*rows(made), question]))
    model = given_vectors(MEMORY.conversation, path, "turn")
    memory = segviz.build(MEMORY.conversation, unit="turn", embedder=model)
    leaves = memory.structure.vector[list(memory.structure.leaves)]
    spoken = [n for n, turn in enumerate(TURNS) if turn.content]
    expected = made[spoken] / np.linalg.norm(made[spoken], axis=1, keepdims=True)
    assert np.allclose(leaves, expected, atol=1e-5)
    best = memory.ask(question["text"], relevance="dense", policy="none", levels=(0, 0), k=1)
    assert best.evidence[0].turn_ids == (TURNS[3].id,)
    again = given_vectors(MEMORY.conversation, path, "turn")
    assert again.name == model.name
    memory.save(tmp_path / "m.json")
    opened = segviz.open(tmp_path / "m.json", embedder=again)
    assert np.array_equal(opened.structure.vector, memory.structure.vector)


def test_a_unit_of_several_turns_has_their_mean():
    made = vectors()
    model = given_vectors(MEMORY.conversation, rows(made))
    place = {turn.id: number for number, turn in enumerate(TURNS)}
    for unit in MEMORY.conversation.units("exchange")[:20]:
        mean = made[[place[turn] for turn in unit.turn_ids]].mean(axis=0)
        found = model.embed([unit.text])[0]
        assert np.allclose(found, mean / np.linalg.norm(mean), atol=1e-5)


def test_other_texts_are_placed_near_where_the_model_would_have_put_them():
    base = get_embedder("auto")
    to = np.random.default_rng(0).normal(size=(base.embed(["x"]).shape[1], 12))
    half = [turn.content for turn in sample().turns if turn.content]
    known, new = half[::2], half[1::2]
    model = segviz.memory.GivenVectors(known, base.embed(known) @ to, base)
    true = base.embed(new) @ to
    true /= np.linalg.norm(true, axis=1, keepdims=True)
    cosines = (model.embed(new) * true).sum(axis=1)
    chance = np.roll(model.embed(new), 1, axis=0)
    assert cosines.mean() > 0.5 > (chance * true).sum(axis=1).mean() + 0.2
    assert np.allclose(np.linalg.norm(model.embed(new), axis=1), 1)
    assert not model.embed([""]).any()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([], "turns have no vector"),
        ([{"turn": turn.id, "vector": "x"} for turn in TURNS], "turns have no vector"),
        ([{"turn": turn.id, "vector": [1, float("nan")]} for turn in TURNS], "finite numbers"),
        ([{"turn": t.id, "vector": [1] * (1 + n % 2)} for n, t in enumerate(TURNS)], "as many"),
        ([{"turn": turn.id, "vector": []} for turn in TURNS], "finite numbers"),
    ],
)
def test_what_is_wrong_with_the_vectors_is_said(wrong, said):
    with pytest.raises(ValueError, match=said):
        given_vectors(MEMORY.conversation, wrong)
