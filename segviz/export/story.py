"""A story of a memory: the views it stops at, and a tour found by measuring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from segviz.conversation import Question
from segviz.evaluation.evaluation import rescue
from segviz.export.html import pages
from segviz.export.view import View, view_of
from segviz.memory import Memory
from segviz.retrieval import Result, RetrievalSettings, ranks
from segviz.retrieval.gold import HIT
from segviz.systems import level_name, level_names
from segviz.tree import Step
from segviz.view.bookmark import Bookmark, decode, encode, looks
from segviz.view.story import Stop

_MEASURED = 40_000
"""Questions x leaves that a tour tries settings on: a second or two."""


def stop_at(page: str, words: str, bookmark: Bookmark) -> Stop:
    """A stop at a view."""
    return Stop(page, words, looks(encode(replace(bookmark, story=(), stop=0))))


def story_views(memory: Memory, stops: Sequence[Stop]) -> list[tuple[str, View]]:
    """The words and the view of every stop, of this memory. ValueError for a stop at a question
    or a node that is not there."""
    found = []
    for stop in stops:
        link, _ = decode({**stop.link, "system": memory.system})
        question, number, settings = link.text, link.question or 0, link.retrieval
        if stop.page == "grow":
            shown = RetrievalSettings(step=link.step, literal=settings.literal)
            view = view_of(memory, settings=shown, node=link.node)
        elif question is not None:
            view = view_of(memory, question, settings, node=link.node)
        else:
            view = view_of(memory, None, settings, number=number, node=link.node)
        look = replace(view.bookmark, colour=link.colour, labels=link.labels)
        found.append((stop.words, replace(view, bookmark=look)))
    return found


def story_page(view: View) -> str:
    """One HTML file of a view's story, or of a tour of its memory, with Back and Next. ValueError
    as :func:`story_views`."""
    return pages(story_views(view.memory, view.bookmark.story or tour(view.memory)))


def tour(memory: Memory) -> tuple[Stop, ...]:
    """How the memory grows, what happens where a session begins, and, where propagation along the
    tree rescues the evidence of a question, what is missed without it and found with it."""
    stops = []
    if memory.steps:
        early = max(1, len(memory.steps) // 6)
        stops.append(
            stop_at(
                "grow",
                f"{early} of {len(memory.steps)} steps: each unit of the conversation joins the "
                "memory as a leaf, where it fits best. Beside the tree stands how every candidate "
                "did.",
                Bookmark(step=early),
            )
        )
    for _, number, words in sorted(_boundaries(memory))[:1]:
        stops.append(stop_at("grow", words, Bookmark(step=number)))
    questions = memory.conversation.questions
    tried = questions[: max(1, _MEASURED // max(1, len(memory.units)))]
    found = rescue(memory, tried)
    if found is not None:
        stops += _rescued(memory, questions[found.place], found.place, found.settings)
    return tuple(stops)


def _boundaries(memory: Memory) -> list[tuple[int, int, str]]:
    """Of every step that begins a session: by how many levels lower its unit joins than the one
    before, its number, and what happens there."""
    found = []
    for number, (last, step) in enumerate(zip(memory.steps, memory.steps[1:], strict=False), 2):
        if step.unit.session == last.unit.session or step.decision is None or step.operation:
            continue
        before, now = _joined(memory, last), _joined(memory, step)
        where = f"joins at level {now}" if step.decision.chosen is not None else "begins a new root"
        words = (
            f"Session {step.unit.session + 1} begins. Unit {step.unit.index} {where}; the unit "
            f"before it joined at level {before}. {step.decision.why}"
        )
        found.append((before - now, number, words[:400]))
    return found


def _joined(memory: Memory, step: Step) -> int:
    """The level of the node a unit joined; of a new root, the highest there is."""
    structure = memory.structure
    chosen = step.decision.chosen if step.decision else None
    return int(structure.level.max(initial=0) if chosen is None else structure.level[chosen])


def _rescued(
    memory: Memory, question: Question, number: int, settings: RetrievalSettings
) -> list[Stop]:
    """Asked, missed and rescued: the same question without and with propagation."""
    plain = replace(settings, policy="none")
    before, after = memory.ask(question, plain), memory.ask(question, settings)
    gold = memory.gold(question.evidence, after.structure)
    was, now = gold.fate(before.evidence), gold.fate(after.evidence)
    turn = next(turn for turn, fate in now.items() if fate == HIT and was[turn] != HIT)
    leaf = next(leaf for leaf in gold.leaves if turn in gold.held[leaf])
    first, last = (ranks([leaf], r.final, r.structure, settings.levels)[0] for r in (before, after))
    asked = Bookmark(question=number, retrieval=plain)
    kept = sum(fate == HIT for fate in was.values())
    return [
        stop_at(
            "ask",
            f"A question. On their own scores {kept} of {len(was)} turns with the answer are among "
            f"the {len(before.after)} nodes that come back.",
            asked,
        ),
        stop_at(
            "ask",
            f"Turn {turn} is missed: by its own words it ranks {first} of "
            f"{int(before.structure.active.sum())} nodes.",
            replace(asked, node=leaf),
        ),
        stop_at(
            "ask",
            f"Now scores travel ({settings.policy}, α {settings.alpha:g}, H {settings.horizon}): "
            f"rank {first} becomes {last}, and turn {turn} is found. {_giver(memory, after, leaf)}",
            replace(asked, retrieval=settings, node=leaf),
        ),
    ]


def _giver(memory: Memory, result: Result, leaf: int) -> str:
    """Who gave a node most of what it received."""
    given = [entry for entry in result.explain(leaf).received if entry.source != leaf]
    if not given:
        return ""
    best = max(given, key=lambda entry: entry.amount)
    names = memory.labels(result.structure)
    level = level_name(int(result.structure.level[best.source]), level_names(memory.system))
    named = f"“{names[best.source]}”" if names[best.source] else f"node {best.source}"
    return f"Most of what it was given came from {named} ({level})."
