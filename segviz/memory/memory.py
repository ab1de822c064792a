"""Defines Memory: structure at any step, questions, saving and opening."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from functools import cached_property, partial
from html import escape
from itertools import accumulate, islice
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from segviz import store
from segviz.construct import PROMPT, Settles, System, as_settings, node_labels, services_for
from segviz.conversation import Conversation, Question, Unit, seconds
from segviz.embedding import Embedder, as_embedder
from segviz.files import check_room
from segviz.handover import built_in, calling, check_scores
from segviz.llm import Chat, Endpoint, Prompt, digest, fitted
from segviz.memory.changes import Changes, Superseded, superseded
from segviz.memory.factory import (
    MissingEmbedder,
    embedder_named,
    invariants_of,
    made_again,
    needs_chat,
    paid,
    sound,
)
from segviz.memory.retrieve import of_chains, retrieved
from segviz.memory.written import TextRequest, days_of, from_elsewhere, requests, rewritten
from segviz.retrieval import (
    OPENING,
    PRESETS,
    GoldEvidence,
    MemoryView,
    Result,
    Retrieval,
    RetrievalSettings,
    Retriever,
    Scorer,
    gold_evidence,
    over_active,
    relevance_model,
)
from segviz.text.dates import read_time
from segviz.tree import (
    Add,
    Invariant,
    Moments,
    Replayer,
    Revise,
    Span,
    Step,
    Structure,
    Violation,
    check,
    frontier_is_a_chain,
    replay,
    thumbnail,
    written,
)
from segviz.waiting import check_cancelled, waited_for

_SCORING = frozenset(RetrievalSettings.names("scoring"))
_PAST_KEPT = 4  # relevance models of earlier moments, because a page asks again at every click


@dataclass(frozen=True, eq=False, repr=False)
class Memory:
    """Memory: a conversation, and every step in which a system built a structure from it.

    ``unit`` is the rule that divides the conversation into leaves. ``system`` is the name of the
    system, ``settings`` its parameters as plain values. ``invariants`` hold in addition to the
    general ones. ``embedder`` made the vectors. ``chat`` names the chat model, "" for none;
    ``provenance`` says how it was called (``segviz.store``). ``built_with`` is the system itself,
    None in a memory from a file. ``structure`` follows from ``steps`` alone.
    """

    conversation: Conversation
    unit: str
    system: str
    invariants: tuple[Invariant, ...]
    settings: dict[str, Any]
    embedder: Embedder
    steps: Sequence[Step]
    chat: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)
    built_with: System | None = None

    def __repr__(self) -> str:
        """Returns system, conversation and counts."""
        nodes = self.structure.counted
        what = f"{self.system} of {self.conversation.id!r:.60}"
        return f"Memory({what}: {len(self.units)} units by {self.unit}, {nodes})"

    def _repr_html_(self) -> str:
        """Returns the counts over a small picture, for notebooks."""
        return f"<p>{escape(repr(self))}</p>{thumbnail(self.structure.collapsed)}"

    def to_networkx(self, step: int | None = None) -> Any:
        """Returns the structure after ``step`` as a graph; see ``Structure.to_networkx``."""
        return (self.structure if step is None else self.at(step)).to_networkx()

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units of the conversation, one leaf each."""
        return self.conversation.units(self.unit)

    @cached_property
    def structure(self) -> Structure:
        """The structure after the last step."""
        return replay(self.steps)

    def at(self, step: int) -> Structure:
        """Returns the structure after ``step`` steps, 0 … len(steps); raises ValueError outside."""
        if not 0 <= step <= len(self.steps):
            raise ValueError(f"step {step}: this memory has steps 0 to {len(self.steps)}")
        return self.structure if step == len(self.steps) else self._moments.at(step)

    def labels(self, structure: Structure | None = None) -> tuple[str, ...]:
        """Returns a topic label for every node of ``structure`` (default: the last).

        A label is "" if no word distinguishes its node; see ``construct.labels.node_labels``.
        """
        shown = self.structure if structure is None else structure
        labels = node_labels(shown.collapsed, self.units, self.speakers)
        return tuple(labels[node] for node in shown.chain.tolist())

    def moment(self, question: Question) -> int | None:
        """Returns the number of steps whose units lie wholly before ``question.asked_at``.

        None if the question names no turn or an unknown one. In a reordered conversation the new
        places of the units count. Takes O(log steps), after O(turns + steps) once per memory.
        """
        place = self._place.get(question.asked_at or "")
        return None if place is None else bisect_left(self._latest, place)

    def as_of(self, when: str | date) -> int:
        """Returns the number of steps whose units were said wholly before a time.

        A turn without a time counts as said with the turn before it, or at the start of its
        session. For an online system, the structure after that step is that of the shorter
        conversation. RAPTOR rebuilds its layers at the end of a session, so until then the newest
        units have no summary. A store's texts are there from the time they were written.

        Args:
            when: a date (its first instant), a datetime, or either as text: ``2023-05-01``,
                ``2023-05-01 14:30``. Without a zone it is compared with the times as written.

        Raises:
            ValueError: The text is no time, or no turn of the conversation has a time.
        """
        time = _as_time(when)
        if self.conversation.period is None:
            what = "has no times, so there is no memory as of a time"
            raise ValueError(f"{self.conversation.id!r:.60} {what}; name a step (step=)")
        return bisect_left(self._latest_times(time.tzinfo is not None), seconds(time))

    def _latest_times(self, zoned: bool) -> list[float]:
        """Returns after each step the latest time of a turn, in seconds.

        Unless ``zoned``, times count as written, whatever their zones.
        """
        if zoned not in self._times_cache:
            times = {
                turn.id: seconds(time if zoned else time.replace(tzinfo=None))
                for session in self.conversation.sessions
                for turn, time in zip(session.turns, session.times, strict=True)
                if time is not None
            }
            placed = (self.conversation.placed(step.unit, self.unit) for step in self.steps)
            latest = (max(times.get(each, -math.inf) for each in ids) for ids in placed)
            self._times_cache[zoned] = list(accumulate(latest, max))
        return self._times_cache[zoned]

    @cached_property
    def _times_cache(self) -> dict[bool, list[float]]:
        return {}

    def changes(self, a: int | str | date, b: int | str | date) -> Changes:
        """Returns what changed between two moments: nodes added, rewritten and retired.

        Args:
            a: the earlier moment: a number of steps, or a time as in :meth:`as_of`.
            b: the later moment.

        Raises:
            ValueError: A step is out of range, ``b`` is before ``a``, or a time is unusable.
        """
        (first, begin), (last, end) = map(self._moment, (a, b))
        if first > last:
            raise ValueError(f"step {last} is before step {first}; name the earlier moment first")
        return Changes(self, (first, last), (begin, end))

    @cached_property
    def ended(self) -> tuple[Superseded, ...]:
        """Texts that the store itself calls untrue from some time on, with what replaced them."""
        return superseded(self, stored=True)

    def ended_in(self, structure: Structure) -> dict[int, Superseded]:
        """Maps the nodes of a structure that the store calls untrue by then to what replaced them.

        In the last structure these are all of :attr:`ended`. A text without a time of its end ends
        when the text that replaced it is there.
        """
        if not self.ended:
            return {}
        _, now = self._moment(int(structure.stop.max(initial=0)))
        over = {}
        for each in self.ended:
            time = read_time(each.ended)
            there = max(each.node, -1 if time else each.newer_node)
            if there < len(structure) and (not time or seconds(time.replace(tzinfo=None)) <= now):
                over[each.node] = each
        return over

    def changes_from(self, other: Memory, step: int | None = None) -> Changes:
        """Returns what differs from another build of the same units to this one, at one step.

        ``added`` are nodes over units that no node of ``other`` covers exactly, ``retired`` those
        of ``other`` alone, ``rewritten`` have another text for the same units.

        Args:
            other: the other build.
            step: a number of steps; None for the last of each.

        Raises:
            ValueError: The leaves of ``other`` are not the same units, or the step is out of range.
        """
        if [unit.turn_ids for unit in self.units] != [unit.turn_ids for unit in other.units]:
            raise ValueError(
                f"a build by the rule {other.unit!r}, with {len(other.units)} units, cannot be "
                f"compared with one by {self.unit!r}, with {len(self.units)}; use the same units"
            )
        steps = [len(each.steps) if step is None else step for each in (other, self)]
        return Changes(self, (steps[0], steps[1]), (-math.inf, math.inf), other)

    def _moment(self, when: int | str | date) -> tuple[int, float]:
        """Returns the number of steps and the time in seconds of a moment, given as either.

        The time after a number of steps is that of the last unit: -∞ before the first step, ∞ at
        the end.
        """
        if not isinstance(when, int | np.integer):
            return self.as_of(when), seconds(_as_time(when).replace(tzinfo=None))
        self.at(when)  # raises outside
        if when == len(self.steps):
            return when, math.inf
        return when, self._latest_times(zoned=False)[when - 1] if when else -math.inf

    @cached_property
    def _place(self) -> dict[str, int]:
        """Maps the id of each turn to its place in the conversation."""
        return {turn.id: place for place, turn in enumerate(self.conversation.turns)}

    @cached_property
    def _latest(self) -> list[int]:
        """Place of the latest turn in the memory after each step; it never decreases."""
        placed = (self.conversation.placed(step.unit, self.unit) for step in self.steps)
        return list(accumulate((max(map(self._place.__getitem__, ids)) for ids in placed), max))

    def pending(self, step: int) -> tuple[int, ...]:
        """Returns the nodes whose text a lazy system has not updated yet after ``step`` steps."""
        if not isinstance(self.model, Settles) or step == len(self.units):
            return ()
        pending = self.model.pending(self.at(step), self.steps[:step])
        return tuple(node for node in pending if not from_elsewhere(self.at(step).facts[node]))

    def settled(self, step: int, chat: Chat | None = None) -> Structure:
        """Returns the structure after ``step`` steps, with the texts that a lazy system postponed.

        Texts that need a chat model stay out of date if ``chat`` is None.
        """
        model, before = self.model, self.at(step)
        if not (isinstance(model, Settles) and self.pending(step)):
            return before
        if chat is None and needs_chat(model, ["annotate"]):
            return before
        source, settled = self._settled_cache.get(step, (None, before))
        if source is not before:
            # The system writes the postponed texts as events, applied to a copy of the structure.
            services = services_for(model, self.embedder, chat, self.conversation)
            events = model.settle(before, self.steps[:step], services)
            fold = Replayer(before)
            for event in events:
                if not (isinstance(event, Revise) and from_elsewhere(fold.facts[event.node])):
                    fold.apply(event)
            settled = fold.freeze() if events else before
            self._settled_cache.clear()
            self._settled_cache[step] = before, settled
        return settled

    @cached_property
    def _settled_cache(self) -> dict[int, tuple[Structure, Structure]]:
        return {}

    @cached_property
    def _moments(self) -> Moments:
        return Moments(self.steps)

    def check(self, step: int | None = None) -> list[Violation]:
        """Returns the violations of the invariants after ``step`` (default: the last)."""
        return check(self.structure if step is None else self.at(step), self.invariants)

    @property
    def has_frontier(self) -> bool:
        """True if the system attaches units to a frontier of nodes (SegTreeMem §4.2)."""
        return frontier_is_a_chain in self.invariants

    @cached_property
    def model(self) -> System | None:
        """The system that built this memory, or one made again; None if a part is unknown here."""
        system = self.built_with
        if system is not None and as_settings(system) == self.settings:
            return system
        return made_again(self.system, self.settings)

    @cached_property
    def _scorers(self) -> tuple[dict[tuple[str, Structure], Scorer], ...]:
        return {}, {}  # for the final structure, for earlier ones

    def scorer(self, relevance: str, structure: Structure | None = None) -> Scorer:
        """Returns the relevance model of a name, prepared on a structure of this memory.

        Models of the final structure and its collapsed form are cached, and the last four others.

        Raises:
            ValueError: As for ``relevance_model``.
            NoRoom: The machine has too little memory for it.
        """
        check_cancelled()  # every question is scored by this, so many of them can be stopped
        whole = self.structure
        final, past = self._scorers
        shown = whole if structure is None else structure
        scorers = final if shown is whole or shown is whole.collapsed else past
        key = relevance, shown
        if key not in scorers:
            model = relevance_model(relevance)
            nodes = int(shown.active.sum())
            check_room(
                nodes * getattr(model, "room", 4 * shown.vector.shape[1]),
                f"preparing the relevance {relevance!r:.60} for {nodes:,} nodes",
                "choose 'dense', or free some",
            )
            scorers[key] = over_active(model, shown, self.embedder, self.units, self.speakers)
        scorer = scorers[key]
        while len(past) > _PAST_KEPT:
            del past[next(iter(past))]
        return scorer

    def prompt_of(self, node: int, step: int | None = None) -> Prompt | None:
        """Rebuilds the prompt that gave a node its text after ``step`` steps (default: all).

        Returns:
            The prompt, with the texts its children had then. None if no prompt was used, or if its
            hash differs from the saved one.
        """
        # The step that wrote the text, by an annotator that can rebuild its prompt.
        at = len(self.steps) if step is None else step
        hashed = self.at(at).facts[node].get(PROMPT)
        wrote = [each.step for each in written(self.steps[:at], node)]
        annotate: Any = getattr(self.model, "annotate", None)
        if not hashed or not wrote or not hasattr(annotate, "prompt"):
            return None
        # The prompt quoted the children as they were then; the hash says if that is right.
        then = self.at(wrote[-1])
        children = then.children[node]
        texts, days = [then.text[child] for child in children], days_of(self, then, children)
        # Some systems annotate texts without their days.
        prompts: list[Prompt] = [annotate.prompt(texts, days), annotate.prompt(texts)]
        prompt = next((p for p in prompts if digest({p.system: p.user}) == hashed), None)
        if prompt is None:
            return None
        # It was sent in the user's wording and cut to the model's budget.
        asked = self.provenance.get("models", {}).get("annotation", {})
        budget = asked.get("prompt_tokens", Endpoint.prompt_tokens)
        return fitted(prompt, budget, self.provenance.get("own_prompts"))[0]

    def turn_ids(self, node: int, structure: Structure | None = None) -> tuple[str, ...]:
        """Returns the ids of a node's turns (default: at the end), of a stored text its sources."""
        where = self.structure if structure is None else structure
        below = (turn for unit in where.coverage(node) for turn in self.units[unit].turn_ids)
        named = where.named_turns(node)
        return tuple(turn for turn in below if named is None or turn in named)

    def gold(
        self, turns: Sequence[str] | Question, structure: Structure | None = None
    ) -> GoldEvidence:
        """Finds gold turns, by ids or of a question, in ``structure`` (default: the last)."""
        answer = turns.answer if isinstance(turns, Question) else None
        turns = turns.evidence if isinstance(turns, Question) else turns
        known = {turn.id: turn.content for turn in self.conversation.turns}
        contents = {turn: known[turn] for turn in turns if turn in known}
        where = self.structure if structure is None else structure
        return gold_evidence(where, self.units, turns, contents, answer)

    def ask(
        self,
        question: str | Question,
        settings: RetrievalSettings | None = None,
        *,
        as_of: str | date | None = None,
        chat: Chat | None = None,
        **changes: Any,
    ) -> Result:
        """Retrieves nodes for a question; the arguments are those of :func:`ask`."""
        return ask(self, question, settings, as_of=as_of, chat=chat, **changes)

    def view(self, relevance: str = "hybrid", k: int = 10, chat: Chat | None = None) -> MemoryView:
        """Returns the finished memory as the argument of a system's ``retrieve``."""
        return MemoryView(
            self.structure,
            self.units,
            self.scorer(relevance),
            services_for(self.model, self.embedder, chat, self.conversation),
            k,
        )

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """Names of the speakers who have a turn, in the order of their first turns."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.conversation.turns))

    def with_texts(
        self,
        texts: Mapping[Span, tuple[str, str]],
        *,
        by: str = "hand",
        partly: bool = False,
    ) -> Memory:
        """Returns this memory with written texts: the same steps and structure, other texts.

        A text is put wherever an inner node covers exactly its units, also at earlier steps. A node
        that grows beyond them has the text it was built with again. Vectors of the texts are made
        anew, decisions and costs stay as they are. Without any such node the memory itself is
        returned.

        Args:
            texts: maps half-open spans of units to (title, text); the title becomes the label.
            by: author, shown with every text.
            partly: leave out spans that no inner node has.

        Raises:
            ValueError: no inner node covers a span, unless ``partly``; names these spans.
        """
        steps = rewritten(self, texts, by=by, partly=partly)
        if steps is self.steps:
            return self
        return replace(self, steps=steps, provenance={**self.provenance, "by_hand": True})

    def prompts(self, level: int | None = None) -> tuple[TextRequest, ...]:
        """Returns the requests for the texts of a level that are still extracts.

        A model elsewhere can answer them; :meth:`with_texts` takes its titles and texts by span.
        Each quotes the present texts of the node's children, so lower levels should come first.

        Args:
            level: level of the nodes, those of the same text shown as one; the default is the
                lowest level with extracts.

        Returns:
            The requests with id and messages; () if all texts of the level are written.
        """
        return requests(self, level)

    @property
    def saved(self) -> store.Saved:
        """Content of the file that :meth:`save` writes."""
        names = {item.name for item in fields(self)} - {"invariants", "built_with"}
        shared = {name: getattr(self, name) for name in names}
        return store.Saved(**shared | {"embedder": self.embedder.name})

    def save(self, path: str | Path) -> None:
        """Writes the memory into one file with checksums; see ``segviz.store``.

        A name that ends in ``.json`` or ``.json.gz`` gives the JSON export.

        Raises:
            store.StoreError: If the file could not be opened again.
            OSError: If it cannot be written, or a read-only file is there.
        """
        saved = self.saved
        from_saved(saved, self.embedder)  # raises what would be raised when it is opened
        store.write(saved, path)


def _as_time(when: str | date) -> datetime:
    """Returns a time or the first instant of a date; ValueError for a text that is neither."""
    time = read_time(when) if isinstance(when, str) else when
    if not isinstance(time, date):
        raise ValueError(f"{when!r:.60} is no time; expected one such as 2023-05-01 14:30")
    return time if isinstance(time, datetime) else datetime(time.year, time.month, time.day)


def settings_for(
    memory: Memory, settings: RetrievalSettings | None, changes: Mapping[str, Any]
) -> RetrievalSettings:
    """Returns the settings with ``changes``, which are fields of :class:`RetrievalSettings`.

    Without ``settings``, and without a change of how nodes are scored, a memory is asked as the app
    opens it: a system with its own retrieval by that (method "native"), any other by the preset
    ``OPENING``. Where scoring is changed, what is not named has the default of its field.
    """
    if settings is None and _SCORING.isdisjoint(changes):
        own = isinstance(memory.model, Retriever)
        settings = RetrievalSettings(method="native") if own else PRESETS[OPENING]
    return replace(settings or RetrievalSettings(), **changes)


def ask(
    memory: Memory,
    question: str | Question,
    settings: RetrievalSettings | None = None,
    *,
    as_of: str | date | None = None,
    chat: Chat | None = None,
    **changes: Any,
) -> Result:
    """Retrieves the evidence for a question.

    If neither ``as_of`` nor the settings name a ``step``, a question of a data set is asked of the
    memory at the moment of the question (``Memory.moment``), or else of the whole memory. An empty
    memory returns no evidence.

    Args:
        memory: the memory.
        question: a text, or a question of a data set.
        settings: how to retrieve; the default is that of :func:`settings_for`.
        as_of: a time: the memory is asked as it was before it (``Memory.as_of``).
        chat: the chat model of a system's own retrieval (offline parts replace it if None). It also
            writes the texts that a lazy system had postponed at an earlier ``step``.
        **changes: fields of the settings: ``ask(memory, "Who is Luna?", policy="both",
            alpha=0.3)``.

    Returns:
        The evidence, with the relevance and step used in its settings. Under method "native",
        ``initial`` holds the relevance, ``final`` the system's own scores divided by their sum,
        ``stages`` its trace.

    Raises:
        ValueError: A setting is out of range (its legal range is named), ``as_of`` is no time or
            comes with a step, or the question is no text, or not UTF-8.
        TypeError: A setting is unknown.

    Source: SegTreeMem Algorithm 2.
    """
    settings = settings_for(memory, settings, changes).resolved(memory.model)
    if as_of is not None:
        if settings.step is not None:
            raise ValueError(f"both as_of and step ({settings.step}) are given; choose one")
        settings = replace(settings, step=memory.as_of(as_of))
    if isinstance(question, Question):
        if settings.step is None:
            settings = replace(settings, step=memory.moment(question))
        question = question.text
    if not isinstance(question, str):
        raise ValueError(f"the question is {question!r:.80}; expected a text or a Question")
    try:
        question.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"the question {question[:80]!r} is no text: it holds bytes that are not UTF-8"
        ) from None
    whole = memory.structure if settings.step is None else memory.settled(settings.step, chat)
    structure = whole if settings.literal else whole.collapsed
    scorer = memory.scorer(settings.relevance_for(), structure)
    native = partial(native_retrieval, memory, question, settings, whole, chat)
    return retrieved(question, settings, structure, scorer, native, memory.turn_ids)


def native_retrieval(
    memory: Memory,
    question: str,
    settings: RetrievalSettings,
    whole: Structure,
    chat: Chat | None = None,
) -> Retrieval:
    """Runs the retrieval that a memory's system defines.

    Args:
        memory: the memory.
        question: the question.
        settings: settings that name the relevance. Unless ``literal``, a chain of nodes with the
            same text is one node, with the score of its best node.
        whole: the structure at ``settings.step``.
        chat: the chat model that the system may call.

    Raises:
        ValueError: The system has no retrieval of its own.
    """
    if not isinstance(memory.model, Retriever):
        raise ValueError(
            f"the system {memory.system!r} has no retrieval of its own; ask with method='propagate'"
        )
    steps = memory.steps[: settings.step]
    units = memory.units[: steps[-1].unit.index + 1 if steps else 0]
    scorer = memory.scorer(settings.relevance_for(memory.model), whole)
    services = services_for(memory.model, memory.embedder, chat, memory.conversation)
    view = MemoryView(whole, units, scorer, services, settings.k)
    retrieval = _checked(memory.model, question, view)
    return retrieval if settings.literal else of_chains(retrieval, whole.collapsed.chain)


def _checked(model: Retriever, question: str, view: MemoryView) -> Retrieval:
    """Runs a system's own retrieval; one from outside segviz can be stopped and is checked."""
    if built_in(model):
        return model.retrieve(question, view)
    with calling(model):
        retrieval = waited_for(lambda: model.retrieve(question, view))
        nodes = view.structure.active
        scores = check_scores(retrieval.scores, nodes.shape, model, least=0.0)
        ranked = tuple(map(index, islice(retrieval.ranked, len(nodes) + 1)))  # it may have no end
        active = set(np.flatnonzero(nodes).tolist())
        if len(set(ranked)) < len(ranked) or not active.issuperset(ranked):
            raise ValueError("expected in ranked active nodes, each once")
        stages = tuple(replace(stage) for stage in retrieval.stages)  # TypeError for other kinds
        if not all(0 <= n < len(nodes) for stage in stages for n in (*stage.nodes, *stage.kept)):
            raise ValueError("expected in stages nodes of this memory")
        return Retrieval(scores, ranked, stages)


