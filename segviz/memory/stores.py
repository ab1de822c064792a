"""Makes a system of another program's memory that can ``add`` and ``search``."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from importlib import import_module
from itertools import islice
from pathlib import Path
from traceback import extract_tb
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from segviz.construct import Arrival, Declared, Services
from segviz.conversation import UNIT_RULES, Conversation, StoredText, Turn, distinct
from segviz.embedding import Embedder
from segviz.handover import HandoverError, built_in
from segviz.loaders.document import spelled, usual_keys
from segviz.loaders.runs import RunAnswer, session_text
from segviz.loaders.stored import COLUMNS, NAMES, records_in, stored_text
from segviz.memory.builder import build
from segviz.memory.from_table import LEFT_OUT, memory_from
from segviz.memory.memory import Memory
from segviz.plugins import load_plugins
from segviz.retrieval import MemoryView, Retrieval, Stage
from segviz.systems import SYSTEMS
from segviz.text.captions import counted
from segviz.tree import Step, Structure
from segviz.tree.invariants import Invariant

_LISTED, _ALL = 10, 10_000  # texts per search, for a store without ``texts``
_DEEPEST = 3  # objects inside objects of a result
_MOST = 200_000  # texts that one call returns; an iterator may be endless

Scored = tuple[StoredText, float | None]


def provider(
    add: Callable[[Any], Any],
    search: Callable[[str, int], Any],
    *,
    name: str,
    texts: Callable[[], Any] | None = None,
) -> Any:
    """Wraps another program's memory as a system, to be built, asked, compared and audited.

    ::

        segviz.build(conversation, segviz.provider(store.add, store.search, name="mine"))

    A build calls ``add`` once for each part of the conversation. Retrieval calls ``search`` with
    the question and the number of texts. The store must be empty at first and is used for one
    conversation; :func:`system_of` makes a new store for each.

    Args:
        add: takes a ``Conversation``, ``Session`` or ``Turn``, whichever its first parameter is
            named after; a ``Turn`` for any other name. A turn has ``id``, ``speaker``, ``text`` and
            ``caption``, no date. A session has ``id``, ``start`` (datetime or None) and ``turns``.
        search: returns texts, best first: strings, pairs of text and score, or records with any of
            text, id, score, turns, session and time, under their usual names
            (``segviz.loaders.stored.NAMES``).
        name: the name of the system.
        texts: lists all stored texts, in the form of ``search``. Without it the stored texts are
            those that a search for the text of every turn returns, and one for all texts.

    Returns:
        An instance of a system. Its nodes are the stored texts, above ghosts of the units they came
        from, as in ``memory_from``. ``search`` is its own retrieval.

    Raises:
        ValueError: On building without a conversation; ``segviz.build`` passes it.
        HandoverError: On building or asking, if ``add`` or ``search`` fails or returns another
            form.
    """
    store = SimpleNamespace(add=add, search=search)
    if texts is not None:
        store.texts = texts
    return system_of(lambda: store, name)()


def system_of(make: Callable[[], Any], name: str) -> type[Any]:
    """Returns a class of systems whose memories are stores of another program.

    Args:
        make: makes an empty store, once per conversation, with ``add`` and ``search`` (or
            ``retrieve``), perhaps ``texts``, as in :func:`provider`.
        name: name of the system.
    """
    stores: dict[tuple[Turn, ...], Any] = {}
    earlier: dict[tuple[Turn, ...], Sequence[StoredText]] = {}  # before the first ``add``

    def store_of(services: Services) -> tuple[Any, Conversation]:
        """Returns the conversation's store, filled on the first call, and the conversation."""
        conversation = services.conversation
        if conversation is None:
            raise ValueError(f"{name} reads the conversation itself; build it by segviz.build")
        if conversation.turns not in stores:
            hint = "segviz makes a store without arguments; give each a default"
            store = _call(f"__init__ of {name}", make, hint)
            texts = [unit.text for unit in conversation.units("turn")]
            before = _before(name, store, texts)
            # ``add`` gets each part of the kind that its parameter is named after.
            first = next(iter(inspect.signature(store.add).parameters), "turn")
            parts: dict[str, Sequence[Any]] = {
                "conversation": [conversation],
                "session": conversation.sessions,
            }
            for part in parts.get(first, conversation.turns):
                got = f"{type(part).__name__} ({', '.join(part.__dataclass_fields__)})"
                hint = (
                    f"it got a {got}; name its parameter turn, session (with dates) or conversation"
                )
                _call(f"add of {name}", store.add, hint, part)
            stores[conversation.turns] = store
            # A store that was filled before, and not by ``add``, is one to be read only.
            if before and len(_listed(name, store, texts)) > len(before):
                earlier[conversation.turns] = before
        return stores[conversation.turns], conversation

    @dataclass(frozen=True)
    class Provided(Declared):
        """Memory of another program, filled by its ``add`` and asked by its ``search``.

        Source: the authors of that program.
        """

        label: ClassVar[str] = name
        online: ClassVar[bool] = False
        invariants: ClassVar[tuple[Invariant, ...]] = ()
        fidelity: ClassVar[str] = "faithful"
        departures: ClassVar[tuple[str, ...]] = ()
        relevance: ClassVar[None] = None  # its search uses no relevance of segviz

        def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
            """Fills the store and lists its texts; yields steps that add a text after its turns."""
            store, conversation = store_of(services)
            listed = _listed(name, store, [unit.text for unit in conversation.units("turn")])
            listed, note = _without(earlier.get(conversation.turns, ()), listed)
            ids = distinct([each.id or each.text for each in listed])
            stored = [replace(each, id=made) for each, made in zip(listed, ids, strict=True)]
            cut = [arrival.unit for arrival in arrivals]
            # A system is not told the rule of its units, so it is found by the units: those of
            # the conversation or, in a rehearsal, the first of them.
            same = [r for r in UNIT_RULES if [*conversation.units(r)[: len(cut)]] == cut]
            rule = min(same, key=lambda rule: len(conversation.units(rule)))
            memory = memory_from(
                stored, conversation=conversation, unit=rule, embedder=services.embedder
            )
            for place, step in enumerate(memory.steps[: len(cut)]):
                yield replace(step, note=note) if note and not place else step

        def retrieve(self, question: str, view: MemoryView) -> Retrieval:
            """Ranks the nodes whose texts ``search`` returns; other results are only counted."""
            store, _ = store_of(view.services)
            structure = view.structure
            given = _rows(name, store, _search(store), question, view.k)
            best = _nodes_of(given, structure)
            ranked = list(best.values())
            if ranked != sorted(ranked, reverse=True) or min(ranked, default=1) < 0:
                # Not similarities, perhaps distances: only the order counts.
                ranked = [1 / place for place in range(1, len(best) + 1)]
            scores = np.zeros(len(structure))
            scores[list(best)] = ranked
            note = f"{len(given)} texts come back, {len(given) - len(best)} of them not listed."
            stage = Stage("search", note, tuple(best), tuple(scores[list(best)]), tuple(best))
            return Retrieval(scores, tuple(best), (stage,))

    kind: Any = Provided
    kind.name = name
    kind.make_store = staticmethod(make)  # for a system with other stores, and for their source
    return Provided


