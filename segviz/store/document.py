"""Defines the document of a memory: the one schema of the container and of the JSON export.

``segviz.store`` documents the fields, ``segviz.tree.columns`` the tables of numbers.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, core_schema, to_json

from segviz.conversation import Conversation
from segviz.store.saved import Saved, SavedView, StoreError
from segviz.tree.columns import (
    ADD,
    COSTS,
    LINK,
    RELATE,
    RETIRE,
    REVISE,
    UNLINK,
    Columns,
    History,
    columns_of,
)
from segviz.tree.structure import sealed

VERSION: Final = 6

_INT32 = 2**31
_EXACT = 2**53  # from here on JSON readers may round whole numbers


@dataclass(frozen=True)
class Table:
    """Type of a table: ``columns`` names the numbers of a row; without names it is a flat list.

    Rows of a ``packed`` table have any length, the same for all. In JSON such a row is the base64
    of its bytes, little-endian.
    """

    dtype: str
    columns: str = ""
    packed: bool = False

    @property
    def width(self) -> int:
        """Number of columns; 0 for a flat list."""
        return len(self.columns.split())

    def array(self, values: Any) -> NDArray[Any]:
        """Returns an array or JSON list as this table's array; ValueError if it is another."""
        wanted = np.dtype(self.dtype)
        if not isinstance(values, np.ndarray):
            values = self._from_lists(values, wanted)
        if values.dtype != wanted or values.ndim != 1 + (self.packed or self.width > 0):
            raise ValueError(f"expected {self.dtype} numbers, found {values.dtype} {values.shape}")
        if self.width and values.shape[1] != self.width:
            raise ValueError(f"expected rows of {self.columns}, found {values.shape[1]} numbers")
        return sealed(np.require(values, requirements=("C", "A")))

    def _from_lists(self, values: Any, wanted: np.dtype[Any]) -> NDArray[Any]:
        """Returns the array in lists of JSON; raises ValueError if its numbers do not fit."""
        if not isinstance(values, list):
            raise ValueError("expected a list")
        if self.packed:
            if not all(isinstance(row, str) for row in values):
                raise ValueError("expected base64")
            rows = [base64.b64decode(row, validate=True) for row in values]
            if len({len(row) for row in rows}) > 1:
                raise ValueError("expected rows of one length")
            return np.frombuffer(b"".join(rows), wanted).reshape(len(rows), -1 if rows else 0)
        array = np.array(values, None if values else wanted)
        if not values:
            array = array.reshape(0, self.width) if self.width else array
        if array.dtype.kind not in ("i" if wanted.kind == "i" else "if"):
            raise ValueError(f"expected {'whole ' * (wanted.kind == 'i')}numbers")
        if wanted.kind == "i" and (array.astype(wanted) != array).any():
            raise ValueError(f"expected numbers of {8 * wanted.itemsize} bits")
        return array.astype(wanted)

    def lists(self, array: NDArray[Any]) -> list[Any]:
        """Converts the array of this table to JSON lists."""
        if self.packed:
            return [base64.b64encode(row.tobytes()).decode("ascii") for row in array]
        return list(array.tolist())

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.array)

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, __: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describes the array's lists for the JSON schema."""
        number = {"type": "integer" if np.dtype(self.dtype).kind == "i" else "number"}
        if self.packed:
            return {"type": "array", "items": {"type": "string", "contentEncoding": "base64"}}
        if not self.width:
            return {"type": "array", "items": number}
        row = [{"title": name, **number} for name in self.columns.split()]
        count = {"minItems": self.width, "maxItems": self.width}
        return {"type": "array", "items": {"type": "array", "prefixItems": row, **count}}


TABLES: Final = {
    "steps": Table("<i4", "unit note why chosen operation candidates events"),
    "costs": Table("<i8", " ".join(COSTS)),
    "candidates": Table("<i4", "node label given"),
    "numbers": Table("<f8", "score threshold"),
    "events": Table("<i4", "code node other start stop text vector kind facts"),
    "weights": Table("<f8"),
    "vectors": Table("<f4", packed=True),
}
"""Tables of a document, which are the members of a container."""

_EVENT = TABLES["events"].columns.split()


class SystemPart(BaseModel):
    """System that built the memory, and its settings."""

    model_config = ConfigDict(ser_json_inf_nan="constants")

    name: str
    settings: dict[str, Any]


