"""Defines the JSON document of a memory as pydantic models and decodes it.

The models check every value of a file and emit the JSON Schema; :func:`decode` makes the memory's
records. ``segviz.store`` documents the format. Nothing is coerced. References into the rest of
the file (a row of the vectors, a unit, an added node) are checked where the records are made;
whether the events make a structure is found by replaying them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    InstanceOf,
    Strict,
    Tag,
    ValidationError,
    WithJsonSchema,
)
from pydantic.json_schema import SkipJsonSchema

from segviz.conversation import Conversation, Finding, Question, Session, Turn, Unit
from segviz.store.codec import VERSION, Saved, Shown, StoreError
from segviz.tree import (
    Add,
    Cost,
    Decision,
    Event,
    Judgement,
    Link,
    Relate,
    Retire,
    Revise,
    Span,
    Step,
    Unlink,
    Vector,
)
from segviz.tree.structure import sealed

INT32 = 2**31 - 1
EXACT = 2**53
"""Largest whole number that every JSON reader keeps exactly."""
DEEPEST = 20
"""Levels of nesting in the settings of a system."""

# --- values ------------------------------------------------------------------------------------

# Bounding its length has pydantic look into a text, and so refuse lone surrogates.
Text = Annotated[str, Field(max_length=INT32), WithJsonSchema({"type": "string"})]
Count = Annotated[int, Field(ge=0, le=EXACT), WithJsonSchema({"type": "integer", "minimum": 0})]
Small = Annotated[int, Field(ge=-INT32, le=INT32)]
Level = Annotated[int, Field(ge=0, le=INT32)]
Node = Annotated[int, Field(ge=0, le=INT32, description="Number of a node.")]
# Infinities and NaN pass, a model's scale may have them; a whole number beyond EXACT does not.
Number = Annotated[
    Annotated[int, Field(ge=-EXACT, le=EXACT)] | InstanceOf[float],
    WithJsonSchema({"type": "number"}),
]
Facts = Annotated[
    dict[Text, Text | bool | int | float | None],
    Field(description="What the system keeps about a node, by name."),
]


def _iso_date(written: str) -> str:
    try:
        datetime.fromisoformat(written)
    except ValueError:
        raise ValueError("an ISO date and time") from None
    return written


def _five_or_eight(numbers: list[int]) -> list[int]:
    if len(numbers) not in (5, 8):
        raise ValueError("a list of 5 or 8")
    return numbers


# --- arrays ------------------------------------------------------------------------------------

# JSON has lists alone, which strict tuples would refuse.
Texts = Annotated[tuple[Text, ...], Strict(False)]
TurnArray = Annotated[tuple[Text, Text, Text, Text | None], Strict(False)]
JudgementArray = Annotated[tuple[Node, Number | None, Number | None, Text], Strict(False)]
CostArray = Annotated[
    list[Count],
    AfterValidator(_five_or_eight),
    Field(json_schema_extra={"oneOf": [{"minItems": n, "maxItems": n} for n in (5, 8)]}),
]
# Since version 2 an "add" may go on with kind and facts, a "revise" with level and facts.
Add7 = tuple[Literal["add"], Node, Level, Count, Count, Text, Count]
Add9 = tuple[Literal["add"], Node, Level, Count, Count, Text, Count, Text, Facts]
Revise6 = tuple[Literal["revise"], Node, Count, Count, Text, Count]
Revise8 = tuple[Literal["revise"], Node, Count, Count, Text, Count, Level | None, Facts | None]
Relate5 = tuple[Literal["relate"], Node, Node, Text, Number]
Relate6 = tuple[Literal["relate"], Node, Node, Text, Number, Facts]


def _event_tag(event: Any) -> str | None:
    if isinstance(event, list) and event and isinstance(event[0], str):
        return f"{event[0]} {len(event)}"
    return None


EventArray = Annotated[
    Annotated[Add7, Strict(False), Tag("add 7")]
    | Annotated[Add9, Strict(False), Tag("add 9")]
    | Annotated[Revise6, Strict(False), Tag("revise 6")]
    | Annotated[Revise8, Strict(False), Tag("revise 8")]
    | Annotated[tuple[Literal["link"], Node, Node], Strict(False), Tag("link 3")]
    | Annotated[tuple[Literal["unlink"], Node, Node], Strict(False), Tag("unlink 3")]
    | Annotated[tuple[Literal["retire"], Node], Strict(False), Tag("retire 2")]
    | Annotated[Relate5, Strict(False), Tag("relate 5")]
    | Annotated[Relate6, Strict(False), Tag("relate 6")],
    Discriminator(_event_tag),
]
_PART_NAMES = {
    "turns": "id speaker text caption",
    "candidates": "node score threshold label",
    "add": "kind node level start stop text row kind facts",
    "revise": "kind node start stop text row level facts",
    "link": "kind parent child",
    "unlink": "kind parent child",
    "retire": "kind node",
    "relate": "kind source target label weight facts",
}
"""What stands where in the arrays, for messages: by the list they are in, or the event."""


# --- objects -----------------------------------------------------------------------------------


class _Object(BaseModel):
    model_config = ConfigDict(strict=True, json_schema_extra={"additionalProperties": False})


class SessionObject(_Object):
    """``start`` is an ISO 8601 date and time, null where the file's could not be read."""

    id: Text
    start: Annotated[Text, AfterValidator(_iso_date)] | None
    raw_date: Text
    turns: Annotated[list[TurnArray], FailFast()]


