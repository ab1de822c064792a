"""Page Guide: propagation on seven leaves, the paper's cases, and every system."""

from __future__ import annotations

from collections.abc import Collection
from inspect import cleandoc

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from segviz.construct import parameters
from segviz.figures.toy import numbered_tree, share_rows
from segviz.plugins import foreign
from segviz.retrieval import (
    POLICIES,
    RetrievalSettings,
    Retriever,
    combine,
    initial_scores,
    spread,
    top_k,
)
from segviz.systems import SYSTEMS
from segviz.tree.toy import QUESTION, toy_relevance, toy_structure
from segviz.ui.pages.guide.cases import draw_cases
from segviz.ui.state import AppSession
from segviz.ui.widgets.captions import cited
from segviz.ui.widgets.charts import ink, plot, ramp, sentence_of, table, theme
from segviz.ui.widgets.tour import begin_tour

_TOY_K = 3

_WHAT = """
You see a long conversation as a **memory tree**. The bottom row has its **leaves**: pieces of the
conversation, oldest at the left. Each **node** above has a shorter text about all leaves below it.

A **question** gives every node a **score**: the relevance of its own text. **Propagation** then
moves scores along the edges of the tree, so that a node receives a part of its neighbours' scores.
**α** sets how large that part is, and **H** sets how many edges it travels. The nodes with the
highest scores are returned as **evidence**. Some data sets name **gold** turns, which contain the
answer. A gold turn is *found* if its own leaf is returned. It is *quoted* if only a wider node
that quotes it is returned, and *answered* if a returned node above it states the answer. These
three are *in evidence*. Otherwise it is *missed*.

- **Grow** shows how the tree was built, and why each leaf joined where it did.
- **Ask** draws the scores before propagation above the time axis and those after it below. A number
  is the rank of a node that enters, leaves or has gold; a dot is another node that is returned.
  *Change* draws one tree with the differences, *Beside* a second setting, moment or build.
- **Sweep** measures many settings on many questions. **Compare** measures other memory systems.
- The line in the sidebar opens file, texts, parameters and models.
"""


GOOD_TEXTS = (
    "The first two samples open with titles and summaries written by hand; the same tree with "
    "quoted lines is one click away (*Texts*, below the line in the sidebar). On the 61 questions "
    "of *Ines and Theo* that have an answer, answer words "
    "rise from .62 to .76 (hybrid relevance, no propagation; difference +.14 [.06, .23]), while "
    "evidence reached stays level on 69 questions (+.01 [−.08, .10]). With bottom-up propagation "
    "(α .1, H 2) on cosines, fewer gold turns are quoted (−.17 [−.24, −.09]), because a summary "
    "does not repeat the words of a turn."
)
"""Three sentences whose numbers a test measures again."""


def render(session: AppSession) -> None:
    """Draws the page."""
    st.header("What am I looking at?", divider="gray")
    st.markdown(_WHAT)
    st.button(
        "Take the tour of this memory",
        icon=":material/tour:",
        key="tour",
        help="Its construction, the start of a session, and a question whose evidence only "
        "propagation finds",
        on_click=begin_tour,
        args=(session,),
    )
    st.header("Propagation on seven leaves", divider="gray")
    _toy()
    st.header("The paper's cases", divider="gray")
    draw_cases(session)
    st.header("What good texts change", divider="gray")
    st.markdown(GOOD_TEXTS)
    st.header("The systems", divider="gray")
    for name in SYSTEMS:
        _system(name)


