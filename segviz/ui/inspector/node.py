"""Draws one node: its name and span; its text, lineage, similar nodes or history; turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

import streamlit as st

from segviz.construct.annotate import FAULT, OF_MODEL, PROMPT, REPLY, WRITTEN_BY
from segviz.tree.inspect import (
    State,
    Written,
    nearest,
    path_from_root,
    read_fact,
    relations_of,
    written,
)
from segviz.ui import keys
from segviz.ui.address import write_step
from segviz.ui.inspector.pins import pin_button
from segviz.ui.state import AppSession, PageState
from segviz.ui.widgets.captions import (
    SIMILARITY,
    counted,
    coverage,
    level_label,
    named,
    node_row,
    reach,
    turns_of,
    unmarked,
)
from segviz.ui.widgets.lists import Passage, diffs, node_list, transcript

_HEIGHT = 240
_LISTED = 50
_VERSIONS = 10

_T = TypeVar("_T")


def node_details(shown: PageState) -> None:
    """Draws the selected node; nothing without one.

    Words that match the question are marked. If the node is in the list of evidence, its open row
    has the text, which is not drawn again. Text is shown literally. Only the chosen part is drawn.
    """
    session, structure, result, node = shown.session, shown.structure, shown.result, shown.node
    if node is None:
        return
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        name, where = named(session, structure, node).split(" · ", 1)
        st.markdown(f"**{unmarked(name)}** · {unmarked(where)}", width="stretch")
        pin_button(session, node)
        with st.popover("Copy", icon=":material/content_copy:", type="tertiary", key="copy"):
            turns = ", ".join(turns_of(session, structure, node))
            source = f"{session.conversation.id}, node {node}, {coverage(session, structure, node)}"
            citation = f"{structure.text[node]}\n[{source}; turns {turns}]"
            st.code(citation, language=None, wrap_lines=True)
        st.button(
            "",
            icon=":material/close:",
            help="Clear the selection",
            type="tertiary",
            key="clear-selection",
            on_click=lambda: session.select(None),
        )
    st.caption(unmarked(coverage(session, structure, node)))
    if ended := session.memory.ended_in(structure).get(node):
        st.caption(unmarked(str(ended)))
    listed = result is not None and node in (*result.after, *result.left)
    bodies = {
        "Text": _text_tab,
        "Source": _source,
        "Above and below": _lineage_tab,
        "Similar": _similar_tab,
        "History": _history_tab,
    }
    del bodies["Text" if listed else "Source"]
    if listed and not structure.facts[node]:
        del bodies["Source"]
    first = next(iter(bodies))
    if st.session_state.get("inspect") not in bodies:
        st.session_state["inspect"] = first
    part = st.segmented_control(
        "Part", list(bodies), required=True, key="inspect", label_visibility="collapsed"
    )
    bodies[part or first](shown, node)


def node_transcript(
    shown: PageState, *, key: str, height: int, flags: dict[str, str] | None = None
) -> None:
    """Draws the transcript with the selected node's turns marked; nothing without one.

    A retired node has no turns; the transcript then opens at its first unit. ``flags`` are as in
    ``Passage``.
    """
    session, structure, node = shown.session, shown.structure, shown.node
    if node is None:
        return
    covered = turns_of(session, structure, node)
    began = session.memory.units[int(structure.start[node])].turn_ids[0]
    passage = Passage(covered[0] if covered else began, marked=set(covered), flags=flags or {})
    transcript(session, passage, key=key, height=height)


def _text_tab(shown: PageState, node: int) -> None:
    """Draws the annotation, with the words that match the question marked, and its source."""
    structure, result = shown.structure, shown.result
    matches = result.matches([node]).get(node, {}) if result else {}
    height = _HEIGHT - 100 * bool(structure.facts[node])
    _texts([("", structure.text[node])], node, "text", height, "node-text", matches)
    if matches:
        st.caption("Marked: words of the question. Dotted: words similar to one of them.")
    _source(shown, node)


def _source(shown: PageState, node: int) -> None:
    """Draws the author of the annotation, and the facts."""
    facts = shown.structure.facts[node]
    origin = {name: str(facts[name]) for name in OF_MODEL if name in facts}
    facts = {name: value for name, value in facts.items() if name not in OF_MODEL}
    if origin:
        _origin(shown, node, origin)
    if facts:
        st.caption(f"The memory stores {counted(len(facts), 'fact')} about this node:")
        _texts([(name, read_fact(facts, name)) for name in facts], node, "facts", 140, "node-facts")


def _origin(shown: PageState, node: int, origin: Mapping[str, str]) -> None:
    """Draws the author of a text; if a model was asked for it, also the prompt and the reply."""
    by, why = unmarked(origin.get(WRITTEN_BY, "")), origin.get(FAULT, "")
    author = f"Written by {by}."
    if why:  # the lines may be those of a model: it wrote the children
        author = f"Written offline ({by}): {unmarked(why)}. The lines are from its children."
    st.caption(f"{author} The turns below it have the original words.")
    if PROMPT not in origin:  # no model was asked
        return
    with st.popover("Prompt and reply", icon=":material/forum:", key="origin"):
        prompt = shown.session.memory.prompt_of(node, shown.step)
        if prompt is None:
            st.caption("The prompt is not stored and cannot be restored from this memory.")
        else:
            st.caption("Prompt: system message and user message")
            st.code(f"{prompt.system}\n\n{prompt.user}", language=None, wrap_lines=True)
        st.caption("Unedited reply")
        st.code(origin.get(REPLY) or "(none)", language=None, wrap_lines=True)


def _texts(
    rows: Sequence[tuple[str, str]],
    node: int,
    what: str,
    height: int,
    key: str,
    matches: Mapping[str, float] | None = None,
) -> None:
    """Draws a list of texts about a node, each with a heading; a click does nothing."""
    node_list(
        [("", [{"head": head, "text": text, "matches": matches} for head, text in rows])],
        key=key,
        height=height,
        label=f"The node's {what}",
        about=str(node),
        on_pick=lambda _: None,
    )


def _lineage_tab(shown: PageState, node: int) -> None:
    """Lists the path from the root, further parents, relations and children; a click selects."""
    session, structure = shown.session, shown.structure
    path = path_from_root(structure, node)
    others = structure.parents[node][1:]
    children = structure.children[node]
    relations = relations_of(structure, node)

    def rows(nodes: Sequence[int]) -> list[dict[str, Any]]:
        return [node_row(session, structure, other) for other in nodes]

    related = [
        node_row(session, structure, r.target if r.source == node else r.source)
        | {"note": _relation(r.label, r.weight, r.source == node)}
        for r in _page("Related, ", relations, node)
    ]
    groups = [
        (f"Above it, from the top ({len(path)})", rows(_page("Above it, ", path, node))),
        (f"Other parents ({len(others)})", rows(_page("Other parents, ", others, node))),
        (f"Related ({len(relations)})", related),
        (f"Children ({len(children)})", rows(_page("Children, ", children, node))),
    ]
    if not any(items for _, items in groups):
        st.caption("Nothing is above or below this node.")
        return
    node_list(
        groups,
        key="node-kin",
        height=_HEIGHT,
        label="Nodes above and below",
        about=f"{node}",
        on_pick=session.select,
    )


def _page(name: str, items: Sequence[_T], node: int, size: int = _LISTED) -> Sequence[_T]:
    """Returns one page of a long list, and draws the control for the other pages.

    ``name`` begins the label of the control, which belongs to ``node``. A page has ``size`` items.
    """
    if len(items) <= size:
        return items
    what, pages = f"{name}{size} of {len(items):,}", -(-len(items) // size)
    chosen: int = st.number_input(
        f"{what} at a time; choose page 1 to {pages:,}",
        1,
        pages,
        key=f"page-{what}-{node}",
        width=320,
    )
    return items[(chosen - 1) * size :][:size]


def _relation(label: str, weight: float, outgoing: bool) -> str:
    often = "" if weight == 1 else f" × {weight:g}"
    return f"{label}{often} →" if outgoing else f"← {label}{often}"


SCOPES = ("All nodes", "Leaves only")


def _similar_tab(shown: PageState, node: int) -> None:
    """Lists the five most similar nodes that are neither above nor below this one."""
    session, structure = shown.session, shown.structure
    scope = st.segmented_control(
        "Among",
        SCOPES,
        default=SCOPES[0],
        required=True,
        key="nearest-scope",
        label_visibility="collapsed",
        persist_state="session",
    )
    neighbours = nearest(structure, node, leaves_only=scope == SCOPES[1])
    if not neighbours:
        st.caption(
            "There is no node to compare: all others are above or below this one, or have no "
            "vector."
        )
        return
    st.caption(
        "The five most similar nodes that are neither above nor below this one.",
        help=f"{SIMILARITY} Nodes above and below this one are left out, because their texts "
        "depend on each other.",
    )
    items = [
        node_row(session, structure, other) | {"note": f"similarity {cosine:.3f}"}
        for other, cosine in neighbours
    ]
    node_list(
        [("", items)],
        key="node-nearest",
        height=_HEIGHT,
        label="Similar nodes",
        about=f"{node} {scope}",
        on_pick=session.select,
    )


def _history_tab(shown: PageState, node: int) -> None:
    """Lists every step that wrote the node, up to the step shown, newest first."""
    session, structure = shown.session, shown.structure
    everything = list(written(session.memory.steps, node))
    until = [entry for entry in everything if entry.step <= shown.step]
    later = everything[len(until) :]
    chosen = _versions(session, until, node) if until else None
    last = until[-1].after if until else None
    if last is not None and last.text != structure.text[node]:
        st.caption("The text of this node was out of date, so it was rewritten for this question.")
    if later:
        following = later[0].step
        st.button(
            f"Rewritten in {counted(len(later), 'later step')}; go to step {following}",
            key="later-step",
            type="tertiary",
            on_click=write_step,
            args=(session, following),
        )
        if st.session_state.get("later-step"):
            chosen = following
    if chosen is not None:
        st.switch_page(st.session_state[keys.PAGES]["grow"], query_params={})


def _versions(session: AppSession, entries: Sequence[Written], node: int) -> int | None:
    """Draws a page of versions of a text as word diffs.

    Returns the step of the version whose button was clicked, else None.
    """
    count, last = len(entries), entries[-1]
    st.caption(
        f"Written in {counted(count, 'step')}, first in step {entries[0].step}, last in step "
        f"{last.step}. Newest first. Struck through: removed in a step. Underlined: added."
    )
    shown = _page("", entries[::-1], node, _VERSIONS)
    with st.container(key="versions"):  # style.css makes it scroll
        return diffs(
            [_change(session, entry) for entry in shown],
            key="node-history",
            steps=[entry.step for entry in shown],
            on_step=lambda step: write_step(session, step),
        )


def _change(session: AppSession, entry: Written) -> tuple[str, str, str]:
    """Returns title, text before and text after a version, for a word diff."""
    unit = entry.cause.unit
    by = entry.cause.operation or f"unit {unit.index}"
    title = f"Step {entry.step} · {by} · session {unit.session + 1} · {_what(session, entry)}"
    before, after = entry.before, entry.after
    if before is None or after is None:
        there = after or before
        return title, there.text if there else "", there.text if there else ""
    if before.text == after.text:
        return title, "", ""
    return title, before.text, after.text


def _what(session: AppSession, entry: Written) -> str:
    """Returns what a step did to a node, as the end of a title."""
    before, after = entry.before, entry.after
    if after is None:
        return "is removed" if before else "is added and removed"
    if before is None:
        alone = after.span == (entry.cause.unit.index, entry.cause.unit.index + 1)
        return "is added" if alone else f"is added with {reach(session, *after.span)}"
    return ", ".join(_differences(session, before, after)) or "rewritten without a change"


def _differences(session: AppSession, before: State, after: State) -> list[str]:
    """Returns the changes between two states of a node, as phrases."""
    changes = ["text rewritten"] if before.text != after.text else []
    if before.span != after.span:
        changes.append(f"now {reach(session, *after.span)}")
    if before.level != after.level:
        levels = (level_label(session.memory, at) for at in (before.level, after.level))
        changes.append(" → ".join(levels))
    names = dict.fromkeys((*before.facts, *after.facts))
    changed = [n for n in names if before.facts.get(n) != after.facts.get(n)]
    if changed:
        more = f" and {len(changed) - 4} more" if len(changed) > 4 else ""
        changes.append(f"changed facts: {', '.join(islice(changed, 4))}{more}")
    return changes
