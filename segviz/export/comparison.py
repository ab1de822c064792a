"""Writes a comparison of systems as one interactive HTML file that works offline."""

from __future__ import annotations

from collections.abc import Sequence

from segviz.construct import parameters
from segviz.conversation import Question
from segviz.evaluation import MEASURES, Comparison, Row
from segviz.evaluation.compare import COMPARED
from segviz.export.report import STYLE, escaped, report_html, table_html
from segviz.figures.compare import (
    MARKS,
    asked_sentence,
    atlas,
    marks,
    short_names,
    standing_name,
    standing_plot,
    standing_rows,
    standing_sentence,
)
from segviz.text.captions import counted
from segviz.view.palette import MEANINGS

# The charts are drawn by Plotly, which is part of the page; nothing is requested.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
_STYLE = STYLE + ".plotly-graph-div{background:#fff}"
_NEUTRAL = "#77736d"


def comparison_html(
    comparison: Comparison, questions: Sequence[Question], title: str, *, adversarial: bool = True
) -> str:
    """Returns the page of a comparison: each measure, and every question's gold evidence.

    Args:
        comparison: measured on one conversation; disputed questions that it does not count are
            left out.
        questions: the questions of the conversation, in the order of the outcomes.
        title: plain text.
        adversarial: False leaves out the questions whose answer is not in the conversation.

    Returns:
        HTML with Plotly inside. All text of the conversation is escaped.
    """
    groups, asked = comparison.ways(), comparison.settings
    every = {standing_name(one): one for group in groups for one in group}
    limits = "" if asked.budget is None else f", {asked.budget} tokens are read"
    for each in parameters(type(asked)):
        value = getattr(asked, each.name)
        if each.spec.part == "reading" and not each.spec.drawn_by and value != each.default:
            limits += f", {each.heading.lower()}: {each.in_words(value)}"
    counting = comparison.rows[0].outcomes.keep(adversarial=adversarial)
    left_out = len(questions) - len(counting)
    opening = (
        f"{counted(len(counting), 'question')}{f' ({left_out} left out)' * bool(left_out)}, "
        f"K {asked.k}{limits}. Means have 95 % "
        "bootstrap intervals; differences to the first system asked the same way are paired by "
        "question. Own retrieval is that of a system or its paper; segviz's relevance ranks all "
        "its nodes together; leaves are leaves alone, re-ranked along the edges."
    )
    parts = [f"<p>{escaped(opening)}</p>"]
    # A part for each measure: a sentence for each group that compares like with like, and a chart.
    for place, name in enumerate(COMPARED):
        label = MEASURES[name].label
        rows, sentences = dict[str, Row](), ""
        for group in groups:
            mine = standing_rows(group, name, adversarial=adversarial)
            how = asked_sentence(group, list(map(standing_name, group)))
            sentences += f"<p>{escaped(f'{how} {standing_sentence(mine, label)}')}</p>"
            rows |= {str(row["system"]): row for row in mine if row["system"] not in rows}
        tones = MEANINGS["light"]
        figure = standing_plot(
            [*rows.values()],
            label,
            better=tones["better"],
            worse=tones["worse"],
            neutral=_NEUTRAL,
        )
        figure.update_layout(template="plotly_white")
        drawn = figure.to_html(
            full_html=False,
            include_plotlyjs=place == 0,
            div_id=f"measure-{name}",
            config={"displayModeBar": False, "responsive": True},
        )
        parts.append(f"<h2>{escaped(label)}</h2>{sentences}{drawn}")
    # The atlas: the gold turns of each counted question in every system, in their order.
    outcomes = [one.outcomes for one in every.values()]
    columns = dict(zip(short_names(list(every)), outcomes, strict=True))
    fates = atlas(columns, list(columns)[-1], counting)
    cells = [
        (questions[row.place].text, *(marks(fate) for fate in row.fates))
        for row in sorted(fates, key=lambda row: row.place)
    ]
    meaning = f"A mark for each gold turn: {MARKS}."
    parts.append(f"<h2>Every question in every system</h2><p>{meaning}</p>")
    parts.append(table_html(("question", *columns), cells))
    return report_html(title, parts, style=_STYLE, policy=_POLICY)
