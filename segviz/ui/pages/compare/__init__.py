"""Compare: systems beside each other. Its panels draw one ``Comparing``, made once a rerun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from streamlit.delta_generator import DeltaGenerator

from segviz.conversation import Question
from segviz.evaluation import MEASURES, Comparison
from segviz.evaluation.compare import settings_by
from segviz.handover import HandoverError
from segviz.memory import Memory
from segviz.retrieval import Result, RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.ui.settings import asked_question
from segviz.ui.state import AppSession, fingerprint, peek, typed_turns
from segviz.ui.widgets.waiting import noted


def built_key(session: AppSession, name: str) -> str:
    """Returns the content key of a system's memory over the leaves of this session."""
    memory = session.memory
    leaves = len(memory.units)  # of a watched file there are more and more
    finished = len(memory.steps) == leaves
    if name == memory.system and finished and not has_written_texts(memory):
        return session.key
    typed = typed_turns(session.source)
    changed = repr(memory.settings) if name == memory.system else ""
    made_of = session.source, typed, memory.unit, leaves
    return fingerprint(*made_of, name, memory.embedder.name, changed)


def has_written_texts(memory: Memory) -> bool:
    """Returns True if a memory has texts written by hand, with which it does not compare."""
    return bool(memory.provenance.get("by_hand"))


def cached(session: AppSession, name: str) -> Memory | None:
    """Returns the memory of a system if it is built; else None.

    The open one is, unless its build is paused, or its texts are written by hand: all systems have
    extracts then.
    """
    if built_key(session, name) == session.key:
        return session.memory
    memory: Memory | None = peek("compared", built_key(session, name))
    return memory


@dataclass(frozen=True)
class Comparing:
    """Systems that a rerun of the page compares, and how they are asked.

    Attributes:
        session: the open memory.
        memories: those that are built, by name of the system.
        settings: K and the relevance, None for the usual one; without propagation.
        method: how systems are asked, a key of ``RETRIEVED_BY``; one without it is asked by
            relevance alone.
        measure: the measure over all questions.
        adversarial: True if questions of category 5 count.
        disputed: True if disputed questions count.
        verdict: slot at the top of the page for the result over all questions.
        plot: slot below it for the plot.
    """

    session: AppSession
    memories: Mapping[str, Memory]
    settings: RetrievalSettings
    method: str
    measure: str
    adversarial: bool
    disputed: bool
    verdict: DeltaGenerator
    plot: DeltaGenerator

    @property
    def questions(self) -> tuple[Question, ...]:
        """Questions of the data set."""
        return self.session.conversation.questions

    @property
    def measured(self) -> str:
        """Name of the measure for display."""
        return MEASURES[self.measure].label

    @property
    def how(self) -> dict[str, Any]:
        """The same retrieval for all, as arguments of ``compare``."""
        return {"relevance": self.settings.relevance, "k": self.settings.k}

    @property
    def comparison_key(self) -> str:
        """Content key of the measurement of all systems."""
        asked = [question.index for question in self.questions]
        return fingerprint([self.key(name) for name in self.memories], self.how, asked)

    @property
    def comparison(self) -> Comparison | None:
        """Measured systems, None before :attr:`comparison_key` is measured."""
        known: Comparison | None = peek("comparisons", self.comparison_key)
        return known and known.counting(disputed=self.disputed)

    def label(self, name: str) -> str:
        """Returns the name of a system for display; another name stays."""
        return str(SYSTEMS[name].label) if name in SYSTEMS else name

    def key(self, name: str) -> str:
        """Returns the content key of a system's memory."""
        return built_key(self.session, name)

    def asked(self, name: str, method: str = "") -> RetrievalSettings:
        """Returns the settings of a system; ``method`` replaces the choice of the page."""
        by = settings_by(method or self.method, self.memories[name], self.settings)
        return by or self.settings

    @property
    def question(self) -> Question:
        """Current question, shared with Ask."""
        return asked_question(self.session)

    @cached_property
    def results(self) -> dict[str, Result]:
        """Result of the current question in each system that does not fail."""
        return {name: one for name, one in self._asked.items() if isinstance(one, Result)}

    @cached_property
    def errors(self) -> dict[str, HandoverError]:
        """Error of each system that fails for the current question."""
        return {name: one for name, one in self._asked.items() if isinstance(one, HandoverError)}

    @cached_property
    def _asked(self) -> dict[str, Result | HandoverError]:
        """Result or error of each system; empty without a question."""
        results: dict[str, Result | HandoverError] = {}
        for name, memory in self.memories.items() if self.question.text.strip() else ():
            try:
                work = partial(memory.ask, self.question, self.asked(name))
                results[name] = noted(f"Ask {self.label(name)}", work)
            except HandoverError as error:
                results[name] = error
        return results
