"""Writes the audit of a memory as one HTML file, without script and network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, tostring

from segviz.evaluation import number_of
from segviz.evaluation.audit import Audit, LostQuestion, limits_of, tables_of, unsure_turns
from segviz.evaluation.stages import STAGES, curve_rows, occurring
from segviz.export.report import STYLE, Markup, escaped, report_html, table_html
from segviz.export.text import legal
from segviz.text.captions import clipped, counted
from segviz.view.palette import MEANINGS, session_colours

_LONGEST = 600  # characters of a text in the table of a question
_LISTED = 500
"""Most rows of a table in the page; the CSV file has all."""

_COLOURS = dict(zip(STAGES, session_colours(len(STAGES)), strict=True))
TRACK_STYLE = (
    ".track{position:relative;height:1.1em;min-width:min(18rem,30vw);border-bottom:1px solid #8886}"
    ".track i{position:absolute;top:.1em;bottom:0;min-width:3px;background:var(--mark)}"
    ".track i.gold{background:var(--gold)}"
    ".track i.at{background:var(--gold);opacity:.25;top:-.3em;bottom:-.3em}"
    ".track i.unsure{background:none;box-shadow:inset 0 0 0 1px var(--mark)}"
    + "".join(
        f".track .x{step}{{left:{step}%}}.track .w{step}{{width:{step}%}}" for step in range(101)
    )
    + ".tracks td:first-child{white-space:nowrap}"
    # On a phone the text is below rank and time axis.
    + "@media(max-width:40rem){.tracks th{display:none}.tracks tr td{border:0}"
    ".tracks tr{display:grid;grid-template-columns:4rem 1fr;border-bottom:1px solid #8886}"
    ".tracks td:nth-child(n+3){grid-column:1/-1;max-width:none}}"
)
"""Style of :func:`question_html`; ``--gold`` and ``--mark`` are the colours of its marks."""

_VARIABLES = "".join(
    f"{where}:root{{--gold:{MEANINGS[mode]['gold']};--mark:{MEANINGS[mode]['control']}}}{end}"
    for mode, where, end in (
        ("light", "", ""),
        ("dark", "@media(prefers-color-scheme:dark){", "}"),
    )
)
_STYLE = (
    STYLE
    + TRACK_STYLE
    + _VARIABLES
    + "details{margin:.4rem 0}"
    + "svg{width:min(24rem,40vw);height:1.1rem;display:block}"
    ".key{display:inline-block;width:.8rem;height:.8rem;margin:0 .35rem 0 1rem}"
) + "".join(
    f".s{place}{{fill:{colour};background:{colour}}}"
    for place, colour in enumerate(_COLOURS.values())
)


def question_html(audit: Audit, lost: LostQuestion) -> Markup:
    """Returns a table of a lost question whose rows share one time axis, as HTML without script.

    The first rows are its gold turns, with their stages, the others the ranked texts of its gold
    turns. Texts are escaped.
    """
    conversation, structure = audit.memory.conversation, audit.memory.structure
    place_of = {turn.id: place for place, turn in enumerate(conversation.turns)}
    stages = [audit.stages[place] for place in lost.places]
    gold = [one.turn for one in stages]

    def track(turns: Sequence[str], unsure: Sequence[str] = ()) -> Markup:
        """Draws turns on the time axis: gold ones, others, and those that are unsure."""
        marks = []
        of_gold = {*turns} & {*gold}
        for kind, ids in (("at", gold), ("", turns), ("unsure", unsure), ("gold", of_gold)):
            places = sorted(place_of[turn] for turn in ids if turn in place_of)
            for start, stop in _runs(places):
                left = 100 * start // len(place_of)
                wide = 100 * (stop - start) // len(place_of)
                marks.append(f'<i class="{kind} x{left} w{wide}"></i>')
        return Markup(f'<div class="track">{"".join(marks)}</div>')

    rows: list[tuple[object, ...]] = [
        (
            "said",
            track([one.turn]),
            one.stage,
            f"{one.turn} {clipped(conversation.turn(one.turn).spoken, _LONGEST)}",
        )
        for one in stages
    ]
    rows += [
        (
            rank or "no rank",
            track(audit.memory.turn_ids(node), unsure_turns(structure, node)),
            f"has {', '.join(has)}" if has else "",
            clipped(structure.text[node], _LONGEST),
        )
        for rank, node, has in audit.ranked(lost)
    ]
    days = [f"{day:%d %b %Y}" for day in conversation.period or ()]
    when = " to ".join(dict.fromkeys(days)) or "the conversation"
    lines = []
    if lost.question.answer is not None:
        lines.append(f"Gold answer: {lost.question.answer}")
    answer = audit.answers.get(lost.question.index)
    if answer is not None and answer.answer is not None:
        grade = {True: "right", False: "wrong", None: "not graded"}[lost.right]
        lines.append(f"Answer, {grade}: {answer.answer}")
    heads = ("rank", f"from {when}" if days else when, "gold turn", "text")
    table = f'<div class="tracks">{table_html(heads, rows)}</div>' if rows else ""
    return Markup("".join(f"<p>{escaped(line)}</p>" for line in lines) + table)


def lost_sentence(audit: Audit) -> str:
    """Returns how many questions lost evidence or were answered wrong, and how they are drawn."""
    wrong = sum(each.right is False for each in audit.lost)
    graded = f" or a wrong answer, {wrong} of them wrong" * bool(audit.right)
    every = counted(audit.counts["questions"], "question")
    return (
        f"{counted(len(audit.lost), 'question')} with a missed gold turn{graded}; {every} with "
        "evidence. The worst stage comes first. Marks on the time axis are the turns that a text "
        "was written from."
    )


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yields the half-open ranges of consecutive numbers in ascending ``places``."""
    for _, run in groupby(enumerate(places), key=lambda each: each[1] - each[0]):
        numbers = [place for _, place in run]
        yield numbers[0], numbers[-1] + 1


