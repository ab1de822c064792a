"""Puts texts from elsewhere on a memory: same steps and structure, other texts of inner nodes.

They come from a person or a model that segviz does not call, which ``requests`` asks by files.
Given by the units they are about, they can be applied to any tree of the conversation.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol, Self, TypeVar

from segviz.construct import PROMPT, TITLE, WRITTEN_BY, System
from segviz.construct.annotate import OF_MODEL, Extractive, Summary, between, titled
from segviz.conversation import Conversation, Unit
from segviz.embedding import Embedder
from segviz.handover import check_text
from segviz.llm import Endpoint, Prompt, fitted
from segviz.llm.checks import checked
from segviz.llm.client import clean
from segviz.text.captions import counted, listed, printable
from segviz.tree import Add, Event, Facts, Revise, Span, Step, Structure

Texts = Mapping[Span, tuple[str, str]]
"""Title and text of a stretch of units, by its half-open span of unit indices."""


BY_HAND = "hand"
"""Author of a text if no other is named."""


class _Memory(Protocol):
    """Parts of a ``Memory`` that are used here; its module imports this one."""

    @property
    def conversation(self) -> Conversation: ...

    @property
    def units(self) -> Sequence[Unit]: ...

    @property
    def steps(self) -> Sequence[Step]: ...

    @property
    def structure(self) -> Structure: ...

    @property
    def embedder(self) -> Embedder: ...

    @property
    def model(self) -> System | None: ...

    @property
    def has_frontier(self) -> bool: ...

    def with_texts(self, texts: Texts, *, by: str, partly: bool) -> Self: ...


_M = TypeVar("_M", bound=_Memory)


def rewritten(memory: _Memory, texts: Texts, *, by: str, partly: bool) -> Sequence[Step]:
    """Returns the steps of :meth:`Memory.with_texts`; the memory's own if no text has a place."""
    texts = _checked_pairs(texts)
    exact = _exact_nodes(memory)
    final = memory.structure
    now = {(int(final.start[node]), int(final.stop[node])) for node in exact}
    if not partly and (unknown := sorted(texts.keys() - now)):
        spans = listed([f"{start}-{stop}" for start, stop in unknown])
        raise ValueError(
            f"no inner node of this memory covers exactly the units {spans}; "
            f"{counted(len(now), 'span')} can get a text: "
            f"{listed([f'{start}-{stop}' for start, stop in sorted(now)])}"
        )
    known = {span for spans in exact.values() for span in spans}
    used = [span for span in texts if span in known]
    if not used:
        return memory.steps
    vectors = dict(zip(used, memory.embedder.embed([texts[span][1] for span in used]), strict=True))

    facts_of: dict[int, Facts] = {}  # of each node, without the written ones
    now_written: set[int] = set()

    def written(event: Event) -> Event:
        """Replaces the text of an event that gives an inner node one of the spans."""
        if not isinstance(event, Add | Revise):
            return event
        node = event.node
        if event.facts is not None:
            facts_of[node] = event.facts
        facts = facts_of.get(node, {})
        if event.span in vectors and event.span in exact.get(node, ()):
            now_written.add(node)
            title, text = texts[event.span]
            facts = {name: fact for name, fact in facts.items() if name not in OF_MODEL}
            facts |= {TITLE: title, WRITTEN_BY: by}
            return replace(event, text=text, vector=vectors[event.span], facts=facts)
        if node in now_written:  # the node has grown, so its title is the built one again
            now_written.remove(node)
            return replace(event, facts=facts)
        return event

    return tuple(replace(step, events=tuple(map(written, step.events))) for step in memory.steps)


def from_elsewhere(facts: Facts) -> bool:
    """Returns True if :func:`rewritten` put the text of a node of these facts there."""
    return TITLE in facts and WRITTEN_BY in facts and PROMPT not in facts


def _checked_pairs(texts: Texts) -> Texts:
    """Returns printable texts; raises an error for a value that is no pair of title and text."""
    for pair in texts.values():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"expected (title, text) for each span, found {pair!r:.80}")
    return {
        span: (check_text(title, rewritten), check_text(text, rewritten))
        for span, (title, text) in texts.items()
    }


def instead_of_extracts(memory: _M, texts: Texts) -> _M:
    """Puts written texts on a memory whose annotator wrote extracts, wherever spans agree."""
    extracts = type(getattr(memory.model, "annotate", None)) is Extractive
    return memory.with_texts(texts, by=BY_HAND, partly=True) if extracts else memory


