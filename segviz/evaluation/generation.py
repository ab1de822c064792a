"""Answers many questions with a chat model and grades the answers with another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from segviz.conversation import Category, Question, category_label
from segviz.evaluation.aggregate import Row
from segviz.evaluation.compare import COLLAPSED, NATIVE, native_settings
from segviz.evaluation.evaluation import Outcomes
from segviz.evaluation.text_metrics import bleu1, token_f1
from segviz.llm import Chat, LabelError, ModelError, Reply
from segviz.llm.prompts import RUBRIC
from segviz.memory import Memory, Rehearsal, paid, settings_for
from segviz.memory.answer import (
    RIGHT_FROM,
    Answer,
    answering,
    by_rule,
    declines,
    grade,
    is_adversarial,
    judging,
    read,
    reference,
)
from segviz.retrieval import RetrievalSettings

GRADES = {
    "accuracy": "judge accuracy",
    "perfect": "perfect rate",
    "token_f1": "token F1",
    "bleu1": "BLEU-1",
}
"""Measures of answers, name to label: share of right answers, share of grade 3, and two overlaps of
the words with the gold answer."""

_BEST = int(RUBRIC[-1])
_FEW = 5  # equal grades that are worth a word


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """Answer to one question and its grade.

    Attributes:
        index: index of the question.
        category: category id of the question.
        adversarial: True if the correct answer is "not mentioned".
        answer: the model's answer; empty without one.
        score: the grade 0-3; None without a gold answer or a grade.
        right: True if the grade is RIGHT_FROM (2) or more; None without a grade.
        token_f1: token F1 with the gold answer; None without one. For an adversarial question 1 if
            the answer declines, else 0.
        bleu1: BLEU-1 with the gold answer, with the same exceptions as ``token_f1``.
        tokens: tokens of the calls for answer and grade.
        fault: why the model's answer or grade could not be used, "" if they could.
        left_out: number of excerpts that the prompt had no room for.
    """

    index: int
    category: Category | None
    adversarial: bool
    answer: str
    score: int | None
    right: bool | None
    token_f1: float | None
    bleu1: float | None
    tokens: int
    fault: str
    left_out: int


@dataclass(frozen=True)
class AnswerEvaluation:
    """Answers to questions and their grades.

    Attributes:
        chat: name of the model that answered.
        judge: name of the model that graded, "" if only rules graded.
        settings: retrieval of the evidence.
        asked: number of questions that were to be answered.
        rows: a row per question, in their order; fewer than ``asked`` after a pause.
        outcomes: every measure of ``GRADES`` for each row; gives means and paired differences.
    """

    chat: str
    judge: str
    settings: RetrievalSettings
    asked: int
    rows: tuple[AnswerRow, ...]
    outcomes: Outcomes

    @property
    def right(self) -> dict[int, bool]:
        """Maps the index of each graded question to True if its answer is right."""
        return {row.index: row.right for row in self.rows if row.right is not None}

    @property
    def faults(self) -> int:
        """Number of questions without a usable answer or grade from the model."""
        return sum(bool(row.fault) for row in self.rows)


def one_grade(evaluations: Iterable[AnswerEvaluation]) -> str:
    """Returns a warning if a judge gave all of ``_FEW`` or more answers one grade; else "".

    Grades that a rule decides do not count.
    """
    grades = [
        row.score
        for one in evaluations
        for row in one.rows
        if one.judge and row.answer and not row.adversarial and row.score is not None
    ]
    if len(grades) < _FEW or len(set(grades)) > 1:
        return ""
    return (
        f"the judge gave the grade {grades[0]} to all {len(grades)} answers; a judge that tells "
        "answers apart is needed"
    )


class AnsweringPaused(ModelError):
    """Error of a model that gave up before all questions were answered.

    ``done`` has the results of the questions before. Their answers are in the model's cache, so
    that the same call continues after them.
    """

    def __init__(self, message: str, done: AnswerEvaluation) -> None:
        super().__init__(message)
        self.done = done


def evaluate_answers(
    memory: Memory,
    questions: Sequence[Question],
    chat: Chat,
    judge_chat: Chat | None = None,
    settings: RetrievalSettings | None = None,
    *,
    retriever_chat: Chat | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **changes: Any,
) -> AnswerEvaluation:
    """Answers questions with one chat model and grades the answers with another.

    There is one call per question and one more for its grade, unless a rule decides the grade
    (``segviz.memory.answer.by_rule``). An error of a single question (no answer, a grade outside
    the rubric) is noted in its row: a missing answer counts as wrong, a missing grade counts in no
    mean.

    Args:
        memory: the memory.
        questions: the questions.
        chat: answers the questions.
        judge_chat: grades the answers. Without it only rules grade: a model does not grade its own
            answers unless it is given twice.
        settings: how to retrieve the evidence; the default is that of :func:`evaluate`.
        retriever_chat: the model of a system whose own retrieval asks one.
        seed: draws the 95 % intervals.
        progress: called with the numbers of answered and of all questions, after as many questions
            as ``chat`` answers at the same time.
        **changes: fields of ``settings`` to replace.

    Returns:
        A row per question, and their measures.

    Raises:
        AnsweringPaused: a model cannot be reached; it has the results so far.
        ValueError: a setting is bad.
    """
    asked = settings_for(memory, settings, changes).resolved(memory.model)
    rows: list[AnswerRow] = []

    def evaluation() -> AnswerEvaluation:
        """Returns the measures of the rows so far."""
        values: dict[str, list[float | None]] = {
            "accuracy": [row.right for row in rows],
            "perfect": [None if row.score is None else row.score == _BEST for row in rows],
            "token_f1": [row.token_f1 for row in rows],
            "bleu1": [row.bleu1 for row in rows],
        }
        graded = questions[: len(rows)]
        outcomes = Outcomes(
            tuple(question.category for question in graded),
            {
                name: tuple(None if value is None else float(value) for value in column)
                for name, column in values.items()
            },
            seed=seed,
            asked=tuple(question.text for question in graded),
            disputed=tuple(question.disputed is not None for question in graded),
        )
        judge = judge_chat.name if judge_chat else ""
        return AnswerEvaluation(chat.name, judge, asked, len(questions), tuple(rows), outcomes)

    for begin in range(0, len(questions), chat.at_once):
        batch = questions[begin : begin + chat.at_once]
        try:
            # A few questions are asked and answered together, then graded together.
            results = [memory.ask(question, asked, chat=retriever_chat) for question in batch]
            replies = chat.replies([answering(memory, result) for result in results])
            answers = [read(reply) for reply in replies]
            prompts = [
                judging(question, answer.text, memory.conversation) if judge_chat else None
                for question, answer in zip(batch, answers, strict=True)
            ]
            wanted = [prompt for prompt in prompts if prompt is not None]
            grades = iter(judge_chat.outcomes(wanted) if judge_chat else ())
            rows += [
                _row(question, answer, next(grades) if prompt is not None else None)
                for question, answer, prompt in zip(batch, answers, prompts, strict=True)
            ]
        except ModelError as error:
            raise AnsweringPaused(str(error), evaluation()) from error
        if progress is not None:
            progress(len(rows), len(questions))
    return evaluation()


def _row(question: Question, answer: Answer, graded: Reply | LabelError | None) -> AnswerRow:
    """Returns the grade of an answer, by a rule or a judge, and its overlap with the gold one."""
    # The grade of a rule, if one decides, else that of the judge.
    score, fault, tokens = by_rule(question, answer.text), answer.fault, answer.tokens
    if isinstance(graded, LabelError):
        message = f"the judge answered {graded.answer[:200]!r}, expected a grade from 0 to 3"
        fault = message if graded.answer else str(graded)
    elif graded is not None:
        tokens, score = tokens + graded.tokens, grade(graded)
    # The overlap with the gold answer; an adversarial question is right to be declined.
    f1 = bleu = None
    if is_adversarial(question):
        f1 = bleu = float(declines(answer.text))
    elif question.answer is not None:
        f1 = token_f1(answer.text, question.answer)
        bleu = bleu1(answer.text, question.answer)
    return AnswerRow(
        index=question.index,
        category=question.category,
        adversarial=is_adversarial(question),
        answer=answer.text,
        score=score,
        right=None if score is None else score >= RIGHT_FROM,
        token_f1=f1,
        bleu1=bleu,
        tokens=tokens,
        fault=fault,
        left_out=answer.left_out,
    )


def gradable(questions: Sequence[Question], limit: int | None = None) -> list[Question]:
    """Returns the questions with a gold answer, or ``limit`` of them, evenly spread."""
    known = [question for question in questions if reference(question) is not None]
    number = min(limit or len(known), len(known))
    return [known[place * len(known) // number] for place in range(number)]


def retrievals(
    memory: Memory,
    names: Sequence[str],
    settings: RetrievalSettings,
    alphas: Sequence[float] = (),
    horizons: Sequence[int] = (),
) -> dict[str, RetrievalSettings]:
    """Returns the settings of several retrievals, by label.

    Args:
        memory: the memory that is asked.
        names: policies, or ``native`` for the retrieval of the system's paper
            (``native_settings``).
        settings: settings that all retrievals share.
        alphas: decays, each combined with every policy that propagates; default that of
            ``settings``.
        horizons: numbers of hops, likewise.

    Returns:
        Settings by labels such as ``top-down 0.1, H 2``, ``native``, or ``collapsed`` for no
        propagation. For a system without a retrieval in its paper, the name ``native`` gives
        ``collapsed``.
    """
    plain = replace(settings, policy="none", method="propagate")
    ways: dict[str, RetrievalSettings] = {}
    for name in names:
        if name in (NATIVE, "none"):
            asked = (native_settings(memory, plain) if name == NATIVE else None) or plain
            ways[COLLAPSED if asked == plain else NATIVE] = asked
            continue
        for alpha, horizon in product(alphas or (settings.alpha,), horizons or (settings.horizon,)):
            moved = replace(plain, policy=name, alpha=alpha, horizon=horizon)
            ways[f"{name} {alpha:g}, H {horizon}"] = moved
    return ways


def grade_rows(
    evaluations: Mapping[str, Outcomes], firsts: Sequence[int] = (), *, adversarial: bool = True
) -> list[Row]:
    """Returns a row of means for each of several evaluations of the same questions.

    The columns are the measures of ``GRADES`` that have a value. ``gain`` is the paired difference
    in the first of these measures, to the evaluation at the position in ``firsts`` (default: to the
    first; see :func:`segviz.evaluation.compare.first_alike`). If these differ, ``gain over`` names
    it. If an audit disputes questions, a further column has this measure without them (or with
    them, if they do not count now).
    """
    labels = list(evaluations)
    # The evaluation from which each one's gain is measured.
    others = [labels[place] for place in firsts or [0] * len(labels)]
    shown = [
        name
        for name in GRADES
        if any(each.mean(name, adversarial=adversarial).n for each in evaluations.values())
    ]
    rows: list[Row] = []
    for (label, outcomes), other in zip(evaluations.items(), others, strict=True):
        row: Row = {"answered from": label}
        for name in shown:
            row[GRADES[name]] = outcomes.mean(name, adversarial=adversarial)
            if name == shown[0]:
                row |= outcomes.recounted(name, adversarial=adversarial)
                if len(evaluations) > 1:
                    row["gain"] = outcomes.gain(evaluations[other], name, adversarial=adversarial)
                if len({*others}) > 1:
                    row["gain over"] = other
        rows.append(row)
    return rows


def category_rows(evaluations: Mapping[str, Outcomes], measure: str = "accuracy") -> list[Row]:
    """Returns the means of a measure of ``GRADES`` by category, a row for each evaluation.

    Categories without any value are left out.
    """
    known = [
        category
        for category in next(iter(evaluations.values())).known_categories
        if any(each.mean(measure, category=category).n for each in evaluations.values())
    ]
    return [
        {
            "answered from": label,
            **{category_label(name): outcomes.mean(measure, category=name) for name in known},
        }
        for label, outcomes in evaluations.items()
    ]


def rehearse_answers(
    memory: Memory,
    questions: Sequence[Question],
    ways: Iterable[RetrievalSettings],
    chat: Rehearsal,
    *,
    graded: bool,
) -> None:
    """Counts the calls of :func:`evaluate_answers` under several settings; sends nothing.

    Args:
        memory: the memory. If its embedder belongs to a paid server, retrieval compares words only.
        questions: the questions.
        ways: the settings of the retrieval.
        chat: counts the prompts by role.
        graded: True if a model grades the answers.
    """
    for way in ways:
        asked = replace(way, relevance="lexical") if paid(memory.embedder) else way
        judge = chat if graded else None
        evaluate_answers(memory, questions, chat, judge, asked, retriever_chat=chat)
