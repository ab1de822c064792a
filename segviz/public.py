"""Public names of segviz: ``build`` here is ``segviz.build``."""

from segviz.construct.compatibility import Calibrated, Cosine
from segviz.evaluation import evaluate, evaluate_answers
from segviz.evaluation.compare import compare, construction_sweep
from segviz.evaluation.sweep import sweep
from segviz.loaders import LoadError, load
from segviz.memory import Memory, Watch, ask, build, locomo_facts, memory_from, provider
from segviz.memory import open_memory as open  # noqa: A004 - the documented name
from segviz.notebook import show, widget
from segviz.plugins import load_plugins
from segviz.retrieval import POLICIES, PRESETS, Result, RetrievalSettings, propagate
from segviz.systems import SYSTEMS
from segviz.systems.segment_tree import SegmentTree
from segviz.tree import replay
from segviz.tree.invariants import check

__all__ = [
    "POLICIES",
    "PRESETS",
    "SYSTEMS",
    "Calibrated",
    "Cosine",
    "LoadError",
    "Memory",
    "Result",
    "RetrievalSettings",
    "SegmentTree",
    "Watch",
    "ask",
    "build",
    "check",
    "compare",
    "construction_sweep",
    "evaluate",
    "evaluate_answers",
    "load",
    "locomo_facts",
    "memory_from",
    "open",
    "propagate",
    "provider",
    "replay",
    "show",
    "sweep",
    "widget",
]

load_plugins()
