"""What some memories have beside a tree: windows, forgetting, families, groups, relations.

Each view is offered where the data of the structure supports it.
"""

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
from segviz.figures.windows import dated, window_rows, windows, windows_figure, windows_sentence
from segviz.tree import Structure
from segviz.ui.pages.grow.relations import draw_relations, has_relations
from segviz.ui.state import Session
from segviz.ui.widgets.captions import level_names
from segviz.ui.widgets.charts import chart, colours, dark, ink
from segviz.ui.widgets.formatting import counted
from segviz.ui.widgets.tables import table
from segviz.view.palette import SCORE_RAMP_DARK, SCORE_RAMP_LIGHT

_YEARS = 3

# So many rows are seen without scrolling, in so many pixels.
_SEEN, _TALL = 8, 280


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
        "windows-chart",
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
        key=f"fading-{session.key}",
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
        "forgetting-chart",
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
        "families-chart",
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
        "groups-chart",
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
    """The steps at which a size changed."""
    # A size in the middle there is not before the first group.
    middles = [None if value != value else value for value in grown.middle.tolist()]
    columns = list(zip(grown.count.tolist(), middles, grown.largest.tolist(), strict=True))
    return [
        {"step": step, "groups": count, "middle size": middle, "largest": largest}
        for step, (count, middle, largest) in enumerate(columns, start=1)
        if step == 1 or columns[step - 2] != columns[step - 1]
    ]


Supports = Callable[[Session, Structure], bool]
Draws = Callable[[Session, Structure, int], None]

VIEWS: dict[str, tuple[Supports, Draws]] = {
    "Time windows": (_has_windows, _windows),
    "Forgetting": (_can_fade, _forgetting),
    "Families of trees": (_is_forest, _families),
    "Splits and merges": (_has_groups, _groups),
    "Relations": (has_relations, draw_relations),
}
"""By name: whether the data supports the view, and what draws it."""
