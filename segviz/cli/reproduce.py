"""``segviz reproduce``: measures a table or figure of a paper again, on any conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from segviz.cli.build_options import settings_of
from segviz.cli.command import (
    OK,
    Console,
    Options,
    Unfinished,
    UsageError,
    command,
    option,
    output_options,
    user_errors,
)
from segviz.cli.models import Models, agree, embedder_option, judge_options, model_options, models
from segviz.cli.source import SAMPLE, audited, output_path, path_of, path_option, write_file
from segviz.conversation import TITLES, Conversation
from segviz.evaluation import Row
from segviz.evaluation.bench import Bench
from segviz.evaluation.paper_tables import OF_ONE_TREE
from segviz.evaluation.published import SOURCES
from segviz.evaluation.reproduce import ENTRIES, Experiment
from segviz.export import BrowserError, Sheet, draw, rows_csv, rows_markdown
from segviz.llm import ModelError
from segviz.loaders import load
from segviz.memory import CallEstimate, Rehearsal
from segviz.view.palette import LEVEL_COLOURS, SERIES

_WIDTH = 1100


_PAPERS = list(dict.fromkeys(entry.paper for entry in ENTRIES))
_DATA = f"File of conversations with questions, repeatable; {SAMPLE}NAME is a bundled one."
_OUTPUT = "Folder for tables and figures."
_AUDIT = (
    "Add columns of means without the questions that this file disputes; its format is that of "
    "sweep --audit."
)
_SET = (
    "A parameter of the segment tree in entries about one tree (segtreemem figures 6, 7, 12 to 14, "
    "tables 4, 6 to 8), such as compatibility=cosine; repeatable."
)
_WORKERS = "Processes on this machine; more than one needs joblib. Times are then not comparable."


@command
@click.argument("paper", required=False, type=click.Choice(_PAPERS), metavar="[PAPER]")
@click.argument("table", required=False)
@option("--list", "List all tables and figures.", is_flag=True)
@option("--data", _DATA, "the bundled ones", multiple=True, type=click.Path(), metavar="FILE")
@path_option("--audit", _AUDIT, "FILE")
@path_option("-o --output", _OUTPUT, "FOLDER", default="reproduced")
@option("--set settings", _SET, multiple=True, metavar="NAME=VALUE")
@option("--workers", _WORKERS, default=1)
@embedder_option
@model_options
@judge_options
@output_options
def reproduce(options: Options, console: Console) -> int:
    """Measures a table or figure of a paper again.

    Measures the quantities of a table or figure on the bundled conversations or your own. Writes a
    table (CSV and Markdown) with the printed numbers, the figure if the paper has one (HTML, and
    PNG if a browser is installed), and a line on the differences and their reasons. TABLE is a name
    such as table-3 or figure-6. Without it, all tables and figures of the paper are measured.
    Without arguments or with --list, the command lists all of them, or those of a paper.

    Some entries have trees that a model builds, and answers that a second model grades. They are
    measured as in the paper if --server, --model and --judge are given; first the expected calls,
    tokens, time and cost are printed. Replies are saved: after a kill the same command asks only
    the rest, and entries about the same tree and settings share them.

    JSON: command, conversations, entries (each entry, seconds, files, rows).

    Examples:
        segviz reproduce
        segviz reproduce segtreemem table-3 --data locomo10.json
        segviz reproduce segtreemem table-3 --data l10.json --audit errors.json
        segviz reproduce segtreemem table-4 --server vllm --model m --judge n
        segviz reproduce segtreemem figure-6 --set compatibility=cosine
    """
    if options.paper is None or options.list:
        return _list(options.paper, console)
    # Without a table all of the paper are chosen.
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
    tree = settings_of("segment-tree", options.settings)
    if tree and not all(entry.by in OF_ONE_TREE for entry in chosen):
        raise UsageError("--set is for entries about one segment tree; reproduce --help names them")
    # Measure one after another; files and rows of each are written at once.
    talks = _talks(options, console)
    folder = Path(options.output).expanduser()
    with user_errors(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    for entry, ending in product(chosen, ("csv", "md", "html", "png")):
        output_path(str(folder / f"{entry.paper}-{entry.name}.{ending}"), options)
    with models(options, console) as clients:
        if clients.chat:
            _agree(clients, chosen, talks, tree, options, console)
        try:
            measured = [
                _measured(entry, clients, talks, tree, options, console) for entry in chosen
            ]
        except ModelError as error:
            raise Unfinished(f"{error} The same command continues there.") from None
    if options.json:
        names = [talk.id for talk in talks]
        console.json("reproduce", {"conversations": names, "entries": measured})
    return OK


def _agree(
    clients: Models,
    chosen: Sequence[Experiment],
    talks: Sequence[Conversation],
    tree: Mapping[str, Any],
    options: Options,
    console: Console,
) -> None:
    """Prints the expected calls of the chosen entries and asks whether to start.

    For the first conversation all prompts are made and counted, but not sent. The others are
    expected to need as much for each question.

    Raises:
        UsageError: no model grades, or several processes would call the models.
    """
    chat, asking = clients.chat, [entry for entry in chosen if entry.models]
    if chat is None or not asking:
        return
    if not chat.has("grade"):
        raise UsageError("the papers grade answers with a model of its own; name it with --judge")
    if options.workers != 1:
        raise UsageError("models are called by one process; leave --workers out")

    def expected() -> dict[str, CallEstimate]:
        """Returns the calls per role: a stand-in counts those of the first conversation."""
        stand_in = Rehearsal(chat)
        offline = "auto" if clients.remote else options.embedder
        for entry in asking:
            entry.measure(Bench(talks[:1], embedder=offline, chat=stand_in, tree=tree))
        share = sum(len(talk.questions) for talk in talks) / len(talks[0].questions)
        return {role: needed.times(share) for role, needed in stand_in.by_role.items()}

    agree(expected, clients, options, console)


def _measured(
    entry: Experiment,
    clients: Models,
    talks: list[Conversation],
    tree: Mapping[str, Any],
    options: Options,
    console: Console,
) -> dict[str, Any]:
    """Measures an entry, writes its files, prints its rows; returns its fields of ``--json``."""
    began = perf_counter()
    what, chat = f"{entry.paper} {entry.table}", clients.chat if entry.models else None
    with console.progress(what, "runs", chat=chat) as show, user_errors():
        show(0, len(talks))
        bench = Bench(
            talks,
            embedder=clients.embedder if clients.remote else options.embedder,
            workers=options.workers,
            progress=show,
            clock=perf_counter,
            chat=clients.chat,
            tree=tree,
        )
        rows = entry.measure(bench)
    # Write the files and print the same rows.
    difference = entry.difference(rows, talks, models=clients.chat is not None)
    folder = Path(options.output).expanduser()
    written = _write(entry, rows, talks, difference, folder, console)
    seconds = perf_counter() - began
    if not options.json:
        console.line(f"{entry.paper} {entry.table}: {entry.shows} ({seconds:.0f} s)")
        console.block(rows_markdown(rows).rstrip(), "")
        console.line(difference)
        console.line(", ".join(written))
        console.line()
    named = {"paper": entry.paper, "table": entry.table}
    return {**named, "seconds": seconds, "files": written, "rows": rows}


def _list(paper: str | None, console: Console) -> int:
    """Prints the entries of a paper, or of all, that can be reproduced."""
    for entry in ENTRIES:
        if paper not in (None, entry.paper):
            continue
        known = f" ({len(entry.printed)} printed numbers)" if entry.printed else ""
        known += " (with --server, --model and --judge)" if entry.models == "all" else ""
        console.line(f"{entry.paper:<11} {entry.name:<11} {entry.shows}{known}")
    return OK


def _talks(options: Options, console: Console) -> list[Conversation]:
    """Reads all files; returns the conversations that have questions with gold evidence.

    Raises:
        UsageError: a file cannot be read, or no conversation has such questions.
    """
    usable = []
    for given in options.data or [f"{SAMPLE}{name}" for name in TITLES]:
        with user_errors():
            corpus = audited(load(path_of(given)), options, console)
            talks = [corpus[place] for place in range(len(corpus))]
        asked = [talk for talk in talks if any(one.evidence for one in talk.questions)]
        if len(asked) < len(talks) and options.data:
            console.note(f"{given}: {len(talks) - len(asked)} without gold evidence are left out")
        usable += asked
    if not usable:
        raise UsageError("none of these conversations has questions with gold evidence")
    return usable


def _write(
    entry: Experiment,
    rows: list[Row],
    talks: list[Conversation],
    difference: str,
    folder: Path,
    console: Console,
) -> list[str]:
    """Writes table and figure of an entry into a folder; returns the paths of the files.

    ``difference`` is the line on the differences, which is written under the table.
    """
    # The table, as CSV and Markdown.
    source = SOURCES[entry.paper]
    asked = [question for talk in talks for question in talk.questions]
    questions, disputed = f"{len(asked)} questions", sum(one.disputed is not None for one in asked)
    questions += f", of which an audit disputes {disputed}" if disputed else ""
    page = (
        f"# {source.title}, {entry.table}\n\n{entry.shows} Measured on {len(talks)} "
        f"conversation{'s' * (len(talks) > 1)} with {questions}; `, paper` is printed in "
        f"{source.where}. {source.caveat}\n\n{rows_markdown(rows)}\n"
        f"{difference}\n"
    )
    files: dict[str, str | bytes] = {"csv": rows_csv(rows), "md": page}
    # The figure, as a page and, if there is a browser, as a picture.
    if chart := entry.drawn(rows):
        from segviz.figures.charts import rows_figure  # Plotly takes half a second to load

        stacked = chart.kind == "stack"
        figure = rows_figure(
            rows, chart, colours=LEVEL_COLOURS if stacked else SERIES, neutral="#77736d"
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