class Provenance(BaseModel):
    """Models and prompts that a memory was built with; empty fields without a model."""

    versions: dict[str, str] = {}
    models: dict[str, dict[str, str | int | float | list[str] | None]] = {}
    prompts: str = ""
    own_prompts: dict[str, str] = {}
    by_hand: bool = False


class Document(BaseModel):
    """A built memory: its conversation, unit rule and system, and every construction step.

    Node ids count from 0 in the order of their "add" events. Spans are half-open, in units. Events
    refer to texts and vectors by row; -1 means none.
    """

    model_config = ConfigDict(ser_json_inf_nan="constants")

    format: Literal["segviz-memory"]
    version: Literal[6]
    view: SavedView | None = None
    conversation: Conversation
    unit: str
    system: SystemPart
    embedder: str
    chat: str
    provenance: Provenance
    texts: list[str]
    steps: Annotated[NDArray[Any], TABLES["steps"]]
    costs: Annotated[NDArray[Any], TABLES["costs"]]
    candidates: Annotated[NDArray[Any], TABLES["candidates"]]
    numbers: Annotated[NDArray[Any], TABLES["numbers"]]
    events: Annotated[NDArray[Any], TABLES["events"]]
    weights: Annotated[NDArray[Any], TABLES["weights"]]
    vectors: Annotated[NDArray[Any], TABLES["vectors"]]


