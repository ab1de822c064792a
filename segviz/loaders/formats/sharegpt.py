"""ShareGPT: ``{id, conversations: [{from, value}]}``, one, a list or JSON Lines of them.

There are no times. Early dumps hold the HTML of the page as ``value``: its text is kept.
Messages of systems and tools are left out and counted.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

from segviz.loaders.captions import counted
from segviz.loaders.chat import Message, spoken
from segviz.loaders.document import Place
from segviz.loaders.multi_conversation import list_of_chats
from segviz.loaders.report import Notes

_PAGE = re.compile(r"\s*<(?:div|p|ol|ul|pre|h[1-6])[\s>].*</[a-z0-9]+>\s*", re.DOTALL)
_BLOCKS = {"p", "div", "li", "br", "pre", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "ul"}


def _fits(raw: dict[str, object]) -> bool:
    block = raw.get("conversations")
    return isinstance(block, list) and any(
        isinstance(item, dict) and "from" in item and "value" in item for item in block
    )


def _messages(raw: dict[str, object], place: Place, notes: Notes) -> list[Message]:
    place = (*place, "conversations")
    messages = spoken(raw.get("conversations"), place, notes, "from", "value")
    pages = sum(_PAGE.fullmatch(each.text) is not None for each in messages)
    if pages:
        notes.repaired(place, f"{counted(pages, 'message')} in HTML read as text")
    return [
        replace(each, text=_text_of(each.text)) if _PAGE.fullmatch(each.text) else each
        for each in messages
    ]


class _Words(HTMLParser):
    """Collects the text of a page; blocks end lines, scripts and styles are no text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.mute = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("script", "style"):
            self.mute += 1
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self.mute = max(0, self.mute - 1)
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.mute:
            self.parts.append(data)


def _text_of(page: str) -> str:
    reader = _Words()
    reader.feed(page)
    reader.close()
    return re.sub(r"\n\s*\n+", "\n", "".join(reader.parts)).strip()


LOADER = list_of_chats(
    "ShareGPT",
    _fits,
    _messages,
    expected="a conversation (an object with conversations: [{from, value}])",
    titles=("id", "title"),
    speakers=("human", "user", "gpt", "assistant"),
)
