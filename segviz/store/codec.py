"""The JSON form of a memory; see ``segviz.store`` for the documented format."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from segviz.conversation import Conversation, Question, Session, Turn
from segviz.steps import (
    Add,
    Cost,
    Decision,
    Event,
    Judgement,
    Link,
    Retire,
    Revise,
    Step,
    Unlink,
    Vector,
)
from segviz.units import Unit

FORMAT = "segviz-memory"
VERSION = 1

Row = Callable[[Vector], int]


class StoreError(ValueError):
    """A file is not a memory this version can open; the message says why."""


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds; ``segviz.pipeline`` turns it into a Memory and back."""

    conversation: Conversation
    unit: str
    system: str
    laws: str
    settings: dict[str, Any]
    embedder: str
    steps: tuple[Step, ...]
    chat: str = ""


def encode(saved: Saved) -> dict[str, Any]:
    """The JSON document of a memory; equal vectors share one row."""
    rows: dict[bytes, int] = {}
    vectors: list[Vector] = []

    def row(vector: Vector) -> int:
        key = np.ascontiguousarray(vector, dtype="<f4").tobytes()
        if key not in rows:
            rows[key] = len(vectors)
            vectors.append(vector)
        return rows[key]

    steps = [_encode_step(step, row) for step in saved.steps]
    dimension = len(vectors[0]) if vectors else 0
    blob = b"".join(rows)
    return {
        "format": FORMAT,
        "version": VERSION,
        "conversation": _encode_conversation(saved.conversation),
        "unit": saved.unit,
        "system": {"name": saved.system, "laws": saved.laws, "settings": saved.settings},
        "embedder": saved.embedder,
        "chat": saved.chat,
        "steps": steps,
        "vectors": {
            "dtype": "float32",
            "dimension": dimension,
            "count": len(vectors),
            "data": base64.b64encode(blob).decode("ascii"),
        },
    }


def _encode_conversation(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": conversation.id,
        "speakers": list(conversation.speakers),
        "source_format": conversation.source_format,
        "sessions": [
            {
                "id": session.id,
                "start": session.start.isoformat() if session.start else None,
                "raw_date": session.raw_date,
                "turns": [[t.id, t.speaker, t.text, t.caption] for t in session.turns],
            }
            for session in conversation.sessions
        ],
        "questions": [
            {
                "text": q.text,
                "answer": q.answer,
                "category": q.category,
                "evidence": list(q.evidence),
                "unresolved": list(q.unresolved),
                "adversarial": q.adversarial,
            }
            for q in conversation.questions
        ],
    }


def _encode_step(step: Step, row: Row) -> dict[str, Any]:
    decision = step.decision
    return {
        "unit": step.unit.index,
        "note": step.note,
        "decision": decision
        and {
            "candidates": [[j.node, j.score, j.threshold, j.label] for j in decision.candidates],
            "chosen": decision.chosen,
            "why": decision.why,
        },
        "cost": [
            step.cost.calls,
            step.cost.tokens,
            step.cost.annotated,
            step.cost.inspected,
            step.cost.modified,
        ],
        "events": [_encode_event(event, row) for event in step.events],
    }


def _encode_event(event: Event, row: Row) -> list[Any]:
    match event:
        case Add(node, level, (start, stop), text, vector):
            return ["add", node, level, start, stop, text, row(vector)]
        case Revise(node, (start, stop), text, vector):
            return ["revise", node, start, stop, text, row(vector)]
        case Link(parent, child):
            return ["link", parent, child]
        case Unlink(parent, child):
            return ["unlink", parent, child]
        case Retire(node):
            return ["retire", node]


def decode(document: dict[str, Any]) -> Saved:
    """The memory of a JSON document; any malformed part raises KeyError, TypeError,
    IndexError or ValueError, which ``segviz.store`` turns into a StoreError."""
    conversation = _decode_conversation(document["conversation"])
    units = conversation.units(document["unit"])
    table = document["vectors"]
    if table["dtype"] != "float32":
        raise StoreError(f"vectors are {table['dtype']!r}; expected float32")
    vectors = np.frombuffer(base64.b64decode(table["data"], validate=True), dtype="<f4")
    vectors = vectors.reshape(table["count"], table["dimension"]).astype(np.float32)
    vectors.flags.writeable = False
    system = document["system"]
    return Saved(
        conversation=conversation,
        unit=document["unit"],
        system=system["name"],
        laws=system["laws"],
        settings=dict(system["settings"]),
        embedder=document["embedder"],
        chat=document["chat"],
        steps=tuple(_decode_step(step, units, vectors) for step in document["steps"]),
    )


def _decode_conversation(record: dict[str, Any]) -> Conversation:
    return Conversation(
        id=record["id"],
        speakers=tuple(record["speakers"]),
        source_format=record["source_format"],
        sessions=tuple(
            Session(
                id=session["id"],
                start=datetime.fromisoformat(session["start"]) if session["start"] else None,
                raw_date=session["raw_date"],
                turns=tuple(Turn(*turn) for turn in session["turns"]),
            )
            for session in record["sessions"]
        ),
        questions=tuple(
            Question(
                index=index,
                text=q["text"],
                answer=q["answer"],
                category=q["category"],
                evidence=tuple(q["evidence"]),
                unresolved=tuple(q["unresolved"]),
                adversarial=q["adversarial"],
            )
            for index, q in enumerate(record["questions"])
        ),
    )


def _decode_step(record: dict[str, Any], units: Sequence[Unit], vectors: Vector) -> Step:
    decision = record["decision"]
    calls, tokens, annotated, inspected, modified = record["cost"]
    return Step(
        unit=units[record["unit"]],
        note=record["note"],
        decision=decision
        and Decision(
            candidates=tuple(Judgement(*row) for row in decision["candidates"]),
            chosen=decision["chosen"],
            why=decision["why"],
        ),
        events=tuple(_decode_event(event, vectors) for event in record["events"]),
        cost=Cost(calls, tokens, annotated, inspected, modified),
    )


def _decode_event(record: list[Any], vectors: Vector) -> Event:
    match record:
        case ["add", node, level, start, stop, text, row]:
            return Add(node, level, (start, stop), text, vectors[row])
        case ["revise", node, start, stop, text, row]:
            return Revise(node, (start, stop), text, vectors[row])
        case ["link", parent, child]:
            return Link(parent, child)
        case ["unlink", parent, child]:
            return Unlink(parent, child)
        case ["retire", node]:
            return Retire(node)
    raise StoreError(f"unknown event {record!r:.80}")
