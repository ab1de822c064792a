"""ChatGPT's data export: ``conversations.json``, a list of trees of messages.

Made after descriptions of the format and tested on files made alike; no real export was at
hand, and the vendor changes it without notice. A conversation has a ``mapping`` of nodes
(``{id, parent, children, message}``): edits and regenerated answers branch off. The branch
that ends in ``current_node`` is read; without one, the last child is followed at every
fork. Left out and counted: messages on other branches, of systems and tools, to tools,
hidden ones, reasoning. Times are seconds since 1970; a long silence begins a session.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from segviz.loaders.captions import counted, describe
from segviz.loaders.chat import Message, note_left_out, way_up
from segviz.loaders.document import Place
from segviz.loaders.multi_conversation import list_of_chats
from segviz.loaders.report import Notes
from segviz.text.dates import read_time

_SPEAKERS = ("user", "assistant")
_READ = ("text", "multimodal_text", "code")

Nodes = dict[str, dict[str, object]]


def _fits(raw: dict[str, object]) -> bool:
    mapping = raw.get("mapping")
    return isinstance(mapping, dict) and any(
        isinstance(node, dict) and ("message" in node or "parent" in node)
        for node in mapping.values()
    )


def _chat(raw: dict[str, object], place: Place, notes: Notes) -> list[Message] | None:
    mapping = raw.get("mapping")
    if not isinstance(mapping, dict):
        what = f"expected nodes (an object), found {describe(mapping)}"
        notes.skipped((*place, "mapping"), what)
        return None
    nodes: Nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    thread = _thread(nodes, raw.get("current_node"), place, notes)
    return _messages(nodes, thread, read_time(raw.get("create_time")), place, notes)


def _thread(nodes: Nodes, current: object, place: Place, notes: Notes) -> list[str]:
    """Keys of the nodes of the branch that is shown, from the root down."""
    if isinstance(current, str) and current in nodes:
        leaf: str | None = current
    else:
        leaf = _last_leaf(nodes)
        if nodes:
            found = "names no node" if isinstance(current, str) else f"is {describe(current)}"
            what = f"{found}; the last branch is read"
            notes.repaired((*place, "current_node"), what)
    path, above = way_up({key: node.get("parent") for key, node in nodes.items()}, leaf)
    if path and above is not None:
        what = "breaks off: a parent is missing" if above not in path else "goes round in a circle"
        notes.repaired(
            (*place, "mapping", path[-1], "parent"), f"the branch {what}; read from here"
        )
    return path[::-1]


def _last_leaf(nodes: Nodes) -> str | None:
    """Down from the first root along the last child that exists."""
    roots = (
        key
        for key, node in nodes.items()
        if not isinstance(parent := node.get("parent"), str) or parent not in nodes
    )
    here = next(roots, next(iter(nodes), None))
    seen: set[str] = set()
    while here is not None and here not in seen:
        seen.add(here)
        children = nodes[here].get("children")
        known = [
            child
            for child in (children if isinstance(children, list) else ())
            if isinstance(child, str) and child in nodes and child not in seen
        ]
        if not known:
            return here
        here = known[-1]
    return here


def _messages(
    nodes: Nodes, thread: list[str], began: datetime | None, place: Place, notes: Notes
) -> list[Message]:
    left: Counter[str] = Counter()
    messages: list[Message] = []
    for key in thread:
        raw = nodes[key].get("message")
        if not isinstance(raw, dict):
            continue
        kind = _kind(raw)
        if kind not in _SPEAKERS:
            left[kind] += 1
            continue
        text, caption = _content(raw.get("content"))
        if not text.strip() and not caption:
            left["empty"] += 1
            continue
        time = read_time(raw.get("create_time")) or (began if not messages else None)
        messages.append(Message(kind, text, time, caption=caption))
    shown = set(thread)
    others = sum(
        isinstance(raw := node.get("message"), dict) and _kind(raw) in _SPEAKERS
        for key, node in nodes.items()
        if key not in shown
    )
    note_left_out(left, (*place, "mapping"), notes)
    if others:
        what = f"{counted(others, 'message')} on other branches (edits, other answers) left out"
        notes.skipped((*place, "mapping"), what)
    return messages


def _kind(raw: dict[str, object]) -> str:
    """The speaker of what belongs to the talk; else what the message is instead."""
    author, content, metadata = raw.get("author"), raw.get("content"), raw.get("metadata")
    role = author.get("role") if isinstance(author, dict) else None
    if role not in _SPEAKERS:
        return role if isinstance(role, str) and role else "nameless"
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True:
        return "hidden"
    weight = raw.get("weight")
    if isinstance(weight, int | float) and weight == 0:
        return "hidden"
    if raw.get("recipient") not in (None, "all"):
        return "to tools"
    shape = content.get("content_type") if isinstance(content, dict) else None
    if isinstance(shape, str) and shape not in _READ:
        return shape
    return str(role)


def _content(content: object) -> tuple[str, str | None]:
    """The words, and what the pictures show where the export tells."""
    if not isinstance(content, dict):
        return (content if isinstance(content, str) else ""), None
    parts = content.get("parts")
    if not isinstance(parts, list):
        text = content.get("text")
        return (text if isinstance(text, str) else ""), None
    spoken, seen = [], []
    for part in parts:
        if isinstance(part, str):
            spoken.append(part)
        elif isinstance(part, dict):
            if isinstance(part.get("text"), str):
                spoken.append(str(part["text"]))
            match part:
                case {"metadata": {"dalle": {"prompt": str(prompt)}}} if prompt.strip():
                    seen.append(prompt.strip())
    return "\n".join(part for part in spoken if part.strip()), "; ".join(seen) or None


LOADER = list_of_chats(
    "ChatGPT export",
    _fits,
    _chat,
    expected="a conversation (an object with mapping)",
    titles=("title", "conversation_id", "id"),
    speakers=_SPEAKERS,
    asks=("gap_hours",),
)
