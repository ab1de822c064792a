"""The browser's propagation and retrieval equal Python's on random structures."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from segviz.retrieval import estimated_tokens, propagate, ranks
from segviz.retrieval.ledger import explain
from segviz.retrieval.selection import repeats
from segviz.tree import Structure
from segviz.view.coloring import LIVE_POLICIES
from tests.frontend.node import needs_node, run
from tests.scenes import tree_message
from tests.trees import best_nodes, random_graph, random_tree, toy

pytestmark = needs_node

SETTINGS = [
    (policy, alpha, horizon)
    for policy in LIVE_POLICIES
    for alpha, horizon in ((0.0, 3), (0.1, 2), (0.37, 5), (0.99, 1), (0.5, 0), (0.8, 11))
]

ASK = """
return cases.map((c) => {
  const data = { level: Int32Array.from(c.level), start: Int32Array.from(c.start),
    parent: Int32Array.from(c.parent), edges: Int32Array.from(c.edges),
    tokens: Int32Array.from(c.tokens), same_text: Int32Array.from(c.same_text),
    quoted: Int32Array.from(c.quoted) };
  const scores = m.propagator(Float64Array.from(c.initial),
    { ...data, edges: m.edgePairs(data) });
  return settings.map(([policy, alpha, horizon]) => {
    const final = scores(policy, alpha, horizon);
    return { final: Array.from(final), top: retrieval.map((how) =>
      Array.from(m.topNodes(final, data, how))) };
  });
});
"""


def column(message: dict[str, Any], name: str) -> list[int]:
    """An int32 column of a payload."""
    return np.frombuffer(message[name], dtype="<i4").tolist()


def case(structure: Structure, initial: np.ndarray) -> dict[str, Any]:
    """What the browser gets for a structure."""
    message = tree_message(structure, unit_sessions=[], session_labels=[], identity="x")
    sent = {name: column(message, name) for name in ("level", "start", "parent", "edges")}
    return sent | {
        "initial": initial.tolist(),
        "tokens": [estimated_tokens(text) for text in structure.text],
        "same_text": repeats(structure).first.tolist(),
        "quoted": repeats(structure).pairs.ravel().tolist(),
    }


WORDS = [letter * 6 for letter in "abcdef"]


def random_structure(seed: int) -> Structure:
    """A forest or a graph of several parents and roots; some nodes without edges retired. Few
    words, so that there are same-text chains and texts that quote others."""
    rng = random.Random(seed)
    n = rng.randrange(1, 60)
    if seed % 3:
        _, edges = random_graph(rng, n)
    else:
        edges = random_tree(rng, n)
        rng.shuffle(edges)
    level = np.zeros(n, dtype=np.int32)
    for _ in range(n):  # a parent lies above its children
        for parent, child in edges:
            level[parent] = max(level[parent], level[child] + 1)
    start = np.array([rng.randrange(0, 30) for _ in range(n)], dtype=np.int32)
    stop = start + np.array([rng.randrange(1, 9) for _ in range(n)], dtype=np.int32)
    linked = {node for edge in edges for node in edge}
    active = np.array([node in linked or rng.random() < 0.7 for node in range(n)])
    return Structure(
        level=level,
        start=start,
        stop=stop,
        text=tuple(" ".join(rng.sample(WORDS, rng.choice((0, 0, 1, 2, 5)))) for _ in range(n)),
        vector=np.zeros((n, 0), dtype=np.float32),
        active=active,
        edges=np.array(edges, dtype=np.int32).reshape(-1, 2),
    )


def scores(structure: Structure, seed: int) -> np.ndarray:
    """Shares of one whole; on every fourth seed few distinct values, so that nodes tie."""
    rng = np.random.default_rng(seed)
    n = len(structure)
    raw = rng.integers(0, 3, n).astype(float) if seed % 4 == 0 else rng.random(n)
    raw[~structure.active] = 0
    return raw / raw.sum() if raw.sum() else raw


def test_scores_and_top_k_equal_pythons() -> None:
    structures = [toy(), *(random_structure(seed).collapsed for seed in range(60))]
    initial = [scores(structure, seed) for seed, structure in enumerate(structures)]
    retrieval = [
        {"k": 1, "levels": None, "budget": None},
        {"k": 5, "levels": None, "budget": None},
        {"k": 100, "levels": [0, 2], "budget": None},
        {"k": 5, "levels": None, "budget": 60},
        {"k": 5, "levels": [0, 1], "budget": 15},
        {"k": 5, "levels": None, "budget": None, "deduplicate": True},
        {"k": 9, "levels": [0, 2], "budget": 60, "deduplicate": True},
    ]
    answers = run(
        ASK,
        cases=[case(s, i) for s, i in zip(structures, initial, strict=True)],
        settings=SETTINGS,
        retrieval=retrieval,
    )
    several_parents = retired = chains = skipped = 0
    for seed, (structure, first) in enumerate(zip(structures, initial, strict=True)):
        several_parents += any(len(p) > 1 for p in structure.parents)
        retired += not structure.active.all()
        chains += bool((structure.top > structure.level).any())
        for (policy, alpha, horizon), answer in zip(SETTINGS, answers[seed], strict=True):
            wanted = propagate(first, structure.edges, policy, alpha, horizon, structure).final
            where = f"seed {seed}, {policy}, alpha {alpha}, horizon {horizon}"
            own = np.array(answer["final"])
            assert np.abs(own - wanted).max(initial=0) < 1e-9, where
            for how, top in zip(retrieval, answer["top"], strict=True):
                assert top == best_nodes(own, structure, **how), where
            plain, differing = answer["top"][1], answer["top"][-2]
            skipped += plain != differing
    assert several_parents > 10
    assert retired > 10
    assert chains > 10
    assert skipped > 100


PATH = """
return cases.map((c) => {
  const data = { level: Int32Array.from(c.level), start: Int32Array.from(c.start),
    parent: Int32Array.from(c.parent), edges: Int32Array.from(c.edges), gold: c.gold,
    tokens: Int32Array.from(c.tokens), origin: new Int32Array(0), live: c.live };
  const initial = Float64Array.from(c.initial);
  const tree = { ...data, edges: m.edgePairs(data) };
  const scores = m.propagator(initial, tree);
  const path = (over) => {
    const run = m.pathOf(data, scores, c.live, over);
    for (;;) { const { done, value } = run.next(); if (done) return value; }
  };
  const { over, values, tops, nodes, ranks } = path(c.over);
  const incoming = m.incomingOf(tree, c.live.policy);
  return { over, values, nodes, tops: tops.map((top) => [...top]),
    ranks: ranks.map((each) => [...each]),
    finals: values.map((value) => [...(over === "alpha"
      ? scores(c.live.policy, value, c.live.horizon)
      : scores(c.live.policy, c.live.alpha, value))]),
    flows: c.level.map((_, node) => m.flowOf(incoming, initial, c.live, node)) };
});
"""


def compared(one: dict[str, Any], structure: Structure, first: np.ndarray, found: Any) -> None:
    """Every retrieved set, rank and contribution of the browser's is Python's, each judged on the
    browser's own scores, whose last bits may differ."""
    live, levels, k = one["live"], one["live"]["levels"], one["live"]["k"]
    assert found["values"] == (
        list(range(6)) if one["over"] == "horizon" else [i / 100 for i in range(100)]
    )
    assert set(found["nodes"]) == {n for top in found["tops"] for n in top} | set(one["gold"])
    for i, (value, scored) in enumerate(zip(found["values"], found["finals"], strict=True)):
        own = np.array(scored)
        setting = live | {one["over"]: value}
        how = (setting["policy"], setting["alpha"], setting["horizon"])
        final = propagate(first, structure.edges, *how, structure).final
        assert np.abs(own - final).max(initial=0) < 1e-9
        assert found["tops"][i] == best_nodes(own, structure, k=k, levels=levels)
        wanted = ranks(found["nodes"], own, structure, levels)
        assert [each[i] for each in found["ranks"]] == list(wanted)
    how = (live["policy"], live["alpha"], live["horizon"])
    for node, flow in enumerate(found["flows"]):
        ledger = explain(node, first, structure.edges, how, structure)
        assert flow["own"] == pytest.approx(ledger.own, abs=1e-12)
        assert flow["total"] == pytest.approx(ledger.total, abs=1e-12)
        given = {
            (hop, each["source"]): each["amount"]
            for hop, part in enumerate(flow["hops"], start=1)
            for each in part["given"]
        }
        received = {(e.hop, e.source): e.amount for e in ledger.received if e.amount > 0}
        assert given == pytest.approx(received, abs=1e-12)


RANGES = {"alpha_max": 0.99, "alpha_step": 0.01, "horizon_max": 5, "budget": None}


def test_paths_and_flows_equal_pythons() -> None:
    cases, structures, initial = [], [], []
    for seed in range(24):
        structure = random_structure(seed).collapsed
        policy, alpha, horizon = SETTINGS[seed * 7 % len(SETTINGS)]
        first = scores(structure, seed)
        live = RANGES | {"policy": policy, "alpha": alpha, "horizon": horizon, "k": 5}
        live |= {"levels": [0, 1] if seed % 5 == 0 else None}
        over = "horizon" if seed % 3 == 0 else "alpha"
        gold = np.flatnonzero(structure.active)[:2].tolist()
        cases.append(case(structure, first) | {"live": live, "over": over, "gold": gold})
        structures.append(structure)
        initial.append(first)
    for each in zip(cases, structures, initial, run(PATH, cases=cases), strict=True):
        compared(*each)
