"""Exports conversations as a LoCoMo file, which every program that reads LoCoMo can read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from segviz.conversation import Conversation, Question, Session, Turn

_MONTHS = (
    "January February March April May June July August September October November December"
).split()


def locomo_json(conversations: Iterable[Conversation]) -> str:
    """Returns a JSON list, one sample per conversation, in LoCoMo's format (Maharana et al. 2024).

    Turns keep their ids, texts, captions (``blip_caption``) and speakers. Sessions are numbered
    from 1, with dates to the minute in LoCoMo's words. A question keeps answers, category and
    evidence, including unresolved ids; its place in the list becomes its index. The format declares
    two speakers; further ones follow from the turns. It has no time of a question: ``asked_at``,
    the id of the turn before which it is asked, is our extension, and the loader reads it.
    """
    samples = [_sample(conversation) for conversation in conversations]
    return json.dumps(samples, ensure_ascii=False, indent=1) + "\n"


def _sample(conversation: Conversation) -> dict[str, Any]:
    transcript: dict[str, Any] = dict(
        zip(("speaker_a", "speaker_b"), conversation.speakers, strict=False)
    )
    for number, session in enumerate(conversation.sessions, start=1):
        if date := _date(session):
            transcript[f"session_{number}_date_time"] = date
        transcript[f"session_{number}"] = [_turn(turn) for turn in session.turns]
    return {
        "sample_id": conversation.id,
        "conversation": transcript,
        "qa": [_question(question) for question in conversation.questions],
    }


def _date(session: Session) -> str:
    """Returns the date in LoCoMo's words; an unreadable one as it was written."""
    return session.raw_date if session.start is None else locomo_date(session.start)


def locomo_date(start: datetime) -> str:
    """Returns ``1:56 pm on 8 May, 2023``, without locale, seconds or zone."""
    half = "am" if start.hour < 12 else "pm"
    clock = f"{start.hour % 12 or 12}:{start.minute:02d} {half}"
    return f"{clock} on {start.day} {_MONTHS[start.month - 1]}, {start.year:04d}"


def _turn(turn: Turn) -> dict[str, str]:
    caption = {} if turn.caption is None else {"blip_caption": turn.caption}
    return {"speaker": turn.speaker, "dia_id": turn.id, "text": turn.text, **caption}


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
