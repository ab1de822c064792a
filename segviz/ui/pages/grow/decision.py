"""Panel with the decision of one step, its scores, its changes and its cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import streamlit as st

from segviz.construct.tasks.words import salience
from segviz.memory import Memory
from segviz.text.captions import duration, shorten
from segviz.text.words import content_tokens
from segviz.tree import Decision, Judgement, Revise, Step, Structure, total_cost
from segviz.ui.settings import read_settings, setting_control
from segviz.ui.state import AppSession, PageState
from segviz.ui.widgets.captions import called, counted, kind_label, level_label, named, unmarked
from segviz.ui.widgets.charts import Height, table
from segviz.ui.widgets.lists import diffs, node_list


@dataclass(frozen=True)
class GrowState(PageState):
    """Memory after one step on Grow."""

    @cached_property
    def second(self) -> GrowState | None:
        """Another build after the same step, if one is drawn beside this one."""
        other = self.session.second
        if other is None or self.step > len(other.memory.steps):
            return None
        return GrowState(other, other.shown(other.memory.at(self.step)), self.step)

    @property
    def picked(self) -> GrowState:
        """The build in which a node is selected; this one without a selection."""
        second = self.second
        return second if second and second.session.selected is not None else self

    @property
    def made_by(self) -> Step:
        """The step after which it is shown."""
        return self.session.memory.steps[self.step - 1]

    @cached_property
    def summary(self) -> tuple[str, str]:
        """Sentence about the step, and its further reasons; see :func:`step_summary`."""
        return step_summary(self.session, self.structure, self.made_by)


# Candidates listed without scrolling.
_SEEN = 9

# Least salience of a shared word that is marked.
_TELLING = 0.4

# Height of a text in pixels; longer texts scroll.
_TALL = 260


# Most characters of the line and of an uncut note; fewest and most of a quoted unit.
_LINE, _NOTE, _QUOTED = 140, 120, (24, 60)

# References to nodes in notes and reasons.
_NODE = re.compile(r"\b(node|cluster|episode|statement|theme|topic) (\d+)\b", re.IGNORECASE)


def step_summary(session: AppSession, structure: Structure, step: Step) -> tuple[str, str]:
    """Returns the line above the tree that says what a step did, and its further reasons.

    Both name units and nodes of ``structure``, the one after the step, by their labels.
    """
    judged = step.decision and _telling(step.decision)
    numbers = ", needed ".join(filter(None, judged.numbers)) or judged.label if judged else ""
    about = judged.node if judged else -1

    def name(node: int, more: str = "") -> str:
        node = int(structure.chain[node])
        units = int(structure.start[node]), int(structure.stop[node]) - 1
        where = "–".join(dict.fromkeys(f"S{session.sessions[unit] + 1}" for unit in units))
        words = called(session, structure, node).removesuffix(" · ")
        kind = kind_label(session.memory, int(structure.level[node]), structure.kind[node])
        return f"{f'“{words}”' if words else kind} ({where}{more})"

    def in_words(text: str, more: str = "") -> str:
        """Replaces ids of nodes in a text by words; ``more`` is added to the judged node."""

        def put(match: re.Match[str]) -> str:
            noun, node = match[1], int(match[2])
            if node >= len(structure) or not structure.active[structure.chain[node]]:
                return match[0]
            words = name(node, more if node == about else "")
            return words if noun == "node" or words[0] != "“" else f"{noun} {words}"

        return _NODE.sub(put, text)

    note, rest = step.note, ""
    if len(note) > _NOTE:
        note, _, rest = note.partition(". ")
    mentioned = str(about) in (number for _, number in _NODE.findall(note))
    line = in_words(note.removesuffix("."), f": {numbers}")
    if step.decision and judged and not mentioned:
        how = "nearest" if step.decision.chosen is None else "into"
        line += f"; {how} {name(about, f': {numbers}')}"
    room = min(max(_LINE - len(line), _QUOTED[0]), _QUOTED[1])
    line = re.sub(rf"^Unit {step.unit.index}\b", lambda _: _quoted(session, step, room), line)
    why = step.decision.why if step.decision else ""
    return f"{line}.", in_words(f"{rest} {why}".strip())


def _telling(decision: Decision) -> Judgement | None:
    """Returns the chosen candidate or, if none was chosen, the nearest miss."""

    def margin(item: Judgement) -> float:
        return (item.score or 0.0) - (item.threshold or 0.0)

    rows = [item for item in decision.candidates if item.node == decision.chosen]
    if decision.chosen is None:
        rows = [item for item in decision.candidates if margin(item) < 0]
    return max(rows, key=margin, default=None)


def _quoted(session: AppSession, step: Step, room: int) -> str:
    """Returns the beginning of a unit in quotes, without its speaker, cut between words."""
    text = step.unit.text
    for who in session.conversation.speakers:
        text = text.removeprefix(f"{who}: ")
    beginning = shorten(text.partition("\n")[0], room)
    return "“" + re.sub(r"[.,;]?\s\S{0,12}…$", "…", beginning) + "”"


def decision_line(state: GrowState) -> None:
    """Draws the summary of the step above the tree."""
    with st.container(key="decided"):
        st.markdown(unmarked(state.summary[0]))


def decision_panel(state: GrowState) -> None:
    """Draws the scores of the decision, the rewritten texts and the cost of the step."""
    session, step, (_, why) = state.session, state.made_by, state.summary
    st.markdown("**Why**" if why else "**What changed**", help=unmarked(step.note))
    if why:
        st.text(why)
    decision = step.decision
    if decision is not None and decision.candidates:
        before = session.memory.at(state.step - 1)
        _beside(state, session.shown(before), decision)
        several = "All " * (len(decision.candidates) > 1)
        with st.expander(several + counted(len(decision.candidates), "candidate")):
            _candidates(state, before, decision)
    _changes(state)
    _figures(state)
    setting_control(session, read_settings(session), "literal")


def _figures(state: GrowState) -> None:
    """Draws the running cost in a row of numbers."""
    structure, step = state.structure, state.made_by
    leaves = len(structure.leaves)
    nodes = int(structure.collapsed.active.sum())
    cost = total_cost(state.session.memory.steps[: state.step])
    written, so_far = cost.annotated, cost.by_model
    made = f" · {step.cost.by_model or 'nothing asked'} (so far {so_far})" if so_far else ""
    # A saved memory has no times.
    lasted = f" · {duration(step.cost.seconds)}" * (step.cost.seconds > 0)
    st.caption(
        f"{counted(nodes, 'node')} · {nodes / leaves:.2f} per leaf · "
        f"{step.cost.modified} modified in this step · "
        f"{written / leaves:.2f} texts written per leaf{lasted}{made}",
        help=(
            "**Nodes per leaf** counts a same-text chain once; the paper reports 1.25 on "
            "LoCoMo. **Touched**: nodes added or rewritten in this step. **Texts per leaf**: "
            "annotations written so far; a model needs one call for each. **The time** is that of "
            "this step during the build."
        ),
    )


def _beside(state: GrowState, before: Structure, decision: Decision) -> None:
    """Draws the new unit next to a candidate before the step, with shared words marked.

    The candidate is the selected one, else the chosen one.
    """
    session = state.session
    known = [n for n in (item.node for item in decision.candidates) if n < len(before)]
    asked = session.selected_in(before)
    if asked is None or asked not in before.chain[known]:
        if decision.chosen not in known:
            return
        asked = int(before.chain[decision.chosen])
    unit, other = state.made_by.unit.text, before.text[asked]
    shared = telling_words(unit, other, session.conversation.speakers)
    with st.container(key="beside-candidate"):
        for column, head, text in zip(
            st.columns(2, gap="medium"),
            ("The new unit", named(session, before, asked, state.structure)),
            (unit, other),
            strict=True,
        ):
            with column:
                st.caption(unmarked(head))
                node_list(
                    [("", [{"head": "", "text": text, "matches": dict.fromkeys(shared, 1.0)}])],
                    key=f"compared-text-{'new' if text is unit else 'candidate'}",
                    height=_TALL,
                    label=head,
                    about=f"{asked}",
                    on_pick=session.select,
                )
    st.caption(
        f"Shared content words: {len(shared) or 'none'}. Select another candidate in the tree to "
        "compare it."
    )


def telling_words(one: str, other: str, speakers: Sequence[str]) -> frozenset[str]:
    """Returns the salient words that two texts share, without names of the speakers."""
    nobody = content_tokens(" ".join(speakers))
    shared = content_tokens(one) & content_tokens(other)
    return frozenset(word for word in shared - nobody if salience(word) >= _TELLING)


def _candidates(state: GrowState, before: Structure, decision: Decision) -> None:
    """Draws the table of candidates, in their state before the step, from low to high levels.

    Candidates that the step itself made are shown in their state after it. A scored decision fills
    the columns "similar" and "needed", a decision by labels fills "label".
    """
    session, memory, after = state.session, state.session.memory, state.structure
    rows: list[dict[str, Any]] = []
    for item in decision.candidates:
        structure = before if item.node < len(before) else after
        start, stop = int(structure.start[item.node]), int(structure.stop[item.node])
        similar, needed = item.numbers
        rows.append(
            {
                "level": _level(memory, int(structure.level[item.node])),
                "outcome": _outcome(item, decision.chosen),
                "label": item.label or None,
                "similar": similar,
                "needed": needed,
                "words": called(session, after, item.node).removesuffix(" · ") or None,
                "units": f"{start}–{stop - 1}" if stop - start > 1 else f"{start}",
                "node": item.node,
            }
        )
    # Without a chosen candidate a new root was made, if the candidates are the whole frontier.
    if decision.chosen is None and memory.has_frontier:
        above = 1 + max(int(before.level[item.node]) for item in decision.candidates)
        row = {"level": _level(memory, above), "outcome": "new root", "units": "all"}
        rows.append(row)
    height: Height = 280 if len(rows) > _SEEN else "content"
    if memory.has_frontier and any((c.threshold or 0) < 0 for c in decision.candidates):
        st.caption(
            "Similarity is relative to the average of this conversation, so it may be negative. "
            "The needed similarity falls with the level and may be negative, too."
        )
    table(rows, about=f"Candidates of this step, {len(rows)}", height=height)


def _level(memory: Memory, level: int) -> str:
    """Returns the name of a level without the word "level", the heading of the column."""
    return level_label(memory, level).removeprefix("level ")


def _outcome(item: Judgement, chosen: int | None) -> str:
    """Returns what became of a candidate; ``chosen`` is the node that the unit joined."""
    if item.node == chosen:
        return "joined"
    if item.score is None:
        return "not joined"
    if item.threshold is not None and item.score < item.threshold:
        return "too far"
    return "close enough"


def _changes(state: GrowState) -> None:
    """Draws the rewritten annotations of the step as word diffs."""
    session, after = state.session, state.structure
    before = session.memory.at(state.step - 1)
    changes = [
        (named(session, before, e.node, after), before.text[e.node], e.text)
        for e in state.made_by.events
        if isinstance(e, Revise) and e.text != before.text[e.node]
    ]
    if not changes:
        return
    with st.expander(f"Rewritten annotations ({len(changes)})"):
        diffs(changes, key="grow-diff")