def _toy() -> None:
    """Draws propagation on a tree of seven turns: scores, weights, and scores hop by hop."""
    structure = toy_structure()
    st.markdown(
        "This is a segment tree over seven short turns. Time runs to the right, and every box "
        "spans the turns below it. A box shows its number, its text, and its score for the "
        "question before and **after** propagation. A stronger colour is a higher score after "
        "propagation. The three best have a thick border."
    )
    st.text(f"Question: {QUESTION}")
    left, middle, right = st.columns([5, 4, 4], gap="medium")
    policy = left.selectbox(
        "Propagation",
        list(POLICIES),
        index=1,
        key="toy-policy",
        format_func=lambda name: POLICIES[name]().label,
    )
    alpha = middle.slider("Decay α", 0.0, 0.95, 0.5, 0.05, key="toy-alpha")
    horizon = right.slider("Hops H", 0, 5, 2, key="toy-horizon")
    initial = initial_scores(toy_relevance(), structure.active)
    hops = spread(initial, structure.edges, policy, horizon, structure)
    final = combine(hops, policy, alpha)
    best = top_k(final, structure, _TOY_K)
    figure = numbered_tree(
        structure,
        initial,
        final,
        ramp=ramp("score"),
        borders=({"light": "#c9c5be", "dark": "#5a5751"}[theme()], ink()),
        marked=best,
    )
    sentence = f"The seven-leaf tree; the best nodes are {', '.join(map(str, best))}."
    plot(figure, sentence, "toy-tree")
    with st.container(key="beside-wide-toy"):
        shares, numbers = st.columns(2, gap="medium")
    with shares:
        st.markdown(
            "**Transition weights** of this policy: each node gives equal shares that add up to 1. "
            "A node without a target gives nothing.",
            help="The matrix W_P of the paper, column by column: the share of a node's score that "
            "one hop moves to each other node.",
        )
        matrix = spread(np.eye(len(structure)), structure.edges, policy, 1, structure)[1].T
        table(share_rows(matrix), about="Share of its score that each node gives to each other")
    with numbers:
        st.markdown(
            "**Hop by hop.** Every hop moves the scores one edge further. Later hops weigh less.",
            help="s⁽⁰⁾ is relevance as shares of 1, s⁽ᵏ⁾ = W_P s⁽ᵏ⁻¹⁾, and the propagated score "
            "is Σ αᵏ s⁽ᵏ⁾ / Σ αᵏ.",
        )
        _hop_table(structure.text, hops, final)


def _hop_table(
    texts: tuple[str, ...], hops: tuple[NDArray[np.float64], ...], final: NDArray[np.float64]
) -> None:
    rows = [
        {
            "node": node,
            "says": text,
            **{f"s⁽{_SUPERSCRIPTS[hop]}⁾": float(scores[node]) for hop, scores in enumerate(hops)},
            "propagated": float(final[node]),
        }
        for node, text in enumerate(texts)
    ]
    digits = dict.fromkeys(rows[0], 3)
    table(rows, about="Scores of every node after each hop, and the final score", digits=digits)


_SUPERSCRIPTS = "⁰¹²³⁴⁵"


_FIDELITY = {"faithful": "as in its source", "adapted": "adapted from its source"}


def _system(name: str) -> None:
    """Draws a closed panel about a system: its source, parameters and departures."""
    kind = SYSTEMS[name]
    package = foreign("systems", name)
    origin = f"from {package}" if package else _FIDELITY.get(kind.fidelity, kind.fidelity)
    title = sentence_of(f"{kind.label} · {origin}")
    with st.expander(title, key=f"about-{name}", on_change="rerun") as about:
        if not about.open:
            return
        st.markdown(cited(cleandoc(kind.__doc__ or "")))
        if issubclass(kind, Retriever):
            own = RetrievalSettings(method="native").relevance_for(kind)
            st.markdown(f"Its own retrieval scores nodes by `{own}`, like its source.")
        rows = [
            {
                "parameter": p.name,
                "default": str(getattr(p.default, "name", p.default)),
                "range": _range(p.spec.low, p.spec.high, p.spec.choices),
                "meaning": p.spec.help,
            }
            for p in parameters(kind)
        ]
        if rows:
            table(rows, about=f"Parameters of {kind.label}")
        if kind.departures:
            st.markdown("**Departures**\n\n" + "\n".join(f"- {d}" for d in kind.departures))


def _range(low: float | None, high: float | None, choices: Collection[str]) -> str:
    if choices:
        return ", ".join(choices)
    return "" if low is None and high is None else f"{low} to {high}"
