"""Panel that lists what differs between two moments of a memory, or between two builds of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from segviz.export import changes_csv, file_name
from segviz.memory import Change, Changes, EvidenceChange
from segviz.systems import level_name, level_names
from segviz.ui.state import AppSession, PageState
from segviz.ui.widgets import captions, lists
from segviz.view.bookmark import build_name
from segviz.view.captions import units_text

_LISTED = 12
"""Number of changed texts of a kind that are drawn; the table has all."""

_UNFOLDED = 2
"""Number of changed texts that are drawn whole; more scroll."""

_NODES = 200
"""Number of nodes of a kind that are listed; the table has all."""

_BOUNDARIES = 8
"""Number of boundaries that are named."""

_HEIGHT = 320
"""Height in pixels of the list of nodes that only one tree has, and of changed texts."""

_CHANGED = {
    "superseded": "no longer true by the store",
    "rewritten": "rewritten",
    "retired": "retired",
    "added": "added",
}


def moment_name(session: AppSession, step: int) -> str:
    """Names a number of steps by the day of its last unit, as in "after 12 May 2023 (step 40)"."""
    if not step:
        return "before the first turn"
    time = session.memory.steps[step - 1].unit.time
    return f"after {time:%d %b %Y} (step {step})" if time else f"after step {step}"


def tree_name(state: PageState, other: PageState) -> str:
    """Names a tree by what tells it from the other one: its build, else its moment."""
    if state.session.key == other.session.key:
        return moment_name(state.session, state.step)
    return build_name(state.session.build, other.session.build)


def changes_of(first: PageState, second: PageState) -> Changes:
    """Returns what differs between the two trees of a page: from the second build to the first.

    Of two moments it is what changed from the earlier to the later.
    """
    if first.session.key != second.session.key:
        return first.session.memory.changes_from(second.session.memory, first.step)
    return first.session.memory.changes(*sorted((first.step, second.step)))


def changes_panel(first: PageState, second: PageState) -> None:
    """Draws what differs between the trees of a page, and offers it as a table."""
    session, changes = first.session, changes_of(first, second)
    builds = session.key != second.session.key
    earlier, later = (second, first) if builds or second.step < first.step else (first, second)
    names = tree_name(earlier, later), tree_name(later, earlier)
    evidence = None
    if earlier.result and later.result:
        evidence = EvidenceChange(earlier.result, later.result, changes.twins)
    counts = {kind: [row for row in changes.rows if row.kind == kind] for kind in _CHANGED}
    words = _CHANGED
    if builds:
        words = {"rewritten": "with another text", "retired": f"only in “{names[0]}”"}
        words["added"] = f"only in “{names[1]}”"
    summary = ", ".join(f"{len(rows):,} {words[kind]}" for kind, rows in counts.items() if rows)
    what, between = "What changed", f"from {names[0]} to {names[1]}"
    if builds:
        what, between = "What differs", "between the builds"
    # Names of builds may have texts of a link.
    summary = captions.unmarked(summary) if builds else summary
    st.markdown(f"**{what}** {between}: {summary or 'nothing'}.")
    if builds:
        _boundaries(changes, names)
    retrieved = evidence.retrieves if evidence else lambda _: False
    for rows in counts.values():  # Nodes of the evidence come first, then high ones.
        rows.sort(key=lambda each: (not retrieved(each), -each.level, each.span[0]))
    _nodes_of_one(earlier, later, counts, words, retrieved)
    compared = [
        _row(session, each, words[kind], retrieved(each))
        for kind in ("superseded", "rewritten")
        for each in counts[kind][:_LISTED]
    ]
    if compared:
        with st.container(height=_HEIGHT if len(compared) > _UNFOLDED else "content"):
            lists.diffs(compared, key="changes")
    parts = []
    if evidence:
        parts.append(
            f"Evidence: {len(evidence.entered)} entered, {len(evidence.left)} left, "
            f"{len(evidence.rewritten)} in both with another text."
        )
    if more := sum(max(len(counts[kind]) - _LISTED, 0) for kind in ("superseded", "rewritten")):
        parts.append(f"{more:,} more changed texts are in the table.")
    if parts:
        st.caption(" ".join(parts))
    st.download_button(
        "All changes (CSV)",
        partial(changes_csv, changes),
        file_name=file_name(session.conversation.id, "changes", "csv"),
        mime="text/csv",
        key="changes-file",
        icon=":material/download:",
        on_click="ignore",
    )


def _row(session: AppSession, change: Change, what: str, retrieved: bool) -> tuple[str, str, str]:
    """Returns a changed node as a row of ``lists.diffs``."""
    where = level_name(change.level, level_names(session.memory.system))
    until = f" ({change.ended}), with a later text about the same" * bool(change.ended)
    mark = " · retrieved" * retrieved
    title = f"{what}{until} · node {change.node}, {where}, {units_text(*change.span)}{mark}"
    return title, change.before, change.after


def _boundaries(changes: Changes, names: tuple[str, str]) -> None:
    """Names the units at which a node of level 1 begins in one build alone."""
    if not (changes.memory.has_frontier and changes.earlier and changes.earlier.has_frontier):
        return
    parts = []
    for name, units in zip(names, changes.boundaries, strict=True):
        shown = [
            f"{unit} ({time:%d %b %Y})" if (time := changes.memory.units[unit].time) else f"{unit}"
            for unit in units[:_BOUNDARIES]
        ]
        more = [f"{len(units) - _BOUNDARIES} more"] * (len(units) > _BOUNDARIES)
        parts.append(f"only in “{name}”, before unit {', '.join(shown + more)}" if units else "")
    line = "; ".join(filter(None, parts)) or "the same in both"
    st.markdown(f"**Boundaries** on level 1: {captions.unmarked(line)}.")


def _nodes_of_one(
    earlier: PageState,
    later: PageState,
    counts: dict[str, list[Change]],
    words: dict[str, str],
    retrieved: Callable[[Change], bool],
) -> None:
    """Lists the nodes that one tree alone has; a click selects one in both trees."""
    groups: list[tuple[str, list[dict[str, Any]]]] = []
    picks: list[tuple[AppSession, int]] = []
    for state, kind in ((later, "added"), (earlier, "retired")):
        rows = []
        for change in counts[kind][:_NODES]:
            row = captions.node_row(state.session, state.structure, change.node)
            note = "retrieved" * retrieved(change)
            rows.append({**row, "node": len(picks), "note": note})
            picks.append((state.session, change.node))
        cut = f", {_NODES} of {len(counts[kind]):,}" * (len(counts[kind]) > _NODES)
        groups.append((words[kind][0].upper() + words[kind][1:] + cut, rows))

    def pick(place: int) -> None:
        if place < len(picks):
            picks[place][0].select(picks[place][1])

    if picks:
        lists.node_list(
            groups,
            key="only-in-one",
            height=_HEIGHT,
            label="Nodes that only one of the two trees has",
            about=f"{later.session.key} {earlier.session.key} {earlier.step} {later.step}",
            on_pick=pick,
        )
