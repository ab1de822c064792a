"""Claude's data export: ``conversations.json``, a list of chats with ``chat_messages``.

Made after descriptions of the format and tested on files made alike; no real export was at
hand. The text blocks of ``content`` are read, or ``text`` where there are none; calls of
tools, reasoning and attachments are left out. Newer exports name each message's parent:
where a message has two answers, the branch of ``current_leaf_message_uuid``, or of the
last message, is read.
"""

from __future__ import annotations

from collections import Counter

from segviz.loaders.chat import Message, each_message, note_left_out, speaker_named, way_up
from segviz.loaders.document import Place
from segviz.loaders.multi_conversation import list_of_chats
from segviz.loaders.report import Notes
from segviz.text.dates import read_time


def _fits(raw: dict[str, object]) -> bool:
    return isinstance(raw.get("chat_messages"), list)


def _messages(raw: dict[str, object], place: Place, notes: Notes) -> list[Message]:
    block, place = raw.get("chat_messages"), (*place, "chat_messages")
    left: Counter[str] = Counter()
    shown = _branch(block, raw.get("current_leaf_message_uuid"))
    messages = []
    for here, item in each_message(block, place, notes):
        if shown is not None and item.get("uuid") not in shown:
            left["on other branches"] += 1
            continue
        for key in ("attachments", "files"):
            extra = item.get(key)
            left[key] += len(extra) if isinstance(extra, list) else 0
        if not (text := _text(item)).strip():
            left["without words"] += 1
            continue
        sender = speaker_named(item.get("sender"), (*here, "sender"), notes)
        messages.append(Message(sender, text, read_time(item.get("created_at"))))
    note_left_out(+left, place, notes)
    return messages


def _text(item: dict[str, object]) -> str:
    blocks = item.get("content")
    parts = [
        str(block["text"])
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict)
        and block.get("type", "text") == "text"
        and isinstance(block.get("text"), str)
    ]
    joined = "\n".join(part for part in parts if part.strip())
    text = item.get("text")
    return joined or (text if isinstance(text, str) else "")


def _branch(block: object, leaf: object) -> set[str] | None:
    """Ids on the way from the leaf to the root; None where nothing branches."""
    parents: dict[str, object] = {}
    items = block if isinstance(block, list) else []
    for item in items:
        match item:
            case {"uuid": str(uuid), "parent_message_uuid": parent}:
                parents[uuid] = parent
    known = [parent for parent in parents.values() if isinstance(parent, str)]
    if len(set(known)) == len(known) or len(parents) < len(items):
        return None
    path, _ = way_up(parents, leaf if leaf in parents else next(reversed(parents)))
    return set(path)


LOADER = list_of_chats(
    "Claude export",
    _fits,
    _messages,
    expected="a chat (an object with chat_messages)",
    titles=("name", "uuid"),
    speakers=("human", "assistant"),
    asks=("gap_hours",),
)
