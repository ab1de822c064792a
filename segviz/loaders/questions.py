"""Reads the questions of data sets, with their answers and evidence.

Fields are found by usual names (``NAMES``). Evidence is resolved to existing turns. Of 2,821
references in LoCoMo's file, six entries are malformed (``"D8:6; D9:17"``, ``"D:11:26"``, ``"D"``)
and three well-formed ones match no turn as written (``"D30:05"``). LoCoMo's category 5 mostly has
no ``answer``; its ``adversarial_answer`` is the tempting wrong one. segviz's own exports add
``asked_at``: the id of the turn before which a question is asked.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from segviz.conversation import Category, Question
from segviz.loaders.decode import literal
from segviz.loaders.document import Place, usual_keys
from segviz.loaders.report import Notes
from segviz.text.captions import counted, describe, one_line, quoted, shorten

NAMES: dict[str, tuple[str, ...]] = {
    "question": ("question", "query", "userquestionormessage"),
    "answer": tuple(
        "answer answers idealanswer idealresponse idealsummary expectedanswer expectedcompliance "
        "referenceanswer goldanswer correctanswer".split()
    ),
    "adversarial": ("adversarialanswer",),
    "category": ("category", "questiontype", "categoryname", "type"),
    "evidence": tuple(
        "evidence evidences messageevidences memoryused sourcechatids evidencesessionids "
        "answersessionids".split()
    ),
    "moment": ("askedat",),
}
"""Usual names of a question's fields by meaning, the best first (``document.spelled``)."""

QUESTIONS = ("questions", "qa", "qas", "qapairs", "probingquestions")
_NAME = re.compile(r"(?=.*[^\W\d]).{1,80}")
_NUMBER = re.compile(r"[0-9]{1,9}")
# Nine digits are more than any conversation has turns, and harmless to int().
_REFERENCE = re.compile(r"D:?\s*([0-9]{1,9})\s*:\s*([0-9]{1,9})(?![0-9])")
_CITED = ("id", "turnid", "messageid", "diaid", "text", "content", "memorycontent", "message")
"""Keys by which an object in evidence names a turn: its id or its text, the best first."""

_MEMORY = "the evidence is a memory and names no turn; all such evidence is unresolved"
"""Note on HaluMem's evidence, which is so throughout; added once for thousands of entries."""

_SESSION = re.compile(r"session_[0-9]+$")
_SEPARATORS = re.compile(r"[\s,;/&()\[\]]*")


class WrittenQuestion(NamedTuple):
    """Question as a file writes it, with its place in the file.

    ``kind`` is the category above the question, used if the question names none. ``after`` is the
    session after which it is asked; None for the last one.
    """

    place: Place
    raw: object
    kind: str | None = None
    after: str | None = None


def asked_in(value: object, place: Place) -> list[WrittenQuestion]:
    """Returns the questions of a list, or of an object that holds a list per category."""
    if isinstance(value, dict):
        lists = [(kind, rows, (*place, kind)) for kind, rows in value.items()]
    else:
        lists = [(None, value, place)]
    return [
        WrittenQuestion((*here, row), raw, kind)
        for kind, rows, here in lists
        if isinstance(rows, list)
        for row, raw in enumerate(rows)
    ]


def asked_about(value: Mapping[str, object], place: Place) -> list[WrittenQuestion]:
    """Returns an object's questions about its dialogue.

    An object with a text under ``question`` is itself the only question, as in ConvoMem.
    """
    if isinstance(value.get("question"), str):
        return [WrittenQuestion(place, value)]
    asked: list[WrittenQuestion] = []
    own = value.get("self_instruct")
    if isinstance(own, dict) and isinstance(own.get("B"), str):  # of Multi-Session Chat
        one = {"question": own["B"], "answer": own.get("A")}
        return [WrittenQuestion((*place, "self_instruct"), one)]
    for key in usual_keys(tuple(value), QUESTIONS):
        raw = value[key]
        if isinstance(raw, dict) and isinstance(raw.get("question"), str):
            steps = raw.get("target_step_id")  # of MemBench: pairs of an exchange and a list
            if isinstance(steps, list):
                gold = [step[0] if isinstance(step, list) and step else step for step in steps]
                raw = raw | {"evidence": gold}
            asked.append(WrittenQuestion((*place, key), raw))
            continue
        asked += asked_in(literal(raw)[0] if isinstance(raw, str) else raw, (*place, key))
    raws = [each.raw for each in asked if isinstance(each.raw, dict)]
    return asked if any(usual_keys(tuple(raw), NAMES["question"]) for raw in raws) else []


