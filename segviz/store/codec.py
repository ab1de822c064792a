"""Encodes the records of a memory as JSON; ``segviz.store`` documents the format.

``segviz.store.document`` decodes it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from segviz.conversation import Conversation, Finding, Question
from segviz.tree import Add, Event, Relate, Revise, Step, Structure, Vector, replay

FORMAT = "segviz-memory"
VERSION = 3
READABLE = (1, 2, 3)

RowNumber = Callable[[Vector], int]


class StoreError(ValueError):
    """A file is not a memory this version can open; the message says why."""


@dataclass(frozen=True)
class Shown:
    """The view in a session file: the page, ``"grow"`` or ``"ask"``, and the parameters of its
    link (``segviz.view.bookmark``)."""

    page: str
    link: dict[str, str]


@dataclass(frozen=True, eq=False)
class Saved:
    """The content of a file; ``segviz.memory.from_saved`` makes a Memory of it.

    ``shown`` is None in the file of a memory without a view; ``findings`` are values of the file
    that mean nothing and were passed over, which is not written. Other fields as in ``Memory``.
    """

    conversation: Conversation
    unit: str
    system: str
    settings: dict[str, Any]
    embedder: str
    steps: Sequence[Step]
    chat: str = ""
    shown: Shown | None = None
    findings: tuple[Finding, ...] = ()

    @cached_property
    def structure(self) -> Structure:
        """The structure after the last step; ValueError for events that make none."""
        return replay(self.steps)


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
    shown = saved.shown and {"view": {"page": saved.shown.page, "link": saved.shown.link}}
    return {
        "format": FORMAT,
        "version": VERSION,
        **(shown or {}),
        "conversation": _encode_conversation(saved.conversation),
        "unit": saved.unit,
        "system": {"name": saved.system, "settings": saved.settings},
        "embedder": saved.embedder,
        "chat": saved.chat,
        "steps": steps,
        "vectors": {
            "dtype": "float32",
            "dimension": len(vectors[0]) if vectors else 0,
            "count": len(vectors),
            "data": base64.b64encode(b"".join(rows)).decode("ascii"),
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
                name: getattr(question, name)
                for name in _QUESTION
                if name != "asked_at" or question.asked_at is not None
            }
            for question in conversation.questions
        ],
    }


_QUESTION = [each.name for each in fields(Question) if each.name != "index"]


def _encode_step(step: Step, row: RowNumber) -> dict[str, Any]:
    decision, cost = step.decision, step.cost
    operation = {"operation": step.operation} if step.operation else {}
    counted = [cost.calls, cost.tokens, cost.annotated, cost.inspected, cost.modified]
    paid = [cost.output, cost.embedded, cost.embedding_tokens]
    return {
        **operation,
        "unit": step.unit.index,
        "note": step.note,
        "decision": decision
        and {
            "candidates": [[j.node, j.score, j.threshold, j.label] for j in decision.candidates],
            "chosen": decision.chosen,
            "why": decision.why,
        },
        "cost": counted + (paid if any(paid) else []),
        "events": [_encode_event(event, row) for event in step.events],
    }


def _encode_event(event: Event, row: RowNumber) -> list[Any]:
    match event:
        case Add(node, level, (start, stop), text, vector, kind, facts):
            more = [kind, dict(facts)] if kind or facts else []
            return ["add", node, level, start, stop, text, row(vector), *more]
        case Revise(node, (start, stop), text, vector, level, facts):
            later: list[Any] = []
            if level is not None or facts is not None:
                later = [level, None if facts is None else dict(facts)]
            return ["revise", node, start, stop, text, row(vector), *later]
        case Relate(source, target, label, weight, facts):
            return ["relate", source, target, label, weight, *([dict(facts)] if facts else [])]
        case _:  # nodes alone
            return [type(event).__name__.lower(), *(getattr(event, f.name) for f in fields(event))]