class QuestionObject(_Object):
    """``evidence`` are ids of turns; ``unresolved`` is evidence that names no turn, as it
    stood in the file; ``adversarial`` the tempting wrong answer; ``asked_at`` the turn in whose
    place the question is asked, left out where it is asked after the whole conversation."""

    text: Text
    answer: Text | None
    category: Small | Text | None
    evidence: Texts
    unresolved: Texts
    adversarial: Text | None
    asked_at: Text | SkipJsonSchema[None] = None


class ConversationObject(_Object):
    """A turn is its id, speaker, text and the caption of a shared image."""

    id: Text
    speakers: Texts
    source_format: Text
    sessions: Annotated[list[SessionObject], FailFast()]
    questions: Annotated[list[QuestionObject], FailFast()]


class SystemObject(_Object):
    """The system that built the memory, and its parameters; ``laws`` is read in older files."""

    name: Text
    laws: SkipJsonSchema[Text | None] = None
    settings: dict[Text, Any]


class DecisionObject(_Object):
    """A candidate is its node, its score, the threshold it was held against, and a label."""

    candidates: list[JudgementArray]
    chosen: Node | None
    why: Text


class StepObject(_Object):
    """What happened for one unit, or by one operation after it, which is then named."""

    operation: Text = ""
    unit: Count
    note: Text
    decision: DecisionObject | None
    cost: CostArray
    events: Annotated[list[EventArray], FailFast()]


class VectorsObject(_Object):
    """Rows of float32, little-endian, in base64; equal rows are stored once."""

    dtype: Literal["float32"]
    dimension: Annotated[int, Field(ge=0, le=INT32)]
    count: Annotated[int, Field(ge=0, le=INT32)]
    data: Annotated[Text, WithJsonSchema({"type": "string", "contentEncoding": "base64"})]


class ViewObject(_Object):
    """In a session file: the page it was saved on and, as the parameters of a link, what is
    looked at there."""

    page: Annotated[Text, WithJsonSchema({"enum": ["grow", "ask"]})]
    link: dict[Text, Text]


class Document(_Object):
    """A built memory: its conversation, how it was cut and built, and every construction step.

    Node ids are dense and count from 0 in the order of "add"; spans are half-open, in units;
    vectors are referred to by row.
    """

    format: Literal["segviz-memory"]
    version: Annotated[Literal[1, 2, 3], WithJsonSchema({"const": VERSION})]
    view: ViewObject | SkipJsonSchema[None] = None
    conversation: ConversationObject
    unit: Annotated[Text, Field(description="Name of the rule that cut it into units.")]
    system: SystemObject
    embedder: Annotated[Text, Field(description="Name of the model the vectors come from.")]
    chat: Annotated[Text, Field(description="Name of the chat model used, empty for none.")]
    steps: Annotated[list[StepObject], FailFast()]
    vectors: VectorsObject


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what is written."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:segviz:memory:{VERSION}",
        **Document.model_json_schema(),
        "title": f"segviz memory, version {VERSION}",
    }


# --- errors ------------------------------------------------------------------------------------

