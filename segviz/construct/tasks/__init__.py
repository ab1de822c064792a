"""Stage: the small judgements of rival systems, one module per task.

``offline``  rules: extraction, boundaries, plans, uncertainty without a model
``llm``      a chat model does them, as in the papers; what cannot be read is done offline
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from segviz.construct.tasks.chat_model import ChatTasks
from segviz.construct.tasks.offline import Offline
from segviz.construct.tasks.records import (
    Boundary,
    Extraction,
    Interval,
    Named,
    Related,
    Stated,
    SubQuestion,
    Tasks,
)

__all__ = [
    "TASKS",
    "Boundary",
    "ChatTasks",
    "Extraction",
    "Interval",
    "Named",
    "Offline",
    "Related",
    "Stated",
    "SubQuestion",
    "Tasks",
]

TASKS: dict[str, Callable[..., Any]] = {
    "offline": Offline,
    "llm": ChatTasks,
}