def audit_html(audit: Audit) -> str:
    """Returns the HTML page of an audit: counts, stages of gold turns, lost evidence, stale texts.

    Text of conversation and memory is escaped. The Content-Security-Policy allows nothing but the
    page's style, named by its hash.
    """
    memory = audit.memory
    sums = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{sums}'; base-uri 'none'; form-action 'none'"
    title = f"Audit of {memory.system} on {memory.conversation.id}"
    # The stages of gold turns, as a bar and as numbers, over all and by category and session.
    tables = tables_of(audit.stages)
    stages = occurring(tables["all"])
    keys = "".join(f'<span class="key s{STAGES.index(stage)}"></span>{stage}' for stage in stages)
    cells = []
    for row in (row for rows in tables.values() for row in rows):
        shares = {stage: number_of(row[stage]) for stage in STAGES}
        numbers = (f"{shares[stage]:.3f}" for stage in stages)
        cells.append((row["group"], row["gold turns"], _bar([*shares.values()]), *numbers))
    # Lost questions, and texts that a later one may replace.
    opened = [
        f"<details><summary>{escaped(each.stage)}: {escaped(each.question.text)}</summary>"
        f"{question_html(audit, each)}</details>"
        for each in audit.lost[:_LISTED]
    ]
    rows = audit.rows()
    turns = [
        (row["question"], row["said"], row["stage"], row["rank"], row["memory"] or row["unsure"])
        for row in rows
    ]
    heads = ("question", "said", "stage", "rank", "best memory of it")
    # Each piece of advice opens the list of its gold turns.
    advice = []
    for each in audit.advice:
        behind = table_html(heads, [turns[place] for place in each.places[:_LISTED]])
        text = escaped(each.text)
        opens = f"<details><summary>{text}</summary>{behind}</details>"
        advice.append(opens if each.places else f"<p>{text}</p>")
    curve = [(row["read"], f"{number_of(row['share']):.3f}") for row in curve_rows(audit.stages)]
    stale = [
        (each.text, each.newer, f"{each.likeness:.2f}" if each.newer else "", each.ended)
        for each in audit.stale
    ]
    parts = [
        *(f"<p>{escaped(line)}</p>" for line in audit.summary),
        "<h2>What to do</h2>",
        *(advice or ["<p>Nothing stands out.</p>"]),
        f"<h2>How far gold turns come</h2><p>{keys}</p>",
        table_html(("group", "gold turns", "share of each stage", *stages), cells),
        "<h2>What more would buy</h2><p>Share of the gold turns among so many of the best texts, "
        "or in so many tokens of them.</p>",
        table_html(("read", "share of gold turns"), curve if audit.stages else ()),
        f"<h2>Wrong questions first</h2><p>{escaped(lost_sentence(audit))}</p>",
        *opened,
        "<h2>Stale beside current</h2><p>A text, and the most alike one of a later session. A pair "
        "may agree; a contradiction in other words is not found.</p>",
        table_html(("text", "later text", "cosine", "ended by the store"), stale[:_LISTED]),
    ]
    return report_html(title, parts, style=_STYLE, policy=policy)


def audit_junit(audit: Audit, limits: Mapping[str, float]) -> str:
    """Returns limits on shares of the gold turns as a JUnit XML report, a test case for each.

    Args:
        audit: the audit.
        limits: as in ``limits_of``.

    Raises:
        ValueError: as for ``limits_of``.
    """
    memory, rows = audit.memory, limits_of(audit.stages, limits)
    failures = sum(not row["kept"] for row in rows)
    suite = Element(
        "testsuite", name=legal("segviz audit"), tests=str(len(rows)), failures=str(failures)
    )
    for row in rows:
        of, name = legal(f"{memory.conversation.id}.{memory.system}"), str(row["name"])
        case = SubElement(suite, "testcase", classname=of, name=name)
        if not row["kept"]:
            sign, share = "below" if name == "recall" else "above", number_of(row["share"])
            failure = SubElement(case, "failure", message=f"{share:.3f} is {sign} {limits[name]:g}")
            failure.text = legal("\n".join(each.text for each in audit.advice))
    return tostring(suite, "unicode", xml_declaration=True) + "\n"


def _bar(shares: list[float]) -> Markup:
    """Returns the shares of the stages, which sum to 1, as one stacked bar in SVG."""
    boxes, left = [], 0.0
    for place, share in enumerate(shares):
        box = f'<rect class="s{place}" x="{left:.2f}" width="{100 * share:.2f}" height="1"/>'
        boxes.append(box)
        left += 100 * share
    label = ", ".join(f"{stage} {share:.0%}" for stage, share in zip(STAGES, shares, strict=True))
    head = f'<svg viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label="{label}">'
    return Markup(head + "".join(boxes) + "</svg>")
