"""Writes the generated parts of ``segviz/systems/README.md``: ``python -m tests.systems.readme``.

With ``--measure`` each system is measured on the real conversations too, and the tables go to
``tests/benchmarks/results/system-NAME.md`` (``--measure memtree raptor``: of these systems alone).
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import segviz
from segviz.conversation import Conversation, Corpus
from segviz.evaluation.bench import Bench
from segviz.evaluation.compare import compare
from segviz.evaluation.reproduce import ENTRIES
from segviz.export import rows_markdown
from segviz.retrieval import Retriever
from segviz.systems import SYSTEMS
from segviz.tree import Structure
from segviz.tree.shape import shape
from tests.benchmarks.report import real_data, table
from tests.benchmarks.report import write as write_results
from tests.data import ROOT

README = ROOT / "segviz" / "systems" / "README.md"


def source(kind: type) -> str:
    """What the docstring names after ``Source:``, up to the end of the sentence."""
    found = re.search(
        r"Source: (.*?)(?<!App)(?<!al)\.(?=\s+[A-Z]|\s*\Z)", kind.__doc__ or "", re.DOTALL
    )
    return " ".join(found[1].split()).replace("``", "`") if found else ""


def write(name: str, text: str, path: Path = README) -> None:
    """Replaces the block of ``name`` in the Markdown file ``path``.

    Raises:
        ValueError: the block is not there exactly once.
    """
    begin, end = (f"<!-- {name}: {word} -->" for word in ("begin", "end"))
    page = path.read_text(encoding="utf-8")
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed or begin in after or end in after:
        raise ValueError(f"{path} must hold {begin} and, after it, {end}, once each")
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8", newline="\n")


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
    """Where it is told what a system does otherwise than its source."""
    kind = SYSTEMS[name]
    package = kind.__module__.split(".")[-2]
    page = "flat.py" if package == "systems" else f"{package}/departures.md"
    return (
        f"It [departs from its source]({page}) in {len(kind.departures)} ways, "
        "some [shared](common/departures.md)."
    )


def by_registry(paper: str, tables: dict[str, Sequence[Conversation]]) -> str:
    """Tables of ``segviz reproduce``, each over these conversations."""
    parts = [
        "By the system's own retrieval, or by the cosine alone where it has none; `segviz "
        "reproduce` measures other conversations. What the paper printed stands in columns of its "
        "own."
    ]
    for entry in ENTRIES:
        if entry.paper == paper and entry.table in tables:
            talks = tables[entry.table]
            rows = entry.measure(Bench(talks))
            about = f"{entry.table}, {', '.join(talk.id for talk in talks)}: {entry.shows}"
            parts += [about, rows_markdown(rows).rstrip(), entry.difference(rows)]
    return "\n\n".join(parts)


def on_shown(name: str, talk: Conversation) -> str:
    """A system on one conversation: every node ranked for itself, and by its own retrieval."""
    found = compare({name: segviz.build(talk, name)}, talk.questions)
    rows = [{"relevance": of.relevance, **of.row()} for of in found.rows]
    return f"{talk.id}, {found.questions} questions:\n\n{rows_markdown(rows).rstrip()}"


def memtree(talks: Corpus) -> str:
    """SegTreeMem's Table 5 at several settings."""
    rows = [("paper, mean of ten", "1.69", "5.9", "3.82", ".92", "2.45")]
    for words in (80, 30, 10):
        for base, rate in ((0.4, 0.5), (0.45, 1.0), (0.35, 0.5)):
            settings = {"annotate": {"name": "extractive", "max_words": words}}
            built = [segviz.build(t, "memtree", base=base, rate=rate, **settings) for t in talks]
            means = np.mean([rooted(memory.structure) for memory in built], axis=0)
            name = f"base {base:g}, rate {rate:g}, {words} words"
            rows.append((name, *(f"{mean:.2f}" for mean in means)))
    head = ("", ">nodes/leaf", ">max depth", ">mean depth", ">std", ">branching")
    return (
        f"Shape (SegTreeMem, Table 5), mean of {len(talks)} conversations, the contentless root "
        f"counted as there:\n\n{table(head, rows)}"
    )


def rooted(s: Structure) -> tuple[float, ...]:
    shaped, inner = shape(s), int((s.level > 0).sum()) + 1
    ratio = (len(s) + 1) / len(s.leaves)
    depths = (shaped.max_depth + 1, shaped.mean_depth + 1, shaped.depth_std)
    return (ratio, *depths, len(s) / inner)


def raptor(talks: Corpus) -> str:
    """Shares and longest inputs that decide the shape."""
    rows = [("paper, mean of ten", "1.03", "2.20", "2.13", "34.4")]
    changes: tuple[dict[str, float], ...] = (
        *({}, {"threshold": 0.1}, {"input_tokens": 5_000}, {"input_tokens": 100_000}),
    )
    for changed in changes:
        built = [shape(segviz.build(talk, "raptor", **changed).structure) for talk in talks]
        parts = [(s.nodes_per_leaf, s.max_depth, s.mean_depth, s.branching) for s in built]
        numbers = [f"{x:.2f}" for x in np.mean(parts, axis=0)]
        name = ", ".join(f"`{key}` {value:g}" for key, value in changed.items()) or "defaults"
        rows.append((name, *numbers))
    head = ("", ">nodes/leaf", ">max depth", ">mean depth", ">branching")
    return (
        f"Shape (SegTreeMem, Table 5), mean of {len(talks)} conversations, each built anew at the "
        f"end of every session:\n\n{table(head, rows)}"
    )


SHOWN = "conv-47"
# The paper, its tables that are measured on the shown conversation, and of them those on all.
TABLES = {
    "segment-tree": ("segtreemem", ("Table 3", "Table 5"), ()),
    "h-mem": ("h-mem", ("Table 5", "Table 7", "Table 9"), ("Table 7",)),
    "memforest": ("memforest", ("Table 6", "Table 7"), ()),
    "xmemory": ("xmemory", ("Table 4", "Table 6", "Table 8"), ()),
}
MEASURED = {"memtree": memtree, "raptor": raptor}


def measured(name: str, talks: Corpus) -> list[str]:
    """What the papers of a system measured, here."""
    if name in TABLES:
        paper, tables, over_all = TABLES[name]
        return [by_registry(paper, {t: talks if t in over_all else [talks[SHOWN]] for t in tables})]
    return [MEASURED[name](talks)] if name in MEASURED else []


def main(path: Path = README) -> None:
    write("systems", listed(), path)
    for name in SYSTEMS:
        write(name, departures(name), path)
    if "--measure" in sys.argv:
        talks = segviz.load(real_data("locomo", "locomo5.json"))
        for name in sys.argv[2:] or SYSTEMS:
            parts = [on_shown(name, talks[SHOWN]), *measured(name, talks)]
            title = f"{SYSTEMS[name].label}, measured"
            command = f"python -m tests.systems.readme --measure {name}"
            write_results(f"system-{name}", title, "\n\n".join(parts), command)


if __name__ == "__main__":
    main()
