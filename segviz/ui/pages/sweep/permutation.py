"""Measures whether the memory uses the order of time, as SegTreeMem Table 3 does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from segviz.evaluate import MEASURES
from segviz.evaluate.many import Build
from segviz.evaluate.permutation import Permutation, permutation
from segviz.figures.judged import told
from segviz.memory import build, make_system, needs_chat
from segviz.systems import SYSTEMS
from segviz.ui import keys
from segviz.ui.state import Session, fingerprint, peek, remember
from segviz.ui.widgets.captions import spread
from segviz.ui.widgets.tables import table

RESULTS_KEPT = 4
_AGAINST = "clustering"


def permutation_panel(session: Session, relevance: str, k: int) -> None:
    """Draws the controls, the run and its outcome."""
    with st.expander(
        "Temporal permutation: what if units changed places?", key=keys.PERMUTE, on_change="rerun"
    ) as panel:
        if not panel.open:
            return
        st.markdown(
            "A share of the units swap places, every system is built again, and the same "
            "questions are asked. A memory that uses the order of time should lose more than "
            "one that groups by similarity alone."
        )
        if needs_chat(make_system(session.memory.system, **session.memory.settings)):
            st.info(
                "Rebuilding with a chat model would be paid for each time: choose offline parts."
            )
            return
        _experiment(session, relevance, k)


def _experiment(session: Session, relevance: str, k: int) -> None:
    first, second, third = st.columns([6, 3, 3], gap="medium")
    others = [name for name in SYSTEMS if name != session.memory.system]
    against = first.multiselect(
        "Compare with",
        others,
        default=[name for name in (_AGAINST,) if name in others],
        format_func=lambda name: SYSTEMS[name].label,
        key=keys.PERMUTE_SYSTEMS,
        wrap=True,
    )
    share = second.slider("Share of units that move", 0.1, 1.0, 0.3, 0.1, key=keys.PERMUTE_SHARE)
    seeds = third.slider("Random orders", 1, 10, 3, key=keys.PERMUTE_SEEDS)
    key = fingerprint(session.key, against, share, seeds, relevance, k)
    found: Permutation | None = peek(keys.PERMUTATIONS, key)
    if found is None:
        builds = (1 + len(against)) * (1 + seeds)
        place = st.empty()
        if not place.button(
            f"Run: {builds} builds", key=keys.RUN_PERMUTE, icon=":material/shuffle:"
        ):
            return
        with place.container():
            bar = st.progress(0.0, "Building")
            st.button("Cancel", key=keys.CANCEL_PERMUTE)
        names = [session.memory.system, *against]
        found = remember(
            keys.PERMUTATIONS,
            key,
            RESULTS_KEPT,
            lambda: _run(session, names, share, seeds, relevance, k, bar.progress),
        )
        place.empty()
    _tables(found)


def _run(
    session: Session,
    names: list[str],
    share: float,
    seeds: int,
    relevance: str,
    k: int,
    report: Callable[[float, str], object],
) -> Permutation:
    memory = session.memory

    def builder(name: str) -> Build:
        settings = memory.settings if name == memory.system else {}
        return partial(build, system=name, unit=memory.unit, embedder=memory.embedder, **settings)

    def progress(done: int, total: int) -> None:
        report(done / total, f"Building: {done} of {total}")

    return permutation(
        [session.conversation],
        {name: builder(name) for name in names},
        share=share,
        seeds=range(seeds),
        relevance=relevance,
        k=k,
        progress=progress,
    )


def _tables(found: Permutation) -> None:
    def words(setting: tuple[str, float, int]) -> str:
        policy, alpha, horizon = setting
        return "no propagation" if policy == "none" else f"{policy}, α {alpha:g}, H {horizon}"

    for first, second in dict.fromkeys((row.first, row.second) for row in found.differences):
        rows = [row for row in found.differences if row.second == second]
        one, other = SYSTEMS[first].label, SYSTEMS[second].label
        st.markdown(f"{_verdict(one, other, [told(row.more) for row in rows])}")
        table(
            [
                {
                    "retrieval": words(row.setting),
                    "measure": MEASURES[row.measure].label,
                    f"{one} loses more by": spread(row.more),
                    "so": {1: "more", 0: "cannot be told", -1: "less"}[told(row.more)],
                }
                for row in rows
            ],
            about=f"How much more {one} loses than {other} when units change places",
        )
    table(
        [
            {
                "system": SYSTEMS[row.system].label,
                "retrieval": words(row.setting),
                "measure": MEASURES[row.measure].label,
                "as it is": spread(row.original),
                "permuted": spread(row.permuted),
                "loss": spread(row.loss),
            }
            for row in found.losses
        ],
        about="What each system loses when units change places",
    )
    st.caption(
        f"{found.share:.0%} of the units moved, mean of {len(found.seeds)} random orders; "
        "95 % bootstrap intervals over questions. One conversation is little evidence: "
        "tests/benchmarks/permutation.py runs five."
    )


def _verdict(first: str, second: str, signs: list[int]) -> str:
    """Returns in how many comparisons the first system loses more, less, or neither can be told."""
    more, less = signs.count(1), signs.count(-1)
    if not (more or less):
        return f"{first} and {second} lose **alike**, as far as can be told in {len(signs)} cases."
    return (
        f"{first} loses **more** than {second} in {more} of {len(signs)} cases and **less** in "
        f"{less}; in the others neither can be told."
    )
