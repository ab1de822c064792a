"""``segviz compare``: compares several systems on the same leaves and questions."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

from segviz.cli.building import UNIT, add_building, build_one, refuse_idle, variants
from segviz.cli.command import Command
from segviz.cli.console import Console
from segviz.cli.exits import OK, UsageError, user_errors
from segviz.cli.many import (
    LOST,
    add_many,
    add_measuring,
    apart,
    idle_many,
    measured,
    runs_of,
    single,
    spread,
)
from segviz.cli.models import Models, models
from segviz.cli.reports import (
    compared_columns,
    compared_names,
    comparison_content,
    comparisons_content,
    tell_comparison_setting,
    tell_comparisons,
    together,
)
from segviz.cli.retrieval import add_scoring
from segviz.cli.settings import parameters_help
from segviz.cli.source import output_path, path_of, read_conversation
from segviz.construct import Retriever
from segviz.conversation import distinct
from segviz.evaluate.compare import COLLAPSED, OWN, Comparison, compare, compare_one
from segviz.memory import Memory, open_memory
from segviz.retrieval import RetrievalSettings
from segviz.store import recognises
from segviz.systems import SYSTEMS

_SHARED = ("k", "units", "tokens", "budget", "relevance")

_TIMED = 5
"""Questions over which the seconds of a query are averaged."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="+",
        metavar="FILE",
        help="one conversation file, from which the systems are built, or several memories of "
        "one conversation",
    )
    group = parser.add_argument_group("retrieval")
    add_scoring(group)
    add_measuring(parser.add_argument_group("measuring"), "recall")
    parser.add_argument(
        "--resume",
        metavar="PATH",
        help="keep what is measured in this file, run by run, and go on from what it holds",
    )
    add_many(parser)
    add_building(parser, several=True)


def _run(options: argparse.Namespace, console: Console) -> int:
    paths = [path_of(given) for given in options.file]
    journal = output_path(options.resume, *options.file) if options.resume else None
    if all(map(recognises, paths)):
        resume = ["--resume"] if options.resume else []
        refuse_idle(options.file[0], [*idle_many(options), *resume])
    elif len(paths) > 1:
        raise UsageError("give one conversation file, or memories alone")
    elif spread(options) or apart(options) or journal:
        return _many(options, console, journal)
    single(options)
    with models(options, console) as clients:
        memories, seconds = _memories(options, console, clients)
        questions = next(iter(memories.values())).conversation.questions
        if not any(question.evidence for question in questions):
            raise UsageError("the conversation has no questions with gold evidence to compare by")
        with user_errors():
            timed = {
                (name, method): _query_seconds(memory, options, method)
                for name, memory in memories.items()
                for method in _methods(memory)
            }
            found = compare(
                memories,
                questions,
                k=options.k,
                units=options.units,
                tokens=options.tokens,
                budget=options.budget,
                relevance=options.relevance,
                build_seconds=seconds,
                query_seconds=timed,
            )
    _show(next(iter(memories.values())).conversation.id, found, options, console)
    return OK


def _many(options: argparse.Namespace, console: Console, journal: Path | None) -> int:
    options.file = options.file[0]
    with models(options, console) as clients:
        runs = runs_of(options, console, list(SYSTEMS))
        settings = {name: getattr(options, name) for name in _SHARED}
        found = measured(runs, compare_one, settings, options, console, clients, journal)
    joined = together(found)
    if not spread(options):
        ((conversation, _), comparison), *_ = joined.items()
        _show(conversation, comparison, options, console)
    elif options.json:
        console.json("compare", comparisons_content(joined, runs.share))
    else:
        adversarial = not options.no_adversarial
        tell_comparisons(console, joined, options.measure, adversarial=adversarial)
    return OK


def _show(
    conversation: str, found: Comparison, options: argparse.Namespace, console: Console
) -> None:
    if options.json:
        console.json("compare", {"conversation": conversation, **comparison_content(found)})
    else:
        _print_report(console, found, options.measure, adversarial=not options.no_adversarial)


