"""Trees that another program built: opened, asked, refused where they are none."""

import dataclasses
import json
import pickle
import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.embedding import HashingEmbedder
from tests.data import ROOT as ROOT_FOLDER
from tests.memories import KINDS
from tests.trees import chat, small_chat

EMBEDDER = HashingEmbedder()


def tree():
    """Six turns under two summaries and a root, rows in no order."""
    return [
        {"id": "root", "text": "a boat and bread", "parent": None},
        {"id": 2, "text": "bread", "parent": "root", "level": 3, "score": 0.5},
        *({"id": f"t{i}", "text": f"turn {i} about bread", "parent": 2} for i in (3, 4, 5)),
        *({"id": f"t{i}", "text": f"turn {i} about a boat", "parent": [1]} for i in (0, 1, 2)),
        {"id": 1, "text": "boat", "parent": "root", "kind": "topic"},
    ]


def leaves_in_order(memory):
    return [memory.structure.text[leaf][:6] for leaf in memory.structure.leaves]


def test_a_table_becomes_a_memory():
    memory = segviz.memory_from(tree(), embedder=EMBEDDER, name="theirs")
    s = memory.structure
    assert memory.check() == []
    assert leaves_in_order(memory) == [f"turn {i}" for i in (3, 4, 5, 0, 1, 2)]
    assert (memory.system, len(memory.units), len(s)) == ("theirs", 6, 9)
    place = {text: node for node, text in enumerate(s.text)}
    assert s.level[place["bread"]] == 3
    assert s.level[place["boat"]] == 1
    assert s.level[place["a boat and bread"]] == 4
    assert s.kind[place["boat"]] == "topic"
    assert s.facts[place["bread"]] == {"id": "2", "score": 0.5}
    assert s.children[place["a boat and bread"]] == (place["bread"], place["boat"])
    for step in range(len(memory.steps) + 1):
        assert memory.check(step) == []
    assert memory.ask("boat").evidence[0].text.endswith("boat")


def test_starts_put_leaves_in_order():
    rows = [
        {"start": 9 - i, **row} if "turn" in row["text"] else row for i, row in enumerate(tree())
    ]
    found = leaves_in_order(segviz.memory_from(rows, embedder=EMBEDDER))
    assert found == [f"turn {i}" for i in (2, 1, 0, 5, 4, 3)]


def test_every_way_to_give_it_is_the_same_tree(tmp_path):
    rows = tree()
    pairs = [
        (parent, row["id"])
        for row in rows
        for parent in (row["parent"] if isinstance(row["parent"], list) else [row["parent"]])
        if parent is not None
    ]
    bare = [{key: value for key, value in row.items() if key != "parent"} for row in rows]
    graph = nx.DiGraph()
    graph.add_nodes_from((row["id"], row) for row in bare)
    graph.add_edges_from(pairs)
    written = [{**row, "id": str(row["id"]), "parent": json.dumps(row["parent"])} for row in rows]
    for row in written:
        row["parent"] = "" if row["parent"] == "null" else row["parent"].strip('"')
    pd.DataFrame(written).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame(written).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps({"nodes": rows}))
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = [tmp_path / f"a.{kind}" for kind in ("json", "jsonl", "csv", "parquet")]
    expected = segviz.memory_from(rows, embedder=EMBEDDER).structure
    ways = [(graph, ()), (pd.DataFrame(rows), ()), (bare, pairs), *((file, ()) for file in files)]
    for nodes, edges in ways:
        found = segviz.memory_from(nodes, edges, embedder=EMBEDDER).structure
        assert found.text == expected.text
        assert found.edges.tolist() == expected.edges.tolist()
        assert found.level.tolist() == expected.level.tolist()


def test_whole_numbers_in_a_column_with_gaps_are_ids():
    rows = [{"id": 1.0, "text": "a"}, {"id": 2.0, "text": "b", "parent": 1}]
    assert segviz.memory_from(rows, embedder=EMBEDDER).structure.edges.tolist() == [[1, 0]]


