"""GraphML, read back."""

import io
import json
import random

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from segviz.export.graphs import graphml
from segviz.export.text import legal
from segviz.tree import Structure
from tests.export.views import HOSTILE, dag, forest, nothing
from tests.trees import chain, grown, random_graph, toy


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