def are_questions(document: object) -> bool:
    """Returns True if a document holds questions with answers and nothing else."""
    raws = [each.raw for each in asked_in(document, ())]
    return bool(raws) and all(
        isinstance(raw, dict)
        and any(isinstance(raw[key], str) for key in usual_keys(tuple(raw), NAMES["question"]))
        and usual_keys(tuple(raw), NAMES["answer"]) != ()
        for raw in raws
    )


def beside(document: object, questions: object) -> object:
    """Returns a document in which dialogues have the questions of another file that name them.

    So PersonaMem is published: a dialogue per key, and a table of questions, whose answer ``(c)``
    is one of the options, asked before the message at a position. Returns None if none is named.
    """
    rows = (
        [row for row in questions if isinstance(row, dict)] if isinstance(questions, list) else []
    )
    asked: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        for key in _OWNERS & row.keys():
            asked.setdefault(str(row[key]), []).append(row)
    whole = []
    for raw in document if isinstance(document, list) else [document]:
        for name, messages in raw.items() if isinstance(raw, dict) else ():
            if isinstance(messages, list):
                own = [_of_dialogue(row, messages) for row in asked.pop(name, ())]
                whole.append({"id": name, "messages": messages, "questions": own})
    return whole if any(each["questions"] for each in whole) else None


_OWNERS = dict.fromkeys(("shared_context_id", "conversation_id", "dialogue_id")).keys()
"""Keys by which a question names its dialogue."""


def _of_dialogue(row: Mapping[str, object], messages: Sequence[object]) -> dict[str, object]:
    """Returns a question with its answer written out, and with the text of its next message."""
    own = {m: row[keys[0]] for m in NAMES if (keys := usual_keys(tuple(row), NAMES[m]))}
    options = literal(str(row.get("all_options")))[0]
    mark = str(own.get("answer"))
    texts = [str(each) for each in (options if isinstance(options, list) else ())]
    own["answer"] = next((text for text in texts if text.startswith(mark)), own.get("answer"))
    end = str(row.get("end_index_in_shared_context", ""))
    rest = messages[int(end) :] if end.isdecimal() and len(end) < 10 else ()
    spoken = (each for each in rest if isinstance(each, dict) and each.get("role") != "system")
    return {**own, "asked_at": next((each.get("content") for each in spoken), None)}


def read_questions(
    asked: Iterable[WrittenQuestion], index: Mapping[str, str], notes: Notes
) -> tuple[Question, ...]:
    """Reads a conversation's questions by the usual names of their fields (``NAMES``).

    ``index`` maps what evidence may cite, such as a turn's id or text, to the turn's id; see
    ``turn_index`` and ``unique_index``. Unusable questions are left out, with a note, but count in
    ``Question.index``, as papers count them.
    """
    read = (_question(each, row, index, notes) for row, each in enumerate(asked))
    return tuple(question for question in read if question is not None)


