"""Draws shape, measures and cost of the build over the values of a construction parameter."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from segviz.construct import Parameter
from segviz.evaluation import Chart, Comparison, Mean, Row, construction_sweep
from segviz.figures.charts import rows_figure
from segviz.memory import COMPONENTS, declared, make_system, needs_chat, nested
from segviz.systems import SYSTEMS
from segviz.ui.state import AppSession, fingerprint, linked
from segviz.ui.widgets.captions import counted, spread_rows, unmarked
from segviz.ui.widgets.charts import chart, neutral, table
from segviz.ui.widgets.waiting import PLAY, Job, JobPart
from segviz.view import bookmark
from segviz.view.palette import SERIES

RESULTS_KEPT = 4
_BY = "retrieved by"


def construction_panel(session: AppSession) -> None:
    """Draws the controls, the progress and the results."""
    first, second, third = st.columns([3, 3, 5], gap="medium")
    names = list(SYSTEMS)
    here = session.memory.system if session.memory.system in names else names[0]
    system = first.selectbox(
        "System",
        names,
        format_func=lambda name: SYSTEMS[name].label,
        on_change=_usual_values,
        **linked("varied-system", here, names),
    )
    fixed: dict[str, Any] = {}
    if system == session.memory.system:
        fixed = bookmark.differing(SYSTEMS[system], session.memory.settings)
    if needs_chat(make_system(system, **nested(SYSTEMS[system], fixed))):
        st.info("Each build would pay for a chat model again. Choose offline parts.")
        return
    known = {path: one for path, one in declared(SYSTEMS[system], fixed).items() if _values(one)}
    if not known:
        st.info(f"{SYSTEMS[system].label} has no parameters.")
        return
    parameter = second.selectbox(
        "Parameter",
        list(known),
        on_change=_usual_values,
        **linked("varied-parameter", next(iter(known)), known),
    )
    usual = ", ".join(_values(known[parameter]))
    given = third.text_input(
        "Values",
        placeholder=usual,
        help=known[parameter].spec.help,
        **linked("varied-values", ""),
    )
    given = given if given.strip(" ,") else usual
    texts = list(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
    # Values are checked as those of a link are.
    values, problems = [], []
    for text in texts:
        link = {bookmark.in_link(name): str(value) for name, value in fixed.items()}
        link |= {"system": system, bookmark.in_link(parameter): text}
        view, faults = bookmark.decode(link)
        problems += faults
        values.append(view.settings.get(parameter))
    if problems:
        st.warning(unmarked(problems[0]))
        return
    comparison = _measured(session, system, parameter, values, fixed)
    if comparison is not None:
        _outcome(comparison, parameter, dict(zip(map(str, values), values, strict=True)))


def _usual_values() -> None:
    st.session_state["varied-values"] = ""


def _values(parameter: Parameter) -> list[str]:
    """Returns the values offered for a parameter.

    These are its choices, its offline parts, or at most five numbers around the default.
    """
    spec, default = parameter.spec, parameter.default
    if spec.registry:
        parts = COMPONENTS[spec.registry]
        return [name for name, part in parts.items() if not getattr(part, "needs_chat", False)]
    if isinstance(default, bool):
        return ["yes", "no"]
    if spec.low is None or spec.high is None:
        return list(spec.choices)
    step = spec.step or 1
    wide = max(step, round(abs(default) / 4 / step) * step)
    around = np.clip(default + wide * np.arange(-2, 3), spec.low, spec.high)
    cast = int if isinstance(default, int) else float
    return list(dict.fromkeys(f"{cast(round(value, 6)):g}" for value in around.tolist()))


def _measured(
    session: AppSession, system: str, parameter: str, values: list[Any], fixed: Mapping[str, Any]
) -> Comparison | None:
    """Returns the comparison, measured on request."""
    memory = session.memory
    key = fingerprint(session.key, system, parameter, values, dict(fixed))
    # Every value costs a build, so it always starts by a click.
    job = Job(
        "varied",
        RESULTS_KEPT,
        key,
        f"Build {counted(len(values), 'memory', 'memories')}",
        "run-varied",
        PLAY,
        stop="stop-varied",
        bar=False,
        leaves=len(memory.units) * len(values),
    )
    work = partial(
        construction_sweep,
        session.conversation,
        system,
        parameter,
        values,
        fixed=fixed,
        unit=memory.unit,
        embedder=memory.embedder,
    )

    def text(done: int, total: int) -> str:
        leaves = f", {done} of {total} leaves" if total else ""
        return f"Building and measuring{leaves}"

    return job.value(JobPart(key, lambda progress: work(progress=progress), text))


def _outcome(comparison: Comparison, parameter: str, values: Mapping[str, Any]) -> None:
    """Draws shape, measures and cost over the ``values`` of a parameter."""
    rows: list[Row] = [
        {parameter: values[str(row["name"])], **{n: v for n, v in row.items() if n != "name"}}
        for row in comparison.table()
    ]
    # Columns with a value in at least one row.
    known = dict.fromkeys(name for row in rows for name in row if name not in (parameter, _BY))
    shown = [
        n
        for n in known
        if any(not isinstance(v := row[n], Mean) or v.n for row in rows if n in row)
    ]
    figure = rows_figure(
        rows,
        Chart(parameter, tuple(shown), _BY, intervals=True),
        colours=SERIES,
        neutral=neutral(),
    )
    chart(
        figure,
        f"Shape, measures over {counted(comparison.questions, 'question')} and cost of the build "
        f"over {parameter}. Evidence is retrieved by the system's own retrieval, or by "
        "segviz's relevance over all nodes.",
        "varied-chart",
    )
    table(
        spread_rows(rows),
        about=f"Shape, measures and cost of the build over {parameter}",
    )
