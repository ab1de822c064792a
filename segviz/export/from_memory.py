"""A view of a memory where no app holds one: for the command line and notebooks."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from segviz.export.view import View
from segviz.memory import Memory
from segviz.systems import SYSTEMS
from segviz.view.bookmark import Bookmark, differing

_SHOWN = frozenset(item.name for item in fields(Bookmark))


def view_of(
    memory: Memory,
    question: str | None = None,
    *,
    number: int | None = None,
    node: int | None = None,
    step: int | None = None,
    sample: str | None = None,
    path: str | None = None,
    saved: str | None = None,
    **settings: Any,
) -> View:
    """The memory after ``step`` steps (default: all), or its answer to a question.

    The ``question`` is one's own, or the conversation's with index ``number``; it is asked
    with the ``settings`` of ``segviz.ask``. ``node`` is selected. ``sample`` or ``path``
    name the conversation's file, ``saved`` the memory's, for the script that brings the view
    back. ValueError for an unknown number or node, an illegal setting, and settings without
    a question.
    """
    own = {item.index: item for item in memory.conversation.questions}
    if number is not None:
        if question is not None:
            raise ValueError("give a question or the number of one, not both")
        if number not in own:
            there = f"0 to {max(own)}" if own else "none at all"
            raise ValueError(f"there is no question {number}; {memory.conversation.id} has {there}")
    text = own[number].text if number is not None else question
    if text is None and settings:
        raise ValueError(f"{', '.join(settings)}: these settings need a question")
    result = None if text is None else memory.ask(text, step=step, **settings)
    moment = len(memory.steps) if step is None else step
    structure = memory.at(moment) if result is None else result.structure
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
        step=step if text is None else None,
        asked=step if text is not None else None,
        node=node,
        **{name: value for name, value in settings.items() if name in _SHOWN},
    )
    budget = settings.get("budget")
    return View(memory, structure, bookmark, result, budget=budget, saved=saved)