def _question(
    asked: WrittenQuestion, row: int, index: Mapping[str, str], notes: Notes
) -> Question | None:
    """Reads a question; returns None, with a note, if it has no text."""
    raw, place = asked.raw, asked.place
    if not isinstance(raw, dict):
        notes.skipped(place, f"expected a question (an object), found {describe(raw)}")
        return None
    # Each meaning has the value under the best usual name that has one, and its place.
    field: dict[str, tuple[object, Place]] = {}
    for meaning, names in NAMES.items():
        keys = usual_keys(tuple(raw), names) or names[:1]
        key = next((key for key in keys if raw.get(key) is not None), keys[0])
        field[meaning] = raw.get(key), (*place, key)
    text, here = field["question"]
    if not isinstance(text, str) or not text.strip():
        notes.skipped(here, f"expected the text of a question, found {describe(text)}")
        return None
    evidence, unresolved = read_evidence(*field["evidence"], index, notes)
    category = read_category(*field["category"], notes) or asked.kind
    # An abstention's answer says that the conversation does not mention it.
    answer = None if category == "abstention" else read_answer(*field["answer"], notes)
    return Question(
        index=row,
        text=text,
        answer=answer,
        category=category,
        evidence=evidence,
        unresolved=unresolved,
        adversarial=read_answer(*field["adversarial"], notes),
        asked_at=_moment(*field["moment"], index, notes),
    )


def _moment(value: object, place: Place, index: Mapping[str, str], notes: Notes) -> str | None:
    """Returns the id of the turn at which a question is asked; None if no turn has this id."""
    ids, unresolved = resolve(value, index) if isinstance(value, str) else ((), ())
    if len(ids) == 1 and not unresolved:
        return ids[0]
    if value is not None:
        what = f"expected the id of a turn, found {shown(value)}; asked after everything"
        notes.repaired(place, what)
    return None


def note_late_evidence(
    questions: Iterable[Question], turn_ids: Iterable[str], place: Place, notes: Notes
) -> None:
    """Adds a note on evidence that is said only after its question is asked."""
    order = {turn_id: at for at, turn_id in enumerate(turn_ids)}
    late = [
        sum(order[turn_id] >= order[question.asked_at] for turn_id in question.evidence)
        for question in questions
        if question.asked_at is not None
    ]
    if count := sum(late):
        among = counted(sum(map(bool, late)), "question")
        what = (
            f"{counted(count, 'turn')} of gold evidence said after the question, in {among}; kept"
        )
        notes.repaired(place, what)


def read_answer(value: object, place: Place, notes: Notes) -> str | None:
    """Returns an answer as text, a list joined by commas; None without a text, number or boolean.

    Adds a note on everything else.
    """
    parts = [_plain(item) for item in (value if isinstance(value, list) else [value])]
    texts = [part for part in parts if part is not None]
    if value is not None and len(texts) < len(parts):
        notes.repaired(place, f"expected an answer (a text), found {describe(value)}")
    return ", ".join(texts) or None if isinstance(value, list) else parts[0]


def _plain(value: object) -> str | None:
    """Returns a string, a finite number or a boolean as text; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float) and math.isfinite(value):
        return str(value)
    return None


def read_category(value: object, place: Place, notes: Notes) -> Category | None:
    """Returns a category: a number, or a name of at most 80 characters.

    Returns None for any other value, with a note unless the value is missing.
    """
    text = str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    if plain and _NUMBER.fullmatch(text):
        return int(text)
    if isinstance(value, str) and _NAME.fullmatch(text):
        return text
    if value is not None:
        what = f"expected the number or short name of a category, found {shown(value)}; left out"
        notes.repaired(place, what)
    return None


def shown(value: object) -> str:
    """Returns a string in quotes, and a description of any other value."""
    return quoted(value) if isinstance(value, str) else describe(value)


def read_evidence(
    raw: object, place: Place, index: Mapping[str, str], notes: Notes
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the turns that evidence cites, and the references that name no turn.

    Both are distinct and in the order of the file. Repairs and unresolved references get notes.
    """
    if raw is None:
        return (), ()
    if not isinstance(raw, list | dict):
        notes.repaired(place, f"expected a list, found {describe(raw)}; read as its only entry")
    cited: dict[str, None] = {}
    unresolved: dict[str, None] = {}
    for here, entry in _entries(raw, place):
        # Numbers may be ids; anything else that is no text is kept as unresolved.
        if isinstance(entry, int) and str(entry) in index:
            entry = str(entry)
        if not isinstance(entry, str):
            shown = describe(entry) if isinstance(entry, dict | list) else json.dumps(entry)
            unresolved[shown] = None
            notes.repaired(here, f"expected the id of a turn, found {describe(entry)}")
            continue
        # A text may cite several turns; repairs are noted.
        ids, rest = resolve(entry, index)
        if rest:
            _note_unresolved(rest, here, notes)
            rest = tuple(one_line(shorten(part, 160)) for part in rest)
        elif entry.strip() not in index:
            names = ", ".join(one_line(shorten(turn_id)) for turn_id in ids[:8])
            notes.repaired(here, f"{quoted(entry)} read as {names}")
        elif ids[0] in cited:
            notes.repaired(here, f"{quoted(entry)} occurs twice here; used once")
        cited.update(dict.fromkeys(ids))
        unresolved.update(dict.fromkeys(rest))
    return tuple(cited), tuple(unresolved)


