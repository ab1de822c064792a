"""Labels that stand in files beside the conversation."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import segviz
from segviz.memory import label_columns, read_labels
from tests.memories import built

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


@pytest.mark.parametrize("system", ["raptor", "h-mem"])
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
