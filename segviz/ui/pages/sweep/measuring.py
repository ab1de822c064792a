"""Measures sweeps of propagation: a short one immediately, a long one on request.

Any click stops the run. Finished settings are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from segviz.evaluation import Cell, Sweep
from segviz.evaluation.sweep import sweep
from segviz.ui.pages.sweep import SWEEPS_KEPT, sweep_key
from segviz.ui.state import AppSession, remember
from segviz.ui.widgets.captions import unmarked
from segviz.ui.widgets.measures import at_once, duration
from segviz.ui.widgets.waiting import GRID, Job, JobPart, Progress

_PARTS_KEPT = 2

# Policies of a usual sweep.
_USUAL = 3


def sweep_job(
    session: AppSession, settings: Mapping[str, Any], what: str, label: str, sweeps: int = 1
) -> Job:
    """Returns the job of one or several sweeps; a click holds until Stop.

    Args:
        session: the open memory.
        settings: settings of the sweep.
        what: last part of the keys of its buttons, unique on the page.
        label: text of the button that starts it.
        sweeps: number of sweeps, for the expected duration.
    """
    # After Stop no sweep begins without a click, whatever its settings.
    long = len(settings["policies"]) / _USUAL
    return Job(
        "sweeps",
        SWEEPS_KEPT,
        what + sweep_key(session, settings),
        label,
        f"run-{what}",
        GRID,
        note=lambda: duration(session, long * sweeps),
        automatic=lambda: at_once(session, long),
        lasting=True,
        scope="every sweep",
        stop=f"stop-{what}",
        leaves=0,
    )


def sweep_part(session: AppSession, settings: Mapping[str, Any]) -> JobPart[Sweep]:
    """Returns the measurement of a sweep, which goes on after the settings finished before."""
    key, name = sweep_key(session, settings), unmarked(settings["relevance"])
    cells: dict[tuple[str, float, int], Cell] = remember("swept-cells", key, _PARTS_KEPT, dict)

    def keep(cell: Cell) -> None:
        cells[cell.setting] = cell

    def work(progress: Progress) -> Sweep:
        measure = partial(sweep, session.memory, session.conversation.questions, **settings)
        return measure(progress=progress, known=tuple(cells.values()), keep=keep)

    def text(count: int, total: int) -> str:
        if not total:
            return f"Scoring the questions with {name}"
        return f"Sweeping {name}: {count} of {total} settings"

    return JobPart(key, work, text)
