"""Building blocks of construction, and the contracts between stages.

``protocols``      interfaces of systems, compatibility models and annotators
``parameter``      parameters that describe themselves: type, default, range, meaning
``compatibility``  models that choose where a new unit joins
``annotate``       annotators, which write a node's text from its children's
``labels``         short names of nodes, for display
``tasks``          small judgements of H-Mem, MemForest and xMemory, by rules or a chat model

May import ``conversation``, ``tree``, ``embedding`` and ``llm``. Public face: the names below; the
components are registered in ``COMPATIBILITY``, ``ANNOTATORS`` and ``TASKS``.
"""

from segviz.construct.annotate import PROMPT, TITLE, WRITTEN_BY
from segviz.construct.labels import node_labels
from segviz.construct.parameter import (
    Declared,
    Parameter,
    as_settings,
    check_number,
    make,
    param,
    parameters,
)
from segviz.construct.protocols import (
    LOOK_BACK,
    Annotate,
    Arrival,
    Candidate,
    Compatibility,
    Row,
    Services,
    Settles,
    System,
    Tabulates,
    Verdict,
    arriving,
    services_for,
)
from segviz.construct.tasks import Tasks

__all__ = [
    "LOOK_BACK",
    "PROMPT",
    "TITLE",
    "WRITTEN_BY",
    "Annotate",
    "Arrival",
    "Candidate",
    "Compatibility",
    "Declared",
    "Parameter",
    "Row",
    "Services",
    "Settles",
    "System",
    "Tabulates",
    "Tasks",
    "Verdict",
    "arriving",
    "as_settings",
    "check_number",
    "make",
    "node_labels",
    "param",
    "parameters",
    "services_for",
]
