"""Assembly: the whole flow, one readable function each for building and asking.

conversation → units → embed → a system's steps → structure → relevance → propagate → top K

``build`` is here; ``ask`` (``segviz.asking``) and ``Memory`` (``segviz.memory``) can be had
from here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from segviz.asking import ask
from segviz.assemble import make_system
from segviz.conversation import Conversation
from segviz.embed import get_embedder
from segviz.memory import Memory, from_saved, open_memory
from segviz.parameters import as_settings
from segviz.protocols import Arrival, Chat, Embedder, ModelError, Services, System
from segviz.steps import Step
from segviz.units import Unit

__all__ = [
    "BuildPaused",
    "Memory",
    "arrivals",
    "ask",
    "build",
    "from_saved",
    "make_system",
    "open_memory",
]

Progress = Callable[[int, int], None]


def arrivals(units: Sequence[Unit], embedder: Embedder) -> tuple[Arrival, ...]:
    """Units with their embeddings, ready to be inserted one by one."""
    vectors = embedder.embed([unit.text for unit in units])
    return tuple(
        Arrival(
            unit.index,
            unit.turn_ids,
            unit.session,
            unit.text,
            unit.time,
            vector=vector,
            opens_session=unit.index > 0 and units[unit.index - 1].session != unit.session,
        )
        for unit, vector in zip(units, vectors, strict=True)
    )


def _metered(steps: Iterator[Step], chat: Chat | None) -> Iterator[Step]:
    """Write into each step's cost what the systems do not know: wall time, and the
    prompts and tokens the chat model answered (cached or not, so that a resumed build
    counts like an undisturbed one)."""

    def used() -> tuple[int, int]:
        return (chat.answered, chat.answered_tokens) if chat is not None else (0, 0)

    began, (calls, tokens) = perf_counter(), used()
    for step in steps:
        seconds, (calls_now, tokens_now) = perf_counter() - began, used()
        cost = replace(
            step.cost, seconds=seconds, calls=calls_now - calls, tokens=tokens_now - tokens
        )
        yield replace(step, cost=cost)
        began, (calls, tokens) = perf_counter(), used()


class BuildPaused(ModelError):
    """A model gave up before the build was done.

    ``memory`` holds the steps finished so far. Everything the model answered is in its
    cache, so building again with the same settings goes on where this stopped and ends
    in the tree an undisturbed build would have given.
    """

    def __init__(self, message: str, memory: Memory) -> None:
        """Keep the finished part."""
        super().__init__(message)
        self.memory = memory


def build(
    conversation: Conversation,
    system: str | System = "segment-tree",
    unit: str = "exchange",
    *,
    embedder: str | Embedder = "auto",
    chat: Chat | None = None,
    progress: Progress | None = None,
    **params: Any,
) -> Memory:
    """Build a memory of a conversation, offline by default.

    ``system`` is a name from ``SYSTEMS`` with its parameters as keywords, or an instance;
    ``unit`` a rule from ``UNIT_RULES``; ``chat`` the model for components that need one;
    ``progress(done, total)`` is called after every step. Same input and settings give the
    same steps. ValueError for unknown names; BuildPaused when a model gives up.
    """
    model = make_system(system, **params)
    vectors = get_embedder(embedder) if isinstance(embedder, str) else embedder
    units = conversation.units(unit)
    steps: list[Step] = []

    def memory() -> Memory:
        return Memory(
            conversation,
            unit,
            model.name,
            model.laws,
            as_settings(model),
            vectors,
            tuple(steps),
            "" if chat is None else chat.name,
        )

    try:
        stream = arrivals(units, vectors)
        for step in _metered(model.steps(stream, Services(vectors, chat)), chat):
            steps.append(step)
            if progress is not None:
                progress(len(steps), len(units))
    except ModelError as error:
        raise BuildPaused(str(error), memory()) from error
    return memory()
