"""Finds the branch of a dialogue that is shown, and the last of its versions.

A reply names its message by an id or is nested in it. Replies of several speakers are a thread,
which is read whole; those of one are repeated attempts. A chat program shows the current or last
attempt; of a data set the best or first one is read. Snapshots repeat a dialogue while it grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from segviz.loaders.columns import OWN_IDS, keys_of
from segviz.loaders.decode import DEEPEST
from segviz.loaders.document import Place, spelled
from segviz.loaders.multi_conversation import Block, WrittenChat
from segviz.loaders.roles import role_of
from segviz.loaders.turn_lists import LOOKED_AT, unwrapped, with_time, words_of

_PARENT = ("parent", "parentid", "parentuuid", "parentmessageid", "parentmessageuuid")
_CURRENT = ("currentnode", "currentid", "currentleafmessageuuid", "currentmessageid")
"""Keys in trees of messages: of a parent's id, of the current message's id."""

_Tree = dict[str, tuple[Place, dict[str, object]]]
"""Maps the ids of messages to their places and records."""


def _tree(block: object, place: Place) -> tuple[_Tree, dict[str, object]]:
    """Returns the messages of an object or list by id, and the parent of each that names one."""
    items = dict(enumerate(block)) if isinstance(block, list) else block
    rows = items.items() if isinstance(items, dict) else ()
    placed = [((*place, key), raw) for key, raw in rows if isinstance(raw, dict)]
    keys = dict.fromkeys(key for _, raw in placed for key in raw)
    own, parent = (
        next((key for key in keys if spelled(key) in usual), "") for usual in (OWN_IDS, _PARENT)
    )
    if isinstance(block, list):
        tree = {str(raw[own]): (here, raw) for here, raw in placed if own in raw}
    else:
        tree = {str(here[-1]): (here, raw) for here, raw in placed}
    return tree, {key: raw[parent] for key, (_, raw) in tree.items() if parent in raw}


def shown_branch(value: Mapping[str, object], place: Place, nodes: str) -> WrittenChat | None:
    """Returns the branch that a chat program shows of the tree of messages under the key ``nodes``.

    The branch leads from the root to the message that the object calls current, else to the last
    one. Returns None if there is no tree, a list without branches, or a thread.
    """
    block = value.get(nodes)
    tree, parents = _tree(block, place)
    if not parents:
        return None
    # No message with two replies, or ids that are numbers: the list is read in order.
    above = [each for each in parents.values() if isinstance(each, str)]
    if isinstance(block, list) and (len(set(above)) == len(above) or _is_thread(tree, parents)):
        return None
    # From the current message, else the last one, up to the root.
    here = next((value[key] for key in value if spelled(key) in _CURRENT), None)
    if not isinstance(here, str) or here not in parents:
        here = next(reversed(parents))
    way: dict[str, None] = {}
    while isinstance(here, str) and here in parents and here not in way:
        way[here] = None
        here = parents[here]
    shown = [key for key in reversed(way) if tree[key][1].get("message", "") is not None]
    # Messages with a text on other branches, which are counted only.
    left = (unwrapped(tree[key][1]) for key in tree if key not in way)
    others = [raw for raw in left if isinstance(raw, dict) and keys_of(tuple(raw), "text")]
    return WrittenChat("", place, [_block(tree, shown)], [*others])


def trees(value: list[object], place: Place, name: str) -> list[WrittenChat]:
    """Returns the dialogues of a list of messages: of trees of answers, a branch for each tree.

    A tree has messages with several replies of one speaker; the best or first one is followed.
    """
    tree, parents = _tree(value, place)
    parents = {key: above for key, above in parents.items() if above is not None}
    roots = [key for key in tree if key not in parents]
    replies: dict[str, list[str]] = {}
    for key, above in parents.items():
        replies.setdefault(str(above), []).append(key)
    forks = any(len(each) > 1 for each in replies.values()) and replies.keys() <= tree.keys()
    session = any(isinstance(raw, dict) and "sessionId" in raw for raw in value[:LOOKED_AT])
    if not roots or not forks or session or _is_thread(tree, parents):
        rows, hidden = nested(value, place)
        return [WrittenChat(name, place, [Block(rows)], hidden)]
    chats, left = [], dict(tree)
    for root in roots:
        way, here = [], root
        while here and here not in way:
            way.append(here)
            here = min(replies.get(here, [""]), key=lambda key: _rank(tree, key))
        for key in way:
            del left[key]
        chats.append(WrittenChat(name if len(roots) == 1 else "", place, [_block(tree, way)]))
    chats[0].others = [raw for _, raw in left.values()]
    return chats


def _block(tree: _Tree, way: Iterable[str]) -> Block:
    return Block([(tree[key][0], unwrapped(tree[key][1])) for key in way])


def _rank(tree: _Tree, key: str) -> float:
    rank = tree[key][1].get("rank") if key in tree else None
    return float(rank) if isinstance(rank, int | float) else 0.0


def _is_thread(tree: _Tree, parents: Mapping[str, object]) -> bool:
    """Returns True if several speakers reply to one message; one speaker's replies are attempts."""
    by: dict[str, set[str]] = {}
    for key, above in parents.items():
        by.setdefault(str(above), set()).add(_who(tree[key][1]))
    return any(len(speakers) > 1 for speakers in by.values())


