"""Measures how well a memory finds gold evidence and how well a model answers from it.

Every retrieval number comes from the same two rankings of the propagated scores: the *leaves*
(level 0 only: did the right unit come back?) and the *mixed* ranking over all levels (the input of
a reader).

======================  =============================================================
``text_metrics``        token F1, BLEU-1, content words of texts
``measures``            ``MEASURES``: the measures of a retrieval, a row for each
``question_batch``      questions asked of one structure: gold, words, measured rankings
``aggregate``           means with bootstrap confidence intervals
``evaluation``          :func:`evaluate`: one setting over many questions; all measures of each,
                        means, differences
``sweep``               sweeps: policy x alpha x horizon
``compare``             several memories side by side, also by their own retrieval
``parallel``            many conversations, systems and seeds, on one or more workers
``node_texts``          share of contentless lines in the texts of inner nodes
``stages``              how far every gold turn comes: written, ranked, read
``audit``               what a memory wrote, lost and keeps beside newer texts
``node_usage``          retrievals and score passing through every node, over all questions
``cases``               the worked examples of SegTreeMem's appendix C, found and measured
``published``           numbers printed in the papers of the systems
``reproduce``           ``ENTRIES``: tables and figures of the papers (``reproduce.toml``), measured
                        again
``generation``          :func:`evaluate_answers`: answers and grades by chat models
======================  =============================================================

May import ``memory`` and the packages below it, not ``view``. Public face: the names below, and the
modules ``sweep``, ``stages``, ``compare``, ``parallel``, ``cases``, ``published`` and
``reproduce``.
"""

from segviz.evaluation.aggregate import Mean
from segviz.evaluation.evaluation import Evaluation, Outcomes, evaluate, pooled
from segviz.evaluation.generation import (
    AnswerEvaluation,
    AnsweringPaused,
    AnswerRow,
    evaluate_answers,
)
from segviz.evaluation.measures import MEASURES, Measure
from segviz.evaluation.node_texts import contentless_lines
from segviz.evaluation.sweep import Cell, Sweep
from segviz.evaluation.text_metrics import bleu1, token_f1

__all__ = [
    "MEASURES",
    "AnswerEvaluation",
    "AnswerRow",
    "AnsweringPaused",
    "Cell",
    "Evaluation",
    "Mean",
    "Measure",
    "Outcomes",
    "Sweep",
    "bleu1",
    "contentless_lines",
    "evaluate",
    "evaluate_answers",
    "pooled",
    "token_f1",
]
