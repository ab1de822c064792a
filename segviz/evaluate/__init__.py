"""Assembly: how well a memory finds the gold evidence, and how well it lets a model answer.

Every retrieval number comes from the same two rankings of the propagated scores: the
*leaves* (level 0 only: did the right unit come back?) and the *mixed* ranking over all
levels (what a reader would be given).

======================  =============================================================
``answers``             token F1, BLEU-1, answer-token coverage of texts
``measures``            recall, MRR, nDCG, budget recall on ranked rows
``questions``           the gold leaves of questions; their initial scores
``aggregate``           means with bootstrap confidence intervals
``evaluation``          :func:`evaluate`: one setting, a row per question
``grid``                :func:`sweep`: policy x alpha x horizon
``compare``             several memories side by side, each by its own retrieval too
``many``                many conversations, systems and seeds, also on several workers
``permutation``         what is lost when units change places
``published``           what the papers report, from ``published.csv``
``answering``           :func:`evaluate_answers`: answers and grades by chat models
======================  =============================================================
"""

from segviz.evaluate.aggregate import Mean
from segviz.evaluate.evaluation import Aggregate, Evaluation, Row, evaluate
from segviz.evaluate.generation import (
    AnswerAggregate,
    AnswerEvaluation,
    AnsweringPaused,
    AnswerRow,
    evaluate_answers,
)
from segviz.evaluate.grid import Cell, Sweep, sweep
from segviz.evaluate.text_metrics import bleu1, coverage, token_f1

__all__ = [
    "Aggregate",
    "AnswerAggregate",
    "AnswerEvaluation",
    "AnswerRow",
    "AnsweringPaused",
    "Cell",
    "Evaluation",
    "Mean",
    "Row",
    "Sweep",
    "bleu1",
    "coverage",
    "evaluate",
    "evaluate_answers",
    "sweep",
    "token_f1",
]
