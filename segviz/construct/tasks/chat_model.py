"""Tasks solved by a chat model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

from segviz.construct.protocols import Services, require_chat
from segviz.construct.tasks.offline import (
    ENTITY_KINDS,
    EXPECTED,
    MOST_FACTS,
    MOST_UNSURE,
    SCOPES,
    Boundary,
    Extraction,
    Named,
    Offline,
    Related,
    Stated,
    SubQuestion,
)
from segviz.llm import Chat, LabelError, Prompt, Reply, prompts
from segviz.llm.chat import object_in
from segviz.text import dates
from segviz.text.captions import clipped

_LONGEST = 600  # most characters of any text by a model
_MOST = 8  # sub-questions


@dataclass(frozen=True)
class ChatTasks(Offline):
    """Tasks in which a chat model extracts, judges and plans.

    An unreadable answer is requested twice more. Then the offline rules do that one task, and the
    record says so where it can (``Extraction.fallback``).

    Source: the tasks of H-Mem, MemForest and xMemory (the wording is ours). Departs from xMemory:
        uncertainty is requested as a label, 0 to 10, not computed from token probabilities, which
        not every server gives.
    """

    name: ClassVar[str] = "llm"
    needs_chat: ClassVar[bool] = True

    chat: Chat | None = field(default=None, compare=False, repr=False)
    own: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def prepare(self, services: Services) -> ChatTasks:
        """Returns a copy that uses the build's chat model and the prompts of the system."""
        return replace(self, chat=require_chat(services, "llm tasks"), own=services.prompts)

    def _bound(self) -> Chat:
        if self.chat is None:
            raise ValueError("llm tasks have no chat model; build and ask with chat=…")
        return self.chat

    def _json(self, prompt: Prompt, reply: Reply | None = None) -> dict[str, Any] | None:
        """Returns the JSON object in the model's reply (or the given one); None without one."""
        answer = object_in((reply or self._bound().reply(prompt)).text)
        self._bound().count_made(text=False, by_model=answer is not None)
        return answer

    def _label(self, prompt: Prompt) -> str | None:
        """Returns the label the model answers; None if it answers none."""
        label = None
        with suppress(LabelError):
            label = self._bound().reply(prompt).text
        self._bound().count_made(text=False, by_model=label is not None)
        return label

    def extract(
        self, text: str, when: datetime | None, known: Sequence[str] = (), most: int = MOST_FACTS
    ) -> Extraction:
        """Returns the facts, entities and relations that the model finds in a text."""
        answer = self._json(prompts.extraction_prompt(text, _minutes(when), known, most))
        return self._extraction(answer, text, when, known, most)

    def extract_many(
        self, asked: Sequence[tuple[str, datetime | None]], most: int
    ) -> list[Extraction]:
        """Returns ``extract`` for each of several texts; their prompts are sent together."""
        wanted = [prompts.extraction_prompt(text, _minutes(when), (), most) for text, when in asked]
        replies = self._bound().replies(wanted)
        return [
            self._extraction(self._json(prompt, reply), text, when, (), most)
            for prompt, reply, (text, when) in zip(wanted, replies, asked, strict=True)
        ]

    def _extraction(
        self,
        answer: dict[str, Any] | None,
        text: str,
        when: datetime | None,
        known: Sequence[str],
        most: int,
    ) -> Extraction:
        """Returns the extraction in a model's answer; without an answer, that of the rules."""
        if answer is None:
            return replace(super().extract(text, when, known, most), fallback=True)
        facts = tuple(
            fact for item in _items(answer, "facts")[:most] if (fact := _fact(item, when))
        )
        relations = tuple(
            Related(
                _text(item, "head"),
                _text(item, "label") or "co-occurs",
                _text(item, "tail"),
                _share(item.get("confidence")),
            )
            for item in _items(answer, "relations")
            if _text(item, "head") and _text(item, "tail")
        )
        return Extraction(facts, relations)

    def boundary(self, before: Sequence[str], new: str, similarity: float) -> Boundary:
        """Decides by the model's END or CONTINUE, else by the offline rule."""
        label = self._label(prompts.boundary_prompt(before, new, self.own))
        if label is None:
            return super().boundary(before, new, similarity)
        return Boundary(label == prompts.END, f"the model answered {label}")

    def same(self, one: str, other: str) -> bool:
        """Returns True if the model answers SAME for two statements."""
        label = self._label(prompts.same_prompt(one, other, self.own))
        return super().same(one, other) if label is None else label == prompts.SAME

    def plan(self, question: str, now: datetime | None) -> tuple[SubQuestion, ...]:
        """Returns the parts into which the model splits a question, with scopes and times."""
        answer = self._json(
            prompts.plan_prompt(question, _minutes(now), SCOPES, EXPECTED, self.own)
        )
        parts = _items(answer or {}, "questions")[:_MOST]
        plan = tuple(_part(item, now) for item in parts if _text(item, "text"))
        return plan or super().plan(question, now)

    def focus(self, question: str, roots: Sequence[str]) -> list[str]:
        """Returns the model's sub-question for each tree; the question for trees it leaves out."""
        answer = self._json(prompts.focus_prompt(question, roots, self.own))
        asked = [question] * len(roots)
        for item in _items(answer or {}, "questions"):
            number, text = item.get("number"), _text(item, "text")
            # A model's numbers are untrusted; bool is an int in Python.
            if type(number) is int and 1 <= number <= len(roots) and text:
                asked[number - 1] = text
        return asked

    def order(self, question: str, texts: Sequence[str], scores: Sequence[float]) -> list[int]:
        """Returns the positions of ``texts`` as the model orders them; omitted ones by score."""
        rest = super().order(question, texts, scores)
        if len(texts) < 2:
            return rest
        answer = self._json(prompts.order_prompt(question, texts))
        raw = answer.get("order") if answer else None
        listed = raw if isinstance(raw, list) else []
        positions = [i - 1 for i in listed if type(i) is int and 1 <= i <= len(texts)]
        return list(dict.fromkeys((*positions, *rest)))

    def uncertainty(
        self, question: str, context: Sequence[str], weights: Mapping[str, float] | None = None
    ) -> float:
        """Returns the uncertainty in nats: 5 minus half of the model's confidence (0 to 10)."""
        label = self._label(prompts.confidence_prompt(question, context, self.own))
        if label is None:
            return super().uncertainty(question, context, weights)
        return MOST_UNSURE * (1 - int(label) / 10)

    def missing(self, question: str, evidence: Sequence[str]) -> str | None:
        """Returns the follow-up question the model asks, if any."""
        answer = self._json(prompts.missing_prompt(question, evidence, self.own))
        if answer is None:
            return super().missing(question, evidence)
        return _text(answer, "followup") or None if answer.get("missing") is True else None


