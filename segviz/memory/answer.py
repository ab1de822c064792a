"""Answers a question from its evidence with a chat model, and grades answers, by rule if possible.

The model sees the retrieved nodes alone, in reading order. What is quoted stands between fences and
is called data (``segviz.llm.prompts``), so that it cannot pose as an instruction.

The judge receives the question, its category, the gold answer and the model's answer (SegTreeMem
App. G.2). RealMem's questions are requests, judged by the user's memory (G.4), here the evidence
turns. Departures: all wordings are ours; there is no answer prompt for LongMemEval-MAB (G.3).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from segviz.conversation import CATEGORY_NAMES, UNANSWERABLE, Conversation, Question
from segviz.llm import Chat, LabelError, Part, Prompt, Reply
from segviz.llm.prompts import (
    NOT_MENTIONED,
    RUBRIC,
    answer_prompt,
    judge_prompt,
    memory_judge_prompt,
)
from segviz.memory.memory import Memory
from segviz.retrieval import Evidence, Result
from segviz.text.answers import states
from segviz.text.captions import clipped

RIGHT_FROM = 2
"""Lowest grade that counts as correct. SegTreeMem reports accuracy from a 0-3 rubric without its
threshold; 2 is correct except for details, 3 in every detail. The share of grade 3 is reported, too
(the paper's "perfect rate" for RealMem)."""

_REQUESTS = ("RealMem",)
"""Formats (``Conversation.source_format``) whose questions are requests to an assistant, judged by
the user's memory."""

_LONGEST = 2_000
_DECLINES = re.compile(
    r"\bnot? (?:\w+ )?(?:mention|stated?\b|specified|said\b|given\b|known\b|provided|available"
    r"|information|record|evidence|answer)"
    r"|n[o']t (?:say|mention|state|specify|tell|contain|provide|know|discuss)"
    r"|\b(?:unknown|unanswerable)\b|\bcannot be (?:answered|determined|known)\b"
)
_LONGEST_DECLINE = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a chat model, with the number of its tokens (0 if the server names none).

    ``cached`` is True if the answer came from the cache. ``fault`` says why the model gave no
    answer; ``text`` is then empty. ``left_out`` is the number of lowest-ranked excerpts that the
    prompt had no room for.
    """

    text: str
    tokens: int = 0
    cached: bool = False
    fault: str = ""
    left_out: int = 0


def answering(memory: Memory, result: Result) -> Prompt:
    """Returns the prompt that asks ``result.question`` with its evidence in reading order.

    If it is too long, excerpts may be left out, the lowest-ranked first, never the best.
    """
    ordered = result.reading_order
    by_rank = sorted(range(len(ordered)), key=lambda place: ordered[place].rank_after)
    return answer_prompt(
        result.question,
        [_excerpt(memory, result, item) for item in ordered],
        request=memory.conversation.source_format in _REQUESTS,
        spare=by_rank[:0:-1],  # the lowest-ranked first, without the best
    )


def _excerpt(memory: Memory, result: Result, item: Evidence) -> Part:
    """Returns a retrieved text for the prompt; its heading names messages, date and speakers."""
    covered = [memory.units[index] for index in result.structure.coverage(item.node)]
    turns = [memory.conversation.turn(turn_id) for turn_id in item.turn_ids]
    dates = list(dict.fromkeys(map(memory.conversation.date_of, covered)))
    kind = "Messages" if item.level == 0 else "Summary of messages"
    heading = [f"{kind} {_range(turns[0].id, turns[-1].id)}" if turns else kind]
    if any(dates):
        heading.append(f"said {_range(dates[0], dates[-1])}")
    if turns:
        heading.append(f"by {' and '.join(dict.fromkeys(turn.speaker for turn in turns))}")
    return Part(", ".join(heading), (item.text,))


def _range(first: str, last: str) -> str:
    return " to ".join(dict.fromkeys((first, last)))


def answer(memory: Memory, result: Result, chat: Chat) -> Answer:
    """Returns a model's answer to the question of ``result``, from its evidence alone.

    Raises:
        ModelError: The model cannot be reached, or does not answer.
    """
    return read(chat.reply(answering(memory, result)))


def read(reply: Reply) -> Answer:
    """Converts a model's reply to an answer of at most 2,000 characters."""
    text = clipped(reply.text.strip(), _LONGEST)
    return Answer(text, reply.tokens, reply.cached, reply.refused, reply.left_out)


def declines(text: str) -> bool:
    """Returns True if an answer says that the conversation does not tell what was asked.

    Such an answer has a phrase like "not mentioned" or "no information". The list is longer than
    that of LoCoMo's evaluation. An answer of over 30 words never counts as declining.
    """
    words = text.replace("’", "'").lower()
    return len(words.split()) <= _LONGEST_DECLINE and bool(_DECLINES.search(words))


def is_adversarial(question: Question) -> bool:
    """Returns True for LoCoMo's category 5 and abstention: the answer is "not mentioned"."""
    return question.answer is None and (
        question.adversarial is not None or question.category in UNANSWERABLE
    )


def reference(question: Question) -> str | None:
    """Returns a question's gold answer: "Not mentioned." if it is adversarial, None without one."""
    return NOT_MENTIONED if is_adversarial(question) else question.answer


def by_rule(question: Question, text: str) -> int | None:
    """Returns the grade of an answer if a rule decides it; None if a judge must.

    An empty answer gets 0, one that declines an adversarial question 3, any other to it 0.
    """
    if reference(question) is None:
        return None
    if not text.strip():
        return 0
    if is_adversarial(question):
        return 3 if declines(text) else 0
    return None


def contains_answer(question: Question, text: str) -> bool | None:
    """Returns True if an answer is right, as far as words tell; None without a gold answer.

    A rule decides as in :func:`by_rule`; else an answer is right if it has all content words of the
    gold answer, numbers and dates in any form. So an answer in other words counts as wrong.
    """
    score = by_rule(question, text)
    if score is not None:
        return score >= RIGHT_FROM
    return None if question.answer is None else states(text, question.answer)


def judging(
    question: Question, text: str, conversation: Conversation | None = None
) -> Prompt | None:
    """Returns the prompt that asks a judge to grade the answer ``text``.

    None if a rule decides or the question has no gold answer. ``conversation`` is that of the
    question: RealMem's answers are judged by the question's evidence turns, if there are any.
    """
    gold = reference(question)
    if gold is None or by_rule(question, text) is not None:
        return None
    there = {turn.id: turn.content for turn in conversation.turns} if conversation else {}
    known = [there[turn] for turn in question.evidence if turn in there]
    if conversation and conversation.source_format in _REQUESTS and known:
        return memory_judge_prompt(question.text, known, text)
    kind = question.category
    name = kind if isinstance(kind, str) else CATEGORY_NAMES.get(kind or 0, "")
    return judge_prompt(question.text, gold, text, name)


def judge(
    question: Question, text: str, chat: Chat, conversation: Conversation | None = None
) -> int:
    """Returns the grade of an answer, from 0 (wrong) to 3 (right in every detail).

    Calls the model once, or not at all where a rule decides (:func:`by_rule`). ``text`` is the
    answer, ``conversation`` as in :func:`judging`.

    Raises:
        LabelError: The judge kept answering outside the labels.
        ModelError: The model cannot be reached.
        ValueError: The question has no gold answer.
    """
    if (known := by_rule(question, text)) is not None:
        return known
    prompt = judging(question, text, conversation)
    if prompt is None:
        raise ValueError(f"question {question.index} has no gold answer to judge by")
    return grade(chat.reply(prompt))


def grade(reply: Reply) -> int:
    """Converts a judge's reply to a grade from 0 to 3; raises LabelError for any other reply."""
    if reply.text not in RUBRIC:
        raise LabelError(f"the judge answered {reply.text!r}", reply.text)
    return int(reply.text)
