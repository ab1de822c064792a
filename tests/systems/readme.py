"""The table of systems in ``segviz/systems/README.md``: ``python -m tests.systems.readme``."""

from __future__ import annotations

import re
from pathlib import Path

from segviz.construct import Retriever
from segviz.systems import SYSTEMS
from tests.benchmarks.report import table, write
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


def main(path: Path = README) -> None:
    write("systems", listed(), path)


if __name__ == "__main__":
    main()
