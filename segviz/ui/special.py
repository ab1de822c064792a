"""What some memories have beside a tree: windows, forgetting, families, groups, relations.

Each view is offered where the data of the structure supports it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from segviz.figures.families import (
    dirty_paths,
    effort,
    effort_sentence,
    families,
    families_figure,
    rebuild,
    refreshed,
)
from segviz.figures.forgetting import (
    fades,
    forgetting_figure,
    forgetting_sentence,
    last_met,
    remembered,
)
from segviz.figures.groups import changes, grouped, groups_figure, groups_sentence, sizes
from segviz.figures.relation_graph import (
    around,
    node_name,
    related,
    relation_html,
    ties,
    types,
)
from segviz.figures.windows import dated, windows, windows_figure, windows_sentence
from segviz.frontend.palette import ACCENT, SCORE_RAMP_DARK, SCORE_RAMP_LIGHT
from segviz.protocols import Fades
from segviz.structure import Structure
from segviz.systems.moments import DAY
from segviz.ui.places import level_names
from segviz.ui.state import Session
from segviz.ui.words import counted

_YEARS = 3
_DRAWN = 40
_MOST_DRAWN = 200


def special_panel(session: Session, structure: Structure, step: int) -> None:
    """The views that the memory after ``step`` steps supports; nothing without any."""
    offered = [name for name, (supports, _) in VIEWS.items() if supports(session, structure)]
    if not offered:
        return
    title = ", ".join(offered)
    with st.expander(title, key="special-panel", on_change="rerun") as panel:
        if not panel.open:
            return
        chosen = offered[0]
        if len(offered) > 1:
            chosen = st.segmented_control(
                "View",
                offered,
                default=offered[0],
                required=True,
                key=f"special-{len(offered)}-{offered[0]}",
                label_visibility="collapsed",
            )
        VIEWS[chosen][1](session, structure, step)


def _dark() -> bool:
    return st.context.theme.type == "dark"


def _colours() -> dict[str, str]:
    dark = _dark()
    return {
        "accent": ACCENT["dark" if dark else "light"],
        "neutral": "#9a9690" if dark else "#77736d",
    }


def _ink() -> str:
    return "#edebe8" if _dark() else "#2f2d2b"


def _chart(figure: Any, sentence: str, key: str, more: str = "") -> None:
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=sentence)
    st.caption(f"{sentence} {more}".strip())


# --- time windows --------------------------------------------------------------------


def _has_windows(session: Session, structure: Structure) -> bool:
    return any("window_from" in facts for facts in structure.facts)


def _windows(session: Session, structure: Structure, step: int) -> None:
    names, found = level_names(session.memory), windows(structure)
    calendar = dated(structure)
    figure = windows_figure(
        found,
        last_met(structure),
        names=names,
        calendar=calendar,
        ink=_ink(),
        ramp=SCORE_RAMP_DARK if _dark() else SCORE_RAMP_LIGHT,
        **_colours(),
    )
    more = "" if calendar else " Without dates, units are counted a second apart."
    _chart(
        figure,
        windows_sentence(found, names),
        "windows-chart",
        "Frames are windows, with the number of nodes gathered in them; the bars in them are "
        f"the time those nodes hold. The line is the last unit heard.{more}",
    )


# --- forgetting ----------------------------------------------------------------------


def _can_fade(session: Session, structure: Structure) -> bool:
    return isinstance(session.memory.model, Fades) and fades(structure)


def _forgetting(session: Session, structure: Structure, step: int) -> None:
    model = session.memory.model
    if not isinstance(model, Fades):
        return
    days = st.slider(
        "Days after the last unit heard",
        0,
        365 * _YEARS,
        0,
        key=f"fading-{session.key}",
        help="The moment a question is asked. Nothing in the memory changes by it.",
    )
    points = remembered(structure, last_met(structure) + days * DAY, model.retention)
    figure = forgetting_figure(
        points, model.retention, names=level_names(session.memory), **_colours()
    )
    more = f"{model.fading()} n counts how often a node was met again; nothing is deleted."
    _chart(figure, forgetting_sentence(points), "forgetting-chart", more)


# --- families of a forest ------------------------------------------------------------


def _is_forest(session: Session, structure: Structure) -> bool:
    return bool(families(structure))


def _families(session: Session, structure: Structure, step: int) -> None:
    memory, forest = session.memory, families(structure)
    done = memory.steps[step - 1]
    fresh = refreshed(structure, done.events)
    names = level_names(memory)
    figure = families_figure(
        forest,
        fresh,
        ink=_ink(),
        empty="#3a3834" if _dark() else "#e4e1db",
        **_colours(),
    )
    rows = effort(structure, forest, fresh)
    sentence = effort_sentence(rows, rebuild(structure, forest), done.cost.annotated, names)
    _chart(figure, sentence, "families-chart")
    paths = dirty_paths(forest, fresh)
    if not paths:
        st.caption("This step refreshed no tree.")
        return
    st.markdown(f"**What this step refreshed**, in {counted(len(paths), 'tree')}")
    st.dataframe(
        [
            {
                "family": tree.family,
                "tree": tree.label,
                "items": tree.items,
                "refreshed": f"{len(path)} of {len(tree.nodes)}",
                "nodes, from the root down": " › ".join(map(str, path)),
            }
            for tree, path in paths
        ],
        hide_index=True,
        height=min(38 + 35 * len(paths), 300),
    )


# --- groups --------------------------------------------------------------------------


def _has_groups(session: Session, structure: Structure) -> bool:
    return grouped(structure)


def _groups(session: Session, structure: Structure, step: int) -> None:
    steps = session.memory.steps[:step]
    found, grown = changes(steps), sizes(steps)
    figure = groups_figure(found, grown, **_colours())
    _chart(
        figure,
        groups_sentence(found, grown),
        "groups-chart",
        "The objective is taken among a group's nearest neighbours, so only before and after "
        "of one change compare.",
    )
    if not found:
        return
    with st.expander(f"Every split and merge ({len(found)})"):
        number = st.column_config.NumberColumn(format="%.3f")
        st.dataframe(
            [
                {
                    "step": change.step,
                    "change": change.kind,
                    "group": change.node,
                    "others": ", ".join(map(str, change.others)),
                    "before": change.before,
                    "after": change.after,
                    "gain": change.gain,
                }
                for change in reversed(found)
            ],
            hide_index=True,
            height=300,
            column_config=dict.fromkeys(("before", "after", "gain"), number),
        )


# --- relations -----------------------------------------------------------------------


def _has_relations(session: Session, structure: Structure) -> bool:
    return bool(structure.relations)


def _relations(session: Session, structure: Structure, step: int) -> None:
    everyone = related(structure)
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    centre = left.selectbox(
        "Around",
        everyone,
        index=None,
        format_func=lambda node: f"{node_name(structure, node)} · node {node}",
        placeholder="Everything; choose a node to see what it is related to",
        key=f"relations-{session.key}",
    )
    nodes = everyone if centre is None else around(structure, centre)
    shown = len(nodes)
    if shown > 2:
        most = min(shown, _MOST_DRAWN)
        shown = right.slider("Nodes", 2, most, min(_DRAWN, most), key=f"related-{most}")
    html = relation_html(
        structure,
        nodes[:shown],
        background="#171614" if _dark() else "#ffffff",
        foreground=_ink(),
        accent=_colours()["accent"],
        selected=session.selected if centre is None else centre,
    )
    st.iframe(html, height=560, alt="Nodes and the relations between them")
    legend = ", ".join(f"{mark} {name}" for name, mark in types(structure, nodes[:shown]).items())
    st.text(legend)
    found = [tie for tie in ties(structure) if {tie.source, tie.target} <= set(nodes[:shown])]
    st.caption(
        f"{shown} of {counted(len(everyone), 'node')} with relations, those with most first; "
        f"{counted(len(found), 'pair')} between them. The heaviest carry their label. Size "
        "follows mentions, width the weight. "
        "Drag to pan, scroll to zoom, rest the pointer on a line for all its labels."
    )
    with st.expander(f"As a table ({len(found)})"):
        st.dataframe(
            [
                {
                    "from": node_name(structure, tie.source),
                    "to": node_name(structure, tie.target),
                    "relation": label,
                    "weight": weight,
                }
                for tie in found
                for label, weight in tie.labels
            ],
            hide_index=True,
            height=300,
        )


Supports = Callable[[Session, Structure], bool]
Draws = Callable[[Session, Structure, int], None]

VIEWS: dict[str, tuple[Supports, Draws]] = {
    "Time windows": (_has_windows, _windows),
    "Forgetting": (_can_fade, _forgetting),
    "Families of trees": (_is_forest, _families),
    "Splits and merges": (_has_groups, _groups),
    "Relations": (_has_relations, _relations),
}
"""By name: whether the data supports the view, and what draws it."""
