"""Converts documents of versions 1 to 5 to the current version; read for one release only."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from segviz.store.document import TABLES, VERSION
from segviz.store.saved import StoreError

UNSIGNED: Final = (1, 2, 3)
"""Versions whose containers end without a checksum."""

VERSIONS: Final = (*UNSIGNED, 4, 5)

Row = Callable[[str], int]


def upgraded(found: dict[str, Any]) -> dict[str, Any]:
    """Converts an older document to the current version, unchecked; StoreError if malformed."""
    made: dict[str, Any] = {"provenance": found.get("provenance", {})}
    try:
        if found["version"] in UNSIGNED:
            made |= _of_columns(found) if "text_end" in found else _of_events(found)
            questions = found["conversation"]["questions"]
            made["conversation"]["questions"] = [
                {"index": index, **question} for index, question in enumerate(questions)
            ]
        made["costs"] = _costs({**found, **made}["costs"])
    except (TypeError, KeyError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise StoreError(f"no memory of version {found['version']} ({what})") from None
    return {**found, "version": VERSION, **made}


def _costs(rows: Any) -> Any:
    """Returns the table of costs without embeddings, with zeros in columns that versions lack."""
    width = TABLES["costs"].width
    if isinstance(rows, np.ndarray):
        rows = np.delete(rows, _EMBEDDINGS, axis=1)
        return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))
    fewer = [[*row[: _EMBEDDINGS.start], *row[_EMBEDDINGS.stop :]] for row in rows]
    return [[*row, *[0] * (width - len(row))] for row in fewer]


_EMBEDDINGS = slice(6, 8)
"""Columns of the table of costs that versions before 6 had for embeddings."""


def _turn(parts: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(("id", "speaker", "text", "caption"), parts, strict=True))


def _of_columns(found: dict[str, Any]) -> dict[str, Any]:
    """Returns the texts and turns of a container of version 3, which stored them as columns."""
    whole = found["text"].tobytes()
    texts = [whole[start:stop].decode() for start, stop in pairwise([0, *found["text_end"]])]
    turns = [
        _turn([None if row < 0 else texts[row] for row in rows]) for rows in found["turns"].tolist()
    ]
    ends = pairwise([0, *found["session_end"].tolist()])
    conversation = found["conversation"]
    sessions = [
        {**session, "turns": turns[start:stop]}
        for session, (start, stop) in zip(conversation["sessions"], ends, strict=True)
    ]
    return {"texts": texts, "conversation": {**conversation, "sessions": sessions}}


def _of_events(found: dict[str, Any]) -> dict[str, Any]:
    """Returns the tables and turns of a JSON document whose steps contain their events."""
    conversation = found["conversation"]
    sessions = [
        {**session, "turns": [_turn(turn) for turn in session["turns"]]}
        for session in conversation["sessions"]
    ]
    rows: dict[str, int] = {}

    def row(text: str) -> int:
        return rows.setdefault(text, len(rows))

    tables: dict[str, list[Any]] = defaultdict(list)
    for step in found["steps"]:
        for event in step["events"]:
            tables["events"].append(_event(event, row, tables["weights"]))
        why = chosen = -1
        if decision := step["decision"]:
            why = row(decision["why"])
            chosen = -1 if decision["chosen"] is None else decision["chosen"]
            for node, score, threshold, label in decision["candidates"]:
                given = (score is not None) + 2 * (threshold is not None)
                tables["candidates"].append([node, row(label), given])
                tables["numbers"].append([score or 0, threshold or 0])
        tables["costs"].append(step["cost"][:8])
        head = [step["unit"], row(step["note"]), why, chosen, row(step.get("operation", ""))]
        tables["steps"].append([*head, len(tables["candidates"]), len(tables["events"])])
    vectors = found["vectors"]
    blob = np.frombuffer(base64.b64decode(vectors["data"], validate=True), "<f4")
    return {
        "conversation": {**conversation, "sessions": sessions},
        "texts": list(rows),
        **{name: tables[name] for name in TABLES},
        "vectors": blob.reshape(vectors["count"], vectors["dimension"]),
    }


def _event(event: list[Any], row: Row, weights: list[Any]) -> list[Any]:
    """Converts an event of an older JSON document to a row of the table ``events``.

    ``row`` stores a text and returns its row among the texts; a "relate" adds to ``weights``. An
    "add" may end in kind and facts, a "revise" in level and facts, a "relate" in facts.
    """

    def facts(given: dict[str, Any] | None) -> int:
        return -1 if given is None else row(json.dumps(given))

    match event:
        case ["add", node, level, start, stop, text, vector, *more]:
            kind, known = more or ("", None)
            return [0, node, level, start, stop, row(text), vector, row(kind), facts(known or None)]
        case ["revise", node, start, stop, text, vector, *more]:
            level, known = more or (None, None)
            level = -1 if level is None else level
            return [1, node, level, start, stop, row(text), vector, -1, facts(known)]
        case ["link", parent, child]:
            return [2, parent, child, *[-1] * 6]
        case ["unlink", parent, child]:
            return [3, parent, child, *[-1] * 6]
        case ["retire", node]:
            return [4, node, *[-1] * 7]
        case ["relate", source, target, label, weight, *more]:
            weights.append(weight)
            known = more[0] if more else None
            return [
                *(5, source, target, len(weights) - 1, -1),
                *(row(label), -1, -1, facts(known or None)),
            ]
    raise ValueError(f"unknown event {event!r:.80}")