def _who(raw: Mapping[str, object]) -> str:
    return str([raw.get(key) for key in keys_of(tuple(raw), "speaker")])


REPLIED = dict.fromkeys(("children", "replies", "thread", "thread_replies", "comments")).keys()
"""Keys of a message that may hold the replies to it."""


def nested(value: list[object], place: Place) -> tuple[list[tuple[Place, object]], list[object]]:
    """Returns the messages of a list with their places, and the hidden ones.

    Replies may be nested in a message. If the assistant gave several, the last one is shown; a
    thread of people is read whole.
    """
    rows: list[tuple[Place, object]] = []
    stack: list[tuple[Place, object]] = [((*place, row), raw) for row, raw in enumerate(value)]
    stack.reverse()
    hidden: list[object] = []
    while stack:
        at, raw = stack.pop()
        rows.append((at, unwrapped(raw)))
        if not isinstance(raw, dict) or raw.keys().isdisjoint(REPLIED) or len(at) > DEEPEST:
            continue
        for key in REPLIED:
            inner = raw.get(key)
            below = [
                ((*at, key, row), each)
                for row, each in enumerate(inner if isinstance(inner, list) else ())
                if isinstance(each, dict) and words_of(unwrapped(each))[1]
            ]
            people = {_who(each) for _, each in below}
            attempts = len(below) > 1 and len(people) == 1 and role_of(below[0][1])[0]
            if key == "children" or attempts:
                # A chatbot shows the last attempt, a data set ranks the best reply first.
                kept = below[-1:] if key == "children" else below[:1]
                hidden += [each for here, each in below if here != kept[0][0]]
                below = kept
            stack += below[::-1]
    return rows, hidden


def without_snapshots(chats: list[WrittenChat]) -> list[WrittenChat]:
    """Returns the last of snapshots in which one dialogue grows; any other chats unchanged.

    A message gets the time of the first snapshot that has it, if it has none.
    """
    other = any(chat.asked or chat.others or len(chat.blocks) != 1 for chat in chats)
    if other or len({chat.name for chat in chats}) != 1 or len(chats) < 2:
        return chats
    grown = sorted(chats, key=lambda chat: len(chat.blocks[0].rows))
    if any(len(a.blocks[0].rows) == len(b.blocks[0].rows) for a, b in pairwise(grown)):
        return chats
    texts = [[words_of(raw) for _, raw in chat.blocks[0].rows] for chat in grown]
    for before, after in pairwise(texts):
        if before != after[: len(before)]:
            return chats
    last = grown[-1]
    rows, first = list(last.blocks[0].rows), 0
    for chat in grown:
        stop = len(chat.blocks[0].rows)
        for row in range(first, stop):
            rows[row] = rows[row][0], with_time(rows[row][1], {"time": chat.blocks[0].began})
        first = stop
    last.blocks[0].rows, last.copies = rows, sum(map(len, texts[:-1]))
    return [last]


def new_chats(chats: Sequence[WrittenChat], old: Sequence[WrittenChat]) -> list[WrittenChat]:
    """Returns the chats with a message that none of the old ones has."""
    known = set[str]().union(*map(_texts_of, old))
    return [chat for chat in chats if not old or not _texts_of(chat) <= known]


def _texts_of(chat: WrittenChat) -> set[str]:
    return {words_of(raw)[1] for block in chat.blocks for _, raw in block.rows}
