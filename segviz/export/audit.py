"""The audit of a memory as one HTML file that needs nothing else: no script, no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape

from segviz.evaluation.aggregate import number_of
from segviz.evaluation.audit import Audit
from segviz.evaluation.stages import READ, STAGES
from segviz.export.text import legal
from segviz.text.captions import counted
from segviz.view.palette import SURFACE, session_colours

_LISTED = 500
"""Rows of a table; the CSV file has all."""

_COLOURS = dict(zip(STAGES, session_colours(len(STAGES)), strict=True))
_STYLE = (
    "body{{font:16px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;"
    "background:{light[0]};color:{light[1]}}}"
    "table{{border-collapse:collapse;width:100%;font-size:.9rem}}"
    "th,td{{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8886;"
    "overflow-wrap:break-word;max-width:24rem}}"
    "div{{overflow-x:auto;margin-bottom:1.5rem}}"
    "svg{{width:min(24rem,40vw);height:1.1rem;display:block}}.key{{display:inline-block;width:.8rem;"
    "height:.8rem;margin:0 .35rem 0 1rem}}"
    "@media(prefers-color-scheme:dark){{body{{background:{dark[0]};color:{dark[1]}}}}}"
).format(**SURFACE) + "".join(
    f".s{place}{{fill:{colour};background:{colour}}}"
    for place, colour in enumerate(_COLOURS.values())
)


def audit_html(found: Audit) -> str:
    """Returns the page: counts, stages by category and session, lost evidence, stale texts.

    Text of conversation and memory is escaped. The Content-Security-Policy allows nothing but the
    page's style, named by its hash.
    """
    memory, counts = found.memory, found.counts
    sums = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{sums}'; base-uri 'none'; form-action 'none'"
    title = f"Audit of {memory.system} on {memory.conversation.id}"
    asked = found.settings
    read = "" if asked.budget is None else f", of which {asked.budget} tokens are read"
    how = "its own retrieval" if asked.method == "own" else f"the relevance {asked.relevance}"
    lines = [
        f"{counted(counts['texts'], 'text')} are stored; {counts['attributed']} name no turn and "
        f"were attributed, {counts['unsure']} of them with a confidence below one half.",
        f"They were made from {counts['written']} of {counted(counts['turns'], 'turn')}.",
        f"{counted(counts['questions'], 'question')} with evidence, K {asked.k}{read}, by {how}.",
    ]
    keys = "".join(
        f'<span class="key s{place}"></span>{stage}' for place, stage in enumerate(STAGES)
    )
    lost = [
        (row["question"], row["said"], row["stage"], row["rank"], row["memory"])
        for row in found.rows()
        if row["stage"] != READ
    ]
    stale = [
        (each.text, each.newer, f"{each.likeness:.2f}" if each.newer else "", each.ended)
        for each in found.stale
    ]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{_text(title)}</h1>",
        *(f"<p>{_text(line)}</p>" for line in lines),
        f"<h2>How far gold turns come</h2><p>{keys}</p>",
    ]
    for name, rows in found.tables().items():
        head = (name, "gold turns", "share of each stage", *STAGES)
        cells = []
        for row in rows:
            shares = [number_of(row[stage]) for stage in STAGES]
            said = (f"{share:.3f}" for share in shares)
            cells.append((row["group"], row["gold turns"], _bar(shares), *said))
        parts.append(_table(head, cells))
    parts += [
        "<h2>Evidence that was lost</h2>",
        _table(("question", "said", "stage", "rank", "best memory of it"), lost[:_LISTED]),
        "<h2>Stale beside current</h2><p>A text, and the most alike one of a later session. A pair "
        "may agree; a contradiction in other words is not found.</p>",
        _table(("text", "later text", "cosine", "ended by the store"), stale[:_LISTED]),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


class _Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def _text(value: object) -> str:
    return value if isinstance(value, _Markup) else escape(legal(str(value)))


def _bar(shares: list[float]) -> _Markup:
    """Returns the shares as one stacked bar."""
    boxes, left = [], 0.0
    for place, share in enumerate(shares):
        box = f'<rect class="s{place}" x="{left:.2f}" width="{100 * share:.2f}" height="1"/>'
        boxes.append(box)
        left += 100 * share
    label = ", ".join(f"{stage} {share:.0%}" for stage, share in zip(STAGES, shares, strict=True))
    head = f'<svg viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label="{label}">'
    return _Markup(head + "".join(boxes) + "</svg>")


def _table(head: Iterable[str], rows: Iterable[tuple[object, ...]]) -> str:
    lines = ["<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    heads = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    table = f"<div><table><tr>{heads}</tr>{''.join(lines)}</table></div>"
    return table if lines else "<p>None.</p>"
