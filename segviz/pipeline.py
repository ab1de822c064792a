"""Assembly: the whole flow, one readable function each for building and asking.

conversation → units → embed → a system's steps → structure → relevance → propagate → top K
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz import store
from segviz.assemble import embedder_named, make_system
from segviz.conversation import Conversation
from segviz.embed import get_embedder
from segviz.invariants import Violation, check
from segviz.parameters import as_settings
from segviz.propagate import propagate
from segviz.protocols import (
    Arrival,
    Chat,
    Embedder,
    ModelError,
    Scorer,
    Services,
    System,
)
from segviz.relevance import RELEVANCE, initial_scores
from segviz.result import Evidence, Result
from segviz.retrieve import ranking, top_k
from segviz.steps import Step
from segviz.structure import Structure, replay
from segviz.units import Unit

Progress = Callable[[int, int], None]
_MOMENTS_KEPT = 4


@dataclass(frozen=True, eq=False)
class Memory:
    """A built memory: the conversation, how it was cut, and every construction step."""

    conversation: Conversation
    unit: str
    system: str
    laws: str
    settings: dict[str, Any]
    embedder: Embedder
    steps: tuple[Step, ...]
    chat: str = ""

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units the leaves hold."""
        return self.conversation.units(self.unit)

    @cached_property
    def structure(self) -> Structure:
        """The structure after the last step."""
        return replay(self.steps)

    def at(self, step: int) -> Structure:
        """The structure after ``step`` steps, 0 … len(steps). ValueError outside."""
        if not 0 <= step <= len(self.steps):
            raise ValueError(f"step {step}: this memory has steps 0 to {len(self.steps)}")
        if step == len(self.steps):
            return self.structure
        # A page looks at the same few moments again and again.
        recent = self._recent
        if step not in recent:
            recent[step] = replay(self.steps[:step])
            while len(recent) > _MOMENTS_KEPT:
                del recent[next(iter(recent))]
        return recent[step]

    @cached_property
    def _recent(self) -> dict[int, Structure]:
        return {}

    def check(self, step: int | None = None) -> list[Violation]:
        """Broken invariants after ``step`` (default: the last), under the system's laws."""
        return check(self.structure if step is None else self.at(step), self.laws)

    @cached_property
    def _scorers(self) -> dict[str, Scorer]:
        return {}

    def scorer(self, relevance: str, structure: Structure | None = None) -> Scorer:
        """The prepared relevance model of this name, kept for the final structure.

        ValueError lists the names for an unknown one.
        """
        if relevance not in RELEVANCE:
            raise ValueError(
                f"unknown relevance {relevance!r}; choose one of {', '.join(RELEVANCE)}"
            )
        if structure is not None and structure is not self.structure:
            return _prepare(relevance, structure, self.embedder)
        if relevance not in self._scorers:
            self._scorers[relevance] = _prepare(relevance, self.structure, self.embedder)
        return self._scorers[relevance]

    def turn_ids(self, node: int, structure: Structure | None = None) -> tuple[str, ...]:
        """Ids of the turns below a node, in order; of the final structure by default."""
        covered = (self.structure if structure is None else structure).coverage(node)
        return tuple(turn for index in covered for turn in self.units[index].turn_ids)

    def ask(self, question: str, **settings: Any) -> Result:
        """Retrieve evidence; see :func:`ask` for the settings."""
        return ask(self, question, **settings)

    def save(self, path: str | Path) -> None:
        """Write the memory as versioned JSON (``.gz`` compresses); see ``segviz.store``."""
        store.write(
            store.Saved(
                self.conversation,
                self.unit,
                self.system,
                self.laws,
                self.settings,
                self.embedder.name,
                self.steps,
                self.chat,
            ),
            path,
        )


def _prepare(relevance: str, structure: Structure, embedder: Embedder) -> Scorer:
    scorer: Scorer = RELEVANCE[relevance]().prepare(structure, embedder)
    return scorer


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
    """Write into each step's cost what the systems do not know: wall time, and the calls
    and tokens really requested from the chat model."""

    def used() -> tuple[int, int]:
        return (chat.calls, chat.tokens) if chat is not None else (0, 0)

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


def ask(
    memory: Memory,
    question: str,
    *,
    policy: str = "top-down",
    alpha: float = 0.1,
    horizon: int = 2,
    k: int = 10,
    levels: Collection[int] | None = None,
    relevance: str = "hybrid",
    distinct: bool = True,
    step: int | None = None,
) -> Result:
    """Retrieve the evidence for a question (SegTreeMem Algorithm 2).

    ``policy``, ``alpha`` in [0, 1) and ``horizon`` ≥ 0 steer propagation; ``k`` ≥ 1 nodes
    are returned from the admissible ``levels`` (None: all), best first; ``distinct``
    counts nodes that carry the same text once; ``step`` asks the memory as it stood then.
    ValueError names value and legal range for a bad setting.
    """
    structure = memory.structure if step is None else memory.at(step)
    raw = memory.scorer(relevance, structure)([question])[0]
    spread = propagate(
        initial_scores(raw, structure.active),
        structure.edges,
        policy,
        alpha,
        horizon,
        structure,
    )
    initial = spread.hops[0]
    before = top_k(initial, structure, k, levels, distinct)
    after = top_k(spread.final, structure, k, levels, distinct)
    rank_before = _ranks(initial, structure, levels, distinct)
    evidence = tuple(
        Evidence(
            node=node,
            level=int(structure.level[node]),
            span=(int(structure.start[node]), int(structure.stop[node])),
            turn_ids=memory.turn_ids(node, structure),
            text=structure.text[node],
            initial=float(initial[node]),
            final=float(spread.final[node]),
            rank_before=int(rank_before[structure.carrier[node] if distinct else node]),
            rank_after=rank,
        )
        for rank, node in enumerate(after, start=1)
    )
    return Result(
        question,
        structure,
        policy,
        alpha,
        horizon,
        initial,
        spread.final,
        spread.hops,
        tuple(before),
        tuple(after),
        evidence,
    )


def _ranks(
    scores: NDArray[np.float64],
    structure: Structure,
    levels: Collection[int] | None,
    distinct: bool,
) -> NDArray[np.int64]:
    """1-based rank of each node, int64 (n,); with ``distinct`` indexed by carrier."""
    order = ranking(scores, structure, levels, distinct)
    ranks = np.zeros(len(structure), dtype=np.int64)
    ranks[structure.carrier[order] if distinct else order] = np.arange(1, len(order) + 1)
    return ranks


def open_memory(path: str | Path) -> Memory:
    """Open a memory written by :meth:`Memory.save`.

    Raises ``store.StoreError`` when the file is not one or its embedding model is not
    available here.
    """
    return from_saved(store.read(path))


def from_saved(saved: store.Saved) -> Memory:
    """A Memory from verified file contents, with the embedder that made its vectors.

    StoreError when that embedder is not here or its vectors have another dimension.
    """
    embedder = embedder_named(saved.embedder)
    found, expected = replay(saved.steps[:1]).vector.shape[1], embedder.embed([""]).shape[1]
    if saved.steps and found != expected:
        raise store.StoreError(
            f"the memory file is damaged: its vectors have {found} dimensions, those of "
            f"{embedder.name} have {expected}"
        )
    return Memory(
        saved.conversation,
        saved.unit,
        saved.system,
        saved.laws,
        saved.settings,
        embedder,
        saved.steps,
        saved.chat,
    )
