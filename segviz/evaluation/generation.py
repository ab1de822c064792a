"""Answers many questions with a chat model and grades the answers with another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from segviz.conversation import Category, Question, category_order
from segviz.evaluation.aggregate import Mean, mean_ci
from segviz.evaluation.text_metrics import bleu1, token_f1
from segviz.llm import Chat, LabelError, LastingFault, ModelError, Prompt, Reply
from segviz.memory import Memory
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
)

# Questions answered between two calls of ``progress``. Replies enter the model's cache at once, so
# after a pause only this many are read again.
_BATCH = 8


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """Answer to one question and its grade.

    Attributes:
        index: index of the question.
        category: its category id.
        adversarial: True if its answer is not in the conversation.
        answer: the model's answer; empty without one.
        score: the grade 0-3; None without a gold answer or a grade.
        right: score ≥ RIGHT_FROM.
        token_f1: token F1 with the gold answer; None without one. For an adversarial question 1 if
            the answer declines, else 0.
        bleu1: BLEU-1, with the same exceptions.
        tokens: tokens of answer and grade.
        fault: the error of this question, "" without one.
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


@dataclass(frozen=True, slots=True)
class AnswerAggregate:
    """Means over the questions with a value (see each mean's ``n``).

    ``accuracy`` is the share of right answers, ``score`` the grade (0 … 3). ``faults`` counts
    questions that went wrong.
    """

    questions: int
    accuracy: Mean
    score: Mean
    token_f1: Mean
    bleu1: Mean
    faults: int


@dataclass(frozen=True)
class AnswerEvaluation:
    """Rows in the order of the questions, with means overall and per category id.

    After a pause there are fewer rows than questions ``asked``. ``judge`` is "" if no model graded.
    """

    chat: str
    judge: str
    settings: dict[str, Any]
    asked: int
    rows: tuple[AnswerRow, ...]
    overall: AnswerAggregate
    by_category: dict[Category | None, AnswerAggregate]


class AnsweringPaused(ModelError):
    """Error of a model that gave up before all questions were answered.

    ``done`` evaluates the questions before. Their answers are in the model's cache, so the same
    call continues there.
    """

    def __init__(self, message: str, done: AnswerEvaluation) -> None:
        super().__init__(message)
        self.done = done


def evaluate_answers(
    memory: Memory,
    questions: Sequence[Question],
    chat: Chat,
    judge_chat: Chat | None = None,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **ask_params: Any,
) -> AnswerEvaluation:
    """Answers questions with one chat model and grades the answers with another.

    There is one call per question and one more for its grade, if that needs judgement
    (``segviz.memory.answer.by_rule``). An error of a single question (no answer, a grade outside
    the rubric) is noted in its row: a missing answer counts as wrong, a missing grade is left out.

    Args:
        memory: the memory.
        questions: the questions.
        chat: answers the questions.
        judge_chat: grades the answers. Without it only rules grade: a model does not grade its own
            answers unless it is given twice.
        seed: draws the 95 % intervals.
        progress: called with (done, total) every few questions.
        ask_params: those of ``segviz.ask``.

    Returns:
        A row per question, with means overall and per category.

    Raises:
        AnsweringPaused: a model cannot be reached; it has the results so far.
        ValueError: a setting is bad.
    """
    rows: list[AnswerRow] = []

    def evaluation() -> AnswerEvaluation:
        overall = _aggregate(rows, seed)
        by_category = {
            category: _aggregate([row for row in rows if row.category == category], seed)
            for category in sorted({row.category for row in rows}, key=category_order)
        }
        asked = len(questions)
        return AnswerEvaluation(
            chat.name,
            judge_chat.name if judge_chat else "",
            ask_params,
            asked,
            tuple(rows),
            overall,
            by_category,
        )

    for begin in range(0, len(questions), _BATCH):
        batch = questions[begin : begin + _BATCH]
        try:
            rows += _answer_batch(memory, batch, chat, judge_chat, ask_params)
        except ModelError as error:
            raise AnsweringPaused(str(error), evaluation()) from error
        if progress is not None:
            progress(len(rows), len(questions))
    return evaluation()


def _answer_batch(
    memory: Memory,
    questions: Sequence[Question],
    chat: Chat,
    judge: Chat | None,
    ask: dict[str, Any],
) -> list[AnswerRow]:
    """Returns the rows of a few questions, answered together and then graded together."""
    results = [memory.ask(question, **ask) for question in questions]
    replies = _replies(chat, [answering(memory, result) for result in results])
    answers = [
        read(reply) if isinstance(reply, Reply) else Answer("", fault=str(reply))
        for reply in replies
    ]
    prompts = [
        judging(question, answer.text, memory.conversation) if judge else None
        for question, answer in zip(questions, answers, strict=True)
    ]
    wanted = [prompt for prompt in prompts if prompt is not None]
    grades = iter(_replies(judge, wanted) if judge else ())
    return [
        _row(question, answer, next(grades) if prompt is not None else None)
        for question, answer, prompt in zip(questions, answers, prompts, strict=True)
    ]


def _replies(chat: Chat, prompts: Sequence[Prompt]) -> list[Reply | ModelError]:
    """Returns a reply for each prompt, or the error of that prompt alone; raises other errors."""
    try:
        return [*chat.outcomes(prompts)]
    except LastingFault:
        pass  # The error does not name the prompt; below, answered prompts come from the cache.
    replies: list[Reply | ModelError] = []
    for prompt in prompts:
        try:
            replies += chat.outcomes([prompt])
        except LastingFault as error:
            replies.append(error)
    return replies


def _row(question: Question, answer: Answer, graded: Reply | ModelError | None) -> AnswerRow:
    score, fault, tokens = by_rule(question, answer.text), answer.fault, answer.tokens
    if graded is not None:
        try:
            if isinstance(graded, ModelError):
                raise graded
            tokens += graded.tokens
            score = grade(graded)
        except LabelError as error:
            fault = f"the judge answered {error.answer[:200]!r}, expected a grade from 0 to 3"
        except ModelError as error:
            fault = str(error)
    f1, bleu = _text_overlap(question, answer.text)
    return AnswerRow(
        question.index,
        question.category,
        is_adversarial(question),
        answer.text,
        score,
        None if score is None else score >= RIGHT_FROM,
        f1,
        bleu,
        tokens,
        fault,
    )


def _text_overlap(question: Question, text: str) -> tuple[float | None, float | None]:
    if is_adversarial(question):
        return float(declines(text)), float(declines(text))
    if question.answer is None:
        return None, None
    return token_f1(text, question.answer), bleu1(text, question.answer)


def _aggregate(rows: Sequence[AnswerRow], seed: int) -> AnswerAggregate:
    def mean(values: Sequence[float | None]) -> Mean:
        return mean_ci(np.array([v for v in values if v is not None], dtype=np.float64), seed)

    graded = [row.score for row in rows if row.score is not None]
    return AnswerAggregate(
        len(rows),
        mean([row.right for row in rows]),
        mean(graded),
        mean([row.token_f1 for row in rows]),
        mean([row.bleu1 for row in rows]),
        sum(bool(row.fault) for row in rows),
    )
