"""Makes a memory of a tree that another program built, or of texts that a memory stored."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from segviz import files
from segviz.conversation import UNIT_RULES, Conversation, StoredText, Unit, seconds
from segviz.embedding import Embedder, as_embedder, unit_rows
from segviz.loaders import GAP_HOURS, LoadError, table_rows
from segviz.loaders.audit import is_named
from segviz.loaders.chat import Message, in_sessions, session_of, speakers_of
from segviz.loaders.stored import field_of, has_event_time, parsed_cell, read_stored
from segviz.memory.memory import Memory
from segviz.retrieval.attribution import UNSURE, attribute, verbatim
from segviz.text.captions import counted, printable
from segviz.text.dates import read_time
from segviz.tree import (
    GHOST,
    SOURCE_TURNS,
    UNSURE_TURNS,
    Add,
    Cost,
    Decision,
    Event,
    Judgement,
    Link,
    Revise,
    Scalar,
    Span,
    Step,
    Vector,
)

_KNOWN = {
    *("id", "parent", "text", "level", "start", "stop", "vector", "kind", "speaker", "time"),
    *("turns", "decision"),
}
_TREE = {"parent", "level", "start", "vector"}  # columns that dumps of stores do not have
AGAINST_TIME = "words against time"
"""Fact of a stored text whose words are of a turn that was said after the text was written."""
LEFT_OUT = "Left out: "
"""Beginning of the note of a first step that says which texts of a store are left out."""
# At the end of the id of a text or session, read backwards, which takes no longer than the id.
_NUMBER = re.compile(r"^\d++[\W_]*+(?:noisses[\W_]*+)?")
_DIGITS = re.compile(r"\d+")
_GROUP, _TRIED, _NAMED = 5, 50, 3  # texts of a name that are judged, at least and most; names said
_OWN, _FOREIGN = 0.4, 0.7  # share of texts without a source, at most and at least
_MOST = 5_000_000  # nodes
_DEEPEST = 10_000  # levels


@dataclass
class _Node:
    """Row of the table as a node; ``children`` are the rows of its child nodes."""

    id: str
    text: str
    row: Mapping[str, Any]
    children: list[int] = field(default_factory=list)
    level: int = 0
    span: Span = (0, 0)
    confidence: float | None = None
    of_event: bool = False


def memory_from(
    nodes: Any,
    edges: Iterable[tuple[Any, Any]] = (),
    conversation: Conversation | None = None,
    *,
    unit: str = "turn",
    name: str = "imported",
    embedder: str | Embedder = "auto",
) -> Memory:
    """Makes a memory of a finished tree, or of any acyclic graph with edges from parent to child.

    A row has these columns:

    ``id``      a text or number, unique
    ``text``    text of the node
    ``parent``  id of the parent, or a list of ids; missing, empty or null for a root
    ``level``   0 for leaves, above the levels of all children (default: one more than the highest)
    ``start``, ``stop``  of leaves: half-open range of their units, counted from 0
    ``vector``  embedding made by ``embedder``, in all rows or none; scaled to length 1
    ``turns``   ids of the turns the text was written from, one or a list
    ``kind``, ``speaker``  kind of node; speaker of a leaf
    ``time``, ``ended``  when a text was said or stored, when it stopped being true; also under
                         names such as ``created_at``, ``valid_at``, ``invalid_at``
    ``newer``  id of the text that replaced it; also ``superseded_by``, ``replaced_by``
    ``decision``  of leaves: ``candidates``, ``chosen`` and ``why`` of a ``segviz.tree.Decision`` on
                  ids of the table, as ``dataclasses.asdict`` gives them

    A text that was stored while the conversation went on is added then, else with the last of its
    units. In text tables lists are JSON: ``[1, 2]``. Further columns become facts of the node.

    Without a conversation, the leaves become its turns, in the order of ``start`` or else of the
    table. With a conversation, a leaf with ``start``, or with the text of a unit, stands for units.
    Every other leaf, and every leaf with ``turns``, is a text written from one or more turns. If it
    names no ``turns``, they are attributed (``segviz.retrieval.attribution``) within its
    ``session``, guided by its ``time``, and its facts get a ``confidence``. A text that no turn
    explains has no source, and an unsure source gets no credit. A unit without a leaf becomes a
    ghost: a leaf below the texts written from it, which is drawn but never retrieved. So a memory
    gets credit only for what it stores. Texts that a store keeps for another conversation or user
    are left out, which the note of the first step says.

    A node is added in the step that completes its subtree. If a leaf has a ``decision``, which may
    choose an open node, every node is added with its first unit and grows instead; it has no text,
    and is not retrieved, until its subtree is complete.

    Args:
        nodes: path of a table (CSV, TSV, JSON, JSON Lines or Parquet), a DataFrame, a directed
            networkx graph with edges from parent to child, ``StoredText`` objects, or mappings.
            With a conversation also the dump of a store (``segviz.loaders.stored``).
        edges: further (parent id, child id) pairs.
        conversation: the conversation that the texts were written from.
        unit: the rule that divides the conversation into units.
        name: name of the system.
        embedder: embeds texts and questions.

    Returns:
        A memory like any other; its structures satisfy the general invariants.

    Raises:
        ValueError: A row is invalid; the message names it.
    """
    drawn = [edge[:2] for edge in nodes.edges] if _is_graph(nodes) else []
    model, note = as_embedder(embedder), ""
    if conversation is None:
        table = table_of(nodes)
    else:
        table, note = _stored_rows(nodes, conversation, model)
    if not table and conversation is None:
        raise ValueError("there are no nodes; expected a row for each, with id and text")
    linked = _linked(table, [*drawn, *edges])
    leaves = [place for place, node in enumerate(linked) if not node.children]
    rows = len(linked)
    if conversation is None:
        _raise_levels(linked)
        leaves, conversation = _as_conversation(linked, leaves, name)
        unit = "turn"
    else:
        units = conversation.units(unit)
        raw = _place(linked, leaves, units, conversation)
        _check_rule(linked, raw, conversation, unit)
        leaves = _hang(linked, leaves, raw, conversation, units, model)
        _raise_levels(linked)
    vectors = np.pad(_vectors(linked[:rows], model), ((0, len(linked) - rows), (0, 0)))
    steps = _steps(linked, leaves, conversation.units(unit), vectors)
    if note and steps:
        steps = (replace(steps[0], note=note), *steps[1:])
    return Memory(conversation, unit, name, (), {}, model, steps)


def locomo_facts(conversation: Conversation, *, embedder: str | Embedder = "auto") -> Memory:
    """Makes a memory of the facts that LoCoMo derived from a conversation, with their turns.

    Args:
        conversation: read from a LoCoMo file with ``observation``.
        embedder: as in ``segviz.build``.

    Raises:
        ValueError: The conversation has no facts.
    """
    facts = conversation.observations
    if not facts:
        raise ValueError(
            f"{conversation.id!r:.60} brings no facts; expected LoCoMo's 'observation', which its "
            "published file has and the samples of segviz have not"
        )
    return memory_from(facts, conversation=conversation, name="locomo-facts", embedder=embedder)


def table_of(nodes: Any) -> Sequence[Mapping[str, Any]]:
    """Returns the rows of a table given as a path, DataFrame, networkx graph, texts or mappings."""
    if isinstance(nodes, str | Path):
        return table_rows(files.read(nodes), Path(nodes).name)
    if hasattr(nodes, "to_dict") and hasattr(nodes, "columns"):
        rows: list[Mapping[str, Any]] = nodes.to_dict("records")
        return rows
    if _is_graph(nodes):
        return [{**data, "id": node} for node, data in nodes.nodes(data=True)]
    return [_row(each) if isinstance(each, StoredText) else each for each in nodes]


def _stored_rows(
    nodes: Any, conversation: Conversation, embedder: Embedder
) -> tuple[Sequence[Mapping[str, Any]], str]:
    """Returns the rows of a table, and a sentence on texts that are left out, "" for none.

    A file without a column of ``_TREE`` is a store's dump.
    """
    if isinstance(nodes, str | Path):
        with suppress(LoadError):  # not a table, but perhaps lists of texts by user or session
            rows = table_of(nodes)
            if any(_TREE & row.keys() for row in rows):
                return rows, ""
        nodes = read_stored(nodes)
    if not isinstance(nodes, list | tuple) or not all(isinstance(n, StoredText) for n in nodes):
        return table_of(nodes), ""
    turns = {turn.id for turn in conversation.turns}
    mine, others = _of_conversation(nodes, conversation, embedder)
    listed = ", ".join(
        f"{counted(number, 'text')} of {name!r:.60}" for name, number in others.most_common(_NAMED)
    )
    note = f"{LEFT_OUT}{listed}, not of this conversation." if others else ""
    return [_row(each.among(turns)) for each in mine], note


def _of_conversation(
    stored: Sequence[StoredText], conversation: Conversation, embedder: Embedder
) -> tuple[Sequence[StoredText], Counter[str]]:
    """Divides the texts of a store into those of a conversation and, counted by name, others.

    The owner of a text, or the beginning of its session or id, may be the name of a conversation or
    of a user. One like the conversation's own ("conv-30" beside "conv-26") is another's. So is one
    of whose texts most have no source, if another has sources or the conversation's name is there.
    """

    def lacking(texts: list[StoredText]) -> float:
        """Returns the share of texts without a source, over some of them."""
        some = texts[:: -(-len(texts) // _TRIED)]
        bare = [replace(each, sources=(), session="", time=None) for each in some]
        made = attribute(bare, conversation, embedder)
        return sum(not each.sources for each in made) / len(made)

    for column in ("owner", "session", "id"):
        by_name: dict[str, list[StoredText]] = {}
        for each in stored:
            whole = getattr(each, column)
            name = whole if column == "owner" else _NUMBER.sub("", whole[::-1])[::-1]
            by_name.setdefault(name, []).append(each)
        own = {name for name in by_name if is_named(conversation.id, name)}
        forms = {_DIGITS.sub("#", name) for name in own}
        others = {name for name in by_name if name not in own and _DIGITS.sub("#", name) in forms}
        # Names that do not show it are judged by their texts.
        large = [name for name in by_name if name and len(by_name[name]) >= _GROUP]
        if own or (column == "owner" and len(large) > 1):
            shares = {name: lacking(by_name[name]) for name in large if name not in own | others}
            if own or min(shares.values()) <= _OWN:
                others |= {name for name, share in shares.items() if share >= _FOREIGN}
        if others:
            counts = Counter({name: len(by_name[name]) for name in others})
            gone = {id(each) for name in others for each in by_name[name]}
            return [each for each in stored if id(each) not in gone], counts
    return stored, Counter()


def _row(stored: StoredText) -> dict[str, Any]:
    """Returns a stored text as a row of the table, with its confidence if that is below 1."""
    row: dict[str, Any] = {"id": stored.id, "text": stored.text, "turns": list(stored.sources)}
    row |= {"session": stored.session, "newer": stored.newer}
    row |= {"confidence": stored.confidence} if stored.confidence < 1 else {}
    times = {"event_date" if stored.of_event else "time": stored.time, "ended": stored.ended}
    return row | {name: when.isoformat() for name, when in times.items() if when is not None}


def _is_graph(nodes: Any) -> bool:
    return hasattr(nodes, "nodes") and hasattr(nodes, "edges")


def _linked(rows: Sequence[Any], edges: Iterable[tuple[Any, Any]]) -> list[_Node]:
    """Returns the rows as nodes with their children; ValueError for an unusable row or edge."""
    if len(rows) > _MOST:
        raise ValueError(f"{len(rows):,} nodes; at most {_MOST:,} can be taken")
    nodes = [_node(number, row) for number, row in enumerate(rows)]
    place: dict[str | None, int] = {}
    for number, node in enumerate(nodes):
        if place.setdefault(node.id, number) != number:
            raise ValueError(
                f"row {number}: the id {node.id!r:.60} is that of row {place[node.id]} too"
            )
    pairs = [(parent, node.id) for node in nodes for parent in _ids(node.row.get("parent"))]
    pairs += [(id_of(parent) or "", id_of(child) or "") for parent, child in edges]
    for parent, child in dict.fromkeys(pairs):
        if parent not in place or child not in place:
            missing = child if parent in place else parent
            what = f"there is no node {missing!r:.60}"
            raise ValueError(f"edge {parent!r:.60} to {child!r:.60}: {what}")
        nodes[place[parent]].children.append(place[child])
    return nodes


def _node(number: int, row: Any) -> _Node:
    """Reads a row of the table; raises ValueError without an id or a text."""
    if not isinstance(row, Mapping):
        raise ValueError(f"row {number}: expected columns by name, found {type(row).__name__}")
    key, text = id_of(row.get("id")), row.get("text")
    row = {name: value for name, value in row.items() if not _missing(value)}
    if key is None:
        raise ValueError(f"row {number}: expected an id, found {row.get('id')!r:.60}")
    if not isinstance(text, str):
        raise ValueError(f"node {key!r:.60}: expected a text, found {text!r:.60}")
    usual = {name: field_of(row, name) for name in ("time", "ended", "newer") if name not in row}
    whole = {**row, **{name: value for name, value in usual.items() if value}}
    if newer := _ids(whole.pop("newer", None)):
        whole["newer"] = newer[-1]
    if _date(whole.get("ended")) is None:
        whole.pop("ended", None)
    elif isinstance(whole["ended"], datetime):
        whole["ended"] = whole["ended"].isoformat()
    return _Node(key, printable(text)[0], whole, of_event="time" in usual and has_event_time(row))


def _missing(value: Any) -> bool:
    """Returns True for an empty cell of a table: None, NaN or an empty text."""
    number = isinstance(value, float | np.floating)
    return value is None or (isinstance(value, str) and not value) or (number and math.isnan(value))


def id_of(value: Any) -> str | None:
    """Returns an id as text; None for a missing one."""
    if _missing(value):
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))  # a column of whole numbers with gaps
    return str(value)


def _ids(value: Any) -> list[str]:
    value = parsed_cell(value)
    several = value if isinstance(value, list | tuple | set | np.ndarray) else [value]
    return [key for each in several if (key := id_of(each)) is not None]


def _raise_levels(nodes: list[_Node]) -> None:
    """Sets the level of every node, from the leaves up.

    Raises ValueError for a cycle, and for a level in the table that is not above the children's.
    """
    sorter = TopologicalSorter({place: node.children for place, node in enumerate(nodes)})
    try:
        order = list(sorter.static_order())
    except CycleError as error:
        circle = " → ".join(repr(nodes[place].id)[:40] for place in error.args[1][:6])
        raise ValueError(f"the nodes {circle} are below each other; expected no cycle") from None
    for place in order:
        node = nodes[place]
        least = max((nodes[child].level + 1 for child in node.children), default=0)
        given = _whole(node, "level")
        if given is not None and (given < least or (given > 0 and not node.children)):
            what = "above those below it" if node.children else "0, since nothing is below it"
            raise ValueError(f"node {node.id!r:.60}: level {given}; expected a level {what}")
        node.level = least if given is None else given
        if node.level > _DEEPEST:
            raise ValueError(f"node {node.id!r:.60}: level {node.level}; at most {_DEEPEST}")


def _whole(node: _Node, column: str) -> int | None:
    """Returns the whole number, at least 0, in a column of a node's row; None if it is empty."""
    value: Any = node.row.get(column)
    if _missing(value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (number.is_integer() and 0 <= number < 2**31):
        what = f"{column} {value!r:.40}; expected a whole number, 0 or more"
        raise ValueError(f"node {node.id!r:.60}: {what}")
    return int(number)


def _as_conversation(
    nodes: list[_Node], leaves: list[int], name: str
) -> tuple[list[int], Conversation]:
    """Returns the leaves in order, and a conversation in which each leaf is a turn."""
    starts = [_whole(nodes[leaf], "start") for leaf in leaves]
    if all(start is not None for start in starts):
        leaves = [leaf for _, leaf in sorted(zip(starts, leaves, strict=True))]
    messages = []
    for index, leaf in enumerate(leaves):
        node = nodes[leaf]
        if not node.text.strip():
            raise ValueError(f"node {node.id!r:.60}: expected the text of a leaf, found no word")
        node.span = (index, index + 1)
        speaker = str(node.row.get("speaker") or "")
        messages.append(Message(speaker, node.text, _date(node.row.get("time")), id=node.id))
    blocks = in_sessions(messages, GAP_HOURS)
    sessions = tuple(
        replace(session_of(number, block, given=True), id=f"session_{number}")
        for number, block in enumerate(blocks, start=1)
    )
    return leaves, Conversation(name, speakers_of(sessions, ()), sessions)


def _date(value: Any) -> datetime | None:
    """Returns the time in a cell; None if it has no readable one."""
    return read_time(value.isoformat() if isinstance(value, datetime) else value)


def _place(
    nodes: list[_Node], leaves: list[int], units: Sequence[Unit], conversation: Conversation
) -> list[int]:
    """Finds the leaves that stand for units, by ``start`` or by their text, and sets their spans.

    Returns these leaves; all others are stored texts. One with the text of turns that are no unit,
    or that another leaf stands for, names these turns as its sources.
    """
    by_turns = {unit.turn_ids: unit for unit in units}
    rows = ((leaf, nodes[leaf].row) for leaf in leaves)
    raw = [leaf for leaf, row in rows if "start" in row and not _ids(row.get("turns"))]
    for leaf in raw:
        node = nodes[leaf]
        start, stop = _whole(node, "start") or 0, _whole(node, "stop")
        node.span = (start, start + 1 if stop is None else stop)
        if not 0 <= node.span[0] < node.span[1] <= len(units):
            what = f"units {start} to {stop}; expected 0 ≤ start < stop ≤ {len(units)}"
            raise ValueError(f"node {node.id!r:.60}: {what}")
    others = sorted({*leaves} - {*raw})
    sources = verbatim([_stored(nodes[leaf]) for leaf in others], conversation)
    for leaf, turns in zip(others, sources, strict=True):
        node = nodes[leaf]
        if not turns or _ids(node.row.get("turns")):
            continue
        unit = by_turns.get(turns)
        if unit is not None and node.text.strip() == unit.text.strip():
            node.span = (unit.index, unit.index + 1)
            raw.append(leaf)
            del by_turns[turns]
        else:
            node.row = {**node.row, "turns": list(turns)}
    return raw


def _check_rule(nodes: list[_Node], raw: list[int], conversation: Conversation, unit: str) -> None:
    """Raises ValueError if no leaf has the text of its unit, but most would by another unit rule.

    ``raw`` are the leaves that stand for units (:func:`_place`).
    """

    def alike(rule: str) -> int:
        """Counts the leaves with the text of their unit by ``rule``."""
        texts = [each.text.strip() for each in conversation.units(rule)]
        spans = ((nodes[leaf].text.strip(), nodes[leaf].span[0]) for leaf in raw)
        return sum(start < len(texts) and text == texts[start] for text, start in spans)

    if alike(unit):
        return
    for rule in UNIT_RULES:
        if 2 * alike(rule) > len(raw):
            raise ValueError(
                f"no leaf has the text of its unit by the rule {unit!r}, most have that by "
                f"{rule!r}: give unit={rule!r}"
            )


def _hang(
    nodes: list[_Node],
    leaves: list[int],
    raw: list[int],
    conversation: Conversation,
    units: Sequence[Unit],
    embedder: Embedder,
) -> list[int]:
    """Adds a ghost for every unit without a leaf, below the stored texts written from the unit.

    ``raw`` are those of the ``leaves`` that stand for units. Returns these and the ghosts. Raises
    ValueError if a stored text names an unknown turn.
    """
    covered = {index for leaf in raw for index in range(*nodes[leaf].span)}
    of_unit = {nodes[leaf].span[0]: leaf for leaf in reversed(raw)}
    first_ghost = len(nodes)
    for unit in units:
        if unit.index not in covered:
            span = (unit.index, unit.index + 1)
            of_unit[unit.index] = len(nodes)
            nodes.append(_Node(unit.turn_ids[0], unit.text, {"kind": GHOST}, span=span))
    ghosts = range(first_ghost, len(nodes))
    unit_of = {turn: unit.index for unit in units for turn in unit.turn_ids}
    known = {turn.id for turn in conversation.turns}
    others = sorted(set(leaves) - set(raw))
    made = attribute([_stored(nodes[place]) for place in others], conversation, embedder)
    here = [of_unit[0]] if units else []
    for place, stored in zip(others, made, strict=True):
        node = nodes[place]
        # Level 0 in the table is level 1 above the ghosts.
        level = {} if _whole(node, "level") else {"level": None}
        # Unsure sources are named, and the text gets no credit for them.
        turns = "\n".join(stored.sources)
        sure = {SOURCE_TURNS: turns}
        if stored.confidence < UNSURE:
            sure = {SOURCE_TURNS: "", **({UNSURE_TURNS: turns} if turns else {})}
        against = {AGAINST_TIME: True} if stored.contradicted else {}
        node.row = {**node.row, **level, **sure, **against}
        if unknown := [turn for turn in stored.sources if turn not in known]:
            what = f"there is no turn {unknown[0]!r:.60} in {conversation.id!r:.60}"
            raise ValueError(f"node {node.id!r:.60}: {what}; turns are ids of turns")
        below = [of_unit[unit_of[turn]] for turn in stored.sources if turn in unit_of]
        # A text without a source is drawn below the leaf of the text before it.
        node.children += dict.fromkeys(below or here)
        here = node.children[:1]
        if stored.confidence < 1:
            node.confidence = stored.confidence
    return [*raw, *ghosts]


def _stored(node: _Node) -> StoredText:
    sources, session = tuple(_ids(node.row.get("turns"))), str(node.row.get("session") or "")
    return StoredText(
        node.id, node.text, sources, session, _date(node.row.get("time")), of_event=node.of_event
    )


def _vectors(nodes: list[_Node], embedder: Embedder) -> Vector:
    """Returns the nodes' vectors, float32 (n, d), of length 1 or 0: from the table or the texts."""
    given = [parsed_cell(node.row.get("vector")) for node in nodes]
    if all(vector is None for vector in given):
        return embedder.embed([node.text for node in nodes])
    try:
        rows = np.array(given, dtype=np.float32)
    except (TypeError, ValueError):
        rows = np.zeros(0, dtype=np.float32)
    if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():
        raise ValueError("vector: expected as many finite numbers in every row")
    width = embedder.embed(["width"]).shape[1]
    if rows.shape[1] != width:
        raise ValueError(
            f"the vectors have {rows.shape[1]} numbers, those of {embedder.name} {width}; give the "
            "embedder that made them, so that questions can be compared with them"
        )
    return unit_rows(rows)


def _steps(
    nodes: list[_Node], leaves: list[int], units: Sequence[Unit], vectors: Vector
) -> tuple[Step, ...]:
    """Returns a step per unit, which adds its leaves, then the nodes that were there by then.

    A node is there once all of its units are, and with the last unit that was said before its own
    time, if that lies within the conversation. If a leaf has a decision, a node is there with its
    first unit, and gets its text and vector when all are there.
    """
    inner = [place for place, node in enumerate(nodes) if node.children]
    inner.sort(key=lambda place: (nodes[place].level, place))
    latest = list(accumulate((seconds(unit.time) if unit.time else 0.0 for unit in units), max))
    opened = any(parsed_cell(nodes[leaf].row.get("decision")) for leaf in leaves)
    changes: dict[int, set[int]] = {}  # the units with which each node is added or changed
    for place in [*leaves, *inner]:
        node = nodes[place]
        below = [changes[child] for child in node.children]
        if below:
            node.span = _hull(nodes[child].span for child in node.children)
        time = _date(node.row.get("time")) if below else None
        stored = bisect_right(latest, seconds(time)) if time and seconds(time) <= latest[-1] else 0
        last = max(node.span[1] - 1, stored - 1, *(max(each) for each in below))
        changes[place] = {last}.union(*below) if opened else {last}
    place_of = {node.id: place for place, node in enumerate(nodes)}
    now: list[list[int]] = [[] for _ in units]
    for place, moments in changes.items():
        for moment in moments:
            now[moment].append(place)
    number: dict[int, int] = {}  # place in the table -> number in the memory, by order of adding
    linked: set[tuple[int, int]] = set()
    span = {leaf: nodes[leaf].span for leaf in leaves}
    steps = []
    for unit, places in zip(units, now, strict=True):
        events: list[Event] = []
        written = 0
        for place in places:
            node, new, whole = nodes[place], place not in number, max(changes[place]) == unit.index
            here = number.setdefault(place, len(number))
            children = [child for child in node.children if child in number]
            if children:
                span[place] = _hull(span[child] for child in children)
                written += whole
            text, vector = (node.text, vectors[place]) if whole else ("", 0 * vectors[place])
            if new:
                kind = str(node.row.get("kind") or "")
                added = Add(here, node.level, span[place], text, vector, kind, _facts(node))
                events.append(added)
            else:
                events.append(Revise(here, span[place], text, vector))
            pairs = [(here, number[child]) for child in children]
            events += [Link(*pair) for pair in pairs if pair not in linked]
            linked.update(pairs)
        stored = any(nodes[place].row.get("kind") != GHOST for place in places)
        note = "" if stored else "No node of the memory ends with this unit."
        judged = (_decision(nodes[place], place_of) for place in places if opened)
        decision = next(filter(None, judged), None)
        decision = decision and decision.placed(number.get)
        steps.append(Step(unit, note, decision, tuple(events), cost=Cost(annotated=written)))
    return tuple(steps)


def _hull(spans: Iterable[Span]) -> Span:
    starts, stops = zip(*spans, strict=True)
    return min(starts), max(stops)


def _decision(node: _Node, place_of: Mapping[str, int]) -> Decision | None:
    """Reads the decision in a node's row, on places in the table; None if the row has none."""
    row: Any = parsed_cell(node.row.get("decision"))
    if not row:
        return None
    try:
        candidates = [_judgement(item, place_of) for item in row["candidates"]]
        chosen = id_of(row["chosen"])
        place = None if chosen is None else place_of[chosen]
        return Decision(tuple(filter(None, candidates)), place, str(row["why"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        what = "candidates (node, score, threshold, label), chosen and why, with ids of the table"
        raise ValueError(f"node {node.id!r:.60}: decision {row!r:.80}; expected {what}") from None


def _judgement(item: Mapping[str, Any], place_of: Mapping[str, int]) -> Judgement | None:
    """Reads a candidate of a decision; None if the table has no row of this node."""
    place = place_of.get(id_of(item["node"]) or "")
    numbers = (item.get("score"), item.get("threshold"))
    score, threshold = (None if each is None else float(each) for each in numbers)
    label = str(item.get("label") or "")
    return None if place is None else Judgement(place, score, threshold, label)


def _facts(node: _Node) -> dict[str, Scalar]:
    """Returns the facts of a node: its id, confidence, and further columns with plain values."""
    facts: dict[str, Scalar] = {"id": node.id}
    if node.confidence is not None:
        facts["confidence"] = node.confidence
    for column, value in node.row.items():
        plain = value.item() if isinstance(value, np.generic) else value
        usable = isinstance(plain, str | int) or (isinstance(plain, float) and math.isfinite(plain))
        if column not in _KNOWN and usable:
            facts[str(column)[:80]] = plain
    return facts