def _items(answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Returns the objects of a list that the model may have given."""
    raw = answer.get(name)
    return [item for item in raw if isinstance(item, dict)] if isinstance(raw, list) else []


def _text(item: dict[str, Any], name: str) -> str:
    raw = item.get(name)
    return clipped(raw.strip(), _LONGEST) if isinstance(raw, str) else ""


def _share(value: Any) -> float:
    """Returns a value that the model gave if it is a number from 0 to 1, else 1."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if number else 1.0


def _fact(item: dict[str, Any], when: datetime | None) -> Stated | None:
    """Returns a fact as a model gave it at the time ``when``; None without a text."""
    text = _text(item, "text")
    if not text:
        return None
    entities: dict[Named, None] = {}
    for entity in _items(item, "entities"):
        name, kind = _text(entity, "name"), _text(entity, "kind")
        if name:
            entities[Named(name, kind if kind in ENTITY_KINDS else "other")] = None
    return Stated(
        text=text,
        speaker=_text(item, "speaker"),
        about=_named_time(item, when),
        entities=tuple(entities),
        domain=_text(item, "domain").lower() or "other",
        role=_text(item, "role").lower() or "fact",
    )


def _named_time(item: dict[str, Any], now: datetime | None) -> dates.Interval | None:
    """Returns the time that an item's "when" names, relative to ``now``; None without one."""
    interval, _ = dates.resolve(_text(item, "when"), now) or (None, "")
    return interval


def _part(item: dict[str, Any], now: datetime | None) -> SubQuestion:
    """Returns a part of a question as a model gave it; unknown values become the usual ones."""
    scope, kind = _text(item, "scope").lower(), _text(item, "expects").lower()
    return SubQuestion(
        text=_text(item, "text"),
        scope=scope if scope in SCOPES else "mixed",
        when=_named_time(item, now),
        expects=kind if kind in EXPECTED else "anything",
    )


def _minutes(when: datetime | None) -> str:
    return "" if when is None else when.isoformat(sep=" ", timespec="minutes")