_EXPECTED = {
    "string_type": "text",
    "string_unicode": "text without lone surrogates",
    "int_type": "a whole number",
    "greater_than_equal": "a whole number of at least {ge}",
    "less_than_equal": "a whole number of at most {le}",
    "is_instance_of": "a number",
    "float_type": "a plain value",
    "model_type": "an object",
    "dict_type": "an object",
    "list_type": "a list",
    "tuple_type": "a list",
    "literal_error": "{expected}",
    "value_error": "{error}",
}


def _refusal(document: Any, invalid: ValidationError) -> StoreError:
    """The first fault of a document: its place, what was expected there, what was found."""
    faults = invalid.errors(include_url=False)
    first = faults[0]
    place, names = _place(document, first["loc"])
    # Of a choice of types every one has its fault; the last says what all of them are, but
    # that something may be left out says nothing of what it should be.
    same = [one for one in faults if _place(document, one["loc"])[0] == place]
    told = [one for one in same if one["type"] != "none_required"]
    last = first if first["type"] == "missing" else (told or same)[-1]
    kind, last_part = last["type"], last["loc"][-1] if last["loc"] else ""
    if kind == "missing" and isinstance(last_part, str):
        return StoreError(f"{place or 'the file'}: {last_part!r} is missing")
    if kind.startswith("union_tag"):
        return StoreError(f"{place}: unknown event {last['input']!r:.80}")
    expected = _EXPECTED.get(kind, "").format(**last.get("ctx", {})) or last["msg"]
    if kind in ("missing", "too_long"):
        expected = f"a list of {len(names)}"
    return fault(place, expected, last["input"])


