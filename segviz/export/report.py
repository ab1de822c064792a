"""Builds reports of one HTML file: head with a Content-Security-Policy, escaped text, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from segviz.export.text import legal
from segviz.view.palette import SURFACE

STYLE = (
    "body{{font:16px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;"
    "background:{light[0]};color:{light[1]}}}"
    "table{{border-collapse:collapse;width:100%;font-size:.9rem}}"
    "th,td{{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8886;"
    "overflow-wrap:break-word;max-width:24rem}}"
    "div.wide{{overflow-x:auto;margin-bottom:1.5rem}}"
    "@media(prefers-color-scheme:dark){{body{{background:{dark[0]};color:{dark[1]}}}}}"
).format(**SURFACE)
"""Style of a report in the browser's theme, light or dark."""


class Markup(str):
    """HTML that is inserted into a report unchanged; any other text is escaped."""

    __slots__ = ()


def report_html(title: str, parts: Sequence[str], *, style: str, policy: str) -> str:
    """Returns the HTML page of a report.

    Args:
        title: plain text; it becomes the title and the first heading.
        parts: HTML, in order.
        style: CSS.
        policy: the Content-Security-Policy of the page.
    """
    head = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{escaped(title)}</title><style>{style}</style></head><body>",
        f"<h1>{escaped(title)}</h1>",
    ]
    return "\n".join([*head, *parts, "</body></html>"]) + "\n"


def escaped(value: object) -> str:
    """Escapes a value for HTML; ``Markup`` stays unchanged."""
    return value if isinstance(value, Markup) else escape(legal(str(value)))


def table_html(head: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns an HTML table with escaped cells, or the paragraph "None." without rows."""
    lines = [
        "<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows
    ]
    heads = "".join(f"<th>{escaped(cell)}</th>" for cell in head)
    table = f'<div class="wide"><table><tr>{heads}</tr>{"".join(lines)}</table></div>'
    return table if lines else "<p>None.</p>"
