"""segviz: watch a conversation become a memory tree, ask it, see why evidence came back.

A package per stage, in the order the data walks:

================  ================================================================
``files``         regular files opened, whole files written
``conversation``  turns, sessions, questions; the units that leaves hold
``loaders``       files of many formats to conversations
``tree``          the history of a build, the structure folded from it, its invariants
``embedding``     text to vectors, offline by default
``llm``           real models over the OpenAI API
``construct``     parts of construction: compatibility, annotation, tasks, parameters
``retrieval``     relevance, propagation, selection, ledger
``systems``       memory architectures, one package or file each
``store``         memories on disk
``memory``        build, ask, save, merge, answer
``evaluate``      measures over many questions, sweeps, comparisons
``view``          the description of a view: scene, link, colours, captions
``figures``       charts; ``frontend`` the canvas and lists that run in the browser
``export``        views as files for other programs and people
``plugins``       parts that other installed packages bring
``ui``            the Streamlit app; ``cli`` the command line; ``notebook`` ``segviz.show``
================  ================================================================
"""

# ruff: noqa: E402
import signal as _signal
import sys as _sys

_as_command = _sys.orig_argv[1:3] == ["-m", "segviz"] or _sys.argv[0].endswith(
    ("/segviz", "segviz.exe")
)
if _as_command and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    # While the command is being imported Ctrl+C ends it without a traceback.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from segviz.construct.compatibility import Calibrated, Cosine
from segviz.evaluate import evaluate, evaluate_answers, sweep
from segviz.evaluate.compare import construction_sweep
from segviz.loaders import LoadError, load
from segviz.memory import Memory, ask, build, memory_from, merge
from segviz.memory import open_memory as open  # noqa: A004 - the documented name
from segviz.notebook import show
from segviz.plugins import load_plugins as _load_plugins
from segviz.retrieval import POLICIES, PRESETS, Result, RetrievalSettings, propagate
from segviz.systems import SYSTEMS
from segviz.systems.common.flat import retriever
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
    "ask",
    "build",
    "check",
    "construction_sweep",
    "evaluate",
    "evaluate_answers",
    "load",
    "memory_from",
    "merge",
    "open",
    "propagate",
    "replay",
    "retriever",
    "show",
    "sweep",
]

_load_plugins()
