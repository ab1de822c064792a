"""The generated parts of ``segviz/systems/README.md``: ``python -m tests.systems.readme``, with
``--measure`` also what is measured on the real conversations, each system on its page."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np

import segviz
from segviz.construct import Retriever
from segviz.conversation import Corpus
from segviz.evaluate import evaluate
from segviz.memory import Memory
from segviz.systems import SYSTEMS
from segviz.systems.h_mem.graph import MAYBE
from segviz.systems.memforest.retrieval import BROWSES, VIEWS
from segviz.systems.xmemory.themes import reassigned
from segviz.tree import Structure
from segviz.tree.shape import shape
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
    """The systems with their sources."""
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
    return table(("`system=`", "name", "fidelity", "", "own relevance", "source"), rows)


def departures(name: str) -> str:
    """What a system does otherwise than its source."""
    return "Departs from its source:\n\n" + "\n".join(
        f"* {departure}" for departure in SYSTEMS[name].departures
    )


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
# pass@8 on sixty questions, MemForest's Tables 6 and 7.
TABLE_6_TREES = dict(zip(VIEWS, ("86.7", "86.7", "85.0", "81.7", "63.3"), strict=True))
TABLE_7 = dict(zip(BROWSES, ("85.0", "83.3", "88.3", "90.0", "78.3", "73.3"), strict=True))
FOUND = (">recall@10", ">hybrid", ">words", ">hybrid")
ABOUT = (
    "On {}, by the system's own retrieval: recall of gold units in ten and words read, by its own "
    "relevance and by `hybrid`, beside what the paper prints of a model's answers."
)


def found(memory: Memory, **settings: object) -> tuple[str, ...]:
    """Recall and words read, by own relevance and hybrid, of a memory asked with ``settings``."""
    memory = replace(memory, settings={**memory.settings, **settings})
    asked = memory.conversation.questions
    runs = [evaluate(memory, asked, method="own", relevance=r) for r in ("dense", "hybrid")]
    recall = [f"{run.outcomes.mean('recall').value:.3f}" for run in runs]
    return (*recall, *(f"{run.outcomes.mean('words').value:.0f}" for run in runs))


def count(s: Structure, kind: str) -> int:
    """Active nodes of a kind."""
    return sum(s.active[n] and s.kind[n] == kind for n in range(len(s)))


def xmemory(talks: Corpus) -> str:
    """Tables 4 and 6."""
    talk, shapes = talks[SHOWN], []
    for row, published in TABLE_6.items():
        memory = segviz.build(talk, "xmemory", restructure=row)
        s = memory.structure
        each = count(s, "semantic") / count(s, "theme")
        ours = (f"{each:.2f}", f"{reassigned(s):.0%}".replace("%", " %"))
        shapes.append((row, *published, *ours, *found(memory)))
    memory = segviz.build(talk, "xmemory")
    searches = [(row, f1, *found(memory, search=row)) for row, f1 in TABLE_4.items()]
    return "\n\n".join(
        [
            ABOUT.format(SHOWN),
            "`restructure` (Tables 6 to 8): statements per theme, and share of statements whose "
            "theme ever changed.",
            table(("", ">per theme", ">moved", ">ours", ">ours", *FOUND), shapes),
            "`search` (Table 4, F1):",
            table(("", ">paper", *FOUND), searches),
        ]
    )


def h_mem(talks: Corpus) -> str:
    """Tables 5, 7 and 9."""
    built = {talk.id: segviz.build(talk, "h-mem") for talk in talks}
    shown = built[SHOWN]
    parts = [
        (row, accuracy, *found(segviz.build(talks[SHOWN], "h-mem", ablate=row)))
        for row, accuracy in TABLE_5.items()
    ]
    parts.append(("profiles as evidence", "", *found(shown, profiles=True)))
    index = [("paper, mean of ten", "995", ".57", ".74", ".24", "829", "3671")]
    index += [_index(memory) for memory in built.values()]
    notes = [
        stage.note
        for question in talks[SHOWN].questions
        for stage in shown.model.retrieve(question.text, shown.view("dense")).stages
        if stage.name == "follow-up"
    ]
    rate = sum("lacks" in note for note in notes) / len(notes)
    head = ("", ">events", ">week/event", ">month/week", ">year/month", ">entities", ">relations")
    return "\n\n".join(
        [
            ABOUT.format(SHOWN),
            "`ablate` (Table 5, accuracy):",
            table(("", ">paper", *FOUND), parts),
            "Index (Table 7): summaries for each node of the level below, entities, and relations "
            "without those that only say two names may be one.",
            table(head, index),
            f"Follow-ups on {SHOWN}: {rate:.0%} of the parts of questions (Table 9: 6.4 %).",
        ]
    )


def _index(memory: Memory) -> tuple[str, ...]:
    s = memory.structure
    counts = [count(s, "event"), *(int(((s.level == i) & s.active).sum()) for i in (2, 3, 4))]
    ratios = [f"{b / a:.2f}".lstrip("0") for a, b in pairwise(counts)]
    ties = sum(relation.label != MAYBE for relation in s.relations)
    return memory.conversation.id, str(counts[0]), *ratios, str(count(s, "entity")), str(ties)


def memforest(talks: Corpus) -> str:
    """Tables 6 and 7, and the leaves of session trees."""
    memory = segviz.build(talks[SHOWN], "memforest")
    through = segviz.build(talks[SHOWN], "memforest", leaves="passed through")
    trees = [(row, value, *found(memory, families=row)) for row, value in TABLE_6_TREES.items()]
    rows = [(row, value, *found(memory, browse=row)) for row, value in TABLE_7.items()]
    return "\n\n".join(
        [
            ABOUT.format(SHOWN) + " No model is set, so that rules plan and order branches.",
            "`families` (Table 6, pass@8 under llm+planner; ours under emb):",
            table(("", ">paper", *FOUND), trees),
            "`browse` (Table 7, pass@8):",
            table(("", ">paper", *FOUND), rows),
            "`leaves` (Algorithm 1, lines 22-23):",
            table(("", *FOUND), [(m.settings["leaves"], *found(m)) for m in (memory, through)]),
        ]
    )


def memtree(talks: Corpus) -> str:
    """SegTreeMem's Table 5 at several settings."""
    rows = [("paper, mean of ten", "1.69", "5.9", "3.82", ".92", "2.45")]
    for words in (80, 30, 10):
        for base, rate in ((0.4, 0.5), (0.45, 1.0), (0.35, 0.5)):
            settings = {"annotate": {"name": "extractive", "max_words": words}}
            built = [segviz.build(t, "memtree", base=base, rate=rate, **settings) for t in talks]
            means = np.mean([_rooted(memory.structure) for memory in built], axis=0)
            name = f"base {base:g}, rate {rate:g}, {words} words"
            rows.append((name, *(f"{mean:.2f}" for mean in means)))
    head = ("", ">nodes/leaf", ">max depth", ">mean depth", ">std", ">branching")
    return (
        f"Shape (SegTreeMem, Table 5), mean of {len(talks)} conversations, the contentless root "
        f"counted as there:\n\n{table(head, rows)}"
    )