@pytest.mark.parametrize("system", KINDS)
def test_our_own_trees_come_back(system):
    """The active nodes of any system's structure, written as a table."""
    memory = segviz.build(small_chat(), system, "turn", embedder=EMBEDDER)
    s = memory.structure
    rows = [
        {
            "id": node,
            "text": s.text[node],
            "level": int(s.level[node]),
            "parent": list(s.parents[node]),
            "vector": s.vector[node].tolist(),
            **(
                {} if s.children[node] else {"start": int(s.start[node]), "stop": int(s.stop[node])}
            ),
        }
        for node in np.flatnonzero(s.active).tolist()
    ]
    found = segviz.memory_from(rows, conversation=memory.conversation, embedder=EMBEDDER)
    assert found.check() == []
    for policy in ("none", "top-down", "bottom-up"):
        settings = {"policy": policy, "relevance": "dense", "method": "propagate"}
        ours, theirs = (
            sorted(filter(None, each.ask("red bicycle", **settings).final.tolist()))
            for each in (memory, found)
        )
        assert theirs == pytest.approx(ours)


@pytest.mark.parametrize("as_text", [False, True])
def test_titles_and_decisions_of_a_build_are_kept(as_text):
    """The segment tree as a table: same decisions, and at every step the same open spans."""
    memory = segviz.build(small_chat(), "segment-tree", "turn", embedder=EMBEDDER)
    spans = {(0, len(memory.units)): ("All of it", "All that was said.")}
    memory = memory.with_texts(spans)
    s = memory.structure
    decisions = {step.unit.index: step.decision for step in memory.steps}
    rows = []
    for node in range(len(s)):
        row = {"id": node, "text": s.text[node], "level": int(s.level[node]), **s.facts[node]}
        row |= {"parent": list(s.parents[node]), "vector": s.vector[node].tolist()}
        if not s.children[node]:
            start = int(s.start[node])
            decision = decisions[start] and dataclasses.asdict(decisions[start])
            row |= {
                "start": start,
                "decision": decision and json.dumps(decision) if as_text else decision,
            }
        rows.append(row)
    back = segviz.memory_from(rows, conversation=memory.conversation, embedder=EMBEDDER)
    number = {back.structure.facts[n]["id"]: n for n in range(len(back.structure))}
    for ours, theirs in zip(memory.steps, back.steps, strict=True):
        placed = ours.decision and ours.decision.placed(lambda node: number[str(node)])
        assert theirs.decision == placed
    assert any(step.decision and step.decision.chosen is not None for step in back.steps)
    for step in range(1, len(memory.steps) + 1):
        then, now = memory.at(step), back.at(step)
        assert back.check(step) == []
        opened = [(now.start[n], now.stop[n]) for n in np.flatnonzero(now.active)]
        built = [(then.start[n], then.stop[n]) for n in np.flatnonzero(then.active)]
        assert set(opened) == set(built)
    root = back.structure.roots[0]
    assert back.labels()[root] == "All of it"
    assert back.structure.text[root] == "All that was said."
    np.testing.assert_allclose(
        back.ask("red bicycle").final.max(), memory.ask("red bicycle").final.max()
    )


@pytest.mark.parametrize(
    "decision",
    [
        {"chosen": 1},
        [1],
        "{}x",
        {"candidates": [{}], "chosen": None, "why": ""},
        {"candidates": [], "chosen": "nobody", "why": ""},
    ],
)
def test_a_decision_that_names_nothing_is_refused(decision):
    rows = [{"id": 1, "text": "a", "parent": 2, "decision": decision}, {"id": 2, "text": "b"}]
    with pytest.raises(ValueError, match=r"node '1': decision .*expected candidates"):
        segviz.memory_from(rows, embedder=EMBEDDER)


