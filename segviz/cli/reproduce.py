"""``segviz reproduce``: measures a table or figure of a paper again, on any conversations."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

from segviz.cli.command import OK, UsageError, command, user_errors
from segviz.cli.console import Console
from segviz.cli.models import add_embedder
from segviz.cli.source import SAMPLE, path_of, write_file
from segviz.conversation import TITLES, Conversation
from segviz.evaluation.aggregate import Row
from segviz.evaluation.published import SOURCES
from segviz.evaluation.reproduce import ENTRIES, Bench, Entry
from segviz.export import rows_csv, rows_markdown
from segviz.export.browser import BrowserError
from segviz.export.pictures import draw
from segviz.export.sheet import Sheet
from segviz.loaders import load
from segviz.view.palette import LEVEL_COLOURS, SERIES

_WIDTH = 1100


def _arguments(parser: argparse.ArgumentParser) -> None:
    papers = list(dict.fromkeys(entry.paper for entry in ENTRIES))
    parser.add_argument(
        "paper", nargs="?", choices=papers, metavar="PAPER", help="one of %(choices)s"
    )
    parser.add_argument(
        "table", nargs="?", metavar="TABLE", help="such as table-3 or figure-6 (default: all of it)"
    )
    parser.add_argument(
        "--data",
        action="append",
        metavar="FILE",
        help=f"conversations with questions, repeated for more; {SAMPLE}NAME is a bundled one "
        "(default: the bundled ones)",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="reproduced",
        metavar="FOLDER",
        help="where tables and figures are written (default: %(default)s)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="processes of this machine that share the work (default: %(default)s; more need the "
        "extra segviz[parallel]); times are then not comparable",
    )
    add_embedder(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    if options.paper is None:
        return _list(console)
    chosen = [
        entry
        for entry in ENTRIES
        if entry.paper == options.paper and options.table in (None, entry.name)
    ]
    if not chosen:
        known = (e.name for e in ENTRIES if e.paper == options.paper)
        raise UsageError(
            f"{options.paper} has no {options.table!r} here; it has {', '.join(known)}"
        )
    talks = _talks(options, console)
    folder = Path(options.output).expanduser()
    with user_errors(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    told = []
    for entry in chosen:
        began = perf_counter()
        with console.progress(f"{entry.paper} {entry.table}", "runs") as progress, user_errors():
            bench = Bench(
                talks, "exchange", options.embedder, options.workers, progress, perf_counter
            )
            rows = entry.measure(bench)
        written = _write(entry, rows, talks, folder, console)
        seconds = perf_counter() - began
        named = {"paper": entry.paper, "table": entry.table}
        told.append({**named, "seconds": seconds, "files": written, "rows": rows})
        if not options.json:
            console.line(f"{entry.paper} {entry.table}: {entry.shows} ({seconds:.0f} s)")
            console.block(rows_markdown(rows).rstrip(), "")
            console.line(entry.difference(rows, talks))
            console.line(", ".join(written))
            console.line()
    if options.json:
        console.json("reproduce", {"conversations": [talk.id for talk in talks], "entries": told})
    return OK


def _list(console: Console) -> int:
    for entry in ENTRIES:
        known = f" ({len(entry.printed)} printed numbers)" if entry.printed else ""
        console.line(f"{entry.paper:<11} {entry.name:<11} {entry.shows}{known}")
    return OK


def _talks(options: argparse.Namespace, console: Console) -> list[Conversation]:
    """The conversations with questions to measure by, of all files."""
    found = []
    for given in options.data or [f"{SAMPLE}{name}" for name in TITLES]:
        with user_errors():
            corpus = load(path_of(given))
            talks = [corpus[place] for place in range(len(corpus))]
        asked = [talk for talk in talks if any(one.evidence for one in talk.questions)]
        if len(asked) < len(talks) and options.data:
            console.note(f"{given}: {len(talks) - len(asked)} without gold evidence are left out")
        found += asked
    if not found:
        raise UsageError("no conversation of these has questions with gold evidence to measure by")
    return found


def _write(
    entry: Entry, rows: list[Row], talks: list[Conversation], folder: Path, console: Console
) -> list[str]:
    source = SOURCES[entry.paper]
    questions = sum(len(talk.questions) for talk in talks)
    page = (
        f"# {source.title}, {entry.table}\n\n{entry.shows} Measured on {len(talks)} "
        f"conversation{'s' * (len(talks) > 1)} with {questions} questions; `, paper` is printed in "
        f"{source.where}. {source.caveat}\n\n{rows_markdown(rows)}\n"
        f"{entry.difference(rows, talks)}\n"
    )
    files: dict[str, str | bytes] = {"csv": rows_csv(rows), "md": page}
    if entry.chart:
        from segviz.figures.rows import rows_figure  # Plotly takes half a second to load

        stacked = entry.chart.kind == "stack"
        figure = rows_figure(
            rows, entry.chart, colours=LEVEL_COLOURS if stacked else SERIES, neutral="#77736d"
        )
        height = int(figure.layout.height)
        figure.update_layout(width=_WIDTH, template="plotly_white")
        page = figure.to_html(include_plotlyjs=True, config={"displayModeBar": False})
        files["html"] = page
        try:
            files["png"] = draw(Sheet("png", page, _WIDTH + 16, height + 16))
        except BrowserError as error:
            console.note(f"no PNG: {error}")
    for ending, content in files.items():
        write_file(folder / f"{entry.paper}-{entry.name}.{ending}", content)
    return [str(folder / f"{entry.paper}-{entry.name}.{ending}") for ending in files]


COMMAND = command("reproduce", _arguments, _run)