def open_memory(path: str | Path, embedder: Embedder | None = None) -> Memory:
    """Opens a memory that :meth:`Memory.save` wrote.

    Args:
        path: the file.
        embedder: the one that made its vectors; offline ones are found by name. Without it the
            memory can be viewed, and asked with ``relevance="lexical"``.

    Raises:
        store.StoreError: The file is not a memory, or another embedder made it.
    """
    return from_saved(store.read(path), embedder)


def from_saved(saved: store.Saved, embedder: Embedder | None = None) -> Memory:
    """Makes a memory from verified file contents; arguments and errors as :func:`open_memory`."""
    # What the file names may not be there: its system, a setting, a part, or its embedder.
    saved = sound(saved)
    if embedder is None:
        embedder = embedder_named(saved.embedder)
    elif embedder.name != saved.embedder:
        raise store.StoreError(
            f"the memory was embedded with {saved.embedder[:80]!r}, not with "
            f"{embedder.name[:80]!r}; give that embedder, or none to look at the memory"
        )
    else:
        embedder = as_embedder(embedder)
    # Opening sends nothing, so the dimensions of a remote model are not asked for.
    if saved.steps and not isinstance(embedder, MissingEmbedder) and not paid(embedder):
        expected = embedder.embed([""]).shape[1]
        added = (event for step in saved.steps for event in step.events if isinstance(event, Add))
        if (width := next((len(event.vector) for event in added), expected)) != expected:
            raise store.StoreError(
                f"the memory file is damaged: its vectors have {width} dimensions, those of "
                f"{embedder.name} have {expected}"
            )
    return Memory(
        conversation=saved.conversation,
        unit=saved.unit,
        system=saved.system,
        invariants=invariants_of(saved),
        settings=saved.settings,
        embedder=embedder,
        steps=saved.steps,
        chat=saved.chat,
        provenance=saved.provenance,
    )
