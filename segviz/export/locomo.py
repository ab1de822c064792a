"""Exports conversations as a file in LoCoMo's format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from segviz.conversation import Conversation, Question
from segviz.text.dates import MONTH_NAMES


def locomo_json(conversations: Iterable[Conversation]) -> str:
    """Returns a JSON list, one sample per conversation, in LoCoMo's format (Maharana et al. 2024).

    Turns keep their ids, texts, captions (``blip_caption``) and speakers. Sessions are numbered
    from 1, with dates to the minute as LoCoMo writes them. Questions keep answers, category and
    evidence, including unresolved ids; in the file, the index is the place in the list. The format
    declares two speakers; further speakers occur in the turns only. ``asked_at``, the id of the
    turn before which a question is asked, and ``time`` of a turn are our extensions, which the
    loader reads.
    """
    samples = [_sample(conversation) for conversation in conversations]
    return json.dumps(samples, ensure_ascii=False, indent=1) + "\n"


def _sample(conversation: Conversation) -> dict[str, Any]:
    transcript: dict[str, Any] = dict(
        zip(("speaker_a", "speaker_b"), conversation.speakers, strict=False)
    )
    for number, session in enumerate(conversation.sessions, start=1):
        # LoCoMo's form, else the original text.
        date = session.raw_date if session.start is None else locomo_date(session.start)
        if date:
            transcript[f"session_{number}_date_time"] = date
        transcript[f"session_{number}"] = [
            {"speaker": turn.speaker, "dia_id": turn.id, "text": turn.text}
            | ({} if turn.caption is None else {"blip_caption": turn.caption})
            | ({} if turn.time is None else {"time": turn.time.isoformat()})
            for turn in session.turns
        ]
    return {
        "sample_id": conversation.id,
        "conversation": transcript,
        "qa": [_question(question) for question in conversation.questions],
    }


def locomo_date(start: datetime) -> str:
    """Formats a time as LoCoMo does, ``1:56 pm on 8 May, 2023``, without seconds and zone."""
    half = "am" if start.hour < 12 else "pm"
    clock = f"{start.hour % 12 or 12}:{start.minute:02d} {half}"
    return f"{clock} on {start.day} {MONTH_NAMES[start.month - 1]}, {start.year:04d}"


def _question(question: Question) -> dict[str, Any]:
    optional = {
        "answer": question.answer,
        "category": question.category,
        "adversarial_answer": question.adversarial,
        "asked_at": question.asked_at,
    }
    return {
        "question": question.text,
        "evidence": [*question.evidence, *question.unresolved],
        **{name: value for name, value in optional.items() if value is not None},
    }
