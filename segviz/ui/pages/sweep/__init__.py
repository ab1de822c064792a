"""Sweep: every setting over all questions. Its panels draw one ``Swept``, made once a rerun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.evaluation import Cell, Sweep
from segviz.figures.significance import Judged, judge
from segviz.retrieval import RetrievalSettings
from segviz.ui import keys
from segviz.ui.state import AppSession, fingerprint, peek, remember

SWEEPS_KEPT = 6  # one for each relevance, with the same K and policies


def sweep_key(session: AppSession, settings: Mapping[str, Any]) -> str:
    """Returns the content key of a sweep with these settings."""
    asked = [question.index for question in session.conversation.questions]
    return fingerprint(session.key, dict(settings), asked)


def known_sweep(session: AppSession, settings: Mapping[str, Any]) -> Sweep | None:
    """Returns a sweep that was measured before, or None."""
    known: Sweep | None = peek("sweeps", sweep_key(session, settings))
    return known


@dataclass(frozen=True)
class Swept:
    """Sweep that a rerun of the page shows by one measure.

    Attributes:
        session: the open memory.
        settings: policies, relevance and K of the sweep.
        sweep: the results.
        measure: the measure.
        adversarial: True if questions of category 5 count.
        disputed: True if disputed questions count.
        verdict: slot at the top of the page for the result in words.
        picture: slot below it for the heatmaps.
        maps: slot of each relevance that can be measured.
        offer: slot for the button that measures the others.
    """

    session: AppSession
    settings: Mapping[str, Any]
    sweep: Sweep
    measure: str
    adversarial: bool
    disputed: bool
    verdict: DeltaGenerator
    picture: DeltaGenerator
    maps: Mapping[str, DeltaGenerator]
    offer: DeltaGenerator

    def by(self, relevance: str) -> dict[str, Any]:
        """Returns the settings with another relevance."""
        return {**self.settings, "relevance": relevance}

    def asked(self, cell: Cell) -> RetrievalSettings:
        """Returns the retrieval settings of a cell."""
        policy, alpha, horizon = cell.setting
        return replace(self.sweep.settings, policy=policy, alpha=alpha, horizon=horizon)

    def judge(self, sweep: Sweep) -> Judged:
        """Tests all settings of a sweep by the measure."""
        key = sweep_key(self.session, self.by(sweep.settings.relevance or ""))
        return remember(
            "judged",
            fingerprint(key, self.measure, self.adversarial, self.disputed, len(self.maps)),
            SWEEPS_KEPT,
            lambda: judge(
                sweep.counting(disputed=self.disputed),
                self.measure,
                adversarial=self.adversarial,
                sweeps=len(self.maps),
            ),
        )

    @cached_property
    def judged(self) -> Judged:
        """Tested settings of the sweep."""
        return self.judge(self.sweep)

    @cached_property
    def cell(self) -> Cell:
        """Clicked setting, if its policy can change the measure.

        Otherwise the best propagating setting, or the last if none has a value.
        """
        clicked: Any = st.session_state.get(keys.SWEEP_CELL)
        shown = self.judged.verdicts.get(clicked) or self.judged.best()
        return shown.cell if shown else self.judged.sweep.cells[-1]

    @property
    def known(self) -> dict[str, Judged]:
        """Tested settings of all sweeps that are measured so far, by relevance."""
        sweeps = {name: known_sweep(self.session, self.by(name)) for name in self.maps}
        return {name: self.judge(sweep) for name, sweep in sweeps.items() if sweep is not None}
