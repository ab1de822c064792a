"""Builds a memory, asks it, saves it, and answers with a chat model.

``builder``     builds a memory of a conversation; ``factory`` makes systems and embedders by name
``memory``      Memory, asking one with ``ask``, and opening one from a file
``changes``     compares a memory at two moments; finds stored texts out of date
``rehearsal``   estimates the model calls of a build
``retrieve``    retrieves the evidence for a question from a structure
``from_table``  makes a memory of a tree or texts from another program: ``memory_from``
``written``     puts texts from elsewhere on a memory, and asks for them in files
``stores``      makes a system of any memory that can ``add`` and ``search``
``live``        builds the memory of a file while it is written: ``Watched``, ``Watch``
``answer``      makes prompts from evidence, reads and grades a chat model's answers

May import ``systems``, ``store`` and the packages below them. Public face: the names below.
"""

from segviz.memory.answer import RIGHT_FROM, contains_answer, reference
from segviz.memory.builder import Building, BuildPaused, arrivals, build, check_leaves
from segviz.memory.changes import Change, Changes, EvidenceChange, Superseded, superseded
from segviz.memory.factory import (
    COMPONENTS,
    MissingEmbedder,
    NoEmbedder,
    declared,
    known_prompts,
    made_again,
    make_system,
    needs_chat,
    nested,
    paid,
    part_name,
    parts_of,
    sound,
)
from segviz.memory.from_table import AGAINST_TIME, LEFT_OUT, locomo_facts, memory_from
from segviz.memory.live import Watch, Watched
from segviz.memory.memory import (
    Memory,
    ask,
    from_saved,
    native_retrieval,
    open_memory,
    settings_for,
)
from segviz.memory.rehearsal import CallEstimate, Rehearsal, rehearse
from segviz.memory.stores import provider, run_memory, system_from, system_of
from segviz.memory.written import TextRequest

__all__ = [
    "AGAINST_TIME",
    "COMPONENTS",
    "LEFT_OUT",
    "RIGHT_FROM",
    "BuildPaused",
    "Building",
    "CallEstimate",
    "Change",
    "Changes",
    "EvidenceChange",
    "Memory",
    "MissingEmbedder",
    "NoEmbedder",
    "Rehearsal",
    "Superseded",
    "TextRequest",
    "Watch",
    "Watched",
    "arrivals",
    "ask",
    "build",
    "check_leaves",
    "contains_answer",
    "declared",
    "from_saved",
    "known_prompts",
    "locomo_facts",
    "made_again",
    "make_system",
    "memory_from",
    "native_retrieval",
    "needs_chat",
    "nested",
    "open_memory",
    "paid",
    "part_name",
    "parts_of",
    "provider",
    "reference",
    "rehearse",
    "run_memory",
    "settings_for",
    "sound",
    "superseded",
    "system_from",
    "system_of",
]