def _exact_nodes(memory: _Memory) -> dict[int, set[Span]]:
    """Maps each inner node to the spans it has had of which it covers every unit.

    Clustered nodes may leave out units inside their span, so only their final coverage counts.
    Nodes of one unit pass the unit's text on, and nodes of a kind (entities, themes) are not
    summaries.
    """
    final = memory.structure
    spans: dict[int, set[Span]] = {}
    for step in memory.steps:
        for event in step.events:
            if not isinstance(event, Add | Revise) or final.level[event.node] == 0:
                continue
            start, stop = event.span
            if stop - start > 1 and not final.kind[event.node]:
                spans.setdefault(event.node, set()).add(event.span)
    if memory.has_frontier:  # spans of a temporal tree have no gaps
        return spans
    exact = {}
    for node, had in spans.items():
        span = int(final.start[node]), int(final.stop[node])
        if span in had and len(final.coverage(node)) == span[1] - span[0]:
            exact[node] = {span}
    return exact


# --- asking a model elsewhere ----------------------------------------------------------------

NOTHING_TO_WRITE = "No inner node of this memory can get a text: none covers all units of its span."


@dataclass(frozen=True, slots=True)
class TextRequest:
    """Request for the title and the text of an inner node; ``span`` is its span of units.

    ``id`` has the conversation and the span, as ``ines-theo:0-12``. ``level`` is the node's, the
    lowest of those that show the same text.
    """

    id: str
    span: Span
    level: int
    prompt: Prompt

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages that a chat model is sent."""
        prompt = self.prompt
        return [
            {"role": "system", "content": clean(prompt.system)},
            {"role": "user", "content": clean(prompt.user)},
        ]


@dataclass(frozen=True, slots=True)
class TextReply:
    """Reply to the request of this ``id``: a text, after a line with its title.

    ``cut`` is True if it ended at the token limit; ``fault`` says why there is none.
    """

    id: str
    text: str = ""
    by: str = BY_HAND
    cut: bool = False
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Replied:
    """Usable texts of replies by author, as ``Memory.with_texts`` takes them.

    ``refused`` has the reason for each reply that was not used, by its id.
    """

    texts: dict[str, dict[Span, tuple[str, str]]]
    refused: dict[str, str]


def requests(memory: _Memory, level: int | None = None) -> tuple[TextRequest, ...]:
    """Returns the requests for texts of a level; see :meth:`Memory.prompts`."""
    shown = memory.structure.collapsed
    nodes = _unwritten(memory)
    if level is None:
        level = min((int(shown.level[node]) for node in nodes), default=0)
    return tuple(_request(memory, node) for node in nodes if shown.level[node] == level)


def left(memory: _Memory) -> dict[int, int]:
    """Returns the number of texts that are not written yet, by level from low to high."""
    shown = memory.structure.collapsed
    return dict(sorted(Counter(int(shown.level[node]) for node in _unwritten(memory)).items()))


def can_be_written(memory: _Memory) -> bool:
    """Returns True if an inner node covers every unit of its span, and so can get a text."""
    return bool(_writable(memory))


def with_replies(memory: _M, replies: Iterable[TextReply]) -> tuple[_M, Replied]:
    """Puts the usable texts of replies on a memory, from low to high level.

    A level is checked against the prompts that quote the texts below as they then are. Of several
    usable replies with one id the last counts.
    """
    shown = memory.structure.collapsed
    node_of = {_id(memory, shown, node): node for node in _writable(memory)}
    known = f"; ids are like {next(iter(node_of))}" if node_of else ""
    given = list(replies)
    refused = {
        reply.id: reply.fault or f"no inner node of this memory has this id{known}"
        for reply in given
        if reply.fault or reply.id not in node_of
    }
    given = [reply for reply in given if reply.id in node_of and not reply.fault]
    used: dict[str, dict[Span, tuple[str, str]]] = {}
    for level in sorted({int(shown.level[node_of[reply.id]]) for reply in given}):
        texts: dict[Span, tuple[str, TextReply]] = {}
        for reply in given:
            node = node_of[reply.id]
            if shown.level[node] != level:
                continue
            request = _request(memory, node)
            prompt = request.prompt
            text, fault = checked(reply.text, reply.cut, prompt.words, prompt.source)
            if fault:
                refused[reply.id] = fault
            else:
                texts[request.span] = text, reply
        # Each author's texts are put separately, as the nodes name their author.
        for by in dict.fromkeys(reply.by for _, reply in texts.values()):
            pairs = {
                span: titled(text)[::-1] for span, (text, reply) in texts.items() if reply.by == by
            }
            memory = memory.with_texts(pairs, by=by, partly=True)
            used.setdefault(by, {}).update(pairs)
        for _, reply in texts.values():
            refused.pop(reply.id, None)
    return memory, Replied(used, refused)


def days_of(memory: _Memory, structure: Structure, nodes: Sequence[int]) -> list[tuple[date, ...]]:
    """Returns for each node the first and the last day of the sessions below it, if known."""
    units = memory.units
    return [
        between(day for unit in structure.coverage(node) for day in units[unit].days)
        for node in nodes
    ]


def _writable(memory: _Memory) -> list[int]:
    """Returns the nodes that can get a text, one for each span: the lowest that has it."""
    shown, exact = memory.structure.collapsed, _exact_nodes(memory)
    lowest: dict[Span, int] = {}
    for node in sorted(shown.nodes.tolist(), key=lambda node: (shown.level[node], node)):
        span = int(shown.start[node]), int(shown.stop[node])
        if shown.active[node] and span in exact.get(node, ()):
            lowest.setdefault(span, node)
    return list(lowest.values())


def _unwritten(memory: _Memory) -> list[int]:
    """Returns the nodes that can get a text and have an extract of ours, from low to high level."""
    facts, by_rule = memory.structure.facts, Extractive.name
    return [
        node
        for node in _writable(memory)
        if facts[node].get(WRITTEN_BY, "" if facts[node].get(TITLE) else by_rule) == by_rule
    ]


def _id(memory: _Memory, shown: Structure, node: int) -> str:
    return f"{memory.conversation.id}:{shown.start[node]}-{shown.stop[node]}"


def _request(memory: _Memory, node: int) -> TextRequest:
    """Returns the request for a node's text, made of the present texts of its children."""
    shown = memory.structure.collapsed
    annotate = getattr(memory.model, "annotate", None)
    writer = annotate if isinstance(annotate, Summary) else Summary()
    children = shown.children[node]
    prompt = writer.prompt(
        [shown.text[child] for child in children], days_of(memory, shown, children)
    )
    return TextRequest(
        _id(memory, shown, node),
        (int(shown.start[node]), int(shown.stop[node])),
        int(shown.level[node]),
        fitted(prompt, Endpoint.prompt_tokens)[0],
    )