def test_spans_by_another_unit_rule_are_refused():
    memory = segviz.build(small_chat(), "dense", "exchange", embedder=EMBEDDER)
    s = memory.structure
    rows = [
        {"id": n, "text": s.text[n], "start": int(s.start[n]), "stop": int(s.stop[n])}
        for n in s.leaves
    ]
    with pytest.raises(ValueError, match="give unit='exchange'"):
        segviz.memory_from(rows, conversation=memory.conversation, embedder=EMBEDDER)
    again = segviz.memory_from(
        rows, conversation=memory.conversation, unit="exchange", embedder=EMBEDDER
    )
    assert [unit.turn_ids for unit in again.units] == [unit.turn_ids for unit in memory.units]


def test_leaves_are_told_by_the_text_of_units():
    conversation = small_chat()
    units = conversation.units("turn")
    rows = [{"id": 0, "text": "all"}]
    rows += [{"id": f"u{u.index}", "text": u.text, "parent": 0} for u in reversed(units)]
    memory = segviz.memory_from(rows, conversation=conversation, embedder=EMBEDDER)
    assert [memory.structure.text[leaf] for leaf in memory.structure.leaves] == [
        u.text for u in units
    ]
    rows[3]["text"] = "something else"
    changed = segviz.memory_from(rows, conversation=conversation, embedder=EMBEDDER).structure
    assert changed.ghost.sum() == 1
    assert "something else" not in [changed.text[leaf] for leaf in changed.leaves]


ROOT = {"id": 0, "text": "root"}
LEAF = {"id": 1, "text": "leaf", "parent": 0}


@pytest.mark.parametrize(
    ("rows", "edges", "problem"),
    [
        ([], [], "there are no nodes"),
        (["text"], [], "row 0: expected columns by name, found str"),
        ([{"text": "x"}], [], "row 0: expected an id, found None"),
        ([ROOT, ROOT], [], "row 1: the id '0' is that of row 0 too"),
        ([{"id": 1}], [], "node '1': expected a text, found None"),
        ([LEAF], [], "there is no node '0'"),
        ([ROOT], [(0, "<b>")], "there is no node '<b>'"),
        ([ROOT], [(0, 0)], "below each other; expected no cycle"),
        ([ROOT, LEAF], [(1, 0)], "below each other; expected no cycle"),
        ([{**ROOT, "level": 0}, LEAF], [], "node '0': level 0; expected a level above those"),
        ([{**ROOT, "level": 2}], [], "level 2; expected a level 0, since nothing"),
        ([{**ROOT, "level": 10**6}, LEAF], [], "at most 10000"),
        ([{**ROOT, "level": "x"}], [], "level 'x'; expected a whole number"),
        ([{**ROOT, "level": -1}], [], "level -1; expected a whole number"),
        ([ROOT, {**LEAF, "text": " "}], [], "expected the text of a leaf, found no word"),
        ([{**ROOT, "vector": [1.0]}, LEAF], [], "as many finite numbers in every row"),
        ([{**ROOT, "vector": [float("nan")]}], [], "as many finite numbers in every row"),
        ([{**ROOT, "vector": ["a", "b"]}], [], "as many finite numbers in every row"),
        ([{**ROOT, "vector": [1.0, 2.0]}], [], "the vectors have 2 numbers, those of"),
    ],
)
def test_what_is_no_tree_is_refused(rows, edges, problem):
    with pytest.raises(ValueError, match=re.escape(problem)):
        segviz.memory_from(rows, edges, embedder=EMBEDDER)


@pytest.mark.parametrize(
    "span",
    [{"start": 3, "stop": 3}, {"start": 4, "stop": 2}, {"start": 99}, {"start": 0, "stop": 99}],
)
def test_spans_backwards_or_outside_are_refused(span):
    with pytest.raises(ValueError, match="expected 0 ≤ start < stop ≤ "):
        segviz.memory_from([{**ROOT, **span}], conversation=small_chat(), embedder=EMBEDDER)


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.parquet"])
def test_a_file_that_is_no_table_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x00\x01PAR1" if name.endswith("parquet") else b'{"x": [1')
    with pytest.raises(ValueError, match=name):
        segviz.memory_from(tmp_path / name)


