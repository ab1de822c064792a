"""``segviz reproduce``: measures a table or figure of a paper again, on any conversations."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import click

from segviz.cli.command import OK, Options, UsageError, command, option, output_options, user_errors
from segviz.cli.console import Console
from segviz.cli.models import embedder_option
from segviz.cli.source import SAMPLE, audited, path_of, write_file
from segviz.conversation import TITLES, Conversation
from segviz.evaluation.aggregate import Row
from segviz.evaluation.published import SOURCES
from segviz.evaluation.reproduce import ENTRIES, Bench, Experiment
from segviz.export import rows_csv, rows_markdown
from segviz.export.browser import BrowserError
from segviz.export.pictures import draw
from segviz.export.sheet import Sheet
from segviz.loaders import load
from segviz.view.palette import LEVEL_COLOURS, SERIES

_WIDTH = 1100


_PAPERS = list(dict.fromkeys(entry.paper for entry in ENTRIES))
_DATA = f"File of conversations with questions, repeatable; {SAMPLE}NAME is a bundled one."
_OUTPUT = "Folder for tables and figures."
_AUDIT = (
    "Add columns of means without the questions that this file disputes; its format is that of "
    "sweep --audit."
)
_WORKERS = (
    "Processes on this machine; more than one needs the extra segviz[parallel]. Times are then not "
    "comparable."
)


@command
@click.argument("paper", required=False, type=click.Choice(_PAPERS), metavar="[PAPER]")
@click.argument("table", required=False)
@option("--data", _DATA, "the bundled ones", multiple=True, type=click.Path(), metavar="FILE")
@option("--audit", _AUDIT, type=click.Path(), metavar="FILE")
@option("-o --output", _OUTPUT, default="reproduced", type=click.Path(), metavar="FOLDER")
@option("--workers", _WORKERS, default=1)
@embedder_option
@output_options
def reproduce(options: Options, console: Console) -> int:
    """Measures a table or figure of a paper again.

    Measures the quantities of a table or figure without a model, on the bundled conversations or
    your own. Writes a table (CSV and Markdown) with the printed numbers, the figure if the paper
    has one (HTML, and PNG if a browser is installed), and a line on the differences and their
    reasons. TABLE is a name such as table-3 or figure-6. Without it, all tables and figures of the
    paper are measured. Without arguments, the command lists all of them.

    JSON: command, conversations, entries (each entry, seconds, files, rows).

    Examples:
        segviz reproduce
        segviz reproduce segtreemem table-3 --data locomo10.json
        segviz reproduce segtreemem table-3 --data l10.json --audit errors.json
    """
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
    measured = []
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
        measured.append({**named, "seconds": seconds, "files": written, "rows": rows})
        if not options.json:
            console.line(f"{entry.paper} {entry.table}: {entry.shows} ({seconds:.0f} s)")
            console.block(rows_markdown(rows).rstrip(), "")
            console.line(entry.difference(rows, talks))
            console.line(", ".join(written))
            console.line()
    if options.json:
        names = [talk.id for talk in talks]
        console.json("reproduce", {"conversations": names, "entries": measured})
    return OK


def _list(console: Console) -> int:
    for entry in ENTRIES:
        known = f" ({len(entry.printed)} printed numbers)" if entry.printed else ""
        console.line(f"{entry.paper:<11} {entry.name:<11} {entry.shows}{known}")
    return OK


def _talks(options: Options, console: Console) -> list[Conversation]:
    """Returns the conversations of all files that have questions with gold evidence."""
    found = []
    for given in options.data or [f"{SAMPLE}{name}" for name in TITLES]:
        with user_errors():
            corpus = audited(load(path_of(given)), options, console)
            talks = [corpus[place] for place in range(len(corpus))]
        asked = [talk for talk in talks if any(one.evidence for one in talk.questions)]
        if len(asked) < len(talks) and options.data:
            console.note(f"{given}: {len(talks) - len(asked)} without gold evidence are left out")
        found += asked
    if not found:
        raise UsageError("none of these conversations has questions with gold evidence")
    return found


def _write(
    entry: Experiment,
    rows: list[Row],
    talks: list[Conversation],
    folder: Path,
    console: Console,
) -> list[str]:
    source = SOURCES[entry.paper]
    asked = [question for talk in talks for question in talk.questions]
    questions, disputed = f"{len(asked)} questions", sum(one.disputed is not None for one in asked)
    questions += f", of which an audit disputes {disputed}" if disputed else ""
    page = (
        f"# {source.title}, {entry.table}\n\n{entry.shows} Measured on {len(talks)} "
        f"conversation{'s' * (len(talks) > 1)} with {questions}; `, paper` is printed in "
        f"{source.where}. {source.caveat}\n\n{rows_markdown(rows)}\n"
        f"{entry.difference(rows, talks)}\n"
    )
    files: dict[str, str | bytes] = {"csv": rows_csv(rows), "md": page}
    if entry.chart:
        from segviz.figures.charts import rows_figure  # Plotly takes half a second to load

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