def run_memory(
    conversation: Conversation,
    answers: Mapping[int, RunAnswer],
    stored: Sequence[StoredText] = (),
    *,
    name: str,
    embedder: str | Embedder = "auto",
) -> Memory:
    """Makes a memory of single turns whose own retrieval is that of a run.

    Args:
        conversation: the conversation; only questions of the run are kept.
        answers: what the run did with its questions, by index (``segviz.loaders.runs``).
        stored: the texts that the run's memory stored. Without them, a run of turns counts as a
            memory of all turns, and one of sessions as a memory of all sessions.
        name: name of the system.
        embedder: as in ``segviz.build``.

    Raises:
        ValueError: The run retrieved nothing that is a turn, a session, a text or a stored one.
    """
    # A question whose texts are unknown has no stage, so its evidence is left out.
    asked = [one for one in conversation.questions if one.index in answers]
    given = {one.index: answers[one.index].retrieved for one in asked}
    kept = [one if given[one.index] is not None else replace(one, evidence=()) for one in asked]
    # Of two questions with one text, one may have no known texts.
    returned = {one.text: texts for one in asked if (texts := given[one.index]) is not None}
    every = [each for texts in returned.values() for each in texts]
    ids = {each.id for each in every}
    # All that could have been retrieved: what is stored, else all turns, sessions or both.
    turns = [StoredText(each.id, each.spoken, (each.id,)) for each in conversation.turns]
    sessions = [session_text(each) for each in conversation.sessions]
    of_sessions = any(each.id in ids for each in sessions)
    of_turns = not of_sessions or any(each.id in ids for each in turns)
    there = list(stored) or [*turns * of_turns, *sessions * of_sessions]
    known = {name for each in there for name in (each.id, each.text)}
    named = [each for each in every if each.id == each.text]  # ids without a text
    if named and not any(each.id in known for each in every):
        raise ValueError(
            f"the run retrieved {named[0].id!r:.60}, which is no turn or session of "
            f"{conversation.id!r:.60} and no stored text; expected ids such as "
            f"{conversation.turns[0].id!r} and {conversation.sessions[0].id!r}, or texts"
        )
    for each in every:
        if each.id not in known and each.text not in known:
            there.append(each)
            known |= {each.id, each.text} - {""}

    def add(conversation: Conversation) -> None:
        """Stores nothing: the texts are known."""

    def search(question: str, k: int) -> list[StoredText]:
        return [*returned.get(question, ())][:k]

    system = provider(add, search, name=name, texts=lambda: there)
    whole = replace(conversation, questions=tuple(kept))
    return build(whole, system, "turn", embedder=embedder)


