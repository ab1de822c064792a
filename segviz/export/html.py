"""Exports a view as one HTML file that needs no server, network or other file.

The page has the canvas with its message, the texts of all nodes, the setting and the evidence. If
its address ends in ``#picture=…`` it shows its vector picture alone (``segviz.export.sheet``).

The Content-Security-Policy of the page forbids every request and every script but its own,
identified by its hash. Untrusted text enters escaped, as the text of elements, and as JSON in a
block of data, with ``<``, ``>`` and ``&`` escaped. So no HTML parser can leave that block early.
The script shows its texts by ``textContent`` only.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from html import escape

from segviz.export.text import file_name, legal, one_line
from segviz.export.view import View
from segviz.frontend import script, stylesheet
from segviz.frontend.message import pack
from segviz.frontend.payload import tree_payload
from segviz.retrieval import Evidence
from segviz.systems import level_name, level_names
from segviz.view.captions import dispute_lines, shown_labels, units_text
from segviz.view.coloring import Live, Look
from segviz.view.palette import MEANINGS, SURFACE, css_colours
from segviz.view.scene import UNFOLDED, Scene, answered, grown, keeps_time, scene_of

WIDTH = 1400
"""Width of a picture, in pixels."""

FILM = (4, 5)
"""Columns and rows of the sheet of an animation, whose pictures have α from 0 to below 1."""

READ = 34
"""Height of the status line below the tree, in pixels; pictures have none."""

_HEAD, _FOOT = 74, 66
"""Heights above and below the canvas of a picture, in pixels: question and setting, legend."""


def html_page(view: View) -> str:
    """Returns the HTML page of a view, to be saved as UTF-8."""
    code, style = script("export_page"), _style()
    policy = (
        f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(style)}'; "
        "img-src blob: data:; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            '<link rel="icon" href="data:,">',
            f"<title>{_literal(one_line(view.heading, 120))} – segviz</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            *_body(view),
            f'<script type="application/json">{_data(view)}</script>',
            f'<script type="module">{code}</script>',
            "</body>",
            "</html>\n",
        ]
    )


# --- text for readers ------------------------------------------------------------------------


def _body(view: View) -> list[str]:
    """Returns the body of the page: settings, buttons, tree, and the evidence or step."""
    lines = "".join(
        f'<div><dt>{escape(name)}</dt><dd dir="auto" data-of="{escape(name)}">'
        f"{_literal(value)}</dd></div>"
        for name, value in view.setting
    )
    return [
        "<header>",
        f'<h1 dir="auto">{_literal(view.heading)}</h1>',
        f'<dl class="setting">{lines}</dl>',
        '<div class="actions">'
        '<label>Picture <select id="scale"><option value="1">1×</option>'
        '<option value="2" selected>2×</option><option value="4">4×</option></select></label>'
        '<button type="button" id="png">Save as PNG</button>'
        '<button type="button" id="svg">Save as SVG</button>'
        '<button type="button" id="print">Print or save as PDF</button>'
        '<span id="said" role="status"></span></div>',
        "</header>",
        '<div id="tree"></div>',
        '<figure id="picture"></figure>',
        *([] if keeps_time(view.memory, view.structure) else [f'<p class="hint">{UNFOLDED}</p>']),
        '<main class="columns">',
        *(_step(view) if view.result is None else _evidence(view)),
        '<section id="details" aria-live="polite"><h2>Node</h2>'
        '<p class="hint">Select a node of the tree to read it: click it, or walk with the arrow '
        "keys and press Enter.</p></section>",
        "</main>",
        "<noscript><p>This page draws the tree and its details with JavaScript; the texts above "
        "do without.</p></noscript>",
    ]


def _step(view: View) -> list[str]:
    """Returns the section about the step that the page shows."""
    step = view.step
    if step is None:
        return ["<section><h2>Step</h2><p>The memory is still empty.</p></section>"]
    why = step.decision.why if step.decision else ""
    return [
        f"<section><h2>Step {view.moment}</h2>",
        *(f'<p dir="auto">{_literal(text)}</p>' for text in (step.note, why) if text),
        f'<p class="text" dir="auto">{_literal(step.unit.text)}</p>',
        "</section>",
    ]


def _evidence(view: View) -> list[str]:
    """Returns the section with the retrieved nodes, best first."""
    result = view.result
    assert result is not None
    answer = view.question.answer if view.question else None
    disputed = view.question.disputed if view.question else None
    dispute = dispute_lines(disputed) if disputed else []
    return [
        '<section id="evidence"><h2>Retrieved, best first</h2>',
        f'<p class="hint">A score of ×1: the average of {view.structure.active.sum():,} nodes.</p>',
        *([f'<p dir="auto">Gold answer: {_literal(answer)}</p>'] if answer else []),
        *(f'<p dir="auto">{_literal(line)}</p>' for line in dispute),
        "<ol>",
        *(_item(view, item, result.score_names) for item in result.evidence),
        "</ol>",
        "</section>",
    ]


def _item(view: View, item: Evidence, names: tuple[str, str]) -> str:
    """Returns the list item of a retrieved node; ``names`` are those of the two scores."""
    where = units_text(*item.span)
    gold = view.gold.by_node.get(item.node, ())
    marks = f" · gold {', '.join(gold)}" if gold else ""
    turns = ", ".join(item.turn_ids[:12]) + (" …" if len(item.turn_ids) > 12 else "")
    moved = "" if item.rank_before == item.rank_after else f", was rank {item.rank_before}"
    level = level_name(item.level, level_names(view.memory.system))
    label = shown_labels(view.memory, view.structure)[item.node]
    (before, after), nodes = names, int(view.structure.active.sum())
    return (
        f'<li value="{item.rank_after}"><bdi>{_literal(label)}</bdi> node {item.node} '
        f"<bdi>{_literal(level)} · {where} · turns {_literal(turns)}{_literal(marks)}</bdi>"
        f'<div class="scores">{before} ×{nodes * item.initial:.2f} → {after} '
        f"×{nodes * item.final:.2f}{moved}</div>"
        f'<div class="text" dir="auto">{_literal(item.text)}</div></li>'
    )


def _literal(text: str) -> str:
    return escape(legal(text))


# --- data for the script -----------------------------------------------------------------------


def _data(view: View) -> str:
    """Returns the data of the page as JSON that is safe inside a script element."""
    structure, boxes = view.structure, scene(view)
    stage = drawn_height(view) if view.result else None  # without what surrounds the tree
    nodes = range(len(structure)) if boxes.origin is None else boxes.origin.tolist()
    in_time = keeps_time(view.memory, structure)
    note = "in the order of branches, not of time; nodes with several parents repeated"
    content = {
        "message": base64.b64encode(pack(tree_payload(boxes, stage=stage))).decode("ascii"),
        "css": stylesheet("canvas"),
        "height": None if stage else drawn_height(view) + READ,
        "texts": list(map(legal, structure.text)),
        "level": structure.level.tolist(),
        "start": structure.start.tolist(),
        "stop": structure.stop.tolist(),
        "edges": structure.edges.ravel().tolist(),
        "node": list(nodes),
        "units": [", ".join(unit.turn_ids) for unit in view.memory.units],
        # Sizes of the picture, and its texts around the canvas (``PictureWords``).
        "picture": {
            "width": WIDTH,
            "height": picture_height(view),
            "head": _HEAD,
            "foot": _FOOT,
            "heading": one_line(view.heading, 2_000),
            "setting": [
                one_line(" · ".join(f"{name} {value}" for name, value in lines), 600)
                for lines in (view.memory_setting, view.question_setting)
            ],
            "about": one_line(". ".join(f"{name}: {value}" for name, value in view.setting), 4_000),
            "note": "" if in_time else note,
            "film": FILM,
        },
        "file": file_name(view.memory.conversation.id, view.page, "").rstrip("."),
    }
    written = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return written


def picture_height(view: View) -> int:
    """Returns the height of the picture of a view, in pixels."""
    return _HEAD + drawn_height(view) + _FOOT


def drawn_height(view: View) -> int:
    """Returns the height of the tree in pixels: of both halves if the view has scores."""
    levels = int(view.structure.level.max(initial=0)) + 1
    return min(140 + 40 * levels, 460) if view.result is None else min(90 + 70 * levels, 620)


def scene(view: View, live: Live | None = None) -> Scene:
    """Returns the boxes of a view's canvas; ``live`` is the report that the view answers."""
    structure, result = view.structure, view.result
    plain = replace(
        scene_of(
            view.memory,
            structure,
            identity="export",
            look=Look(view.bookmark.colour, view.bookmark.labels),
            selected=view.bookmark.node,
        ),
        total_units=max(1, int(structure.stop[structure.active].max(initial=0))),
    )
    if result is None:
        return grown(plain, view.moment, view.step).drawn()
    answer = view.question.answer if view.question else None
    answering = replace(live or Live(result.settings), settings=result.settings)
    return answered(plain, result, view.gold, answering, answer).drawn()


# --- the page's own parts ----------------------------------------------------------------------


def colours_of(theme: str, element: str) -> str:
    """Returns the CSS rule that gives an element the colours of a theme."""
    background, foreground = SURFACE[theme]
    return (
        f"{element}{{--st-background-color:{background};--st-text-color:{foreground};"
        f"--st-primary-color:{MEANINGS[theme]['control']};"
        + "".join(f"{name}:{colour};" for name, colour in css_colours(theme).items())
        + f"--st-border-color:color-mix(in srgb,{foreground} 25%,{background});"
        "--st-font:system-ui,sans-serif}"
    )


def _style() -> str:
    light = colours_of("light", ':root:not([data-theme="dark"])')
    dark = colours_of("dark", ':root:not([data-theme="light"])')
    chosen = colours_of("dark", ':root[data-theme="dark"]')
    screen = f"@media screen and (prefers-color-scheme:dark){{{dark}}}"
    return f"\n{light}\n{screen}\n{chosen}\n{stylesheet('export_page')}"


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
