"""Input of every export: a memory at one moment and, on Ask, a question put to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from segviz import store
from segviz.construct import parameters
from segviz.conversation import Question
from segviz.llm import Chat
from segviz.memory import Memory, settings_for
from segviz.retrieval import Result, RetrievalSettings
from segviz.retrieval.gold import GoldEvidence
from segviz.systems import SYSTEMS
from segviz.tree import Step, Structure
from segviz.view.bookmark import Bookmark, differing, encode, looks, opening_settings
from segviz.view.captions import provenance_lines, shown_labels


@dataclass(frozen=True, eq=False)
class View:
    """View of the explorer: a memory at one moment, as the app shows it.

    Attributes:
        memory: the memory.
        structure: the structure as displayed.
        bookmark: the parameters of the view's link.
        result: the question with its retrieved nodes; None on Grow.
        typed: (speaker, text) turns typed after the conversation, which are in no file.
        saved: name of the memory's file, None if it has none.
        read: options of ``segviz.load`` for the conversation's file.
        known_gold: gold turns of the question in a view without texts, which no longer shows
            them (``segviz.export.bare``); else None.
    """

    memory: Memory
    structure: Structure
    bookmark: Bookmark
    result: Result | None = None
    typed: tuple[tuple[str, str], ...] = ()
    saved: str | None = None
    read: Mapping[str, Any] = field(default_factory=dict)
    known_gold: GoldEvidence | None = None

    @property
    def page(self) -> str:
        """Page of the view, ``"grow"`` or ``"ask"``."""
        return "grow" if self.result is None else "ask"

    @property
    def session(self) -> store.Saved:
        """Content of a session file: the memory with this view.

        Without texts it is the tree and its steps: nothing can be asked again.
        """
        saved, link, page = self.memory.saved, self.bookmark, self.page
        if self.known_gold is not None:
            page, link = "grow", replace(link, question=None)
            saved = replace(saved, conversation=replace(saved.conversation, questions=()))
        return replace(saved, shown=store.SavedView(page, looks(encode(link))))

    @property
    def labels(self) -> tuple[str, ...]:
        """Titles of the structure's nodes."""
        return shown_labels(self.memory, self.structure)

    @property
    def heading(self) -> str:
        """Title of the view: its question, or the name of the conversation."""
        if self.result is not None:
            return self.result.question
        return f"Memory of {self.memory.conversation.id}"

    @property
    def moment(self) -> int:
        """Number of steps after which the memory is shown."""
        wanted = self.bookmark.step if self.result is None else self.result.settings.step
        total = len(self.memory.steps)
        return total if wanted is None else min(wanted, total)

    @property
    def step(self) -> Step | None:
        """Last step before the ``moment``; None if there is none."""
        return self.memory.steps[self.moment - 1] if self.moment else None

    @cached_property
    def question(self) -> Question | None:
        """The data set's question that the view asks; None for a typed question, or without one."""
        questions, asked = self.memory.conversation.questions, self.result
        if asked is None or self.bookmark.text is not None:
            return None
        index = self.bookmark.question or 0
        if index < len(questions) and questions[index].text == asked.question:
            return questions[index]
        return None

    @cached_property
    def gold(self) -> GoldEvidence:
        """Gold turns of ``question`` in the structure; empty without a question of the data set."""
        if self.known_gold is not None:
            return self.known_gold
        return self.memory.gold(self.question or (), self.structure)

    @property
    def setting(self) -> list[tuple[str, str]]:
        """Settings that made the view, as (name, value) lines."""
        return [*self.memory_setting, *self.question_setting]

    @property
    def memory_setting(self) -> list[tuple[str, str]]:
        """Settings of the memory and its build, as (name, value) lines."""
        memory, link = self.memory, self.bookmark
        own = "".join(f", {name} {value}" for name, value in link.settings.items())
        label = SYSTEMS[memory.system].label if memory.system in SYSTEMS else memory.system
        lines = [
            ("Conversation", memory.conversation.id),
            ("Memory", f"{label}{own}"),
            ("Leaves", f"one per {memory.unit}"),
            ("Embeddings", memory.embedder.name),
        ]
        if memory.chat:
            lines.append(("Chat model", memory.chat))
            lines += provenance_lines(memory)
        asked = self.question
        place = (
            f", before {asked.asked_at}" if asked and memory.moment(asked) == self.moment else ""
        )
        lines.append(("After step", f"{self.moment} of {len(memory.steps)}{place}"))
        if self.typed:
            lines.append(("Typed turns", str(len(self.typed))))
        return lines

    @property
    def question_setting(self) -> list[tuple[str, str]]:
        """Settings of the retrieval, as (name, value) lines; empty on Grow."""
        result = self.result
        if result is None:
            return []
        asked = result.settings
        spread = f"{asked.policy}, α {asked.alpha:g}, H {asked.horizon}"
        if result.native:
            spread = "none: the system's own retrieval"
        full = f"nodes of {asked.budget} tokens"
        wanted = f"at most {asked.k}" if asked.budget is None else full
        return [
            ("Propagation", spread),
            ("Relevance", asked.relevance_for()),
            ("Retrieved", f"{len(result.after)} of {wanted}"),
            *(
                (each.heading, each.in_words(getattr(asked, each.name)))
                for each in parameters(type(asked))
                if not each.spec.drawn_by
            ),
        ]