def _nodes_of(given: Sequence[Scored], structure: Structure) -> dict[int, float]:
    """Maps the node of each text that a search returned to its score, in their order.

    A text without a score gets 1/rank. Several nodes with one text are matched in order.
    """
    nodes = np.flatnonzero(structure.retrievable).tolist()
    by_id = {structure.facts[node].get("id"): node for node in nodes}
    by_text: dict[str, list[int]] = {}
    for node in nodes:
        by_text.setdefault(structure.text[node], []).append(node)
    best: dict[int, float] = {}
    for place, (each, score) in enumerate(given, start=1):
        known = by_id.get(each.id) if each.id else None
        alike: Sequence[int] = by_text.get(each.text, ())
        if known is not None and (known in alike or not alike):
            alike = (known,)
        if (free := next((one for one in alike if one not in best), None)) is not None:
            best[free] = 1 / place if score is None else score
    return best


def _call(what: str, method: Callable[..., Any], hint: str, *given: Any) -> Any:
    """Calls a method of a store; ``what`` names both.

    Raises:
        HandoverError: the method fails or is async. The message names the line of its author and
            ends with ``hint``, which says how the method is called.
    """
    try:
        result = method(*given)
        result = list(islice(result, _MOST + 1)) if isinstance(result, Iterator) else result
    except (Exception, SystemExit) as error:
        if built_in(error):
            raise
        # The last line in the folder of the first is the author's; later ones are of libraries.
        frames = extract_tb(error.__traceback__)[1:]
        folders = [Path(frame.filename).parent for frame in frames]
        own = [f for f, folder in zip(frames, folders, strict=True) if folder == folders[0]]
        where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
        fault = f"{type(error).__name__}: {str(error)[:200]}{where}"
        raise HandoverError(f"{what} failed: {fault}; {hint}") from error
    if inspect.iscoroutine(result):
        result.close()
        raise HandoverError(f"{what} is async; expected a function that returns its result")
    return result


def _search(store: Any) -> str:
    """Returns the name of a store's search: ``search``, else ``retrieve``; "" without both."""
    return next((name for name in ("search", "retrieve") if getattr(store, name, None)), "")


def _rows(name: str, store: Any, method: str, *given: Any) -> list[Scored]:
    """Returns the texts that a method of a store returns: its search, or ``texts``."""
    what, hint = f"{method} of {name}", f"segviz calls {method}({'question, k' * bool(given)})"
    return _scored(what, _call(what, getattr(store, method), hint, *given))


def _listed(name: str, store: Any, turns: Sequence[str]) -> list[StoredText]:
    """Returns a store's texts, each once: from ``texts``, or by a search for every turn's text.

    The first turn is searched for again, for all texts. A store may refuse that, or return fewer.
    """
    if hasattr(store, "texts"):
        rows = _rows(name, store, "texts")
        once = {(each.id or place, each.text): each for place, (each, _) in enumerate(rows)}
    else:
        search = _search(store)
        rows = [row for text in turns for row in _rows(name, store, search, text, _LISTED)]
        with suppress(HandoverError):
            rows += _rows(name, store, search, turns[0], _ALL) if turns else ()
        once = {(each.id, each.text): each for each, _ in rows}
    return list(once.values())


def _before(name: str, store: Any, turns: Sequence[str]) -> list[StoredText]:
    """Returns the texts of a store before the first ``add``; until then its methods may fail."""
    with suppress(HandoverError):
        if hasattr(store, "texts") or (turns and _rows(name, store, _search(store), turns[0], 1)):
            return _listed(name, store, turns)
    return []


