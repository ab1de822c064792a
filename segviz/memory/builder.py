"""Builds a memory of a conversation, with costs per step and resumption.

conversation → units → embed → a system's steps → structure → relevance → propagate → top K

This module goes as far as the structure; ``ask`` (``segviz.memory.memory``) does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from segviz.construct import Arrival, Services, System, arriving, as_settings, services_for
from segviz.conversation import Conversation, Unit
from segviz.embedding import Embedder, as_embedder
from segviz.files import check_room
from segviz.handover import built_in, calling, check_text
from segviz.llm import Chat, ModelError
from segviz.memory.factory import make_system, needs_chat, paid, parts_of, provenance
from segviz.memory.memory import Memory
from segviz.text.captions import counted
from segviz.tree import Add, Record, Revise, Step
from segviz.waiting import check_cancelled, waited_for

Progress = Callable[[int, int], None]


def arrivals(units: Sequence[Unit], embedder: Embedder) -> tuple[Arrival, ...]:
    """Returns the units of a conversation as arrivals, each with its vector, float32 (d,)."""
    texts = [unit.text for unit in units]
    # Requests of a paid model are ended, and sent in parallel, by its client.
    size = max(len(texts), 1) if paid(embedder) else _PART
    parts = []
    for first in range(0, max(len(texts), 1), size):
        check_cancelled()
        parts.append(embedder.embed(texts[first : first + size]))
    return arriving(units, np.concatenate(parts))


_PART = 128
"""Number of texts that are embedded between two checks whether the caller still waits."""


def _metered(steps: Iterator[Step], chat: Chat | None) -> Iterator[Step]:
    """Yields steps with seconds and calls added to their cost; cached answers count, too."""

    def counters() -> dict[str, int]:
        known = chat.counts() if chat else {}
        return {name: known.get(of, 0) for name, of in _COUNTED.items()}

    # Counters only grow; a step's cost is their difference between two yields. They are
    # read again after each yield, so that the consumer's own time and calls do not count.
    began, before = perf_counter(), counters()
    for step in steps:
        seconds = perf_counter() - began
        spent = {name: now - before[name] for name, now in counters().items()}
        notes = _notes(refused=spent.pop("refused"), shortened=spent.pop("shortened"))
        cost = replace(step.cost, seconds=seconds, **spent)
        yield replace(step, note="".join((step.note, *notes)), cost=cost)
        began, before = perf_counter(), counters()


_COUNTED = {
    "calls": "answered",
    "tokens": "answered_tokens",
    "output": "answered_output",
    "cached": "from_cache",
    "refused": "refused",
    "shortened": "shortened",
    **{name: name for name in ("decided", "decided_instead", "written", "written_instead")},
}
"""Field of a step's cost -> counter of the chat model."""


def _notes(refused: int, shortened: int) -> Iterator[str]:
    """Yields sentences for a step's note about unusable replies and shortened texts."""
    for count, noun, what in (
        (refused, "result", "made offline, because no reply of the model could be used"),
        (shortened, "text", "shortened to keep the prompts within their budget"),
    ):
        if count:
            yield f" {counted(count, noun)} {'was' if count == 1 else 'were'} {what}."


class BuildPaused(ModelError):
    """Error of a build that stopped because a model failed.

    ``memory`` has the finished steps, ``fault`` is the model's error. All answers of the model are
    cached: building again with the same settings continues here and ends in the same tree.
    """

    def __init__(self, fault: ModelError, memory: Memory) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.memory = memory


_ROOM = 9_000
"""Bytes per leaf of a segment tree during a build, measured on 100,000 leaves."""


def check_leaves(count: int) -> None:
    """Raises NoRoom if building so many leaves needs more memory than is free."""
    check_room(_ROOM * count, f"building {count:,} leaves", "take a part, or a larger machine")