def test_markup_stays_text():
    evil = "<script>alert(1)</script>"
    rows = [{"id": evil, "text": evil}, {"id": 1, "text": evil, "parent": evil, evil: evil}]
    page = segviz.show(segviz.memory_from(rows, embedder=EMBEDDER, name=evil), "alert").html
    assert evil not in page


def test_a_deep_chain_and_a_wide_star():
    deep = [{"id": i, "text": f"n{i}", "parent": i - 1 if i else None} for i in range(2_000)]
    assert segviz.memory_from(deep, embedder=EMBEDDER).structure.level.max() == 1_999
    wide = [ROOT, *({"id": i, "text": f"n{i}", "parent": 0} for i in range(1, 5_001))]
    assert len(segviz.memory_from(wide, embedder=EMBEDDER).structure.children[5_000]) == 5_000


@given(st.lists(st.lists(st.integers(0, 30), max_size=3), min_size=1, max_size=25))
def test_any_graph_is_taken_or_refused(parents):
    rows = [{"id": i, "text": f"node {i}", "parent": above} for i, above in enumerate(parents)]
    try:
        memory = segviz.memory_from(rows, embedder=EMBEDDER)
    except ValueError as error:
        assert "expected no cycle" in str(error) or "there is no node" in str(error)
        return
    assert memory.check() == []
    assert len(memory.structure) == len(rows)
    edges = {
        (memory.structure.text[p], memory.structure.text[c]) for p, c in memory.structure.edges
    }
    assert edges == {(f"node {p}", f"node {i}") for i, above in enumerate(parents) for p in above}


class Node:
    def __init__(self, index, text, children=()):
        self.index, self.text, self.children, self.embeddings = index, text, set(children), {}


class Tree:
    def __init__(self, layers):
        self.layer_to_nodes = layers
        self.all_nodes = {node.index: node for nodes in layers.values() for node in nodes}


def test_the_snippet_for_raptors_pickle_writes_what_is_opened(tmp_path, monkeypatch):
    leaves = [Node(n, f"Leaf {n} says this") for n in range(4)]
    upper = [Node(4, "The first two", [0, 1]), Node(5, "The last three", [1, 2, 3])]
    with (tmp_path / "tree.pkl").open("wb") as stream:
        pickle.dump(Tree({0: leaves, 1: upper}), stream)
    page = (ROOT_FOLDER / "segviz" / "memory" / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(import json\nimport pickle.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    memory = segviz.memory_from(tmp_path / "tree.json")
    assert sorted(memory.structure.text) == sorted(node.text for node in [*leaves, *upper])
    first, last = (memory.structure.text.index(node.text) for node in upper)
    assert memory.structure.coverage(first) == (0, 1)
    assert memory.structure.coverage(last) == (1, 2, 3)


@pytest.mark.parametrize("empty", [None, "", float("nan"), np.float32("nan")])
def test_an_empty_cell_says_nothing(empty):
    cells = dict.fromkeys(("kind", "speaker", "session", "newer", "ended", "level", "rank"), empty)
    rows = [{"id": name, "text": f"Ann lives in Rome, {name}", **cells} for name in "ab"]
    memory = segviz.memory_from(rows, embedder=EMBEDDER)
    assert memory.structure.facts == ({"id": "a"}, {"id": "b"})
    assert (memory.structure.kind, memory.speakers, memory.ended) == (("", ""), ("",), ())


def test_a_first_leaf_of_several_units_is_saved_and_opened(tmp_path):
    rows = [{"id": 1, "text": "a", "start": 0, "stop": 3}, {"id": 2, "text": "b", "start": 3}]
    talk = chat([[("A", "one"), ("B", "two"), ("A", "three"), ("B", "four")]])
    memory = segviz.memory_from(rows, conversation=talk, embedder=EMBEDDER)
    memory.save(tmp_path / "m.npz")
    opened = segviz.open(tmp_path / "m.npz", embedder=EMBEDDER)
    assert [len(opened.at(step)) for step in range(5)] == [0, 0, 0, 1, 2]
