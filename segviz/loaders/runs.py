"""Reads a run file: what a system retrieved and answered for the questions of a data set.

Known are LongMemEval's hypotheses and retrieval log, LoCoMo's file of predictions, the table of
``segviz grade``, and plain records of ``question_id`` or ``question`` with any of ``retrieved``,
``answer`` and ``right``, as JSON, JSON Lines or a table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segviz.conversation import Conversation, Question, Session, StoredText
from segviz.loaders.audit import QuestionEntry, plain_question, read_entries
from segviz.loaders.budget import Budget
from segviz.loaders.document import spelled
from segviz.loaders.errors import LoadError
from segviz.loaders.questions import resolve, turn_index
from segviz.loaders.stored import NAMES, field_of, parsed_cell, stored_text

_ANSWERS = ("hypothesis", "response", "prediction", "generatedanswer", "systemanswer")
_RETRIEVED = ("retrieved", "retrievedids", "rankeditems", "retrievalresults", "predictioncontext")
_RIGHT = ("right", "autoevallabel", "correct")
_GOLD = ("evidence", "adversarialanswer", "haystacksessions", "answersessionids", "questiontype")
"""Keys of a data set's question, beside which ``answer`` is the gold answer."""
_IDS = ("corpusid", *NAMES["id"], *NAMES["sources"])
_YES_NO = {"true": True, "1": True, "yes": True, "correct": True, "right": True}
_YES_NO |= {"false": False, "0": False, "no": False, "wrong": False}
_EXPECTED = (
    "records with question_id or question, and retrieved (ids of turns or sessions, or texts), "
    "answer or hypothesis, or right"
)


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """Texts retrieved and answer given for one question; None where the file does not say.

    ``retrieved`` are the texts, best first. A turn or session has its id and its turns as sources.
    ``answer`` is the system's, ``right`` a grade in the file.
    """

    retrieved: tuple[StoredText, ...] | None = None
    answer: str | None = None
    right: bool | None = None


@dataclass(frozen=True)
class Run:
    """Records of a run file, under its ``name``; :meth:`of` finds those of a conversation."""

    name: str
    entries: tuple[QuestionEntry, ...]

    @property
    def retrieves(self) -> bool:
        """True if a record says what was retrieved; else the file has only answers or grades."""
        return any(name in _spelled(each.fields) for each in self.entries for name in _RETRIEVED)

    def of(
        self, conversation: Conversation, ids: Sequence[str] = (), system: str = ""
    ) -> dict[int, RunAnswer]:
        """Returns what the run did with the questions of a conversation, by their index.

        A record belongs to the question with its text, or with the number at the end of its id. If
        it names one of the conversations ``ids`` of the data set, only that one counts. An id alone
        is enough where a conversation has one question. Records under another ``conversation``, or
        another ``system`` where that is named, are left out.

        Raises:
            LoadError: Two records of one question differ.
        """
        by_text: dict[str, list[Question]] = defaultdict(list)
        for question in conversation.questions:
            by_text[plain_question(question.text)].append(question)
        answers: dict[int, RunAnswer] = {}
        own = {"conversation": conversation.id} | ({"system": system} if system else {})
        for entry in self._about(conversation.id, ids):
            if any(entry.fields.get(name, mine) != mine for name, mine in own.items()):
                continue
            asked = entry.fields.get("question")
            numbered = str(asked) if str(asked).isdecimal() else ""
            number = int(numbered or entry.number(conversation.id))
            several: Sequence[Question] = conversation.questions
            if isinstance(asked, str) and not numbered:
                several = by_text.get(plain_question(asked), ())
            exact = [each for each in several if each.index == number]
            for question in exact or (several if len(several) == 1 else ()):
                answer = _answer(entry.fields, conversation)
                if answers.setdefault(question.index, answer) != answer:
                    what = f"question {question.index} of {conversation.id!r:.60} has two answers"
                    raise LoadError(what, self.name, "one record for each", "keep one retrieval")
        return answers

    def _about(self, conversation: str, ids: Sequence[str]) -> Iterator[QuestionEntry]:
        """Yields the records that may be about a conversation."""
        others = [each for each in ids if each != conversation]
        for entry in self.entries:
            named = entry.names(conversation) or entry.fields.get("question_id") == conversation
            # Without an id of a conversation the text of the question decides.
            asked = isinstance(entry.fields.get("question"), str)
            if named or not others or (asked and not any(map(entry.names, others))):
                yield entry


def read_run(source: str | Path | bytes, name: str = "", budget: Budget | None = None) -> Run:
    """Reads a run file from a path or its bytes; ``name`` is that of a file given as bytes.

    Raises:
        LoadError: The file has no record of a run.
    """
    label, entries, _ = read_entries(source, name, budget, "a run", _is_record, _EXPECTED)
    return Run(label.partition(".")[0] or label, tuple(entries))


