"""A view of a memory where no app holds one: for the command line and notebooks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from segviz.export.view import View
from segviz.llm import Chat
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.view.bookmark import Bookmark, differing


def view_of(
    memory: Memory,
    question: str | None = None,
    settings: RetrievalSettings | None = None,
    *,
    number: int | None = None,
    node: int | None = None,
    sample: str | None = None,
    path: str | None = None,
    saved: str | None = None,
    chat: Chat | None = None,
    **changes: Any,
) -> View:
    """The memory after ``settings.step`` steps (default: all), or its answer to a question.

    The ``question`` is one's own, or the conversation's with index ``number``; it is asked
    as by ``segviz.ask``, with ``settings`` and ``changes`` to them. ``node`` is selected.
    ``sample`` or ``path`` name the conversation's file, ``saved`` the memory's, for the script
    that brings the view back. ValueError for an unknown number or
    node, an illegal setting, and settings without a question.
    """
    own = {item.index: item for item in memory.conversation.questions}
    if number is not None:
        if question is not None:
            raise ValueError("give a question or the number of one, not both")
        if number not in own:
            there = f"0 to {max(own)}" if own else "none at all"
            raise ValueError(f"there is no question {number}; {memory.conversation.id} has {there}")
    asked = own[number] if number is not None else question
    settings = replace(settings or RetrievalSettings(), **changes)
    unused = [name for name in changes if name not in ("step", "literal")]
    if asked is None and unused:
        raise ValueError(f"{', '.join(unused)}: these settings need a question")
    result = None if asked is None else memory.ask(asked, settings, chat=chat)
    moment = len(memory.steps) if settings.step is None else settings.step
    whole = memory.at(moment)
    plain = whole if settings.literal else whole.collapsed
    structure = plain if result is None else result.structure
    if node is not None and not 0 <= node < len(structure):
        raise ValueError(f"there is no node {node}; nodes are 0 to {len(structure) - 1}")
    kind = SYSTEMS.get(memory.system)
    bookmark = Bookmark(
        sample=sample,
        path=path,
        conversation=memory.conversation.id,
        unit=memory.unit,
        system=memory.system,
        settings=differing(kind, memory.settings) if kind else {},
        question=number,
        text=question,
        retrieval=RetrievalSettings() if result is None else settings,
        step=settings.step if asked is None else None,
        node=None if node is None else int(structure.chain[node]),
    )
    return View(memory, structure, bookmark, result, saved=saved)
