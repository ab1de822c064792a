"""From the JSON form of a memory back to its records, every value checked; the format is
documented in ``segviz.store``."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import Any

import numpy as np

from segviz.conversation import Conversation, Question, Session, Turn, Unit
from segviz.store.codec import Saved, Shown
from segviz.store.expect import (
    INT32,
    StoreError,
    every,
    fault,
    items,
    number,
    optional,
    plain,
    table,
    text,
    whole,
)
from segviz.tree import (
    Add,
    Cost,
    Decision,
    Event,
    Facts,
    Judgement,
    Link,
    Relate,
    Retire,
    Revise,
    Span,
    Step,
    Unlink,
    Vector,
)


def decode(document: dict[str, Any]) -> Saved:
    """The memory of a JSON document.

    StoreError names the place, what was expected and what was found; ValueError comes
    from what the memory means (an unknown unit rule).
    """
    table(
        document,
        "the file",
        *("conversation", "unit", "system", "embedder", "chat", "steps", "vectors"),
    )
    conversation = _decode_conversation(document["conversation"])
    rule = text(document["unit"], "unit")
    system = table(document["system"], "system", "name", "laws", "settings")
    reader = _Reader(conversation.units(rule), _decode_vectors(document["vectors"]))
    return Saved(
        conversation=conversation,
        unit=rule,
        system=text(system["name"], "system.name"),
        laws=text(system["laws"], "system.laws"),
        settings=plain(table(system["settings"], "system.settings"), "system.settings"),
        embedder=text(document["embedder"], "embedder"),
        chat=text(document["chat"], "chat"),
        steps=every(reader.step, document["steps"], "steps"),
        shown=optional(_decode_view, document.get("view"), "view"),
    )


def _decode_view(value: Any, at: str) -> Shown:
    record = table(value, at, "page", "link")
    link = table(record["link"], f"{at}.link")
    return Shown(
        text(record["page"], f"{at}.page"),
        {text(name, f"{at}.link"): text(part, f"{at}.link.{name}") for name, part in link.items()},
    )


def _decode_vectors(value: Any) -> Vector:
    record = table(value, "vectors", "dtype", "dimension", "count", "data")
    if record["dtype"] != "float32":
        raise fault("vectors.dtype", "'float32'", record["dtype"])
    count = whole(record["count"], "vectors.count", high=INT32)
    dimension = whole(record["dimension"], "vectors.dimension", min(count, 1), INT32)
    try:
        blob = base64.b64decode(text(record["data"], "vectors.data"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise StoreError(f"vectors.data: not base64 ({error})") from None
    if len(blob) != 4 * count * dimension:
        raise StoreError(
            f"vectors.data: expected {count} vectors of {dimension} numbers "
            f"({4 * count * dimension} bytes), found {len(blob)} bytes"
        )
    vectors = np.frombuffer(blob, dtype="<f4").reshape(count, dimension).astype(np.float32)
    if not np.isfinite(vectors).all():
        raise StoreError("vectors.data: expected finite numbers, found NaN or infinity")
    vectors.flags.writeable = False
    return vectors


def _decode_conversation(value: Any) -> Conversation:
    at = "conversation"
    record = table(value, at, "id", "speakers", "source_format", "sessions", "questions")
    return Conversation(
        id=text(record["id"], f"{at}.id"),
        speakers=every(text, record["speakers"], f"{at}.speakers"),
        source_format=text(record["source_format"], f"{at}.source_format"),
        sessions=every(_decode_session, record["sessions"], f"{at}.sessions"),
        questions=tuple(
            _decode_question(index, question, f"{at}.questions[{index}]")
            for index, question in enumerate(items(record["questions"], f"{at}.questions"))
        ),
    )


def _decode_session(value: Any, at: str) -> Session:
    record = table(value, at, "id", "start", "raw_date", "turns")
    return Session(
        id=text(record["id"], f"{at}.id"),
        start=optional(_decode_time, record["start"], f"{at}.start"),
        raw_date=text(record["raw_date"], f"{at}.raw_date"),
        turns=every(_decode_turn, record["turns"], f"{at}.turns"),
    )


def _decode_time(value: Any, at: str) -> datetime:
    written = text(value, at)
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        raise fault(at, "an ISO date and time", value) from None


def _decode_turn(value: Any, at: str) -> Turn:
    turn_id, speaker, words, caption = items(value, at, 4)
    return Turn(
        text(turn_id, f"{at}.id"),
        text(speaker, f"{at}.speaker"),
        text(words, f"{at}.text"),
        optional(text, caption, f"{at}.caption"),
    )


def _decode_question(index: int, value: Any, at: str) -> Question:
    names = ("text", "answer", "category", "evidence", "unresolved", "adversarial")
    record = table(value, at, *names)
    return Question(
        index=index,
        text=text(record["text"], f"{at}.text"),
        answer=optional(text, record["answer"], f"{at}.answer"),
        category=optional(_decode_category, record["category"], f"{at}.category"),
        evidence=every(text, record["evidence"], f"{at}.evidence"),
        unresolved=every(text, record["unresolved"], f"{at}.unresolved"),
        adversarial=optional(text, record["adversarial"], f"{at}.adversarial"),
    )


def _decode_category(value: Any, at: str) -> int:
    return whole(value, at, low=-INT32, high=INT32)


def _level(value: Any, at: str) -> int:
    return whole(value, at, high=INT32)


def _facts(value: Any, at: str) -> Facts:
    facts = plain(table(value, at), at, 1)
    for name, fact in facts.items():
        if isinstance(fact, dict | list):
            raise fault(f"{at}.{name}", "a plain value", fact)
    return dict(facts)


def _numbers(value: Any, at: str) -> list[Any]:
    numbers = items(value, at)
    if len(numbers) not in (5, 8):
        raise fault(at, "a list of 5 or 8", value)
    return numbers


class _Reader:
    """Reads steps in order; knows the units, the vectors and how many nodes there are."""

    def __init__(self, units: tuple[Unit, ...], vectors: Vector) -> None:
        self.units = units
        self.vectors = vectors
        self.nodes = 0

    def step(self, value: Any, at: str) -> Step:
        record = table(value, at, "unit", "note", "decision", "cost", "events")
        unit = whole(record["unit"], f"{at}.unit", high=len(self.units) - 1)
        cost = [
            whole(part, f"{at}.cost[{i}]")
            for i, part in enumerate(_numbers(record["cost"], f"{at}.cost"))
        ]
        events = every(self._event, record["events"], f"{at}.events")
        return Step(
            unit=self.units[unit],
            note=text(record["note"], f"{at}.note"),
            decision=optional(self._decision, record["decision"], f"{at}.decision"),
            events=events,
            cost=Cost(*cost),
            operation=text(record.get("operation", ""), f"{at}.operation"),
        )

    def _decision(self, value: Any, at: str) -> Decision:
        record = table(value, at, "candidates", "chosen", "why")
        return Decision(
            candidates=every(self._judgement, record["candidates"], f"{at}.candidates"),
            chosen=optional(self._node, record["chosen"], f"{at}.chosen"),
            why=text(record["why"], f"{at}.why"),
        )

    def _judgement(self, value: Any, at: str) -> Judgement:
        node, score, threshold, label = items(value, at, 4)
        return Judgement(
            self._node(node, f"{at}.node"),
            optional(number, score, f"{at}.score"),
            optional(number, threshold, f"{at}.threshold"),
            text(label, f"{at}.label"),
        )

    def _event(self, value: Any, at: str) -> Event:
        match items(value, at):
            case ["add", node, level, start, stop, words, row, *more] if len(more) in (0, 2):
                self.nodes += 1
                kind, facts = more or ("", {})
                return Add(
                    self._id(node, f"{at}.node"),
                    whole(level, f"{at}.level", high=INT32),
                    self._span(start, stop, at),
                    text(words, f"{at}.text"),
                    self._vector(row, f"{at}.row"),
                    text(kind, f"{at}.kind"),
                    _facts(facts, f"{at}.facts"),
                )
            case ["revise", node, start, stop, words, row, *more] if len(more) in (0, 2):
                changed_level, changed_facts = more or (None, None)
                return Revise(
                    self._id(node, f"{at}.node"),
                    self._span(start, stop, at),
                    text(words, f"{at}.text"),
                    self._vector(row, f"{at}.row"),
                    optional(_level, changed_level, f"{at}.level"),
                    optional(_facts, changed_facts, f"{at}.facts"),
                )
            case ["link", parent, child]:
                return Link(self._id(parent, f"{at}.parent"), self._id(child, f"{at}.child"))
            case ["unlink", parent, child]:
                return Unlink(self._id(parent, f"{at}.parent"), self._id(child, f"{at}.child"))
            case ["retire", node]:
                return Retire(self._id(node, f"{at}.node"))
            case ["relate", source, target, label, weight]:
                return Relate(
                    self._id(source, f"{at}.source"),
                    self._id(target, f"{at}.target"),
                    text(label, f"{at}.label"),
                    number(weight, f"{at}.weight"),
                )
        raise StoreError(f"{at}: unknown event {value!r:.80}")

    def _node(self, value: Any, at: str) -> int:
        """A node that has been added."""
        return whole(value, at, high=self.nodes - 1)

    def _id(self, value: Any, at: str) -> int:
        """What may be a node's number; replay finds out whether the node is there."""
        return whole(value, at, high=INT32)

    def _span(self, start: Any, stop: Any, at: str) -> Span:
        last = len(self.units)
        return whole(start, f"{at}.start", high=last), whole(stop, f"{at}.stop", high=last)

    def _vector(self, value: Any, at: str) -> Vector:
        vector: Vector = self.vectors[whole(value, at, high=len(self.vectors) - 1)]
        return vector