def _memories(
    options: argparse.Namespace, console: Console, clients: Models
) -> tuple[dict[str, Memory], dict[str, float]]:
    """Memories by name, and what building took where they were built now."""
    paths = [path_of(given) for given in options.file]
    if recognises(paths[0]):
        if options.conversation:
            refuse_idle(options.file[0], ["--conversation"])
        labels = distinct([_stem(path) for path in paths])
        embedder = clients.embedder if clients.remote else None
        with user_errors():
            return {n: open_memory(p, embedder) for n, p in zip(labels, paths, strict=True)}, {}
    options.file = options.file[0]
    chosen = variants(options, list(SYSTEMS))
    conversation = read_conversation(options, console)
    built = {
        label: build_one(conversation, *variant, options.unit or UNIT, console, clients)
        for label, variant in chosen.items()
    }
    return (
        {name: memory for name, (memory, _) in built.items()},
        {name: took for name, (_, took) in built.items()},
    )


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".json") or path.name


def _methods(memory: Memory) -> tuple[str, ...]:
    return (COLLAPSED, OWN) if isinstance(memory.model, Retriever) else (COLLAPSED,)


def _query_seconds(memory: Memory, options: argparse.Namespace, method: str) -> float:
    """Mean seconds of a question, the scorer prepared."""
    questions = memory.conversation.questions[:_TIMED]
    settings = RetrievalSettings(
        policy="none",
        k=options.k,
        budget=options.budget,
        relevance=options.relevance,
        method="own" if method == OWN else "propagate",
    )
    memory.scorer(settings.relevance_for(memory.model))
    began = perf_counter()
    for question in questions:
        memory.ask(question.text, settings)
    return (perf_counter() - began) / len(questions)


def _print_report(console: Console, found: Comparison, measure: str, *, adversarial: bool) -> None:
    tell_comparison_setting(console, found, adversarial=adversarial)
    names = ["system", "retrieval", "relevance", *compared_names(measure)]
    names += ["nodes/leaf", "depth", "written/leaf", "build s", "query ms"]
    rows = [
        (
            row.name,
            row.method,
            row.relevance,
            *compared_columns(row.outcomes, measure, adversarial=adversarial),
            f"{row.shape.nodes_per_leaf:.2f}",
            str(row.shape.max_depth),
            f"{row.cost.annotated / max(row.shape.leaves, 1):.2f}",
            "" if row.build_seconds is None else f"{row.build_seconds:.2f}",
            "" if row.query_seconds is None else f"{1000 * row.query_seconds:.1f}",
        )
        for row in found.rows
    ]
    console.table(names, rows)


COMMAND = Command(
    "measure several systems on the same leaves and questions",
    """\
Builds several memory systems from one conversation, over the same leaves and embeddings,
and measures them on its questions: once with every node ranked for itself (collapsed), and
once by the system's own retrieval where it has one. Or compares memories built before, of
one conversation and one unit rule. With --vary, it is one system with several values of one
of its parameters.

recall: gold leaves among the K best leaves. reached: gold units among the first units read.
quoted: gold turns that a text of the K best nodes repeats. answer_words: words of the gold
answer in what so many tokens hold. words: read in the K best nodes.

With --all, several --conversation, --seeds or --share it does so for each of them, and
tells what holds over all conversations. --workers and --scheduler share out the runs, of
one conversation too. Seconds are then not measured, because what runs at once disturbs
each other's time.""",
    _arguments,
    _run,
    (
        (
            "Three systems on the sample",
            "segviz compare sample:ines-theo --systems segment-tree,raptor,bm25",
        ),
        ("Two settings of one system", "segviz compare strict.json.gz loose.json.gz"),
        (
            "One parameter of a system over several values: shape, measures, cost of the build",
            "segviz compare sample:ines-theo --system memtree --vary base=0.2,0.4,0.6",
        ),
        (
            "All systems on all conversations of a file, in four processes",
            "segviz compare talks.json --all --workers 4 --resume talks.runs",
        ),
    ),
    """\
command, conversation, k, units, tokens, budget, relevance (null: the usual one of each
retrieval), questions, rows. A row has name, system, method (collapsed or own), relevance, shape,
cost (sums over the build), measures (name -> all, without_adversarial and gain, the paired
difference to the first row; each value, low, high, n), build_seconds and query_seconds (null where
runs are shared out or kept with --resume).

Of many runs: command, share, runs (each conversation, seed and the above), overall (of each
system, method and seed over all conversations: measures).""",
    parameters_help,
    exits=(LOST,),
)
