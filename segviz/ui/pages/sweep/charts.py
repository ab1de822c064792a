"""Draws the result in words, and all settings as heatmaps; a click on a cell shows it below."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.figures import sweep as figures
from segviz.figures.significance import (
    blind_sentence,
    estimate,
    number,
    spelled,
)
from segviz.ui import keys
from segviz.ui.pages.sweep import Swept
from segviz.ui.pages.sweep.setting import open_in_ask
from segviz.ui.widgets.captions import counted, spread, unmarked
from segviz.ui.widgets.charts import (
    ink,
    meaning,
    plot,
    ramp,
    sentence_of,
    swatch,
    table_button,
)
from segviz.ui.widgets.export_menu import sweep_export
from segviz.ui.widgets.measures import adversarial_questions, recounted_sentence


def verdict_panel(swept: Swept) -> None:
    """Draws the result in words at the top of the page."""
    more = sentence_of(_details(swept))
    swept.verdict.markdown(sentence_of(figures.verdict_sentence(swept.judged)), help=more)


def why_panel(swept: Swept) -> None:
    """Draws what is behind the result: other relevances, what was tried, each policy."""
    judged, shown = swept.judged, swept.settings["relevance"]
    others = {name: one for name, one in swept.known.items() if name != shown}
    seen = [policy for policy in judged.sweep.policies if policy not in judged.blind]
    for sentence in (
        figures.reason_sentence(judged),
        figures.relevances_sentence(judged, others),
        *(figures.heatmap_sentence(judged, policy) for policy in seen),
        figures.tried_sentence(judged),
    ):
        st.caption(sentence_of(sentence))


def _details(swept: Swept) -> str:
    """Returns the numbers behind the verdict, for its hover text."""
    judged = swept.judged
    best, base = judged.best(), judged.base
    if best is None:
        return ""
    text = (
        f"Over {counted(base.n, 'question')} the best of {len(judged.moved())} settings is "
        f"{spelled(best.cell)}, relevance {judged.sweep.settings.relevance}. Its {judged.label} "
        f"is {spread(best.mean)}, without propagation {spread(base)}. The difference is "
        f"{estimate(best.gain, plus=True)}."
    )
    if adversarial_questions(swept.session.conversation.questions):
        other = not judged.adversarial
        mean = best.cell.outcomes.mean(judged.measure, adversarial=other)
        none = judged.sweep.baseline.outcomes.value(judged.measure, adversarial=other)
        which = "With" if other else "Without"
        text += f" {which} category 5: {number(mean.value)} against {number(none)}, n = {mean.n}."
    return text + recounted_sentence(best.cell.outcomes, judged.measure, judged.adversarial)


def charts_panel(swept: Swept) -> None:
    """Draws a heatmap for each policy that can change the measure, and the numbers of a cell."""
    judged = swept.judged
    seen = [policy for policy in judged.sweep.policies if policy not in judged.blind]
    with swept.picture:
        _colour_key(swept)
        if judged.blind:
            st.markdown(blind_sentence(judged.blind, judged.measure))
        if seen:
            with st.container(key="beside-heatmaps"):
                columns = st.columns(len(seen), gap="medium")
            for column, policy in zip(columns, seen, strict=True):
                with column:
                    _heatmap(swept, policy)
        with st.container(horizontal=True, vertical_alignment="center", key="sweep-cell-row"):
            shown = judged.verdicts.get(swept.cell.setting)
            said = shown and f": {estimate(shown.mean)}, {estimate(shown.gain, plus=True)}"
            how = f"{spelled(swept.cell)}, relevance {unmarked(swept.settings['relevance'])}"
            st.markdown(f"**{how}**{said or ''}", width="stretch")
            open_in_ask(swept)
            sweep_export(swept.session, swept.sweep, len(swept.maps))
            table_button("heatmaps", lambda: figures.cell_rows(judged, seen))


def _colour_key(swept: Swept) -> None:
    """Draws the legend of the colours and of the frames."""
    judged = swept.judged
    tones = ramp("change")
    marks = [swatch(tones[-2], "better"), swatch(tones[4], "no change"), swatch(tones[1], "worse")]
    marks.append(swatch(ink(), "significant", frame=True))  # of these maps or the small ones
    if swept.cell.policy not in judged.blind:
        marks.append(swatch(meaning("chosen"), "the setting below", frame=True))
    st.markdown(
        f"**{unmarked(judged.label)}** against no propagation ({number(judged.base.value)}): &ensp;"
        f"{' '.join(marks)}",
        unsafe_allow_html=True,
        width="stretch",
        help="The colour of a cell is the size of the paired difference from no propagation in the "
        "mean over all questions. A framed cell differs significantly: the 95 % interval, "
        "corrected for all settings, does not include zero. Click a cell to choose its setting; "
        "at first it is the best one.",
    )


def _heatmap(swept: Swept, policy: str) -> None:
    judged, chosen = swept.judged, swept.cell.setting
    st.markdown(f"**{unmarked(policy)}** · {figures.counts_words(judged, policy)}")
    figure = figures.heatmap(
        judged, policy, ramp=ramp("change"), ink=ink(), accent=meaning("chosen"), chosen=chosen
    )
    sentence, key = figures.heatmap_sentence(judged, policy), f"heat-{policy}"
    plot(figure, sentence, key, on_select=lambda: _take(policy), selection_mode="points")


def _take(policy: str) -> None:
    """Copies a click before the page is drawn, because the next run clears the selection."""
    event: Any = st.session_state.get(f"heat-{policy}")
    points = event.selection.points if event else []
    custom = points[0].get("customdata") if points else None
    if not custom:
        return
    values = list(custom.values()) if isinstance(custom, dict) else list(custom)
    st.session_state[keys.SWEEP_CELL] = (str(values[0]), float(values[1]), int(values[2]))
