"""Reads an audit of a data set's evidence and answers, and marks the questions it disputes.

The file has the shape of the public audit of LoCoMo (github.com/dial481/locomo-audit): a list of
objects with ``question_id``, ``question``, ``error_type``, ``correct_evidence``,
``correct_answer`` and ``reasoning``. The list may be nested under keys, or be JSON Lines or a
table. The audit's text is CC BY-NC and not part of segviz.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from segviz import files
from segviz.conversation import AuditReport, Conversation, Corpus, Dispute
from segviz.loaders.budget import Budget
from segviz.loaders.cells import read_records
from segviz.loaders.document import JsonLines, Line, Place
from segviz.loaders.errors import LoadError, opening
from segviz.loaders.lazy import LazyCorpus
from segviz.loaders.questions import read_answer, read_evidence, turn_index
from segviz.loaders.report import Notes
from segviz.text.captions import describe, one_line, shorten

_SAYS = ("error_type", "correct_evidence", "correct_answer", "reasoning")
_EXPECTED = f"objects with question and one of {', '.join(_SAYS)}"
OWNERS = ("question_id", "sample_id", "conversation_id", "conversation")
_Wanted: TypeAlias = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    """Entry of a file about questions of a data set.

    ``place`` are the keys and positions that lead to it, ``owners`` the ids of conversations that
    the objects around it name.
    """

    place: Place
    fields: Mapping[str, Any]
    owners: tuple[str, ...] = ()

    def names(self, conversation: str) -> bool:
        """Returns True if the entry's id, or a key above it, contains a conversation's id."""
        owners = (self.fields.get(name) for name in OWNERS)
        return any(is_named(conversation, one) for one in (*owners, *self.owners, *self.place))

    def number(self, conversation: str = "") -> int:
        """Returns the index of the question, -1 without one.

        It is the number at the end of the entry's id, after the id of the conversation.
        """
        own = str(self.fields.get("question_id", "")).replace(conversation, "")
        match = re.search(r"[0-9]{1,9}$", own)
        return int(match[0]) if match else -1


def is_named(conversation: str, text: object) -> bool:
    """Returns True if a text contains the id of a conversation as a whole word."""
    # An id that the loader made is a number, and every number would match.
    if not isinstance(text, str) or conversation.isdecimal() or conversation not in text:
        return False
    return bool(re.search(rf"(?<![^\W_]){re.escape(conversation)}(?![^\W_])", text))


def with_audit(
    corpus: Corpus, source: str | Path | bytes, name: str = "", budget: Budget | None = None
) -> Corpus:
    """Marks the questions of a corpus that an audit disputes (``Question.disputed``).

    An entry of the audit belongs to the question with the same text. If its id names a
    conversation, only questions of that conversation count. If several questions remain, the
    question's index at the end of the id decides; without an index, the entry belongs to all of
    them.

    Args:
        corpus: conversations that were read whole.
        source: path of the audit, or its bytes.
        name: name of the audit in the load report, if it is given as bytes.
        budget: limit on what the audit unpacks to; None for the usual one.

    Returns:
        The corpus with marked questions. ``report.audit`` counts entries with and without a
        question, and corrected evidence that names no turn.

    Raises:
        LoadError: The file has no usable entries, or the corpus is read one conversation at a time.
    """

    def wanted(fields: Mapping[str, Any]) -> bool:
        return isinstance(fields.get("question"), str) and any(name in fields for name in _SAYS)

    label, entries, whole = read_entries(source, name, budget, "an audit", wanted, _EXPECTED)
    if isinstance(corpus, LazyCorpus):
        what = "an audit is matched with all questions, and this file is read one item at a time"
        remedy = "keep the conversations you need in a file of their own"
        raise LoadError(what, label, remedy=remedy)
    conversations, matched = _marked(list(corpus), entries, whole)
    # The report counts what was matched, and notes what could not be read.
    disputes = [one.disputed for each in conversations for one in each.questions if one.disputed]
    report = AuditReport(
        name=label,
        matched=matched,
        unmatched=len(entries) - matched,
        questions=len(disputes),
        unresolved=sum(len(one.unresolved) for one in disputes),
        findings=whole.report(label, "", ()).findings,
    )
    report_with = replace(corpus.report, audit=report)
    return replace(corpus, conversations=conversations, report=report_with)


def read_entries(
    source: str | Path | bytes,
    name: str,
    budget: Budget | None,
    kind: str,
    wanted: _Wanted,
    expected: str,
) -> tuple[str, list[QuestionEntry], Notes]:
    """Reads the entries that are ``wanted``, at any depth of a JSON file or the rows of a table.

    Returns the file's label, the entries, and notes on repairs. Raises LoadError if there are none.
    """
    if not isinstance(source, bytes):
        source = Path(source).expanduser()
        name = name or source.name
    label, notes = shorten(one_line(name or kind)), Notes()
    try:
        with opening(""):
            data = source if isinstance(source, bytes) else files.read(source)
        document, mended = read_records(data, budget)
        if not (entries := list(_entries_in(document, wanted))):
            raise LoadError(f"no record of {kind} is in it; the file holds {describe(document)}")
    except LoadError as error:
        raise error.in_file(label, expected) from None
    notes.take(mended, document=document)
    return label, entries, notes


def _entries_in(
    document: object, wanted: _Wanted, place: Place = (), owners: tuple[str, ...] = ()
) -> Iterator[QuestionEntry]:
    """Yields the objects of a document that are ``wanted``, with the keys and ids above them."""
    if isinstance(document, list):
        lines = map(Line, document.lines) if isinstance(document, JsonLines) else count()
        document = dict(zip(lines, document, strict=False))
    elif isinstance(document, dict) and wanted(document):
        yield QuestionEntry(place, document, owners)
        return
    if not isinstance(document, dict) or isinstance(document.get("question"), str):
        return
    owners += tuple(own for name in OWNERS if isinstance(own := document.get(name), str))
    for key, value in document.items():
        yield from _entries_in(value, wanted, (*place, key), owners)


def _marked(
    conversations: Sequence[Conversation], entries: Sequence[QuestionEntry], notes: Notes
) -> tuple[tuple[Conversation, ...], int]:
    """Returns the conversations with marked questions, and how many entries match a question."""
    # Places of the questions with a text: (conversation, question).
    known: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for at, each in enumerate(conversations):
        for row, question in enumerate(each.questions):
            known[plain_question(question.text)].append((at, row))
    turns = [turn_index(turn.id for turn in each.turns) for each in conversations]
    marks: dict[tuple[int, int], Dispute] = {}
    matched = 0
    for entry in entries:
        places = known.get(plain_question(entry.fields["question"]), [])
        if named := {at for at, each in enumerate(conversations) if entry.names(each.id)}:
            places = [(at, row) for at, row in places if at in named]
        exact = [
            (at, row)
            for at, row in places
            if conversations[at].questions[row].index == entry.number()
        ]
        matched += bool(places)
        for at, row in exact or places:
            marks[at, row] = _dispute(entry, turns[at], notes)

    def marked(at: int, each: Conversation) -> Conversation:
        rows = enumerate(each.questions)
        questions = tuple(replace(one, disputed=marks.get((at, row))) for row, one in rows)
        return replace(each, questions=questions)

    return tuple(marked(at, each) for at, each in enumerate(conversations)), matched


def _dispute(entry: QuestionEntry, turns: Mapping[str, str], notes: Notes) -> Dispute:
    """Returns an entry's objection to a question.

    ``turns`` maps ids of turns, in any spelling, to the ids of the conversation (``turn_index``).
    """

    def text(name: str) -> str | None:
        return read_answer(entry.fields.get(name) or None, (*entry.place, name), notes)

    cited = entry.fields.get("correct_evidence")
    if isinstance(cited, str):  # a cell of a table
        cited = [cited] if cited.strip() else None
    place = (*entry.place, "correct_evidence")
    evidence, unresolved = read_evidence(cited, place, turns, notes)
    return Dispute(
        kind=shorten(one_line(text("error_type") or "disputed"), 60).replace("_", " ").lower(),
        evidence=None if cited is None else evidence,
        unresolved=unresolved,
        answer=text("correct_answer"),
        reason=text("reasoning") or "",
    )


def plain_question(text: str) -> str:
    """Returns a question in lower case with single spaces, to compare texts."""
    return " ".join(text.split()).casefold()
