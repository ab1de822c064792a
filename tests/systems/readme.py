"""The tables of systems in ``segviz/systems/README.md``: ``python -m tests.systems.readme``, with
``--measure`` also those of ablations, on conv-47 of the real conversations."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

import segviz
from segviz.construct import Retriever
from segviz.conversation import Conversation
from segviz.evaluate import evaluate
from segviz.memory import Memory
from segviz.systems import SYSTEMS
from segviz.systems.xmemory.themes import reassigned
from segviz.tree import Structure
from tests.benchmarks.report import real_data, table, write
from tests.data import ROOT

README = ROOT / "segviz" / "systems" / "README.md"


def source(kind: type) -> str:
    """What the docstring names after ``Source:``, up to the end of the sentence."""
    found = re.search(
        r"Source: (.*?)(?<!App)(?<!al)\.(?=\s+[A-Z]|\s*\Z)", kind.__doc__ or "", re.DOTALL
    )
    return " ".join(found[1].split()).replace("``", "`") if found else ""


def listed() -> str:
    """The systems with their sources, and below each its departures."""
    rows = [
        (
            f"`{name}`",
            kind.label,
            kind.fidelity,
            "online" if kind.online else "rebuilt",
            f"`{kind.relevance}`" if issubclass(kind, Retriever) else "",
            source(kind),
        )
        for name, kind in SYSTEMS.items()
    ]
    departures = [
        f"**{kind.label}** departs from its source:\n\n"
        + "\n".join(f"* {departure}" for departure in kind.departures)
        for kind in SYSTEMS.values()
    ]
    head = ("`system=`", "name", "fidelity", "", "own relevance", "source")
    return "\n\n".join([table(head, rows), *departures])


# Statements per theme and reassigned share, Tables 6 to 8; F1, Table 4; accuracy, Table 5.
TABLE_6 = {
    "w/o merge&split": ("2.58", "0 %"),
    "w/o split": ("4.45", "17 %"),
    "w/o merge": ("2.61", "26 %"),
    "full": ("4.48", "45 %"),
}
TABLE_4 = {"Memory-only": "40.77", "+RepSel": "40.64", "+UncSion": "42.55", "full": "43.98"}
TABLE_5 = {
    "full": "92.01",
    "w/o tree": "82.73",
    "w/o graph": "87.86",
    "w/o long memory": "89.48",
    "w/o memory robustness": "89.09",
    "w/o missing-info query": "90.97",
    "w/o entity profile": "90.32",
}
FOUND = (">recall@10", ">hybrid", ">words", ">hybrid")


def measured(talk: Conversation) -> str:
    """Shape and recall of xMemory and H-Mem under the rows of their papers' ablations."""
    shapes, searches, parts = [], [], []
    for row, published in TABLE_6.items():
        memory = segviz.build(talk, "xmemory", restructure=row)
        s = memory.structure
        each = _count(s, "semantic") / _count(s, "theme")
        ours = (f"{each:.2f}", f"{reassigned(s):.0%}".replace("%", " %"))
        shapes.append((row, *published, *ours, *_found(memory)))
    for row, f1 in TABLE_4.items():
        searches.append((row, f1, *_found(segviz.build(talk, "xmemory", search=row))))
    for row, accuracy in TABLE_5.items():
        parts.append((row, accuracy, *_found(segviz.build(talk, "h-mem", ablate=row))))
    return "\n\n".join(
        [
            f"On {talk.id}, by the systems' own retrieval: recall of gold units in ten and words "
            "read, by the system's own relevance and by `hybrid`. What is printed in the paper "
            "(answers of a model over all of LoCoMo) stands beside it.",
            "**xMemory**, `restructure` (Tables 6 to 8): statements per theme, and share of "
            "statements whose theme ever changed.",
            table(("", ">per theme", ">moved", ">ours", ">ours", *FOUND), shapes),
            "**xMemory**, `search` (Table 4, F1):",
            table(("", ">paper", *FOUND), searches),
            "**H-Mem**, `ablate` (Table 5, accuracy):",
            table(("", ">paper", *FOUND), parts),
            _index(segviz.build(talk, "h-mem")),
        ]
    )


def _count(s: Structure, kind: str) -> int:
    return sum(s.active[n] and s.kind[n] == kind for n in range(len(s)))


def _found(memory: Memory) -> tuple[str, ...]:
    asked = memory.conversation.questions
    runs = [evaluate(memory, asked, method="own", relevance=r) for r in ("dense", "hybrid")]
    recall = [f"{run.outcomes.mean('recall').value:.3f}" for run in runs]
    return (*recall, *(f"{run.outcomes.mean('words').value:.0f}" for run in runs))


def _index(memory: Memory) -> str:
    """H-Mem's Tables 7 and 9 beside ours."""
    s = memory.structure
    counts = [_count(s, "event"), *(int(((s.level == i) & s.active).sum()) for i in (2, 3, 4))]
    ratios = " / ".join(f"{b / a:.2f}" for a, b in pairwise(counts))
    notes = [
        stage.note
        for question in memory.conversation.questions
        for stage in memory.model.retrieve(question.text, memory.view("dense")).stages
        if stage.name == "follow-up"
    ]
    rate = sum("lacks" in note for note in notes) / len(notes)
    return (
        f"**H-Mem**, index (Table 7, a mean of ten conversations): summaries per node of the "
        f"level below {ratios} (paper .57 / .74 / .24), events {counts[0]} (995), entities "
        f"{_count(s, 'entity')} (829), relations {len(s.relations)} (3671). Follow-ups: {rate:.0%} "
        "of the parts of questions (Table 9: 6.4 %)."
    )


def main(path: Path = README) -> None:
    write("systems", listed(), path)
    if "--measure" in sys.argv:
        talks = segviz.load(real_data("locomo", "locomo5.json"))
        write("ablations", measured(talks["conv-47"]), path)


if __name__ == "__main__":
    main()
