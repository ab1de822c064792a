"""A memory made by hand that holds every form a file can hold, and comparisons of memories."""

import math
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np

from segviz.conversation import Conversation, Question, Session, Turn
from segviz.store import Saved, SavedView
from segviz.tree import (
    Add,
    Cost,
    Decision,
    Judgement,
    Link,
    Relate,
    Retire,
    Revise,
    Step,
    Structure,
    Unlink,
)
from segviz.tree.columns import History

COLUMNS = ("level", "start", "stop", "vector", "active", "edges", "chain", "top")
LISTS = ("text", "kind", "facts", "relations")


def same(a: Any, b: Any) -> bool:
    """Equal in every field but the time of the run, arrays compared byte for byte."""
    if isinstance(a, np.ndarray):
        return a.tobytes() == b.tobytes()
    if isinstance(a, tuple | History) and isinstance(b, tuple | History):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and all(
            same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.name != "seconds"
        )
    return a == b


def alike(a: Structure, b: Structure) -> bool:
    """Two structures, byte for byte."""
    return all(same(getattr(a, name), getattr(b, name)) for name in COLUMNS) and all(
        getattr(a, name) == getattr(b, name) for name in LISTS
    )


def vector(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def every_form() -> Saved:
    """Three turns in two sessions, two questions, every kind of event, a view."""
    east = timezone(timedelta(hours=5, minutes=30))
    turns = (
        Turn("D1:1", "Ada", "We sail.", time=datetime(2024, 2, 29, 0, 5)),
        Turn("D1:2", "Bо", "", "a sloop 🛶", datetime(2024, 2, 29, 0, 6, 7, tzinfo=east)),
    )
    sessions = (
        Session("session_1", datetime(2024, 2, 29, 0, 5), "29 February", turns),
        Session("session_2", None, "later", (Turn("D2:1", "Ada", "We sank."),)),
    )
    questions = (
        Question(0, "Which boat?", "a sloop", 4, ("D1:2",)),
        Question(1, "Why?", None, "odd", ("D1:1",), ("D9:9",), "a storm", "D2:1"),
    )
    conversation = Conversation("sails", ("Ada", "Bо"), sessions, questions, "hand-made")
    units = conversation.units("turn")
    facts = {"mentions": 2, "share": 0.5, "who": "Ådа", "seen": None, "known": True}
    first, second = vector(1, 0, 0), vector(0, 0.5, 0)
    chosen = Decision(
        (Judgement(1, 0.25, math.inf), Judgement(0, None, None, "MERGE_1")), 1, "The nearest."
    )
    steps = (
        Step(units[0], "begins", None, (Add(0, 0, (0, 1), units[0].text, first),)),
        Step(
            units[1],
            "joins",
            Decision((), None, "Nothing fits."),
            (
                Add(1, 0, (1, 2), units[1].text, second),
                Add(2, 1, (0, 2), "two of them", first),
                Link(2, 0),
                Link(2, 1),
            ),
            Cost(1, 20, 1, 1, 1, 5),
        ),
        Step(
            units[2],
            "joins",
            chosen,
            (
                Add(3, 0, (2, 3), units[2].text, second, "event", facts),
                Revise(2, (0, 3), "three of them", vector(0, 0, 1)),
                Revise(2, (0, 3), "all", first, 2, {"mentions": 3}),
                Link(2, 3),
                Add(4, 1, (0, 1), "gone", first),
                Link(4, 0),
                Unlink(4, 0),
                Retire(4),
                Relate(0, 3, "before", 0.5, {"since": "May"}),
                Relate(3, 0, "after"),
            ),
            Cost(annotated=2),
        ),
        Step(units[2], "tidied", None, (Revise(3, (2, 3), units[2].text, second, None, {}),)
             , operation="tidy"),
    )  # fmt: skip
    return Saved(
        conversation,
        "turn",
        "of my own",
        {"width": 3, "part": {"name": "cosine", "threshold": 0.3}, "names": ["é"]},
        "somebody's vectors",
        steps,
        "a model",
        SavedView("ask", {"question": "1", "policy": "both"}),
    )
