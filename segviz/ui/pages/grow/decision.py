"""Shows what one step decided and changed."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.evaluate.text_metrics import content_tokens
from segviz.memory import Memory
from segviz.tree import Decision, Judgement, Revise, Step, Structure, total_cost
from segviz.ui.state import Session
from segviz.ui.widgets.captions import called, counted, level_label, named, unmarked
from segviz.ui.widgets.charts import Height, table
from segviz.ui.widgets.lists import diffs, node_list
from segviz.ui.widgets.tree import literal_switch

# So many candidates are listed without scrolling.
_SEEN = 9

# Pixels of a text beside another; longer ones scroll.
_TALL = 260


def decision_panel(session: Session, structure: Structure, step: Step, now: int) -> None:
    """Draws what was decided, by which numbers, what changed and what it cost."""
    st.markdown(f"**Step {now:,}**")
    st.text(step.note)
    decision = step.decision
    if decision is not None:
        st.text(decision.why)
        if decision.candidates:
            before = session.memory.at(now - 1)
            _beside(session, session.shown(before), step, decision)
            with st.expander(f"All {counted(len(decision.candidates), 'candidate')}"):
                _candidates(session, before, structure, decision)
    _changes(session, step, now)
    _figures(session, structure, step, now)
    literal_switch()


def _figures(session: Session, structure: Structure, step: Step, now: int) -> None:
    """Draws the running cost in a row of numbers."""
    leaves = len(structure.leaves)
    nodes = int(structure.collapsed.active.sum())
    written = total_cost(session.memory.steps[:now]).annotated
    st.caption(
        f"{counted(nodes, 'node')} · {nodes / leaves:.2f} per leaf · "
        f"{step.cost.modified} touched · {written / leaves:.2f} texts per leaf · "
        f"{1000 * step.cost.seconds:.1f} ms",
        help=(
            "**Nodes per leaf** counts a same-text chain once; the paper reports 1.25 on "
            "LoCoMo. **Touched**: nodes added or rewritten in this step. **Texts per leaf**: "
            "annotations written so far, each of which would be one model call. **ms**: time "
            "this step took when it was built."
        ),
    )


def _beside(session: Session, before: Structure, step: Step, decision: Decision) -> None:
    """Draws the new unit and a candidate side by side, as it stood before, with the words they
    share marked: the selected candidate, else the chosen one."""
    known = [n for n in (item.node for item in decision.candidates) if n < len(before)]
    asked = session.selected_in(before)
    if asked is None or asked not in before.chain[known]:
        if decision.chosen not in known:
            return
        asked = int(before.chain[decision.chosen])
    unit, other = step.unit.text, before.text[asked]
    speakers = content_tokens(" ".join(session.conversation.speakers))
    shared = (content_tokens(unit) & content_tokens(other)) - speakers
    with st.container(key="beside-candidate"):
        for column, head, text in zip(
            st.columns(2, gap="medium"),
            ("The new unit", named(session, before, asked)),
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
        f"{counted(len(shared), 'word')} in common, marked. Pick another candidate in the column "
        "beside the tree."
    )


def _candidates(session: Session, before: Structure, after: Structure, decision: Decision) -> None:
    """The candidates from low to high, as they stood before the leaf joined (those that the
    step itself made, as they stand after it): the table twin of the marks beside the tree.
    Models that score fill other columns than models that answer with a word."""
    memory = session.memory
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
                "words": called(session, structure, item.node).removesuffix(" · ") or None,
                "units": f"{start}–{stop - 1}" if stop - start > 1 else f"{start}",
                "node": item.node,
            }
        )
    # Only where the candidates are the whole frontier does none of them mean a new root.
    if decision.chosen is None and memory.laws == "segment-tree":
        above = 1 + max(int(before.level[item.node]) for item in decision.candidates)
        row = {"level": _level(memory, above), "outcome": "new root", "units": "all"}
        rows.append(row)
    height: Height = 280 if len(rows) > _SEEN else "content"
    table(rows, about=f"Candidates of this step, {len(rows)}", height=height)


def _level(memory: Memory, level: int) -> str:
    """Returns a level's name without the word "level", which is the column's heading."""
    return level_label(memory, level).removeprefix("level ")


def _outcome(item: Judgement, chosen: int | None) -> str:
    if item.node == chosen:
        return "joined"
    if item.score is None:
        return "not joined"
    if item.threshold is not None and item.score < item.threshold:
        return "too far"
    return "close enough"


def _changes(session: Session, step: Step, now: int) -> None:
    """Draws the rewritten annotations of the step as word diffs."""
    before = session.memory.at(now - 1)
    changes = [
        (named(session, before, e.node), before.text[e.node], e.text)
        for e in step.events
        if isinstance(e, Revise) and e.text != before.text[e.node]
    ]
    if not changes:
        return
    with st.expander(f"Rewritten annotations ({len(changes)})"):
        diffs(changes, key="grow-diff")