def _note_unresolved(rest: Sequence[str], place: Place, notes: Notes) -> None:
    """Adds a note on evidence that names no turn; a single one for all memories of RealMem."""
    if place[-1] != "memory_content":
        left = ", ".join(quoted(part) for part in rest[:3])
        what = (
            "the session and no turn is named:" if _SESSION.match(rest[0]) else "could not resolve"
        )
        notes.repaired(place, f"{what} {left}; kept as unresolved evidence")
    elif _MEMORY not in (note.what for note in notes):
        notes.repaired(place, _MEMORY)


def _entries(raw: object, place: Place) -> Iterator[tuple[Place, object]]:
    """Yields each reference in evidence with its place: an item of a list, or of lists by key.

    A quoted message is a reference by its id or text.
    """
    if isinstance(raw, dict):
        if keys := usual_keys(tuple(raw), _CITED):
            yield (*place, keys[0]), raw[keys[0]]
        elif raw:
            for key, value in raw.items():
                yield from _entries(value, (*place, key))
    elif isinstance(raw, list):
        for row, value in enumerate(raw):
            if isinstance(value, dict):
                yield from _entries(value, (*place, row))
            else:
                yield (*place, row), value
    else:
        yield place, raw


# --- evidence ------------------------------------------------------------------------


def turn_index(turn_ids: Iterable[str]) -> dict[str, str]:
    """Maps the spellings of turn ids to the ids: ``D1:05`` and ``D1:5`` are one turn."""
    ids = tuple(turn_ids)
    index: dict[str, str] = {}
    for turn_id in ids:
        match = _REFERENCE.fullmatch(turn_id)
        if match:
            index.setdefault(_canonical(match), turn_id)
    index.update((turn_id, turn_id) for turn_id in ids)
    return index


def unique_index(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Maps references, such as the text of a turn, to turn ids.

    A reference that fits several turns is left out.
    """
    ids_by_reference: dict[str, list[str]] = {}
    for reference, turn_id in pairs:
        ids_by_reference.setdefault(reference.strip(), []).append(turn_id)
    return {text: ids[0] for text, ids in ids_by_reference.items() if text and len(ids) == 1}


def resolve(entry: str, index: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the turn ids that an entry of evidence cites, and the parts that cite no turn.

    ``index`` comes from ``turn_index``. An entry may cite several turns. If it holds other words,
    such as a range (``D1:3-D1:5``), it is also returned whole as unresolved.
    """
    exact = index.get(entry.strip())
    if exact is not None:
        return (exact,), ()
    cited: list[str] = []
    unresolved: list[str] = []
    for match in _REFERENCE.finditer(entry):
        turn_id = index.get(_canonical(match))
        if turn_id is None:
            unresolved.append(match[0])
        else:
            cited.append(turn_id)
    if not (cited or unresolved) or not _SEPARATORS.fullmatch(_REFERENCE.sub("", entry)):
        unresolved = [entry]
    return tuple(cited), tuple(unresolved)


def _canonical(match: re.Match[str]) -> str:
    return f"D{int(match[1])}:{int(match[2])}"
