"""Texts that panels share: counts, literal Markdown, names and places of nodes, refusals."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from segviz.evaluation import Mean, Row
from segviz.memory import Memory
from segviz.systems import level_name, level_names
from segviz.text.captions import counted as counted
from segviz.tree import Structure
from segviz.ui.security import shown_error
from segviz.ui.state import AppSession
from segviz.view.captions import shown_labels, units_text

_MARKS = frozenset(string.punctuation)

SIMILARITY = (
    "Similarity is the cosine of the two texts' vectors: a·b / (‖a‖ ‖b‖). 1 means the same "
    "direction, 0 nothing in common."
)


def unmarked(text: str) -> str:
    """Escapes all Markdown in ``text``, for labels that Streamlit reads as Markdown."""
    return "".join(f"\\{char}" if char in _MARKS else char for char in " ".join(text.split()))


def cited(text: str) -> str:
    """Returns a trusted text with every arXiv number as a link to its paper."""
    return re.sub(r"arXiv\s+(\d{4}\.\d{5})", r"[arXiv \1](https://arxiv.org/abs/\1)", text)


def signed(text: str) -> str:
    """Returns a number with a true minus instead of a hyphen."""
    return text.replace("-", "\N{MINUS SIGN}")


def spread_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Returns rows of a table with each mean as :func:`spread` writes it."""
    return [{n: spread(v) if isinstance(v, Mean) else v for n, v in row.items()} for row in rows]


def spread(mean: Mean) -> str:
    """Returns a mean with its interval, if it has one; "" for NaN."""
    if mean.value != mean.value:
        return ""
    # Adding 0 turns -0.0 into 0.0.
    value, low, high = (round(x, 3) + 0.0 for x in (mean.value, mean.low, mean.high))
    interval = f" [{low:.3f},\N{NO-BREAK SPACE}{high:.3f}]" if mean.has_interval else ""
    return signed(f"{value:.3f}{interval}")


# Most characters of a text in a list.
SHORT = 160


def refusal(error: ValueError, now: str = "The previous conversation is still here.") -> None:
    """Draws why a file was not opened, and what is shown ``now``.

    The error may quote the file, so it is drawn literally.
    """
    with st.container(border=True, key="refusal"):
        st.markdown(f":material/error: **Not opened.** {now}")
        st.text(str(error))


def trouble(what: str, why: object, draw: Callable[[str], object] = st.error) -> None:
    """Draws what went wrong and why; the cause may quote a file or a server, so it is literal."""
    draw(what)
    st.text(shown_error(why))


def turns_of(session: AppSession, structure: Structure, node: int) -> list[str]:
    """Returns the ids of the turns below a node of ``structure``, in order."""
    units = session.memory.units
    return [turn for index in structure.coverage(node) for turn in units[index].turn_ids]


def level_label(memory: Memory, level: int) -> str:
    """Returns the name of a level of this memory."""
    return level_name(level, level_names(memory.system))


def kind_label(memory: Memory, level: int, kind: str) -> str:
    """Returns the name of a node's level, or its kind on a mixed level ("fact or cell")."""
    label = level_label(memory, level)
    return kind if kind and kind in label.split(" or ") else label


def place(session: AppSession, structure: Structure, node: int) -> str:
    """Returns the level, units and sessions of a node."""
    name = kind_label(session.memory, int(structure.level[node]), structure.kind[node])
    return f"{name} · {reach(session, int(structure.start[node]), int(structure.stop[node]))}"


def reach(session: AppSession, start: int, stop: int) -> str:
    """Returns the units and sessions of a span."""
    first, last = session.sessions[start] + 1, session.sessions[stop - 1] + 1
    where = f"session {first}" if first == last else f"sessions {first}–{last}"
    return f"{units_text(start, stop)} · {where}"


def named(
    session: AppSession, structure: Structure, node: int, later: Structure | None = None
) -> str:
    """Returns label, kind, span and number of a node as plain text.

    The label comes from ``later`` if given: a node of an earlier step then has the label of the
    structure on the page.
    """
    where = place(session, structure, node)
    known = structure.kind[node] in ("", where.split(" · ", 1)[0])
    kind = "" if known else f" · {structure.kind[node]}"
    gone = "" if structure.active[node] else " · retired"
    words = called(session, later or structure, node)
    return f"{words}{where}{kind}{gone} · node {node}"


def node_row(session: AppSession, structure: Structure, node: int) -> dict[str, Any]:
    """Returns a node as a row of ``lists.node_list``: its name, and the beginning of its text."""
    head, text = named(session, structure, node), short(structure.text[node])
    return {"node": node, "head": head, "text": text}


def called(session: AppSession, structure: Structure, node: int) -> str:
    """Returns the label of a node followed by " · "; "" without a label."""
    name = shown_labels(session.memory, structure)[node]
    return f"{name} · " if name else ""


def coverage(session: AppSession, structure: Structure, node: int) -> str:
    """Returns the dates of a node's span and the number of its turns, as plain text.

    If the node covers a part of its span alone, the number of its units is there, too.
    """
    start, stop = int(structure.start[node]), int(structure.stop[node])
    ends = (session.memory.units[unit] for unit in (start, stop - 1))
    dates = dict.fromkeys(
        f"{unit.time:%d %b %Y}" if unit.time else session.conversation.date_of(unit) or "no date"
        for unit in ends
    )
    turns = len(turns_of(session, structure, node))
    units = len(structure.coverage(node))
    parts = [" – ".join(dates), counted(turns, "turn")]
    if 0 < units < stop - start:
        parts.insert(1, f"{units} of these {stop - start} units")
    return " · ".join(parts)


def short(text: str) -> str:
    """Returns the beginning of a text, on one line."""
    line = " ".join(text[: 4 * SHORT].split())
    return line if len(line) <= SHORT and len(text) <= 4 * SHORT else line[: SHORT - 1] + "…"