def _place(document: Any, location: Sequence[int | str]) -> tuple[str, list[str]]:
    """A place in readable form, ``steps[0].events[2].row``, and the names of the values of its
    array. Location parts that name a branch of a union are skipped."""
    value, trail, place, names = document, [""], "", list[str]()
    for part in location:
        if isinstance(value, dict) and part in value:
            place += f".{part}" if place else str(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            place += f".{names[part]}" if names else f"[{part}]"
        else:
            continue
        value = value[part]
        array = isinstance(value, list) and value and isinstance(part, int)
        kind = str(value[0]) if array and trail[-1] == "events" else trail[-1]
        names = _PART_NAMES.get(kind, "").split() if array else []
        trail.append(str(part))
    return place, names


def fault(place: str, expected: str, found: Any) -> StoreError:
    """The error for a value that does not belong at ``place``."""
    return StoreError(f"{place}: expected {expected}, found {_excerpt(found)}")


def _excerpt(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with {len(value)} entries"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    written = repr(value)
    return written if len(written) <= 60 else f"{written[:57]}..."


# --- records -----------------------------------------------------------------------------------


def decode(value: Any) -> Saved:
    """The memory of a JSON document.

    StoreError names the place, what was expected and what was found; ValueError comes
    from what the memory means (an unknown unit rule).
    """
    try:
        document = Document.model_validate(value)
    except ValidationError as invalid:
        raise _refusal(value, invalid) from None
    findings: list[Finding] = []
    conversation = _conversation(document.conversation, findings)
    reader = _Reader(conversation.units(document.unit), _vectors(document.vectors))
    system, view = document.system, document.view
    return Saved(
        conversation=conversation,
        unit=document.unit,
        system=system.name,
        settings=_plain(system.settings, "system.settings"),
        embedder=document.embedder,
        chat=document.chat,
        steps=tuple(reader.step(i, step) for i, step in enumerate(document.steps)),
        shown=Shown(view.page, view.link) if view else None,
        findings=tuple(findings),
    )


def _plain(value: Any, place: str, depth: int = DEEPEST) -> Any:
    """A JSON value that is not nested beyond reason and can be written again."""
    if isinstance(value, dict | list) and not depth:
        raise fault(place, "a value, not a further level of nesting", value)
    if isinstance(value, dict):
        return {_plain(k, place): _plain(v, f"{place}.{k}", depth - 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v, f"{place}[{i}]", depth - 1) for i, v in enumerate(value)]
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise fault(place, "text without lone surrogates", value) from None
    return value


def _start(found: SessionObject, row: int, findings: list[Finding]) -> datetime | None:
    """When a session begins, without a zone as everywhere; None where no such time is possible."""
    if found.start is None:
        return None
    start, where = datetime.fromisoformat(found.start), f"conversation.sessions[{row}].start"
    if start.tzinfo is None:
        return start
    try:
        findings.append(Finding("repaired", where, "a time with a zone is read as UTC"))
        return start.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        findings[-1] = Finding("skipped", where, "no such time is possible; left out")
        return None


def _conversation(found: ConversationObject, findings: list[Finding]) -> Conversation:
    speakers = found.speakers
    if not speakers:
        said = dict.fromkeys(turn[1] for session in found.sessions for turn in session.turns)
        speakers = tuple(said)
        what = "nobody is named; taken from the turns"
        findings.append(Finding("repaired", "conversation.speakers", what))
    return Conversation(
        id=found.id,
        speakers=speakers,
        source_format=found.source_format,
        sessions=tuple(
            Session(
                session.id,
                _start(session, row, findings),
                session.raw_date,
                tuple(Turn(*turn) for turn in session.turns),
            )
            for row, session in enumerate(found.sessions)
        ),
        questions=tuple(Question(i, **vars(each)) for i, each in enumerate(found.questions)),
    )


def _vectors(found: VectorsObject) -> Vector:
    count, dimension = found.count, found.dimension
    if count and not dimension:
        raise fault("vectors.dimension", "a whole number of at least 1", dimension)
    try:
        blob = base64.b64decode(found.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise StoreError(f"vectors.data: not base64 ({error})") from None
    if len(blob) != 4 * count * dimension:
        raise StoreError(
            f"vectors.data: expected {count} vectors of {dimension} numbers "
            f"({4 * count * dimension} bytes), found {len(blob)} bytes"
        )
    vectors = np.frombuffer(blob, dtype="<f4").reshape(count, dimension).astype(np.float32)
    if not np.isfinite(vectors).all():
        raise StoreError("vectors.data: expected finite numbers, found NaN or infinity")
    return sealed(vectors)


class _Reader:
    """Makes steps in order; knows the units, the vectors and how many nodes there are."""

    def __init__(self, units: tuple[Unit, ...], vectors: Vector) -> None:
        self.units = units
        self.vectors = vectors
        self.nodes = 0

    def step(self, index: int, found: StepObject) -> Step:
        at = f"steps[{index}]"
        return Step(
            unit=self.units[_checked_below(len(self.units), found.unit, at, "unit")],
            note=found.note,
            events=tuple(self._event(event, at, i) for i, event in enumerate(found.events)),
            decision=self._decision(found.decision, at) if found.decision else None,
            cost=Cost(*found.cost),
            operation=found.operation,
        )

    def _decision(self, found: DecisionObject, at: str) -> Decision:
        for i, candidate in enumerate(found.candidates):
            _checked_below(self.nodes, candidate[0], at, "decision.candidates[{}].node", i)
        if found.chosen is not None:
            _checked_below(self.nodes, found.chosen, at, "decision.chosen")
        judged = tuple(Judgement(*candidate) for candidate in found.candidates)
        return Decision(judged, found.chosen, found.why)

    def _event(self, event: tuple[Any, ...], at: str, i: int) -> Event:
        match event:
            case ("add", node, level, start, stop, text, row, *more):
                self.nodes += 1
                span = self._span(start, stop, at, i)
                return Add(node, level, span, text, self._vector(row, at, i), *more)
            case ("revise", node, start, stop, text, row, *more):
                span = self._span(start, stop, at, i)
                return Revise(node, span, text, self._vector(row, at, i), *more)
            case ("link", parent, child):
                return Link(parent, child)
            case ("unlink", parent, child):
                return Unlink(parent, child)
            case ("retire", node):
                return Retire(node)
            case _:
                return Relate(*event[1:])

    def _span(self, start: int, stop: int, at: str, i: int) -> Span:
        end = len(self.units) + 1
        _checked_below(end, start, at, "events[{}].start", i)
        return start, _checked_below(end, stop, at, "events[{}].stop", i)

    def _vector(self, row: int, at: str, i: int) -> Vector:
        vector: Vector = self.vectors[
            _checked_below(len(self.vectors), row, at, "events[{}].row", i)
        ]
        return vector


def _checked_below(end: int, value: int, at: str, part: str, index: int = 0) -> int:
    """``value`` where it is below ``end``."""
    if value < end:
        return value
    expected = f"a whole number from 0 to {end - 1}" if end else "nothing (no number is possible)"
    raise fault(f"{at}.{part.format(index)}", expected, value)