def view_settings(
    memory: Memory, settings: RetrievalSettings | None, changes: Mapping[str, Any], asks: bool
) -> RetrievalSettings:
    """Returns the settings of a view with ``changes``, as ``settings_for``.

    Raises:
        ValueError: a setting is illegal, or a change needs a question and none is asked.
    """
    unused = [name for name in changes if name not in ("step", "literal")]
    given = settings_for(memory, settings, changes)
    if unused and not asks:
        raise ValueError(f"{', '.join(unused)}: these settings need a question")
    return given


def view_of(
    memory: Memory,
    question: str | None = None,
    settings: RetrievalSettings | None = None,
    *,
    number: int | None = None,
    node: int | None = None,
    chat: Chat | None = None,
    **changes: Any,
) -> View:
    """Creates the view of a memory after ``settings.step`` steps (default: all), or of a question.

    Args:
        memory: the memory.
        question: any text, asked as by ``segviz.ask``; None for a view of the memory alone. If it
            is the text of a question of the conversation, the view has that question's gold
            evidence.
        settings: retrieval settings.
        number: index of a question of the conversation, instead of ``question``.
        node: node to select.
        chat: chat model of the question.
        changes: fields of ``settings`` to replace.

    Raises:
        ValueError: a number or node is unknown, a setting is illegal, or there are settings without
            a question.
    """
    if number is not None and question is not None:
        raise ValueError("give a question or the number of one, not both")
    if question is not None:
        same = (one.index for one in memory.conversation.questions if one.text == question)
        number = next(same, None)
    asked = question if number is None else memory.conversation.question(number)
    settings = view_settings(memory, settings, changes, asked is not None)
    result = None if asked is None else memory.ask(asked, settings, chat=chat)
    moment = len(memory.steps) if settings.step is None else settings.step
    whole = memory.at(moment)
    plain = whole if settings.literal else whole.collapsed
    structure = plain if result is None else result.structure
    if node is not None and not 0 <= node < len(structure):
        raise ValueError(f"there is no node {node}; nodes are 0 to {len(structure) - 1}")
    kind = SYSTEMS.get(memory.system)
    bookmark = Bookmark(
        conversation=memory.conversation.id,
        unit=memory.unit,
        system=memory.system,
        settings=differing(kind, memory.settings) if kind else {},
        question=number,
        text=question if number is None else None,
        retrieval=opening_settings(memory.system) if result is None else settings,
        step=settings.step if asked is None else None,
        node=None if node is None else int(structure.chain[node]),
    )
    return View(memory, structure, bookmark, result)
