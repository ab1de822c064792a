"""Tasks that H-Mem, MemForest and xMemory give to a language model.

``offline``     the records the tasks return; extraction, boundaries, plans and uncertainty by
                rules (registry: ``offline``)
``chat_model``  the same by a chat model, as in the papers (registry: ``llm``)
``words``       sentences, stems and names
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from segviz.construct.tasks.chat_model import ChatTasks
from segviz.construct.tasks.offline import Boundary, Extraction, Named, Offline, Stated, SubQuestion

__all__ = [
    "TASKS",
    "Boundary",
    "Extraction",
    "Named",
    "Offline",
    "Stated",
    "SubQuestion",
    "Tasks",
]

Tasks = Offline
"""Interface of the tasks: the judgements systems need besides summaries and embeddings.

Other implementations override the methods of ``Offline``."""

TASKS: dict[str, Callable[..., Any]] = {"offline": Offline, "llm": ChatTasks}