def _is_record(fields: Mapping[str, Any]) -> bool:
    """Returns True for an object that names a question and says what a system did with it."""
    if not any(isinstance(fields.get(name), str | int) for name in ("question_id", "question")):
        return False
    parts = _spelled(fields)
    return any(name in parts for name in (*_RETRIEVED, *_RIGHT)) or _said(parts) is not None


def _spelled(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns fields by the usual spelling of their keys.

    LoCoMo's predictions begin with the name of a model (``gpt_prediction``).
    """
    parts: dict[str, Any] = {}
    for key, value in fields.items():
        name = spelled(str(key))
        for ending in ("prediction", "predictioncontext"):
            name = ending if name.endswith(ending) else name
        parts.setdefault(name, value)
    return parts


def _said(parts: Mapping[str, Any]) -> str | None:
    """Returns the system's answer in a record; None without one."""
    names = [name for name in _ANSWERS if name in parts]
    if not names and "answer" in parts and not any(name in parts for name in _GOLD):
        names = ["answer"]
    value = parts[names[0]] if names else None
    return str(value).strip() if isinstance(value, str | int | float) else None


def _answer(fields: Mapping[str, Any], conversation: Conversation) -> RunAnswer:
    """Reads a record; ids of turns and sessions become their texts."""
    parts = _spelled(fields)
    # A grade is True or False, a word, or an object with a label.
    right = next((parts[name] for name in _RIGHT if name in parts), None)
    right = right.get("label") if isinstance(right, dict) else right
    # Retrieved items are a list, a list in a cell, or a list inside an object.
    given = next((parts[name] for name in _RETRIEVED if name in parts), None)
    given = parsed_cell(given)
    given = given.get("ranked_items") if isinstance(given, dict) else given
    items = given.replace(",", " ").split() if isinstance(given, str) else given
    retrieved = None
    if isinstance(items, list):
        texts = _Texts(conversation, fields.get("haystack_session_ids"))
        retrieved = tuple(dict.fromkeys(map(texts.of, items)))
    graded = _YES_NO.get(str(right).lower())
    # Beside a column of grades, an answer without one was left ungraded on purpose.
    ungraded = graded is None and any(name in parts for name in _RIGHT)
    return RunAnswer(retrieved, None if ungraded else _said(parts), graded)


class _Texts:
    """Finds the texts that ids of a run name: turns and sessions of a conversation.

    ``names`` are LongMemEval's ids of the sessions, in their order, if the record has them. With a
    number after it such an id names a turn.
    """

    def __init__(self, conversation: Conversation, names: object) -> None:
        self._conversation = conversation
        self._turns = turn_index(turn.id for turn in conversation.turns)
        self._sessions = {spelled(each.id): each for each in conversation.sessions}
        self._sessions |= {
            f"s{number}": each for number, each in enumerate(conversation.sessions, start=1)
        }
        listed = names if isinstance(names, list) else []
        self._rows = {str(name): row for row, name in enumerate(listed, start=1)}

    def of(self, item: object) -> StoredText:
        """Returns the text of a retrieved item; that of an unknown id is the id."""
        record = item if isinstance(item, dict) else {}
        keys = {spelled(str(key)): value for key, value in record.items()}
        named = [keys[name] for name in _IDS if isinstance(keys.get(name), str | int)]
        for name in map(str, [*named, *([] if record else [item])]):
            if (text := self._named(name)) is not None:
                return text
        if record and field_of(record, "text"):
            return stored_text(record).among(self._turns)
        name = str(named[0] if named else item).strip()
        return StoredText("" if " " in name else name, name)

    def _named(self, name: str) -> StoredText | None:
        """Returns the turn or session with an id; None without one."""
        # LongMemEval writes "noans" for "answer" in the ids of turns without evidence.
        name = name if name in self._rows else name.replace("noans_", "answer_")
        session, _, number = name.rpartition("_")
        if name in self._rows:
            name = f"session_{self._rows[name]}"
        elif session in self._rows and number.isdecimal():
            name = f"S{self._rows[session]}:{number}"
        cited, rest = resolve(name, self._turns)
        if len(cited) == 1 and not rest:
            turn = self._conversation.turn(cited[0])
            return StoredText(turn.id, turn.spoken, cited)
        block = self._sessions.get(spelled(name))
        return None if block is None else session_text(block)


def session_text(session: Session) -> StoredText:
    """Returns a session as a text that a memory stores: its turns, a line each."""
    lines = "\n".join(turn.spoken for turn in session.turns)
    return StoredText(session.id, lines, tuple(turn.id for turn in session.turns))
