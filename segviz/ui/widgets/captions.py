"""Where nodes lie, in words, and the turns below them."""

from __future__ import annotations

from segviz.memory import Memory
from segviz.systems import levels
from segviz.tree import Structure
from segviz.ui.state import Session
from segviz.ui.widgets.formatting import counted

# Characters of a text that stand for it in a list.
SHORT = 160


def turns_of(session: Session, structure: Structure, node: int) -> list[str]:
    """Ids of the turns below a node of ``structure``, in order."""
    units = session.memory.units
    return [turn for index in structure.coverage(node) for turn in units[index].turn_ids]


def level_names(memory: Memory) -> tuple[str, ...]:
    """What the memory's system calls its levels, from 0 upwards; () where it has no names."""
    return levels.level_names(memory.system)


def level_label(memory: Memory, level: int) -> str:
    """What views call a level of this memory."""
    return levels.level_name(level, level_names(memory))


def kind_label(memory: Memory, level: int, kind: str) -> str:
    """What a node of a level is called. A level that holds nodes of several kinds ("fact or
    cell") goes by the node's own."""
    label = level_label(memory, level)
    return kind if kind and kind in label.split(" or ") else label


def _level_of(session: Session, structure: Structure, node: int) -> str:
    """What the level a node is on is called."""
    return kind_label(session.memory, int(structure.level[node]), structure.kind[node])


def place(session: Session, structure: Structure, node: int) -> str:
    """Where a node lies, in words: level, units, sessions."""
    name = _level_of(session, structure, node)
    return f"{name} · {reach(session, int(structure.start[node]), int(structure.stop[node]))}"


def reach(session: Session, start: int, stop: int) -> str:
    """A span in words: units, sessions."""
    first, last = session.sessions[start] + 1, session.sessions[stop - 1] + 1
    units = f"unit {start}" if stop - start == 1 else f"units {start}–{stop - 1}"
    where = f"session {first}" if first == last else f"sessions {first}–{last}"
    return f"{units} · {where}"


def named(session: Session, structure: Structure, node: int) -> str:
    """A node's number, kind and place; plain text."""
    where = place(session, structure, node)
    known = structure.kind[node] in ("", where.split(" · ", 1)[0])
    kind = "" if known else f" · {structure.kind[node]}"
    gone = "" if structure.active[node] else " · retired"
    return f"Node {node}{kind} · {where}{gone}"


def held(session: Session, structure: Structure, node: int) -> str:
    """What a node holds of the conversation: dates, units, turns; plain text."""
    start, stop = int(structure.start[node]), int(structure.stop[node])
    dates = dict.fromkeys(_date(session, unit) for unit in (start, stop - 1))
    turns = len(turns_of(session, structure, node))
    units = len(structure.coverage(node))
    parts = [" – ".join(dates), counted(turns, "turn")]
    if 0 < units < stop - start:
        parts.insert(1, f"{units} of these {stop - start} units")
    return " · ".join(parts)


def _date(session: Session, unit: int) -> str:
    there = session.conversation.sessions[session.sessions[unit]]
    return f"{there.start:%d %b %Y}" if there.start else there.raw_date or "no date"


def short(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * SHORT].split())
    return line if len(line) <= SHORT and len(text) <= 4 * SHORT else line[: SHORT - 1] + "…"