# --- files of requests and replies -----------------------------------------------------------


def batch_file(requests: Iterable[TextRequest], model: str, max_tokens: int) -> str:
    """Returns requests in the batch format of the OpenAI API, one JSON object a line."""
    return "".join(
        json.dumps(
            {
                "custom_id": request.id,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {
                    "model": model,
                    "messages": request.messages,
                    "max_completion_tokens": max_tokens,
                },
            },
            ensure_ascii=False,
        )
        + "\n"
        for request in requests
    )


def read_replies(content: str) -> list[TextReply]:
    """Reads replies, one JSON object a line; a line that is none becomes a reply with a fault.

    Args:
        content: lines in the output format of the OpenAI batch API, with ``custom_id`` and
            ``response``, or with ``custom_id``, ``title``, ``text`` and, if it is known, ``by``
            (the author). A JSON list of such objects is read, too.

    Raises:
        ValueError: No line has a ``custom_id``, or the lines are the prompts.
    """
    content = content.removeprefix("\ufeff")
    listed = _json(content) if content.lstrip().startswith("[") else None
    lines = enumerate(content.split("\n"), start=1)
    rows = [(number, _json(line)) for number, line in lines if line.strip()]
    if isinstance(listed, list):
        rows = [*enumerate(listed, start=1)]
    replies = []
    for number, row in rows:
        if isinstance(row, dict) and isinstance(row.get("custom_id"), str):
            replies.append(_reply(row["custom_id"], row))
        else:
            replies.append(TextReply(f"line {number}", fault="it is no JSON object with custom_id"))
    if replies and all(reply.fault == _PROMPT_FAULT for reply in replies):
        raise ValueError("these are the prompts, not the replies to them")
    if all(reply.id.startswith("line ") for reply in replies):
        raise ValueError(
            "these are no replies: expected one JSON object a line with custom_id, and either "
            "response (the output of the OpenAI batch API) or title and text"
        )
    return replies


_PROMPT_FAULT = "it is the prompt"


def _json(text: str) -> Any:
    """Returns the value of a JSON text; None if it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _reply(name: str, row: Mapping[str, Any]) -> TextReply:
    if isinstance(row.get("text"), str):
        title = row.get("title")
        head = f"Title: {' '.join(title.split())}\n" if isinstance(title, str) and title else ""
        author = row.get("by")
        by = printable(author)[0] if isinstance(author, str) and author.strip() else BY_HAND
        return TextReply(name, printable(head + row["text"])[0].strip(), by)
    if isinstance(row.get("body"), dict):
        return TextReply(name, fault=_PROMPT_FAULT)
    if row.get("error"):
        return TextReply(name, fault=f"the server failed: {row['error']!s:.200}")
    try:
        response = row["response"]
        body = response["body"]
        status = response.get("status_code", 200)
        if status != 200:
            return TextReply(name, fault=f"the server answered with status {status!s:.20}")
        choice = body["choices"][0]
        content, finish = choice["message"].get("content"), choice.get("finish_reason")
        model = body.get("model")
    except (KeyError, IndexError, TypeError, AttributeError):
        return TextReply(name, fault="it lacked its answer (response, body, choices, message)")
    if not isinstance(content, str) or not content.strip():
        return TextReply(name, fault="the answer was empty")
    by = model if isinstance(model, str) and model else "a model elsewhere"
    return TextReply(name, printable(content)[0].strip(), printable(by)[0], cut=finish == "length")
