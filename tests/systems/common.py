"""What the tests of several systems share: models that can be predicted, short ways to build."""

import numpy as np

import segviz
from segviz.construct import Services
from segviz.conversation import Unit
from segviz.embedding import HashingEmbedder
from segviz.memory import arrivals
from segviz.tree import history
from segviz.tree.invariants import check


class Blank:
    """An embedder for tests in which vectors do not matter."""

    name = "blank"

    def embed(self, texts):
        return np.zeros((len(texts), 2), dtype=np.float32)


class Letters:
    """Embeds a text as its counts of a, b, c, d."""

    name = "letters"

    def embed(self, texts):
        rows = np.array([[t.count(x) for x in "abcd"] for t in texts], dtype=np.float32)
        rows = rows.reshape(-1, 4)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def bracket(texts):
    """A symbolic annotation that records exactly which texts it was given."""
    return "(" + " ".join(texts) + ")"


def run(system, texts, embedder=None, sessions=None):
    """The steps of a system over units of these texts, by default all of one session."""
    embedder = embedder or Letters()
    sessions = sessions or [0] * len(texts)
    told = enumerate(zip(sessions, texts, strict=True))
    units = [Unit(i, (f"D1:{i}",), session, text) for i, (session, text) in told]
    return list(system.steps(arrivals(units, embedder), Services(embedder)))


def build(system, conversation, **params):
    """A memory over turns that needs no model."""
    return segviz.build(conversation, system, "turn", embedder=HashingEmbedder(), **params)


def nodes(structure, *kinds):
    """The active nodes of these kinds."""
    return [n for n in range(len(structure)) if structure.kind[n] in kinds and structure.active[n]]


def near(memory, text):
    """The cosine of every node with a text, at least 0."""
    found = memory.structure.vector @ memory.embedder.embed([text])[0]
    return [round(max(float(x), 0.0), 9) for x in found]


def best(of, by):
    """Nodes by score, the older first among equals."""
    return sorted(of, key=lambda n: (-by[n], n))


def clean(memory):
    """No invariant is broken after any step."""
    for step, structure in enumerate(history(memory.steps)):
        assert check(structure, memory.invariants) == [], step
