"""Tours of the open memory: views with a sentence each, for the tour and the cases of Guide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from segviz.evaluation.evaluation import rescue
from segviz.memory import Memory
from segviz.retrieval import ranks
from segviz.retrieval.gold import ANSWERED, FATES, FOUND, MISSED, QUOTED
from segviz.ui import keys
from segviz.ui.address import show
from segviz.ui.state import AppSession
from segviz.ui.widgets.waiting import waiting
from segviz.view.bookmark import Bookmark, opening_settings
from segviz.waiting import waited_for

_WANTED = "tour-wanted"
"""Key of the memory whose tour is to be computed."""

_MEASURED, _AT_MOMENTS = 40_000, 8_000
"""Largest products of questions and leaves for which a tour measures settings.

Measuring so many takes a second or two. The second is for questions at moments of their own."""


@dataclass(frozen=True)
class Stop:
    """View on the page with this path, with a sentence about it in ``words``."""

    page: str
    words: str
    bookmark: Bookmark


def show_stop(session: AppSession, stops: Sequence[Stop], number: int = 1) -> None:
    """Shows stop ``number``, counted from 1, and the tour bar; no stops end the tour."""
    st.session_state["tour-shown"] = (session.key, tuple(stops), number)
    if stops:
        show(session, stops[number - 1].bookmark)
        st.session_state[keys.PAGE_WANTED] = stops[number - 1].page


def on_tour(session: AppSession) -> bool:
    """Returns True during a tour of this memory."""
    key, stops, _ = st.session_state.get("tour-shown", ("", (), 0))
    return bool(key == session.key and stops)


def begin_tour(session: AppSession) -> None:
    """Has ``tour_bar`` compute the tour of this memory and show its first stop."""
    st.session_state[_WANTED] = session.key


def tour_bar(session: AppSession) -> None:
    """Draws the tour bar: number, sentence, and buttons; nothing without a tour."""
    if st.session_state.get(_WANTED) == session.key:
        end = partial(st.session_state.pop, _WANTED, None)
        with waiting("Looking for the stops of the tour", "stop-tour", end):
            stops = waited_for(partial(tour, session.memory))
        end()
        show_stop(session, stops)
        st.rerun()
    if not on_tour(session):
        return
    _, stops, number = st.session_state["tour-shown"]
    last = number == len(stops)
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="tour-bar"):
        st.markdown(f"**{number} of {len(stops)}**", width="content")
        st.text(stops[number - 1].words, width="stretch")
        for name, to, missing in (("Back", number - 1, number == 1), ("Next", number + 1, last)):
            st.button(
                name,
                key=f"tour-{name}",
                type="secondary" if missing or name == "Back" else "primary",
                disabled=missing,
                on_click=show_stop,
                args=(session, stops, to),
            )
        st.button(
            "",
            icon=":material/close:",
            help="End the tour",
            key="tour-end",
            type="tertiary",
            on_click=show_stop,
            args=(session, ()),
        )


def tour(memory: Memory) -> tuple[Stop, ...]:
    """Returns the stops of the tour: construction, the start of a session, and a question.

    The question is one whose evidence only propagation finds; without one these stops are missing.
    """
    usual, total = opening_settings(memory.system), len(memory.steps)
    early = max(1, total // 6)
    words = (
        f"{early} of {total} steps: each unit of the conversation joins the memory as a leaf, "
        "where it fits best. The scores of all candidates are next to the tree."
    )
    grown = [(early, words)] if total else []
    grown += [(number, words) for _, number, words in sorted(_boundaries(memory))[:1]]
    stops = [Stop("grow", words, Bookmark(step=step, retrieval=usual)) for step, words in grown]
    return (*stops, *_rescued(memory))


def _boundaries(memory: Memory) -> list[tuple[int, int, str]]:
    """Returns a rank, the number and a sentence for every step that begins a session.

    The rank is the level at which the previous unit joined minus that of this unit. The lowest
    rank is the clearest boundary.
    """
    levels, boundaries = memory.structure.level, []
    highest = int(levels.max(initial=0))
    for number, (last, step) in enumerate(zip(memory.steps, memory.steps[1:], strict=False), 2):
        if step.unit.session == last.unit.session or step.decision is None or step.operation:
            continue
        chosen = [each.decision.chosen if each.decision else None for each in (last, step)]
        before, now = (highest if node is None else int(levels[node]) for node in chosen)
        where = f"joins at level {now}" if step.decision.chosen is not None else "begins a new root"
        words = (
            f"Session {step.unit.session + 1} begins. Unit {step.unit.index} {where}; the unit "
            f"before it joined at level {before}. {step.decision.why}"
        )
        boundaries.append((before - now, number, words[:400]))
    return boundaries


def _rescued(memory: Memory) -> list[Stop]:
    """Returns three stops about one question: asked, gold turn missed, gold turn in evidence."""
    questions = memory.conversation.questions
    most = _MEASURED if all(memory.moment(one) is None for one in questions) else _AT_MOMENTS
    best = rescue(memory, questions[: max(1, most // max(1, len(memory.units)))])
    if best is None:
        return []
    question, with_it = questions[best.place], best.settings
    without = replace(with_it, policy="none")
    before, after = memory.ask(question, without), memory.ask(question, with_it)
    gold = memory.gold(question, after.structure)
    was, now = gold.fate(before.evidence), gold.fate(after.evidence)
    # Of the turns that were missed, one that is found now, else quoted, else answered.
    gained = [turn for turn in now if was[turn] == MISSED != now[turn]]
    turn = min(gained, key=lambda turn: FATES.index(now[turn]))
    node = next(one.node for one in after.evidence if turn in gold.by_node.get(one.node, ()))
    text = {
        FOUND: "its own text",
        QUOTED: "a text that quotes it",
        ANSWERED: "a text above it that states the answer",
    }[now[turn]]
    first, last = (
        ranks([node], each.final, each.structure, with_it.levels)[0] for each in (before, after)
    )
    there = sum(fate in (FOUND, QUOTED, ANSWERED) for fate in was.values())
    asked = Bookmark(question=best.place, retrieval=without)
    return [
        Stop(
            "ask",
            f"A question. Without propagation, {there} of {len(was)} turns with the answer are "
            f"in evidence in the {len(before.after)} retrieved nodes.",
            asked,
        ),
        Stop(
            "ask",
            f"Turn {turn} is missed: {text} has rank {first} of "
            f"{int(before.structure.active.sum())} nodes.",
            replace(asked, node=node),
        ),
        Stop(
            "ask",
            f"Now with propagation ({with_it.policy}, α {with_it.alpha:g}, H {with_it.horizon}): "
            f"rank {first} becomes {last}, and turn {turn} is {now[turn]}.",
            replace(asked, node=node, retrieval=with_it),
        ),
    ]
