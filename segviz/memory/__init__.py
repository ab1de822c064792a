"""Builds a memory, asks it, saves it, merges two, and answers with a chat model.

``builder``   builds a memory of a conversation; ``assemble`` makes systems and embedders by name
``memory``    Memory, asking one with ``ask``, and opening one from a file
``asking``    retrieves the evidence for a question from a structure
``beside``    reads labels of turns from files beside the conversation
``foreign``   makes a memory of a tree built elsewhere: ``memory_from``
``watching``  grows the memory of a file that is still written: ``Watched``, ``Watch``
``answer``    makes prompts from evidence, reads and grades a chat model's answers

May import ``systems``, ``store`` and the packages below them. Public face: the names below.
"""

from segviz.memory.assemble import (
    COMPONENTS,
    Absent,
    NoEmbedder,
    declared,
    made_again,
    make_system,
    needs_chat,
    nested,
    paid,
    part_name,
    sound,
)
from segviz.memory.beside import (
    Labels,
    label_columns,
    read_labels,
)
from segviz.memory.builder import Building, BuildPaused, arrivals, build
from segviz.memory.foreign import memory_from
from segviz.memory.memory import Memory, ask, from_saved, open_memory, own_retrieval
from segviz.memory.watching import Watch, Watched

__all__ = [
    "COMPONENTS",
    "Absent",
    "BuildPaused",
    "Building",
    "Labels",
    "Memory",
    "NoEmbedder",
    "Watch",
    "Watched",
    "arrivals",
    "ask",
    "build",
    "declared",
    "from_saved",
    "label_columns",
    "made_again",
    "make_system",
    "memory_from",
    "needs_chat",
    "nested",
    "open_memory",
    "own_retrieval",
    "paid",
    "part_name",
    "read_labels",
    "sound",
]
