"""Writes the prompts for chat models: pure functions from plain texts to a Prompt.

Conversation text is data. It travels JSON-encoded inside the user message, and the system
message, whose text is in ``prompts.toml``, says that nothing in it is an instruction.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from segviz.llm.protocols import Prompt

MERGE, CONTINUE, SPLIT = "MERGE", "CONTINUE", "SPLIT"
POINTS = tuple(str(points) for points in range(11))
END, STAY = "END", "CONTINUE"
SAME, DIFFERENT = "SAME", "DIFFERENT"
RUBRIC = ("0", "1", "2", "3")
NOT_MENTIONED = "Not mentioned."
JSON_ONLY = "Answer with the JSON object alone: no words around it."


Texts = Mapping[str, str]
"""What a model is told, by the names of prompts."""


@cache
def texts_of(package: str = "segviz.llm") -> dict[str, str]:
    """Returns the texts in ``prompts.toml`` of a package, for ``prompts`` of a system."""
    return tomllib.loads(files(package).joinpath("prompts.toml").read_text("utf-8"))


def _prompt(
    name: str,
    labels: tuple[str, ...] = (),
    told: Mapping[str, object] | None = None,
    own: Texts | None = None,
    /,
    **said: Any,
) -> Prompt:
    """The text of this name, with ``told`` filled in, as the system message; ``said`` as one JSON
    object is the user's. ``own`` are the texts of a system, which come before the shared ones."""
    texts = {**texts_of(), **(own or {})}
    if name not in texts:
        raise ValueError(
            f"there is no prompt {name!r}: a system that asks this has it in its prompts, as those "
            "in segviz/systems do"
        )
    system = Template(texts[name]).substitute(told or {}, data=texts["data"])
    return Prompt(system, json.dumps(said, ensure_ascii=False, indent=1), labels)


def pointwise_prompt(message: str, level: int, summary: str) -> Prompt:
    """Asks whether ``message`` carries on the open segment of this level and summary.
    Labels MERGE and CONTINUE."""
    segment = {"level": level, "summary": summary}
    return _prompt("pointwise", (MERGE, CONTINUE), open_segment=segment, new_message=message)


def score_prompt(message: str, level: int, summary: str) -> Prompt:
    """Asks how well ``message`` carries on the open segment of this level and summary. The
    labels are the points 0 … 10."""
    segment = {"level": level, "summary": summary}
    return _prompt("scored", POINTS, open_segment=segment, new_message=message)


def batch_prompt(message: str, segments: Sequence[tuple[int, str]]) -> Prompt:
    """Asks which open segment ``message`` carries on. ``segments`` are (level, summary), low
    to high; the labels are MERGE_1 … MERGE_m in that order, and SPLIT."""
    listed = [
        {"label": f"{MERGE}_{i}", "level": level, "summary": summary}
        for i, (level, summary) in enumerate(segments, start=1)
    ]
    labels = (*(str(each["label"]) for each in listed), SPLIT)
    return _prompt("batch", labels, open_segments=listed, new_message=message)


def annotation_prompt(texts: Sequence[str], max_words: int) -> Prompt:
    """Asks for a summary of these consecutive parts in at most ``max_words`` words."""
    return _prompt("annotate", (), {"words": max_words}, parts=list(texts))


# --- small judgements (segviz.construct.tasks); ``own`` are the prompts of the system that asks --


def extraction_prompt(text: str, when: str, known: Sequence[str], most: int) -> Prompt:
    """Asks for at most ``most`` facts with entities and relations, as JSON. ``when`` is the
    time the text was said; what ``known`` states is to be left out."""
    return _prompt(
        "extract", (), {"most": most}, said_at=when, conversation=text, known=list(known)
    )


def boundary_prompt(before: Sequence[str], new: str, own: Texts) -> Prompt:
    """Asks whether an episode ends before ``new``. Labels END and CONTINUE."""
    return _prompt("boundary", (END, STAY), None, own, open_episode=list(before), new_message=new)


def same_prompt(one: str, other: str, own: Texts) -> Prompt:
    """Asks whether two statements state the same fact. Labels SAME and DIFFERENT."""
    return _prompt("same", (SAME, DIFFERENT), None, own, one=one, other=other)


def plan_prompt(
    question: str, now: str, scopes: Sequence[str], expected: Sequence[str], own: Texts
) -> Prompt:
    """Asks for the parts of a question with scope, time and kind of answer, as JSON."""
    told = {"scopes": ", ".join(scopes), "expected": ", ".join(expected)}
    return _prompt("plan", (), told, own, now=now, question=question)


def focus_prompt(question: str, roots: Sequence[str], own: Texts) -> Prompt:
    """Asks for one sub-question for each tree, by its number from 1, as JSON."""
    return _prompt("focus", (), None, own, question=question, trees=_numbered(roots))


def order_prompt(question: str, texts: Sequence[str]) -> Prompt:
    """Asks for the passages, numbered from 1, by how likely they answer, as JSON."""
    return _prompt("order", question=question, passages=_numbered(texts))


def _numbered(texts: Sequence[str]) -> list[dict[str, Any]]:
    return [{"number": i, "text": text} for i, text in enumerate(texts, start=1)]


def confidence_prompt(question: str, context: Sequence[str], own: Texts) -> Prompt:
    """Asks how surely the context answers the question. Labels 0 to 10."""
    return _prompt("confidence", POINTS, None, own, question=question, context=list(context))


def missing_prompt(question: str, evidence: Sequence[str], own: Texts) -> Prompt:
    """Asks whether the evidence lacks something, as JSON with a follow-up question."""
    return _prompt("missing", (), None, own, question=question, evidence=list(evidence))


# --- answering a question and judging the answer (segviz.memory.answer) -------------------------


def answer_prompt(
    question: str, excerpts: Sequence[Mapping[str, Any]], request: bool = False
) -> Prompt:
    """Asks for the answer from these excerpts (JSON values, in reading order): a few words, or
    what an assistant says to a person's ``request``."""
    name, told = "answer_request" if request else "answer", {"not_mentioned": NOT_MENTIONED}
    return _prompt(name, (), told, excerpts=list(excerpts), question=question)


def judge_prompt(question: str, reference: str, answer: str, category: str = "") -> Prompt:
    """Asks how well ``answer`` matches ``reference``, to a question of ``category`` where it has
    one. Labels 0 to 3."""
    kind = {"category": category} if category else {}
    said = {"reference_answer": reference, "answer_to_grade": answer}
    return _prompt("judge", RUBRIC, **kind, question=question, **said)


def memory_judge_prompt(question: str, known: Sequence[str], answer: str) -> Prompt:
    """Asks how well ``answer`` agrees with what is ``known`` of who asks. Labels 0 to 3."""
    said = {"known": list(known), "answer_to_grade": answer}
    return _prompt("memory_judge", RUBRIC, question=question, **said)