def _rooted(s: Structure) -> tuple[float, ...]:
    shaped, inner = shape(s), int((s.level > 0).sum()) + 1
    ratio = (len(s) + 1) / len(s.leaves)
    depths = (shaped.max_depth + 1, shaped.mean_depth + 1, shaped.depth_std)
    return (ratio, *depths, len(s) / inner)


def raptor(talks: Corpus) -> str:
    """The search for a number of clusters, ended early and not."""
    rows = [("paper, mean of ten", "1.03", "2.20", "2.13", "34.4", "")]
    for patience in (5, 0):
        began = perf_counter()
        s = shape(segviz.build(talks[SHOWN], "raptor", patience=patience).structure)
        numbers = (s.nodes_per_leaf, s.max_depth, s.mean_depth)
        ours = (*(f"{x:.2f}" for x in numbers), f"{s.branching:.1f}")
        rows.append((f"patience {patience}", *ours, f"{perf_counter() - began:.0f}"))
    head = ("", ">nodes/leaf", ">max depth", ">mean depth", ">branching", ">seconds")
    return f"Shape (SegTreeMem, Table 5) on {SHOWN}, built anew 31 times:\n\n{table(head, rows)}"


SHOWN = "conv-47"
MEASURED = {
    "memtree": memtree,
    "raptor": raptor,
    "h-mem": h_mem,
    "memforest": memforest,
    "xmemory": xmemory,
}


def main(path: Path = README) -> None:
    write("systems", listed(), path)
    for name in SYSTEMS:
        write(name, departures(name), path)
    if "--measure" in sys.argv:
        talks = segviz.load(real_data("locomo", "locomo5.json"))
        for name, measure in MEASURED.items():
            write(f"{name} measured", measure(talks), path)


if __name__ == "__main__":
    main()