def schema() -> dict[str, Any]:
    """Returns the JSON Schema (draft 2020-12) of the JSON export."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:segviz:memory:{VERSION}",
        **Document.model_json_schema(),
        "title": f"segviz memory, version {VERSION}",
    }


def encode(saved: Saved) -> dict[str, Any]:
    """Returns the document of a memory, its tables as arrays; ValueError for other values."""
    # Equal vectors share a row, so the events that add or revise a node are renumbered.
    columns = columns_of(saved.steps)
    rows: dict[bytes, int] = {}
    contents = (np.ascontiguousarray(vector, "<f4").tobytes() for vector in columns.vectors)
    places = [rows.setdefault(content, len(rows)) for content in contents]
    vectors = np.array([np.frombuffer(row, "<f4") for row in rows], "<f4")
    events = columns.events.copy()
    written = events[:, 0] <= REVISE
    events[written, 6] = np.array(places, np.int32)[events[written, 6]]
    head = Document.model_construct(
        format="segviz-memory",
        version=VERSION,
        view=saved.shown,
        conversation=saved.conversation,
        unit=saved.unit,
        system=SystemPart(name=saved.system, settings=saved.settings),
        embedder=saved.embedder,
        chat=saved.chat,
        provenance=Provenance.model_validate(saved.provenance),
        texts=list(columns.texts),
    )
    left_out = set(TABLES) | (set() if saved.shown else {"view"})
    tables = {name: getattr(columns, name) for name in TABLES}
    tables |= {"events": events, "vectors": vectors.reshape(len(rows), -1 if rows else 0)}
    # Fields that were not set are not written, so a memory without a model has no empty ones.
    return {**head.model_dump(mode="json", exclude=left_out, exclude_unset=True), **tables}


def to_text(document: dict[str, Any]) -> bytes:
    """Converts a document to JSON in UTF-8."""
    tables = {name: table.lists(document[name]) for name, table in TABLES.items()}
    return to_json({**document, **tables}, inf_nan_mode="constants")


# --- reading -----------------------------------------------------------------------------------


def decode(content: Mapping[str, Any]) -> Saved:
    """Checks a document and returns its memory, whose events are still to be replayed.

    StoreError names place, expectation and value of the first fault. ValueError means other
    content, such as an unknown unit rule.
    """
    try:
        document = Document.model_validate(content)
    except ValidationError as invalid:
        raise _refusal(invalid) from None
    # Beyond their types: questions numbered by their place, tables in range.
    conversation = document.conversation
    questions = (replace(each, index=i) for i, each in enumerate(conversation.questions))
    conversation = replace(conversation, questions=tuple(questions))
    _check(document, len(conversation.units(document.unit)))
    # Steps are created from the tables on access.
    tables = {name: getattr(document, name) for name in TABLES}
    steps = History(
        Columns(**tables, texts=tuple(document.texts)), partial(conversation.units, document.unit)
    )
    return Saved(
        conversation=conversation,
        unit=document.unit,
        system=document.system.name,
        settings=document.system.settings,
        embedder=document.embedder,
        chat=document.chat,
        provenance=document.provenance.model_dump(exclude_unset=True),
        steps=steps,
        shown=document.view,
    )


def _refusal(invalid: ValidationError) -> StoreError:
    """Returns the error to raise for the first fault of a document."""
    first = invalid.errors(include_url=False)[0]
    place, value = ".".join(map(str, first["loc"])), first["input"]
    if first["type"] == "missing":
        return StoreError(f"{place} is missing")
    if isinstance(value, dict | list | np.ndarray):
        value = f"{type(value).__name__} of {len(value)}"
    return StoreError(f"{place or 'the file'}: {first['msg']}, found {value!r:.80}")


def _check(d: Document, units: int) -> None:
    """Raises StoreError if a number of the history is out of range."""
    # Tables that belong together are equally long.
    steps, events, texts, vectors = d.steps, d.events, len(d.texts), len(d.vectors)
    if len(d.costs) != len(steps) or len(d.numbers) != len(d.candidates):
        raise StoreError("costs and numbers: expected as many rows as steps and candidates have")
    if d.vectors.shape[1] < 1 <= vectors or not np.isfinite(d.vectors).all():
        raise StoreError("vectors: expected rows of finite numbers")
    # Steps name units, texts, and where their candidates and events end.
    _within("steps.unit", steps[:, 0], 0, units)
    for name, column, least in (("note", 1, 0), ("why", 2, -1), ("operation", 4, 0)):
        _within(f"steps.{name}", steps[:, column], least, texts)
    for name, column, end in (("candidates", 5, len(d.candidates)), ("events", 6, len(events))):
        ends = steps[:, column]
        if (np.diff(ends, prepend=0) < 0).any() or ends[-1:].sum() != end:
            raise StoreError(f"steps.{name}: expected numbers that rise to {end}")
    _within("costs", d.costs, 0, _EXACT)
    # Decisions name nodes that exist after their step.
    known = np.searchsorted(np.flatnonzero(events[:, 0] == ADD), steps[:, 6])  # after each step
    _within("steps.chosen", steps[:, 3], -1, known)
    judged_of = np.repeat(known, np.diff(steps[:, 5], prepend=0))
    _within("candidates.node", d.candidates[:, 0], 0, judged_of)
    _within("candidates.label", d.candidates[:, 1], 0, texts)
    _within("candidates.given", d.candidates[:, 2], 0, 4)
    # Each kind of event uses some of the columns; the others are -1.
    _within("events.code", events[:, 0], 0, RELATE + 1)
    node, none, text, facts = (0, _INT32), (-1, 0), (0, texts), (-1, texts)
    shown = (0, units + 1), (0, units + 1), text, (0, vectors)  # start, stop, text, vector
    allowed = {
        ADD: (node, (0, _INT32), *shown, text, facts),
        REVISE: (node, (-1, _INT32), *shown, none, facts),
        LINK: (node, node, *[none] * 6),
        UNLINK: (node, node, *[none] * 6),
        RETIRE: (node, *[none] * 7),
        RELATE: (node, node, (0, len(d.weights)), none, text, none, none, facts),
    }
    for code, ranges in allowed.items():
        rows = events[events[:, 0] == code, 1:].T
        for name, column, (least, end) in zip(_EVENT[1:], rows, ranges, strict=True):
            _within(f"events.{name}", column, least, end)
    # Facts are JSON objects with plain values.
    for row in np.unique(events[events[:, 8] >= 0, 8]).tolist():
        try:
            _FACTS.validate_json(d.texts[row])
        except ValidationError as invalid:
            raise StoreError(f"events.facts: {_refusal(invalid)}") from None


_FACTS: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, str | bool | int | float | None])


def _within(place: str, values: NDArray[Any], least: int, end: Any) -> None:
    """Raises StoreError unless values are from ``least`` to below ``end``, one or one each."""
    wrong = (values < least) | (values >= end)
    if wrong.any():
        value, most = int(values[wrong].flat[0]), int(np.max(end)) - 1
        raise StoreError(f"{place}: expected whole numbers from {least} to {most}, found {value}")
