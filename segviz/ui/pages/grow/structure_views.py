"""Views of what some memories have beside a tree: windows, forgetting, families, groups, relations.

Each view is offered where the data of the structure supports it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from segviz.construct import Fades
from segviz.conversation import DAY
from segviz.evaluation.compare import Chart
from segviz.figures.families import (
    dirty_paths,
    effort_sentence,
    families,
    families_figure,
    family_rows,
    refreshed,
)
from segviz.figures.forgetting import (
    fades,
    forgetting_rows,
    forgetting_sentence,
    last_met,
    remembered,
)
from segviz.figures.groups import change_rows, grouped, groups_sentence, size_rows
from segviz.figures.relation_graph import around, node_name, related, relation_html, ties, types
from segviz.figures.rows import rows_figure
from segviz.figures.windows import dated, window_rows, windows, windows_figure, windows_sentence
from segviz.systems import level_names
from segviz.tree import Structure
from segviz.ui.state import Session
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.charts import caption, chart, colours, ink, pair, theme
from segviz.view.palette import SURFACE, session_colours

_YEARS = 3


def structure_views_panel(session: Session, structure: Structure, step: int) -> None:
    """Draws the views that the memory after ``step`` steps supports; nothing without any."""
    offered = [name for name, (supports, _) in VIEWS.items() if supports(session, structure)]
    if not offered:
        return
    with st.expander(", ".join(offered), key="special-panel", on_change="rerun") as panel:
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


def _windows(session: Session, structure: Structure, step: int) -> None:
    names, found = level_names(session.memory.system), windows(structure)
    calendar = dated(structure)
    now = last_met(structure)
    figure = windows_figure(found, now, names=names, calendar=calendar, ink=ink(), **colours())
    more = "" if calendar else " Without dates, units are counted a second apart."
    chart(
        figure,
        windows_sentence(found, names),
        "windows-chart",
        "Frames are windows, with the number of nodes gathered in them. The line is the last unit "
        f"heard.{more}",
        rows=lambda: window_rows(found, names, calendar),
    )


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
    rows = forgetting_rows(points, model.retention)
    tones = colours()
    figure = rows_figure(
        rows,
        Chart("days since it was last met", ("remembered",), "curve"),
        colours=[tones["neutral"]],
        neutral=tones["accent"],
        hollow=("nodes", "nodes, now"),
    )
    more = f"{model.fading()} n counts how often a node was met again; nothing is deleted."
    chart(
        figure,
        forgetting_sentence(points),
        "forgetting-chart",
        more,
        rows=lambda: rows[-len(points) :],
    )


def _families(session: Session, structure: Structure, step: int) -> None:
    memory, forest = session.memory, families(structure)
    done = memory.steps[step - 1]
    fresh = refreshed(structure, done.events)
    paths = dirty_paths(forest, fresh)
    chart(
        families_figure(forest, fresh, ink=ink(), **colours()),
        effort_sentence(structure, forest, fresh, done.cost.annotated),
        "families-chart",
        "The table has what was refreshed from the root down.",
        rows=lambda: family_rows(forest, paths),
    )


def _groups(session: Session, structure: Structure, step: int) -> None:
    steps = session.memory.steps[:step]
    sized, changed = size_rows(steps), change_rows(steps)
    chart(
        rows_figure(sized, Chart("step", ("groups", "middle size", "largest")), **pair()),
        groups_sentence(changed, sized),
        "groups-chart",
        rows=lambda: sized,
    )
    if not changed:
        return
    chart(
        rows_figure(
            changed,
            Chart("step", ("objective",), "change", kind="marks"),
            hollow=("before", "before"),
            **pair(),
        ),
        "The objective before and after every split and merge.",
        "changes-chart",
        "It is taken among a group's nearest neighbours, so only before and after of one change "
        "compare.",
        rows=lambda: changed[::-1],
    )


_DRAWN = 40
_MOST_DRAWN = 200


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
        key=f"relations-{session.key}",
    )
    nodes = everyone if centre is None else around(structure, centre)
    shown = len(nodes)
    if shown > 2:
        most = min(shown, _MOST_DRAWN)
        shown = right.slider("Nodes", 2, most, min(_DRAWN, most), key=f"related-{most}")
    marks = types(structure, nodes[:shown])
    html = relation_html(
        structure,
        nodes[:shown],
        palette=session_colours(len(marks)),
        background=SURFACE[theme()][0],
        foreground=ink(),
        accent=colours()["accent"],
        selected=session.selected if centre is None else centre,
    )
    st.iframe(html, height=560, alt="Nodes and the relations between them")
    st.text(", ".join(f"{mark} {name}" for name, mark in marks.items()))
    found = [tie for tie in ties(structure) if {tie.source, tie.target} <= set(nodes[:shown])]
    told = {(r.source, r.target, r.label): r.facts for r in structure.relations}
    caption(
        f"{shown} of {counted(len(everyone), 'node')} with relations, those with most first; "
        f"{counted(len(found), 'pair')} between them. The heaviest carry their label. Size "
        "follows mentions, width the weight. "
        "Drag to pan, scroll to zoom, rest the pointer on a line for all its labels.",
        "relations",
        lambda: [
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
    )


Supports = Callable[[Session, Structure], bool]
Draws = Callable[[Session, Structure, int], None]

VIEWS: dict[str, tuple[Supports, Draws]] = {
    "Time windows": (lambda _, shown: any("window_from" in f for f in shown.facts), _windows),
    "Forgetting": (
        lambda session, shown: isinstance(session.memory.model, Fades) and fades(shown),
        _forgetting,
    ),
    "Families of trees": (lambda _, shown: bool(families(shown)), _families),
    "Splits and merges": (lambda _, shown: grouped(shown), _groups),
    "Relations": (lambda _, shown: bool(shown.relations), _relations),
}
"""By name: whether the data supports the view, and what draws it."""
