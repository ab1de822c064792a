"""Views of what some memories have beside a tree: windows, forgetting, families, groups, relations.

Each view is offered where the data of the structure supports it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from segviz.construct import Fades
from segviz.conversation import DAY
from segviz.figures.families import (
    dirty_paths,
    effort,
    effort_sentence,
    families,
    families_figure,
    family_rows,
    rebuild,
    refreshed,
)
from segviz.figures.forgetting import (
    fades,
    forgetting_figure,
    forgetting_rows,
    forgetting_sentence,
    last_met,
    remembered,
)
from segviz.figures.groups import Sizes, changes, grouped, groups_figure, groups_sentence, sizes
from segviz.figures.relation_graph import around, node_name, related, relation_html, ties, types
from segviz.figures.windows import dated, window_rows, windows, windows_figure, windows_sentence
from segviz.tree import Structure
from segviz.ui import keys
from segviz.ui.state import Session
from segviz.ui.widgets.captions import counted, level_names
from segviz.ui.widgets.charts import chart, colours, dark, ink
from segviz.ui.widgets.tables import table
from segviz.view.palette import SCORE_RAMP_DARK, SCORE_RAMP_LIGHT, session_colours

_YEARS = 3

# So many rows are seen without scrolling, in so many pixels.
_SEEN, _TALL = 8, 280


def structure_views_panel(session: Session, structure: Structure, step: int) -> None:
    """Draws the views that the memory after ``step`` steps supports; nothing without any."""
    offered = [name for name, (supports, _) in VIEWS.items() if supports(session, structure)]
    if not offered:
        return
    title = ", ".join(offered)
    with st.expander(title, key=keys.STRUCTURE_VIEWS, on_change="rerun") as panel:
        if not panel.open:
            return
        chosen = offered[0]
        if len(offered) > 1:
            chosen = st.segmented_control(
                "View",
                offered,
                default=offered[0],
                required=True,
                key=keys.structure_view(offered),
                label_visibility="collapsed",
            )
        VIEWS[chosen][1](session, structure, step)


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
        ink=ink(),
        ramp=SCORE_RAMP_DARK if dark() else SCORE_RAMP_LIGHT,
        **colours(),
    )
    more = "" if calendar else " Without dates, units are counted a second apart."
    chart(
        figure,
        windows_sentence(found, names),
        keys.WINDOWS_CHART,
        "Frames are windows, with the number of nodes gathered in them; the bars in them are "
        f"the time those nodes hold. The line is the last unit heard.{more}",
        rows=lambda: window_rows(found, names, calendar),
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
        key=keys.fading(session.key),
        help="The moment a question is asked. Nothing in the memory changes by it.",
    )
    points = remembered(structure, last_met(structure) + days * DAY, model.retention)
    figure = forgetting_figure(
        points, model.retention, names=level_names(session.memory), **colours()
    )
    more = f"{model.fading()} n counts how often a node was met again; nothing is deleted."
    chart(
        figure,
        forgetting_sentence(points),
        keys.FORGETTING_CHART,
        more,
        rows=lambda: forgetting_rows(points),
    )


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
        ink=ink(),
        empty="#3a3834" if dark() else "#e4e1db",
        **colours(),
    )
    rows = effort(structure, forest, fresh)
    sentence = effort_sentence(rows, rebuild(structure, forest), done.cost.annotated, names)
    chart(
        figure,
        sentence,
        keys.FAMILIES_CHART,
        rows=lambda: family_rows(forest, dirty_paths(forest, fresh)),
    )
    paths = dirty_paths(forest, fresh)
    if not paths:
        st.caption("This step refreshed no tree.")
        return
    st.markdown(f"**What this step refreshed**, in {counted(len(paths), 'tree')}")
    table(
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
        about="Trees refreshed by this step",
        height=_TALL if len(paths) > _SEEN else "content",
    )


# --- groups --------------------------------------------------------------------------


def _has_groups(session: Session, structure: Structure) -> bool:
    return grouped(structure)


def _groups(session: Session, structure: Structure, step: int) -> None:
    steps = session.memory.steps[:step]
    found, grown = changes(steps), sizes(steps)
    figure = groups_figure(found, grown, **colours())
    chart(
        figure,
        groups_sentence(found, grown),
        keys.GROUPS_CHART,
        "The objective is taken among a group's nearest neighbours, so only before and after "
        "of one change compare.",
        rows=lambda: _sizes_rows(grown),
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


def _sizes_rows(grown: Sizes) -> list[dict[str, Any]]:
    """Returns a row for each step at which a size changed."""
    # A size in the middle there is not before the first group.
    middles = [None if value != value else value for value in grown.middle.tolist()]
    columns = list(zip(grown.count.tolist(), middles, grown.largest.tolist(), strict=True))
    return [
        {"step": step, "groups": count, "middle size": middle, "largest": largest}
        for step, (count, middle, largest) in enumerate(columns, start=1)
        if step == 1 or columns[step - 2] != columns[step - 1]
    ]


# --- relations -----------------------------------------------------------------------


_DRAWN = 40
_MOST_DRAWN = 200


def _has_relations(session: Session, structure: Structure) -> bool:
    """Tells whether any two nodes are related."""
    return bool(structure.relations)


def _relations(session: Session, structure: Structure, step: int) -> None:
    """Draws the nodes with the heaviest relations, or one with those around it, and a table."""
    everyone = related(structure)
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    centre = left.selectbox(
        "Around",
        everyone,
        index=None,
        format_func=lambda node: f"{node_name(structure, node)} · node {node}",
        placeholder="Everything; choose a node to see what it is related to",
        key=keys.relations(session.key),
    )
    nodes = everyone if centre is None else around(structure, centre)
    shown = len(nodes)
    if shown > 2:
        most = min(shown, _MOST_DRAWN)
        shown = right.slider("Nodes", 2, most, min(_DRAWN, most), key=keys.related(most))
    marks = types(structure, nodes[:shown])
    html = relation_html(
        structure,
        nodes[:shown],
        palette=session_colours(len(marks)),
        background="#171614" if dark() else "#ffffff",
        foreground=ink(),
        accent=colours()["accent"],
        selected=session.selected if centre is None else centre,
    )
    st.iframe(html, height=560, alt="Nodes and the relations between them")
    st.text(", ".join(f"{mark} {name}" for name, mark in marks.items()))
    found = [tie for tie in ties(structure) if {tie.source, tie.target} <= set(nodes[:shown])]
    st.caption(
        f"{shown} of {counted(len(everyone), 'node')} with relations, those with most first; "
        f"{counted(len(found), 'pair')} between them. The heaviest carry their label. Size "
        "follows mentions, width the weight. "
        "Drag to pan, scroll to zoom, rest the pointer on a line for all its labels."
    )
    told = {(r.source, r.target, r.label): r.facts for r in structure.relations}
    with st.expander(f"As a table ({len(found)})"):
        st.dataframe(
            [
                {
                    "from": node_name(structure, tie.source),
                    "to": node_name(structure, tie.target),
                    "relation": label,
                    "weight": weight,
                    "units": facts.get("units"),
                    "confidence": facts.get("confidence"),
                }
                for tie in found
                for label, weight in tie.labels
                for facts in [told[tie.source, tie.target, label]]
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
