"""Reads Slack's workspace export, a folder or zip with ``<channel>/2024-05-01.json`` per day.

Written after the vendor's description and tested on exports made alike. A channel is a
conversation, each of its days a session. ``users.json`` gives the names of people. Slack's markup
becomes plain text. Joins, leaves and messages of bots are left out and counted; a bot that somebody
mentions is a speaker.
"""

from __future__ import annotations

import html
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from segviz.conversation import seconds
from segviz.loaders.chat import each_message
from segviz.loaders.columns import Keys, read_chats
from segviz.loaders.document import Folder, Member, Options, Place
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import Block, WrittenChat, named_after, stem
from segviz.loaders.report import Notes
from segviz.text.dates import read_time

LABEL = "Slack export"

DAY = re.compile(r"(?:.*/)?([^/]+)/([0-9]{4}-[0-9]{2}-[0-9]{2})\.json")
"""Matches the path of a day's messages: channel and date."""

PEOPLE = re.compile(r"(?:.*/)?(?:org_)?users\.json")
"""Matches the path of the file with people's names."""

_WRITTEN = (None, "thread_broadcast", "file_share", "me_message", "reply_broadcast")
_MENTION = re.compile(r"<@([^<>|\n]+)")
_MARKUP = re.compile(r"<([@#!]?)([^<>|\n]+)(?:\|([^<>\n]*))?>")


def is_export(paths: Iterable[str]) -> bool:
    """Returns True if the paths of an archive are those of a Slack export: people and days."""
    known = list(paths)
    return any(map(PEOPLE.fullmatch, known)) and any(map(DAY.fullmatch, known))


def wanted(path: str) -> bool:
    """Returns True if a file of a Slack export holds messages or names of people."""
    return bool(PEOPLE.fullmatch(path) or DAY.fullmatch(path))


def matches(document: object) -> bool:
    """Returns True for the folder of a Slack export, or a list of messages of one day."""
    if isinstance(document, Folder):
        return is_export(document)
    return isinstance(document, list) and any(
        isinstance(raw, dict)
        and raw.get("type") == "message"
        and isinstance(raw.get("ts"), str)
        and "text" in raw
        for raw in document
    )


def read(document: object, name: str, options: Options) -> Reading:
    """Reads one conversation per channel; raises LoadError if there is no message."""
    notes = Notes()
    people: dict[str, str] = {}
    # The days of each channel: date, place, messages.
    channels: defaultdict[str, list[tuple[str, Place, object]]] = defaultdict(list)
    if isinstance(document, Folder):
        for path, inner in document.items():
            if PEOPLE.fullmatch(path):
                people.update(_names(inner))
            elif day := DAY.fullmatch(path):
                channels[day[1]].append((day[2], (Member(path),), inner))
    else:
        channels[stem(name)].append(("", (), document))
    bots = _assistants(channels)
    people |= bots
    chats = []
    for channel in sorted(channels):
        days = sorted(channels[channel], key=lambda day: day[0])
        _, first_place, _ = days[0]
        blocks = [_day(block, date, place, people, bots, notes) for date, place, block in days]
        chats.append(WrittenChat(channel, first_place, blocks))
    names = {"text": "text", "speaker": "user", "time": "ts", "session": "day"}
    return read_chats(chats, Keys(names, names), LABEL, options, notes), notes


def _names(document: object) -> dict[str, str]:
    """Maps a user's id to the display name, else to the real name or the account's name."""
    names = {}
    for raw in document if isinstance(document, list) else ():
        if not isinstance(raw, dict) or not isinstance(raw.get("id"), str):
            continue
        profile = raw.get("profile")
        own = profile if isinstance(profile, dict) else {}
        candidates = (own.get("display_name"), own.get("real_name"), raw.get("real_name"))
        names[str(raw["id"])] = named_after((*candidates, raw.get("name")), str(raw["id"]))
    return names


def _assistants(channels: Mapping[str, list[tuple[str, Place, object]]]) -> dict[str, str]:
    """Maps the ids of bots that somebody mentions, because these are talked to, to their names."""
    days = [block for rows in channels.values() for _, _, block in rows if isinstance(block, list)]
    rows = [raw for block in days for raw in block if isinstance(raw, dict)]
    asked = {name for raw in rows for name in _MENTION.findall(str(raw.get("text")))}
    bots = {}
    for raw in rows:
        user, profile = str(raw.get("user")), raw.get("bot_profile")
        if "bot_id" in raw and user in asked and isinstance(profile, dict):
            bots[user] = named_after((profile.get("name"),), user)
    return bots


def _day(
    block: object,
    date: str,
    place: Place,
    people: Mapping[str, str],
    bots: Collection[str],
    notes: Notes,
) -> Block:
    """Returns what people wrote in a channel on one day, in the order of the times."""
    day = Block([])
    rows: list[tuple[Place, dict[str, object]]] = []
    for here, raw in each_message(block, place, notes):
        subtype, user = raw.get("subtype"), raw.get("user")
        if subtype not in _WRITTEN or ("bot_id" in raw and user not in bots):
            notes.passed.append(str(raw.get("text")))
            day.left["bot_message" if "bot_id" in raw else str(subtype)] += 1
            continue
        text = raw.get("text") or _spoken(raw.get("blocks"))
        known = {
            "user": people.get(user, user) if isinstance(user, str) and user else "Unknown",
            "text": plain(text, people) if isinstance(text, str) else text,
            "ts": raw.get("ts"),
            "day": date,
        }
        rows.append((here, known))
    # Messages without a time stay at the end.
    times = {id(raw): read_time(raw["ts"]) for _, raw in rows}
    rows.sort(key=lambda row: seconds(time) if (time := times[id(row[1])]) else math.inf)
    day.rows = rows
    return day


def _spoken(block: object) -> str:
    """Returns the words in the ``blocks`` of a Slack message, in Slack's markup."""
    if isinstance(block, list):
        return "\n".join(filter(None, map(_spoken, block)))
    if not isinstance(block, dict):
        return ""
    if isinstance(parts := block.get("elements"), list):
        inline = str(block.get("type")).endswith("section")
        return ("" if inline else "\n").join(map(_spoken, parts))
    text, url, user = (block.get(key) for key in ("text", "url", "user_id"))
    if isinstance(user, str):
        return f"<@{user}>"
    if isinstance(url, str):
        return f"<{url}|{text}>" if isinstance(text, str) else f"<{url}>"
    return text if isinstance(text, str) else _spoken(text)


def plain(text: str, people: Mapping[str, str]) -> str:
    """Converts Slack's markup: ``<@U1>`` to ``@Ann``, ``<url|label>`` to ``label (url)``."""

    def shown(match: re.Match[str]) -> str:
        """Returns the readable form of a mention, channel, group or link."""
        kind, target, label = match.groups()
        if kind == "@":
            return f"@{people.get(target, label or target)}"
        if kind == "#":
            return f"#{label or target}"
        if kind == "!":
            return f"@{label or target.partition('^')[0]}"
        target = target.removeprefix("mailto:")
        return f"{label} ({target})" if label and label != target else target

    return html.unescape(_MARKUP.sub(shown, text))


_ABOUT = (
    "a channel, a session per day; names of people, words of blocks",
    "joins, bots, files, canvases",
)

LOADER = Loader(LABEL, matches, read, about=_ABOUT)
