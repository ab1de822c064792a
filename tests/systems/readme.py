"""The tables of systems in ``segviz/systems/README.md``: ``python -m tests.systems.readme``, with
``--measure`` also those of ablations, on conv-47 of the real conversations."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import segviz
from segviz.construct import Retriever
from segviz.conversation import Conversation
from segviz.evaluate.reproduce import ENTRIES, Bench
from segviz.export import rows_markdown
from segviz.systems import SYSTEMS
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


MEASURED = {
    "xmemory": ("Table 4", "Table 6", "Table 8"),
    "h-mem": ("Table 5", "Table 7", "Table 9"),
}
"""The tables of ``segviz reproduce`` that stand in the README, by paper."""


def measured(talk: Conversation) -> str:
    """The ablations and counts of the papers on one conversation."""
    bench = Bench([talk])
    parts = [
        f"On {talk.id}, by the systems' own retrieval and relevance; `segviz reproduce` measures "
        "other conversations. What a paper printed stands in columns of its own."
    ]
    for entry in ENTRIES:
        if entry.table in MEASURED.get(entry.paper, ()):
            rows = entry.measure(bench)
            head = f"**{SYSTEMS[entry.paper].label}**, {entry.table}: {entry.shows}"
            parts += [head, rows_markdown(rows).rstrip(), entry.difference(rows)]
    return "\n\n".join(parts)


def main(path: Path = README) -> None:
    write("systems", listed(), path)
    if "--measure" in sys.argv:
        talks = segviz.load(real_data("locomo", "locomo5.json"))
        write("ablations", measured(talks["conv-47"]), path)


if __name__ == "__main__":
    main()
