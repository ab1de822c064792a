"""Measures how well a memory finds gold evidence and how well a model answers from it.

Every retrieval measure is computed from two rankings by propagated score: of the *leaves* (level 0
only: did the right unit come back?) and of the nodes of all levels (the *mixed* ranking, from which
a reader gets its texts).

======================  =============================================================
``text_metrics``        token F1 and BLEU-1 of two texts
``measures``            ``MEASURES``: the measures of a retrieval, a row for each
``question_batch``      measures rankings of many questions about one structure
``aggregate``           means with bootstrap confidence intervals
``evaluation``          :func:`evaluate`: one setting over many questions; all measures of each,
                        means, differences
``sweep``               sweeps: policy x alpha x horizon
``compare``             several memories side by side, also by their own retrieval
``parallel``            many conversations, systems and seeds, on one or more workers
``node_texts``          share of contentless lines in the texts of inner nodes
``rank_changes``        ranks of the same questions under two settings or in two memories
``stages``              how far every gold turn comes: written, ranked, read
``audit``               texts that a memory wrote, lost, or keeps though newer ones differ
``cases``               the worked examples of SegTreeMem's appendix C, found and measured
``published``           numbers printed in the papers of the systems
``paper_measures``      what those papers measure of one memory
``bench``               conversations and models to measure with, rows over them
``paper_tables``        tables and figures with a function of their own
``reproduce``           ``ENTRIES``: tables and figures of the papers (``reproduce.toml``), measured
                        again
``generation``          :func:`evaluate_answers`: answers of a chat model, graded by another
======================  =============================================================

May import ``memory`` and the packages below it, not ``view``. Public face: the names below, and the
modules ``sweep``, ``stages``, ``compare``, ``parallel``, ``cases``, ``published``,
``bench`` and ``reproduce``.
"""

from segviz.evaluation.aggregate import Mean, Row, mean_ci, number_of
from segviz.evaluation.compare import (
    COLLAPSED,
    LEAVES,
    NATIVE,
    ONE_WRITER,
    RETRIEVED_BY,
    Chart,
    Comparison,
    Standing,
    check_units,
    compare_one,
    construction_sweep,
    first_alike,
    joined,
    native_settings,
)
from segviz.evaluation.evaluation import (
    ADVERSARIAL,
    Evaluation,
    Outcomes,
    averaged,
    covering,
    evaluate,
    pooled,
    summary,
)
from segviz.evaluation.generation import (
    GRADES,
    AnswerEvaluation,
    AnsweringPaused,
    AnswerRow,
    category_rows,
    evaluate_answers,
    gradable,
    grade_rows,
    one_grade,
    rehearse_answers,
    retrievals,
)
from segviz.evaluation.measures import MEASURES, sees
from segviz.evaluation.node_texts import contentless_lines, contentless_share
from segviz.evaluation.parallel import Progress, measure_many
from segviz.evaluation.sweep import Cell, Sweep
from segviz.evaluation.text_metrics import bleu1, token_f1

__all__ = [
    "ADVERSARIAL",
    "COLLAPSED",
    "GRADES",
    "LEAVES",
    "MEASURES",
    "NATIVE",
    "ONE_WRITER",
    "RETRIEVED_BY",
    "AnswerEvaluation",
    "AnswerRow",
    "AnsweringPaused",
    "Cell",
    "Chart",
    "Comparison",
    "Evaluation",
    "Mean",
    "Outcomes",
    "Progress",
    "Row",
    "Standing",
    "Sweep",
    "averaged",
    "bleu1",
    "category_rows",
    "check_units",
    "compare_one",
    "construction_sweep",
    "contentless_lines",
    "contentless_share",
    "covering",
    "evaluate",
    "evaluate_answers",
    "first_alike",
    "gradable",
    "grade_rows",
    "joined",
    "mean_ci",
    "measure_many",
    "native_settings",
    "number_of",
    "one_grade",
    "pooled",
    "rehearse_answers",
    "retrievals",
    "sees",
    "summary",
    "token_f1",
]