def _without(
    earlier: Sequence[StoredText], listed: Sequence[StoredText]
) -> tuple[list[StoredText], str]:
    """Returns the listed texts but for earlier ones, and a sentence that says so, "" for none."""
    before = Counter(each.text for each in earlier)
    kept = []
    for each in listed:
        before[each.text] -= 1
        if before[each.text] < 0:
            kept.append(each)
    what = f"{LEFT_OUT}the store had {counted(len(earlier), 'text')} before the first was added; "
    return kept, f"{what}give each conversation an empty one." * bool(earlier)


_FORMS = (
    "expected a list of texts, pairs (text, score), or records with a text under a usual key "
    f"({', '.join(NAMES['text'][:4])} …)"
)


def _is_empty(row: Any) -> bool:
    """Returns True for a text or record of a result that has an empty text, or empty lists only."""
    if not isinstance(row, dict):
        return isinstance(row, str)
    parts = {str(key): value for key, value in row.items()}
    if any(spelled(key) in COLUMNS and not any(value or ()) for key, value in parts.items()):
        return True  # columns without a row, as of an empty chroma collection
    texts = [parts[key] for key in usual_keys(tuple(parts), NAMES["text"])]
    if any(isinstance(text, str) and not text.strip() for text in texts):
        return True
    return all(isinstance(value, list) and not any(value) for value in parts.values())


def _attributes(row: Any, depth: int = 0) -> Any:
    """Returns the attributes of an object by name, of objects inside it too; plain values as is.

    A property ``text`` or ``content`` counts, as it joins the parts of a message.
    """
    plain = isinstance(row, str | int | float | list | tuple | dict | set | bytes | date)
    if row is None or plain or depth > _DEEPEST:
        return row
    slots = [each for kind in type(row).__mro__ for each in getattr(kind, "__slots__", ())]
    names = [*getattr(row, "__dict__", {}), *(each for each in slots if hasattr(row, each))]
    joined = [
        name for name in ("text", "content") if isinstance(getattr(type(row), name, None), property)
    ]
    public = [name for name in dict.fromkeys([*joined, *names]) if not name.startswith("_")]
    return {name: _attributes(getattr(row, name), depth + 1) for name in public}


def _scored(what: str, given: Any) -> list[Scored]:
    """Reads search results (strings, pairs, records or objects) as texts with scores, if any.

    Raises:
        HandoverError: the method ``what`` returned another form.
    """
    texts: list[Scored] = []
    rows = given
    if isinstance(given, Mapping):
        # A list of results, columns as of a chroma query, or one record.
        rows = given.get("results") or list(records_in(dict(given))) or [given]
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise HandoverError(f"{what} returned {rows!r:.80}; {_FORMS}")
    if isinstance(rows, list) and len(rows) > _MOST:
        raise HandoverError(f"{what} returned more than {_MOST:,} texts; a list must end")
    for row in rows:
        if isinstance(row, StoredText):
            texts.append((row, None))
            continue
        if isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], str):
            row = {"text": row[0], "score": row[1]}
        plain = row if isinstance(row, str | dict) else _attributes(row)
        records = list(records_in([plain]))
        if not records and not _is_empty(plain):
            raise HandoverError(f"{what} returned {row!r:.200} in its list; {_FORMS}")
        for record in records:
            score = record.get("score")
            usable = isinstance(score, int | float) and np.isfinite(score)
            texts.append((stored_text(record), score if usable else None))  # type: ignore[arg-type]
    return texts


def system_from(spec: str) -> str:
    """Imports ``module:Class``, adds it to ``SYSTEMS`` and returns its name there.

    The class is a system, or a store that is made without arguments and has ``add`` and either
    ``search`` or ``retrieve``.

    Raises:
        ValueError: The class cannot be imported, is neither, or its name is in use.
    """
    module, _, attribute = spec.partition(":")
    load_plugins()
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as with python -m
    try:
        kind = getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # anything may happen in a foreign module
        hint = f"; write {module[:-3]}:{attribute}" if module.endswith(".py") else ""
        raise ValueError(f"{spec!r:.80} cannot be imported ({error!r:.120}){hint}") from None
    usual = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", attribute).lower().replace("_", "-")
    name = str(getattr(kind, "name", usual))
    if not hasattr(kind, "steps"):
        if not (hasattr(kind, "add") and _search(kind)):
            expected = "add with search or retrieve, or steps as a system has"
            raise ValueError(f"{spec!r:.80} is no memory; expected {expected}")
        kind = system_of(kind, name)
        kind.spec = spec
    there = SYSTEMS.get(name)
    if there is not None and getattr(there, "spec", there) not in (spec, kind):
        raise ValueError(f"{spec!r:.80}: the name {name!r} is taken; give the class another")
    SYSTEMS[name] = kind
    return name