class Building:
    """Build in progress: iterate over it for its steps as they are finished.

    ``memory`` is the finished part at any moment, also after an interrupted iteration.
    Arguments and errors are those of :func:`build`.
    """

    def __init__(
        self,
        conversation: Conversation,
        system: str | System = "segment-tree",
        unit: str = "exchange",
        *,
        embedder: str | Embedder = "auto",
        chat: Chat | None = None,
        **params: Any,
    ) -> None:
        """Prepares the build; calls no embedder or model yet. Raises NoRoom for too many units."""
        self.units = conversation.units(unit)
        check_leaves(len(self.units))
        self._conversation = conversation
        self._unit = unit
        self._system = make_system(system, **params)
        self._embedder = as_embedder(embedder)
        self._chat = chat
        self._record = Record()
        self._calls = self._taken = 0

    @property
    def memory(self) -> Memory:
        """The memory of the finished steps."""
        chat = self._chat if self._calls or needs_chat(self._system) else None
        return Memory(
            self._conversation,
            self._unit,
            self._system.name,
            self._system.invariants,
            as_settings(self._system),
            self._embedder,
            self._record.history(self.units),
            "" if chat is None else chat.name,
            {} if chat is None else provenance(chat, self._system),
            self._system,
        )

    def __iter__(self) -> Iterator[Step]:
        """Yields every step, from the first on; raises BuildPaused when a model gives up."""
        self._record, self._taken = Record(), 0
        try:
            stream = waited_for(lambda: arrivals(self.units, self._embedder))
            services = services_for(self._system, self._embedder, self._chat, self._conversation)
            with calling(self._system):
                for step in _metered(self._system_steps(stream, services), self._chat):
                    self._calls += step.cost.calls
                    self._take(step)
                    yield step
        except ModelError as error:
            raise BuildPaused(error, self.memory) from error

    def _system_steps(self, stream: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """Yields the system's steps; waiting for code from outside segviz can be stopped."""
        steps = iter(self._system.steps(stream, services))
        if all(map(built_in, (self._system, *parts_of(self._system).values()))):
            yield from steps
            return
        while (step := waited_for(lambda: next(steps, None))) is not None:
            yield step

    def _take(self, step: Step) -> None:
        """Adds a step of the system to the record; raises ValueError if it is out of order."""
        unit = step.unit
        if self._taken == len(self.units) or self.units[self._taken] != unit:
            raise ValueError(
                f"the system {self._system.name!r} gave step {self._taken + 1} for the unit "
                f"{unit!r:.200}; expected a step for each arrival, in their order"
            )
        if not built_in(self._system):
            for event in step.events:
                if not isinstance(event, Add | Revise):
                    continue
                check_text(event.text, self._system)
                (start, stop), count, of = event.span, len(self.units), np.ndim(event.vector)
                if of != 1 or not (0 <= start <= count and 0 <= stop <= count):
                    raise ValueError(
                        f"a vector of {of} dimensions, span {event.span}; expected 1 dimension, a "
                        f"span within 0 to {count} units"
                    )
        try:
            self._record.take(step)
            self._taken += 1
        except (TypeError, OverflowError) as error:
            raise ValueError(
                f"the system {self._system.name!r} gave a step for unit {unit.index} that cannot "
                f"be stored ({error}); expected numbers of 32 bits, and facts that are plain JSON "
                "values"
            ) from None


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
    """Builds a memory of a conversation, offline by default.

    The same input and settings give the same steps.

    Args:
        conversation: the conversation to build from.
        system: a name from ``SYSTEMS`` with its parameters as ``params``, or an instance.
        unit: a rule from ``UNIT_RULES``.
        embedder: "auto", a name from ``EMBEDDERS`` or an instance.
        chat: the model for components that need one.
        progress: called as ``progress(done, total)`` after every step.
        **params: parameters of the system.

    Raises:
        ValueError: A name is unknown, or the system does not give one step per unit.
        BuildPaused: A model gave up.
    """
    building = Building(conversation, system, unit, embedder=embedder, chat=chat, **params)
    for done, _ in enumerate(building, start=1):
        if progress is not None:
            progress(done, len(building.units))
    memory, units = building.memory, len(building.units)
    if len(memory.steps) != units:
        raise ValueError(
            f"the system {memory.system!r} gave {len(memory.steps):,} steps for {units:,} units; "
            "expected one for each, in their order"
        )
    return memory
