"""Writes the prompts for chat models: pure functions from plain texts to a Prompt.

The user message of a prompt quotes the conversation in numbered parts between fences. A fence has
more backticks than any run of them in the texts, so no text can close its fence. The system
message, whose text is in ``prompts.toml``, says that nothing in a part is an instruction.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from importlib.resources import files
from itertools import chain
from math import ceil
from string import Template

from segviz.llm.protocols import Part, Prompt
from segviz.text.captions import clipped
from segviz.text.dates import day_in_words

MERGE, CONTINUE, SPLIT = "MERGE", "CONTINUE", "SPLIT"
POINTS = tuple(str(points) for points in range(11))
END, STAY = "END", "CONTINUE"
SAME, DIFFERENT = "SAME", "DIFFERENT"
RUBRIC = ("0", "1", "2", "3")
NOT_MENTIONED = "Not mentioned."
JSON_ONLY = "Answer with the JSON object alone: no words around it."

_SHORTEST = 40  # tokens, about two sentences; a text cut to fewer says little
_MOST_PARTS = 64  # of an annotation; more children share parts, because each part costs tokens
_TICKS = re.compile("`+")
# One token each, about: a piece of a word, a digit, a run of signs, any character beyond ASCII.
_TOKEN = re.compile(r"[A-Za-z]{1,7}|[0-9]|[^\x00-\x7f]|[!-/:-@\[-`{-~]+")

Texts = Mapping[str, str]
"""Templates of system messages, by the name of the prompt."""


@cache
def texts_of(package: str = "segviz.llm") -> dict[str, str]:
    """Reads the system messages in the file ``prompts.toml`` of a package, by name."""
    return tomllib.loads(files(package).joinpath("prompts.toml").read_text("utf-8"))


def overrides(content: str, known: Texts) -> dict[str, str]:
    """Reads a user's file of system messages that replace those of the same names.

    Args:
        content: the file, TOML in the form of ``prompts.toml``.
        known: all system messages, by name.

    Returns:
        The messages in the file, by name.

    Raises:
        ValueError: The file is no TOML, or a message has an unknown name or uses a ``$name`` that
            the message it replaces does not use.
    """
    try:
        texts = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"the prompts are no TOML: {error}") from None
    names = [name for name in known if name != "data"]
    for name, text in texts.items():
        if name not in names or not isinstance(text, str):
            raise ValueError(
                f"the prompts have {name!r:.60}; expected texts by the names {', '.join(names)}"
            )
        usual = set(Template(known[name]).get_identifiers())
        template = Template(text)
        if not template.is_valid() or (lost := {*template.get_identifiers()} - usual):
            what = f"${min(lost)}" if template.is_valid() else "a $ that begins no name"
            legal = ", ".join(f"${each}" for each in sorted(usual)) or "no names"
            raise ValueError(
                f"the prompt {name!r} has {what}; expected {legal}, and $$ for a dollar"
            )
    return texts


def digest(texts: Texts) -> str:
    """Returns the hash of system messages, 12 hexadecimal digits, by which a file names them."""
    content = "".join(f"{name}\0{texts[name]}\0" for name in sorted(texts))
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def _prompt(
    name: str,
    parts: Iterable[Part],
    labels: tuple[str, ...] = (),
    values: Mapping[str, str | int] | None = None,
    own: Texts | None = None,
    json: bool = False,
) -> Prompt:
    """Makes a prompt of the system message ``name``, filled with ``values``, and of quotations.

    ``labels`` are the legal answers, none for free text; with ``json`` the answer is a JSON object.
    ``own`` are system messages of a memory system, used before the shared ones.
    """
    texts = {**texts_of(), **(own or {})}
    if name not in texts:
        raise ValueError(
            f"there is no prompt {name!r}: a system that asks this has it in its prompts, as those "
            "in segviz/systems do"
        )
    filled = tuple((key, str(value)) for key, value in (values or {}).items())
    quoted = tuple(parts)
    words = int((values or {}).get("words", 0))
    system, user = _filled(texts, name, filled), rendered(quoted)
    return Prompt(system, user, labels, words, json, quoted, name, filled)


def _filled(texts: Texts, name: str, values: Iterable[tuple[str, str]]) -> str:
    """Returns the system message of this name with ``values`` filled in."""
    return Template(texts[name]).substitute(dict(values), data=texts["data"])


def rendered(parts: Sequence[Part]) -> str:
    """Returns a user message: for each part its number, its heading, and its text in fences."""
    texts = ["\n".join(part.texts) for part in parts]
    runs = (len(run) for text in texts for run in _TICKS.findall(text))
    fence = "`" * max(3, 1 + max(runs, default=0))
    heads = [" ".join(part.head.replace("`", "'").split()) for part in parts]
    return "\n\n".join(
        f"{number}. {head}\n{fence}\n{text}\n{fence}"
        for number, (head, text) in enumerate(zip(heads, texts, strict=True), start=1)
    )


def tokens_of(text: str) -> int:
    """Estimates the tokens of a text, in Latin script within a tenth of those of real models."""
    return len(_TOKEN.findall(text))


def expected_tokens(prompt: Prompt) -> int:
    """Returns the tokens that a usable reply to a prompt is expected to have."""
    if prompt.labels:
        return 8
    if prompt.words:
        return round(1.4 * prompt.words)
    return 20 if prompt.name == "answer" else 200


def fitted(prompt: Prompt, budget: int, texts: Texts | None = None) -> tuple[Prompt, int]:
    """Fits a prompt to a token budget: cuts the longest quoted texts to one length.

    If that length is under 40 tokens, spare parts are left out first, because every part costs the
    tokens of its heading, too.

    Args:
        prompt: the prompt; without parts it does not change.
        budget: maximum of tokens, as estimated by ``tokens_of``.
        texts: replacements for system messages, by name; applied before fitting.

    Returns:
        The prompt to send, and the number of texts that were cut. Parts that were left out are
        missing in its ``parts``.
    """
    if texts and prompt.name in texts:
        known = {**texts_of(), **texts}
        prompt = replace(prompt, system=_filled(known, prompt.name, prompt.values))
    # The more parts are left out, the longer the texts of the others may be.
    numbers = range(len(prompt.spare))
    out = bisect_left(numbers, True, key=lambda n: _readable(_without(prompt, n), budget))
    prompt = _without(prompt, out)
    most = max(1, _longest(prompt, budget))
    cut = sum(size > most for size in _sizes(prompt))
    if not cut:
        return prompt, 0
    parts = tuple(
        Part(part.head, tuple(_cut(text, most) for text in part.texts)) for part in prompt.parts
    )
    return replace(prompt, parts=parts, user=rendered(parts)), cut


def _sizes(prompt: Prompt) -> list[int]:
    return [tokens_of(text) for part in prompt.parts for text in part.texts]


def _longest(prompt: Prompt, budget: int) -> int:
    """Returns the length to cut the longest texts of a prompt to, in tokens; 0 or less: no room."""
    sizes = _sizes(prompt)
    room = budget - (tokens_of(prompt.system) + tokens_of(prompt.user) - sum(sizes))
    # Shorter texts stay whole; those longer than an even share of the rest are cut to it.
    for place, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - place)
        if size > share:
            return share
        room -= size
    return max(sizes, default=0)


def _readable(prompt: Prompt, budget: int) -> bool:
    """Returns True if a prompt can be cut to its budget with no text cut to under 40 tokens."""
    return _longest(prompt, budget) >= min(_SHORTEST, max(_sizes(prompt), default=0))


def _without(prompt: Prompt, number: int) -> Prompt:
    """Returns a prompt without the first ``number`` of its spare parts."""
    out = prompt.spare[:number]
    parts = tuple(part for place, part in enumerate(prompt.parts) if place not in out)
    return replace(prompt, parts=parts, user=rendered(parts), spare=()) if out else prompt


def _cut(text: str, tokens: int) -> str:
    """Cuts a text to about ``tokens`` tokens, between two words if it has blanks."""
    size = tokens_of(text)
    return text if size <= tokens else clipped(text, len(text) * tokens // size)


# --- joining, annotating ------------------------------------------------------------------------


def _segment(head: str, level: int, summary: str) -> Part:
    return Part(f"Open segment{head}, level {level}", (summary,))


def _message(text: str) -> Part:
    return Part("New message", (text,))


def pointwise_prompt(message: str, level: int, summary: str) -> Prompt:
    """Asks whether a message continues an open segment: MERGE, or CONTINUE for no."""
    return _prompt(
        "pointwise", [_segment("", level, summary), _message(message)], (MERGE, CONTINUE)
    )


def score_prompt(message: str, level: int, summary: str) -> Prompt:
    """Asks how well a message continues an open segment: 0 … 10 points."""
    return _prompt("scored", [_segment("", level, summary), _message(message)], POINTS)


def batch_prompt(message: str, segments: Sequence[tuple[int, str]]) -> Prompt:
    """Asks which open segment a message continues: MERGE_1 … MERGE_m, or SPLIT for none.

    ``segments`` are level and summary of each, from low to high.
    """
    labels = [f"{MERGE}_{i}" for i in range(1, len(segments) + 1)]
    listed = [
        _segment(f" {label}", *segment) for label, segment in zip(labels, segments, strict=True)
    ]
    return _prompt("batch", [*listed, _message(message)], (*labels, SPLIT))


def annotation_prompt(
    texts: Sequence[str], max_words: int, days: Sequence[Sequence[date]] = ()
) -> Prompt:
    """Asks for a title and a summary of consecutive texts in ``max_words`` words.

    ``days`` has the days of each text's sessions; headings name the first and the last.
    """
    size = ceil(len(texts) / _MOST_PARTS)
    starts = range(0, len(texts), size)
    parts = [
        Part(
            f"Part{_said(chain.from_iterable(days[first : first + size]))}",
            tuple(texts[first : first + size]),
        )
        for first in starts
    ]
    return _prompt("annotate", parts, values={"words": max_words})


def _said(days: Iterable[date]) -> str:
    """Returns the first and the last of days, for the heading of a part; "" without a day."""
    known = sorted(days)
    if not known:
        return ""
    first, last = day_in_words(known[0]), day_in_words(known[-1])
    return f", said on {first}" if first == last else f", said from {first} to {last}"


# --- small judgements (segviz.construct.tasks); ``own`` are the prompts of the system that asks --


def extraction_prompt(text: str, when: str, known: Sequence[str], most: int) -> Prompt:
    """Asks, as JSON, for at most ``most`` facts, entities and relations in a text.

    ``when`` is the time of the text, "" if unknown; the answer repeats none of the ``known``.
    """
    at = f", said at {when}" if when else ""
    parts = [Part(f"Conversation{at}", (text,))]
    if known:
        parts.append(Part("Known", tuple(known)))
    return _prompt("extract", parts, values={"most": most}, json=True)


def boundary_prompt(before: Sequence[str], new: str, own: Texts) -> Prompt:
    """Asks whether an episode, the texts ``before``, ends before a message: END or CONTINUE."""
    parts = [Part("Open episode", tuple(before)), _message(new)]
    return _prompt("boundary", parts, (END, STAY), own=own)


def same_prompt(one: str, other: str, own: Texts) -> Prompt:
    """Asks whether two statements are the same fact: SAME or DIFFERENT."""
    parts = [Part("Statement", (one,)), Part("Statement", (other,))]
    return _prompt("same", parts, (SAME, DIFFERENT), own=own)


def plan_prompt(
    question: str, now: str, scopes: Sequence[str], expected: Sequence[str], own: Texts
) -> Prompt:
    """Asks, as JSON, for sub-questions with a time, one of ``scopes`` and an ``expected`` answer.

    ``now`` is the time at which the question is asked, "" if unknown.
    """
    values = {"scopes": ", ".join(scopes), "expected": ", ".join(expected)}
    asked = f", asked at {now}" if now else ""
    return _prompt(
        "plan", [Part(f"Question{asked}", (question,))], values=values, own=own, json=True
    )


def focus_prompt(question: str, roots: Sequence[str], own: Texts) -> Prompt:
    """Asks, as JSON, for a sub-question to each tree, given by its root."""
    parts = [Part("Tree", (root,)) for root in roots]
    return _prompt("focus", [*parts, _question(question)], own=own, json=True)


def order_prompt(question: str, texts: Sequence[str]) -> Prompt:
    """Asks, as JSON, for passages in the order in which they answer a question."""
    passages = [Part("Passage", (text,)) for text in texts]
    return _prompt("order", [*passages, _question(question)], json=True)


def _question(text: str) -> Part:
    return Part("Question", (text,))


def confidence_prompt(question: str, context: Sequence[str], own: Texts) -> Prompt:
    """Asks how surely texts answer a question: 0 to 10."""
    parts = [Part("Context", tuple(context)), _question(question)]
    return _prompt("confidence", parts, POINTS, own=own)


def missing_prompt(question: str, evidence: Sequence[str], own: Texts) -> Prompt:
    """Asks, as JSON, whether evidence suffices, and for a follow-up question if it does not."""
    parts = [*(Part("Evidence", (text,)) for text in evidence), _question(question)]
    return _prompt("missing", parts, own=own, json=True)


# --- answering a question and judging the answer (segviz.memory.answer) -------------------------


def answer_prompt(
    question: str,
    excerpts: Sequence[Part],
    request: bool = False,
    spare: Sequence[int] = (),
) -> Prompt:
    """Returns a prompt that asks for the answer to a question from excerpts of a conversation.

    Args:
        question: the question, or a person's request to an assistant.
        excerpts: messages and summaries in reading order.
        request: True to ask for an assistant's reply, False for an answer of a few words.
        spare: positions of excerpts that may be left out, the first to leave out first.
    """
    name, values = "answer_request" if request else "answer", {"not_mentioned": NOT_MENTIONED}
    return replace(
        _prompt(name, [*excerpts, _question(question)], values=values), spare=tuple(spare)
    )


def judge_prompt(question: str, reference: str, answer: str, category: str = "") -> Prompt:
    """Asks for the grade, 0 to 3, of an answer by a reference answer; ``category`` may be ""."""
    kind = [Part("Category of the question", (category,))] if category else []
    answers = [Part("Reference answer", (reference,)), Part("Answer to grade", (answer,))]
    return _prompt("judge", [*kind, _question(question), *answers], RUBRIC)


def memory_judge_prompt(question: str, known: Sequence[str], answer: str) -> Prompt:
    """Asks for the grade, 0 to 3, of an answer by messages of the user."""
    parts = [Part("Known", tuple(known)), _question(question), Part("Answer to grade", (answer,))]
    return _prompt("memory_judge", parts, RUBRIC)
