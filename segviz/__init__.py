"""segviz: watch a conversation become a memory tree, ask it, see why evidence came back.

Package map, in data-flow order:

======================  ==========================================================
``conversation units``  records of a conversation; rules that cut it into leaves
``corpus``              what one file held, and the report of loading it
``steps structure``     history as data and its fold; ``invariants`` checks the result
``protocols``           the small contracts between stages; ``parameters``, ``prompts``
``loaders samples``     files to conversations; the bundled ones
``embed models``        texts to vectors; real models over the OpenAI API
``annotate``            a node's text from its children's
``compatibility``       where a new unit joins
``systems``             memory architectures, one file each; ``shape`` measures them
``relevance``           question to scores
``propagate retrieve``  scores over the structure; the best nodes; ``ledger`` says why
``adaptive``            policy, alpha and horizon chosen per question
``store``               memories on disk
``pipeline``            the whole flow: build, ask; ``assemble``, ``result``
``answer``              evidence to an answer and its grade, by chat models
``evaluate``            measures over all questions; sweeps
``figures frontend``    charts and the canvas tree, without Streamlit
``export``              a view as files for other programs and people
``ui cli notebook``     the app, the command line, ``segviz.show``
======================  ==========================================================
"""

from segviz.construct.compatibility import Calibrated, Cosine
from segviz.evaluate import evaluate, evaluate_answers, sweep
from segviz.loaders import LoadError, load
from segviz.memory import Memory, ask, build, merge
from segviz.memory import open_memory as open  # noqa: A004 - the documented name
from segviz.notebook import show
from segviz.retrieval import POLICIES, Result, propagate
from segviz.systems import SYSTEMS
from segviz.systems.segment_tree.system import SegmentTree
from segviz.tree import replay
from segviz.tree.invariants import check

__all__ = [
    "POLICIES",
    "SYSTEMS",
    "Calibrated",
    "Cosine",
    "LoadError",
    "Memory",
    "Result",
    "SegmentTree",
    "ask",
    "build",
    "check",
    "evaluate",
    "evaluate_answers",
    "load",
    "merge",
    "open",
    "propagate",
    "replay",
    "show",
    "sweep",
]
