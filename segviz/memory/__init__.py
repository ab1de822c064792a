"""The whole flow: build a memory, ask it, save it, join two, answer.

``builder``   conversation to memory; ``assemble`` systems and embedders from their names
``memory``    Memory and opening one from a file
``asking``    one question, from relevance to evidence
``merging``   two memories as one
``answer``    evidence to an answer and its grade, by a chat model

May import everything up to ``retrieval`` and ``store``. Public face: the names below.
"""

from segviz.memory.asking import ask
from segviz.memory.assemble import COMPONENTS, Absent, embedder_named, make_system, needs_chat, paid
from segviz.memory.builder import Building, BuildPaused, arrivals, build
from segviz.memory.memory import Memory, from_saved, open_memory
from segviz.memory.merging import merge

__all__ = [
    "COMPONENTS",
    "Absent",
    "BuildPaused",
    "Building",
    "Memory",
    "arrivals",
    "ask",
    "build",
    "embedder_named",
    "from_saved",
    "make_system",
    "merge",
    "needs_chat",
    "open_memory",
    "paid",
]
