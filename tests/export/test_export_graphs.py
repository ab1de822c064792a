"""GraphML and Newick, read back."""

from __future__ import annotations

import io
import json
import random
import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.export import graphml, newick, newick_problem
from segviz.export.text import legal
from segviz.tree import Structure
from tests.export.views import HOSTILE, dag, forest, nothing
from tests.trees import chain, grown, random_graph, random_tree, toy


def read_graphml(data: bytes) -> nx.MultiDiGraph:
    return nx.read_graphml(io.BytesIO(data), node_type=int, force_multigraph=True)


def assert_same(structure: Structure, graph: nx.MultiDiGraph) -> None:
    """Every column of the structure, from the graph that was read."""
    assert sorted(graph) == list(range(len(structure)))
    for node in range(len(structure)):
        found = graph.nodes[node]
        assert found["level"] == structure.level[node]
        assert (found["start"], found["stop"]) == (structure.start[node], structure.stop[node])
        assert found["active"] == structure.active[node]
        assert (found.get("text") or "") == legal(structure.text[node])
        assert (found.get("kind") or "") == legal(structure.kind[node])
        assert json.loads(found["facts"]) == dict(structure.facts[node])
    edges = list(graph.edges(data=True))
    links = sorted((d["order"], s, t) for s, t, d in edges if d["type"] == "child")
    assert [[s, t] for _, s, t in links] == structure.edges.tolist()
    relations = sorted((d["order"], s, t, d) for s, t, d in edges if d["type"] == "relation")
    assert [(s, t, d["label"], d["weight"]) for _, s, t, d in relations] == [
        (r.source, r.target, legal(r.label), r.weight) for r in structure.relations
    ]


def test_graphml_holds_every_column(memory, hostile):
    for structure in (memory.structure, hostile.structure, toy(), forest(), dag(), chain(1)):
        for name in ("a & b", HOSTILE[0]):
            data = graphml(structure, name)
            graph = read_graphml(data)
            assert_same(structure, graph)
            assert graph.graph["name"] == legal(name)
            assert data == graphml(structure, name)


@given(st.lists(st.text(), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_graphml_of_any_text_and_any_acyclic_graph(texts, rng):
    n, edges = random_graph(random.Random(rng.random()), len(texts))
    structure = grown([(0, i, i + 1) for i in range(n)], edges, texts)
    assert_same(structure, read_graphml(graphml(structure)))


def test_nothing_is_an_empty_graph():
    assert len(read_graphml(graphml(nothing().structure))) == 0
    assert newick(nothing().structure) == ""


# --- Newick ----------------------------------------------------------------------------------


TOKEN = re.compile(r"[(),;]|'((?:[^']|'')*)'(?::\d+)?")


def read_newick(text: str) -> list[tuple[list[int], list[tuple[int, int]], dict[int, str]]]:
    """(nodes in postorder, [parent, child] in order of children, label by node) per tree.

    A small reader of the grammar: quoted labels, lengths, no comments.
    """
    trees = []
    nodes: list[int] = []
    edges: list[tuple[int, int]] = []
    labels: dict[int, str] = {}
    open_: list[list[int]] = [[]]
    children: list[int] = []
    for token in TOKEN.finditer(text):
        match token[0][0]:
            case "(":
                open_.append([])
            case ")":
                children = open_.pop()
            case "'":
                name, _, label = token[1].replace("''", "'").partition(" ")
                node = int(name.removeprefix("n"))
                nodes.append(node)
                labels[node] = label
                edges += [(node, child) for child in children]
                open_[-1].append(node)
                children = []
            case ";":
                assert open_ == [[nodes[-1]]]
                trees.append((nodes, edges, labels))
                nodes, edges, labels, open_ = [], [], {}, [[]]
    assert TOKEN.sub("", text).strip() == ""
    return trees


def assert_same_tree(structure: Structure, text: str) -> None:
    trees = read_newick(text)
    assert [nodes[-1] for nodes, _, _ in trees] == list(structure.roots)
    for _, edges, _ in trees:
        for parent in {parent for parent, _ in edges}:
            assert tuple(c for p, c in edges if p == parent) == structure.children[parent]
    found = sorted(edge for _, edges, _ in trees for edge in edges)
    assert found == sorted(map(tuple, structure.edges.tolist()))
    assert (
        sorted(n for nodes, _, _ in trees for n in nodes)
        == np.flatnonzero(structure.active).tolist()
    )


def test_newick_gives_the_same_trees(memory, hostile):
    for structure in (memory.structure, hostile.structure, toy(), forest(), chain(1)):
        text = newick(structure)
        assert_same_tree(structure, text)
        assert text.count("\n") == len(structure.roots)


def test_newick_of_small_trees_to_the_letter():
    assert newick(chain(1)) == "'n0 node 0';\n"
    assert newick(grown([(0, 0, 1), (2, 0, 1)], [(1, 0)])) == "('n0 node 0':2)'n1 node 0';\n"
    assert newick(forest()) == (
        "'n4 node 4';\n('n0 node 0':1,'n1 node 1':1)'n5 node 5';\n"
        "('n2 node 2':1,'n3 node 3':1)'n6 node 6';\n"
    )


@given(st.integers(1, 12), st.integers(), st.lists(st.text(), min_size=12, max_size=12))
def test_newick_of_any_tree_and_any_text(n, seed, texts):
    rows = [(n - i, 0, 1) for i in range(n)]
    structure = grown(rows, random_tree(random.Random(seed), n), texts)
    assert_same_tree(structure, newick(structure))


def test_a_label_keeps_what_one_line_can_hold():
    structure = grown([(0, 0, 1)], [], ["it's\n \ta 'label' (of:1,[a]);"])
    assert read_newick(newick(structure))[0][2] == {0: "it's a 'label' (of:1,[a]);"}


def test_several_parents_are_refused_with_the_way_out():
    problem = newick_problem(dag())
    assert "node 1 has 2 parents (3, 4)" in problem
    assert "GraphML" in problem
    with pytest.raises(ValueError, match="GraphML"):
        newick(dag())
    assert newick_problem(forest()) == ""


@pytest.mark.slow
def test_a_deep_chain_is_written():
    text = newick(chain(100_000))
    assert text.startswith("((((")
    assert text.endswith("'n99999 node 0';\n")
