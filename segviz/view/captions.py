"""Writes texts of a view: session titles, tooltips, the time of a question, an audit's dispute."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

import numpy as np

from segviz.construct import WRITTEN_BY
from segviz.conversation import Dispute, Question
from segviz.memory import Memory
from segviz.memory.written import BY_HAND, from_elsewhere
from segviz.text.captions import counted, listed, one_line
from segviz.tree import Structure, total_cost

MAX_LABELLED: Final = 5_000
"""Most nodes for which texts are sent and labels shown, on screen and in files."""

_BUDGET = 400_000
_LENGTH = (80, 1_000)


def shown_labels(memory: Memory, structure: Structure) -> tuple[str, ...]:
    """Returns the labels of a structure's nodes; "" for each if there are over ``MAX_LABELLED``."""
    if len(structure) > MAX_LABELLED:
        return ("",) * len(structure)
    return memory.labels(structure)


def provenance_lines(memory: Memory) -> list[tuple[str, str]]:
    """Returns how models were called for a memory, as (name, value) lines; [] without a model."""
    known = memory.provenance
    if not known:
        return []
    lines, models = list[tuple[str, str]](), known.get("models", {})
    if known.get("by_hand"):
        texts = (facts for facts in memory.structure.facts if from_elsewhere(facts))
        others = sorted({str(facts[WRITTEN_BY]) for facts in texts} - {BY_HAND})
        how = f"elsewhere, by {listed(others)}" if others else "by hand from the turns"
        lines = [("Texts", f"written {how}" + "; units placed offline" * (not models))]
        if not models:
            return lines
    made = total_cost(memory.steps).by_model.removesuffix(" by the model")
    lines.append(("Made by the model", made or "nothing"))
    # The model of each role, by whatever its server reported.
    for role, model in models.items():
        parts = [
            f"{model.get('model')} at {model.get('server')}",
            f"temperature {model.get('temperature')}".removesuffix(".0"),
            f"seed {model.get('seed')}",
            f"prompts of at most {model.get('prompt_tokens')} tokens",
        ]
        prints = [model.get("fingerprint"), *model.get("reported", ())]
        parts += [f"fingerprint {each}" for each in prints if each]
        lines.append((f"Model for {_ROLE_NOUNS.get(role, role)}", ", ".join(parts)))
    own = known.get("own_prompts", {})
    replaced = f", {', '.join(own)} of a file" if own else ""
    lines.append(("Prompts", f"{known.get('prompts')}{replaced}"))
    versions = (f"{name} {number}" for name, number in known.get("versions", {}).items())
    return [*lines, ("Versions", ", ".join(versions))]


_ROLE_NOUNS = {"decision": "decisions", "annotation": "texts"}


def units_text(start: int, stop: int) -> str:
    """Formats a half-open range of units as ``unit 45`` or ``units 45–50`` (50 is the last)."""
    return f"unit {start}" if stop - start == 1 else f"units {start}–{stop - 1}"


def short_dates(dates: Sequence[date | str | None]) -> list[str]:
    """Formats dates as "12 Aug", or as "12 Aug ’23" if they span a year or more; texts stay."""
    days = [when for when in dates if isinstance(when, date)]
    year = " ’%y" if days and (max(days) - min(days)).days >= 365 else ""
    return [
        f"{when.day} {when:%b{year}}" if isinstance(when, date) else when or "" for when in dates
    ]


def duration(seconds: float) -> str:
    """Formats a duration by its largest unit, as in "3 weeks" or "1 day"."""
    name, size = next((each for each in _DURATIONS.items() if seconds >= each[1]), ("second", 1))
    return counted(round(seconds / size), name)


_DURATIONS = {
    **{"year": 31_556_952, "month": 2_629_746, "week": 604_800, "day": 86_400},
    **{"hour": 3_600, "minute": 60},
}


def session_title(label: str, when: date | str | None) -> str:
    """Returns the title of a session: its label and date, as in "S7 · 12 Aug 2023"."""
    long = f"{when.day} {when:%b %Y}" if isinstance(when, date) else when or ""
    return f"{label} · {long}" if long else label


def tooltip_length(nodes: int) -> int:
    """Returns the maximal length of tooltips, shorter for many nodes, 0 for over 5,000 nodes."""
    shortest, longest = _LENGTH
    return 0 if nodes > MAX_LABELLED else max(shortest, min(longest, _BUDGET // max(nodes, 1)))


def moment_sentence(memory: Memory, question: Question | None, step: int) -> str:
    """Tells when a question is asked, as in "Asked after step 41 of 120, before D3:12; …"."""
    moment = memory.moment(question) if question else None
    place = f"before {question.asked_at}" if question and moment is not None else ""
    here = f", {place}" if step == moment else ""
    later = "what came later is not known" if step < len(memory.steps) else "that is all of it"
    sentence = f"Asked after step {step} of {len(memory.steps)}{here}; {later}."
    if step < len(memory.steps) and not getattr(memory.model, "online", True):
        sentence += " This system rebuilds its layers when a session ends; newer units have none."
    if 0 < step < len(memory.steps) and (time := memory.steps[step - 1].unit.time) is not None:
        sentence += f" The last turn it knows is of {time:%d %b %Y}."
    if place and not here:
        sentence += f" The question belongs {place}, after step {moment}."
    return sentence


def dispute_lines(dispute: Dispute) -> list[str]:
    """Describes an audit's dispute in lines: error and reason, corrected evidence and answer."""
    reason = f": {one_line(dispute.reason)}" if dispute.reason else ""
    lines = [f"Disputed by the audit, {dispute.kind}{reason}"]
    if dispute.evidence is not None:
        lost = [f"{one} (no turn of this conversation)" for one in dispute.unresolved]
        lines.append(f"Corrected evidence: {', '.join([*dispute.evidence, *lost]) or 'none'}")
    if dispute.answer is not None:
        lines.append(f"Corrected answer: {one_line(dispute.answer)}")
    return lines


def summary(
    structure: Structure, units: int, present: int, selected: int | None, title: str
) -> str:
    """Describes the picture of a memory in one sentence, for screen readers.

    Args:
        structure: the memory at one moment.
        units: number of units of the axis.
        present: number of units in the memory.
        selected: the selected node; None for none.
        title: name of the conversation.
    """
    low, top = structure.level[structure.active], structure.top[structure.active]
    count = len(low)
    begins = np.bincount(low, minlength=int(top.max(initial=0)) + 1)
    ends = np.bincount(top, minlength=len(begins))
    # Nodes on a level: those that begin at or below it minus those that end below it.
    levels = int(np.count_nonzero(np.cumsum(begins) - np.cumsum(ends) + ends))
    name = f"Memory tree of {title}" if title else "Memory tree"
    nodes, high = counted(count, "node"), counted(levels, "level")
    text = f"{name}: {nodes} on {high} over {present} of {units} units"
    if selected is None:
        return f"{text}."
    first, last = int(structure.level[selected]), int(structure.top[selected])
    chain = "" if first == last else f" (levels {first}–{last}, same text)"
    return f"{text}; node {selected}{chain} selected."
