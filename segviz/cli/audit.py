"""``segviz audit``: says at which stage a memory loses evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from segviz import store
from segviz.cli.build_options import memory_of, refuse_idle, system_options
from segviz.cli.command import (
    OK,
    UNFINISHED,
    Console,
    Options,
    UsageError,
    command,
    either,
    option,
    output_options,
    user_errors,
)
from segviz.cli.models import Models, models
from segviz.cli.retrieval import SHARED, given, options_for, settings_content
from segviz.cli.source import (
    conversation_options,
    file_argument,
    output_folder,
    output_path,
    path_of,
    path_option,
    read_conversation,
    read_corpus,
    write_file,
)
from segviz.evaluation import Row, number_of
from segviz.evaluation.audit import Audit, grades_of, limits_of, tables_of
from segviz.evaluation.audit import audit as audited
from segviz.evaluation.stages import curve_rows, occurring
from segviz.export import rows_csv, trec_qrels, trec_run
from segviz.export.audit import audit_html, audit_junit
from segviz.loaders import LoadError
from segviz.loaders.runs import read_run
from segviz.loaders.stored import read_stored
from segviz.memory import Memory, locomo_facts, memory_from, run_memory
from segviz.text.captions import counted

FACTS = "locomo-facts"

_STORE = (
    "Texts that a memory stored: a dump of mem0, Letta, Zep or Graphiti, a LangGraph store or "
    "Hindsight, or any JSON or CSV of texts. Its default --unit is turn."
)
_RUN = (
    "What a system retrieved and answered: records of question_id or question with retrieved (ids "
    "of turns, sessions or --store's texts), answer or hypothesis, right; LongMemEval's hypotheses "
    "or retrieval log, LoCoMo's predictions, the table of segviz grade -o. Without -k, all that it "
    "retrieved counts as ranked. A file with answers alone grades what the memory retrieves."
)
_CSV = "Also write a row per question and gold turn as CSV."
_TREC = "Write qrels.txt and SYSTEM.run, TREC's formats, with the turns of the K nodes."
_LIMITS = (
    "Limits on shares of the gold turns: recall (read turns) is a least share, a stage with "
    "hyphens a largest one, as in recall=.8,never-written=.1. Exit code 3 if one is missed."
)
_JUNIT = "Write the limits as JUnit XML, a test case for each."
_EXPECTED = "expected records with its question_id, or with the text of a question"
_STALE = 10


@command
@file_argument
@path_option("--store", _STORE, "FILE")
@path_option("--run", _RUN, "FILE")
@path_option("-o --output", _CSV)
@path_option("--trec", _TREC, "FOLDER")
@option("--fail-under", _LIMITS, metavar="NAME=SHARE,…")
@path_option("--junit", _JUNIT)
@path_option("--html", "Write a report that works offline.")
@options_for(*SHARED)
@conversation_options()
@system_options(others=[FACTS])
@output_options
def audit(options: Options, console: Console) -> int:
    """Says at which stage a memory loses evidence.

    FILE is a conversation, sample:NAME or a memory. For a conversation, --store names the texts of
    the memory, or --system the system that builds it.

    Follows every gold turn of every question of the conversation: never written (no text was made
    from it), written and not ranked (not among the K best), ranked and not read (beyond a
    --budget, which takes the place of K), read; with --run also read and answered wrong. Texts that
    name no turns are attributed to the turns they most likely came from. An unsure source gets no
    credit, and an invention has no source. So written means that a text comes from the turn, and
    read that such a text is read, not that the text repeats the answer. A creation time with a
    clock guides the search for sources, other times less, and none excludes a turn. A system uses
    its own retrieval. If its search gives no scores, score and needed are in proportion to 1/rank.
    --system locomo-facts audits the facts that a LoCoMo file brings.

    --run audits a file of results on every conversation that it answers: recall, and the share of
    right answers. With answers alone it needs --system, --store or a memory, if stages are to be
    known. An answer without a grade in the file is right if it has all content words of the
    gold answer, so other words count as wrong. A run does not say what was stored; without --store
    nothing counts as never written.

    Sentences say what to do: raise K, look at extraction, look at recency. JSON and the page have
    the gold turns behind each, and the share that a larger K or more tokens would read.

    Also lists texts that a later text on the same subject may have replaced. They are compared by
    words and meaning: a pair may agree, and a contradiction in other words is not found.

    JSON: command, conversation, system, settings, counts (texts, attributed, unsure, no source,
    against time, turns, written, questions), stages (all, category, session: a row each with the
    share of every stage), evidence (question, number, category, turn, said, stage, rank, score,
    needed, memory, unsure), stale
    (text, turns, newer, newer_turns, likeness, ended), advice (text, evidence: places in that
    list), curve (read, share), limits (name, limit, share, kept), grades (group, answers, right).
    With several conversations: conversations (the same for each), stages, grades, limits.

    Examples:
        segviz audit chat.json --store mem0.json
        segviz audit talk.json --store facts.csv --html audit.html
        segviz audit talk.json --store facts.csv --fail-under recall=.8
        segviz audit sample:ines-theo --system my_module:Notes
        segviz audit talk.json --system bm25 -k 100 --trec runs
        segviz audit locomo10.json --run predictions.json
        segviz audit boat.json.gz
    """
    either(options, "store", "system")
    # Check the files to write before the work begins.
    named = {name: getattr(options, name) for name in ("output", "html", "junit")}
    paths = {name: output_path(path, options) for name, path in named.items() if path}
    if options.trec:
        output_folder(options.trec)
    limits = _limits(options.fail_under)
    if options.junit and not limits:
        raise UsageError("--junit writes the limits of --fail-under; give both")
    with models(options, console) as clients:
        results = [*_audits(options, console, clients)]
    stages = [one for each in results for one in each.stages]
    with user_errors():
        checked = limits_of(stages, limits) if limits else []
    if len(results) == 1:
        _write_one(results[0], options, paths, limits)
    elif alone := [name for name in ("html", "junit", "trec") if getattr(options, name)]:
        raise UsageError(f"--{alone[0]} is about one conversation; name it by --conversation")
    if "output" in paths:
        write_file(paths["output"], rows_csv(_rows(results)))
    code = OK if all(row["kept"] for row in checked) else UNFINISHED
    if options.json:
        whole = {"limits": checked, "stages": tables_of(stages), "grades": grades_of(results)}
        contents = [_content(each) for each in results]
        one = contents[0] if len(contents) == 1 else {"conversations": contents}
        console.json("audit", one | whole)
        return code
    _print(results, console)
    for row in checked:
        side = "at least" if row["name"] == "recall" else "at most"
        verdict = "kept" if row["kept"] else "failed"
        share, limit = number_of(row["share"]), limits[str(row["name"])]
        console.line(f"{verdict}: {row['name']} is {share:.3f}, expected {side} {limit:g}")
    return code


def _write_one(
    result: Audit, options: Options, paths: dict[str, Path], limits: dict[str, float]
) -> None:
    """Writes the files about one conversation: page, JUnit XML, TREC's run."""
    if "html" in paths:
        write_file(paths["html"], audit_html(result))
    if "junit" in paths:
        write_file(paths["junit"], audit_junit(result, limits))
    if options.trec:
        folder = output_folder(options.trec)
        with user_errors(OSError):
            folder.mkdir(exist_ok=True)
        run = re.sub(r"[^\w.-]", "_", f"{result.memory.system}.run")
        texts = {run: trec_run(result), "qrels.txt": trec_qrels(result.memory.conversation)}
        for name, text in texts.items():
            write_file(output_path(str(folder / name), options), text)


def _print(results: Sequence[Audit], console: Console) -> None:
    """Prints counts, stages and grades; of one conversation also what to do."""
    result, *others = results
    name = result.memory.system
    if others:
        asked = sum(each.counts["questions"] for each in results)
        console.line(
            f"{name}: {counted(len(results), 'conversation')}, "
            f"{counted(asked, 'question')} with evidence"
        )
    else:
        console.line(f"{name} on {result.memory.conversation.id}:")
        for line in result.summary:
            console.line(line)
    if stages := [one for each in results for one in each.stages]:
        tables = tables_of(stages)
        if others:
            del tables["session"]
        columns = ("group", "gold turns", *occurring(tables["all"]))
        console.rows([{name: row[name] for name in columns} for t in tables.values() for row in t])
    if graded := grades_of(results):
        console.line("Right answers:")
        console.rows(graded)
    for advice in () if others else result.advice:
        console.line(f"* {advice.text}")
    stale = () if others else result.stale
    if stale:
        console.line(f"{len(stale)} texts with a later one on the same subject, or ended:")
    for each in stale[:_STALE]:
        console.line(f"  {each.text}")
        console.line(f"    -> {each.newer or 'ended ' + each.ended}")


def _rows(results: Sequence[Audit]) -> list[Row]:
    """Returns the rows of all audits, with the conversation if there are several."""
    rows: list[Row] = []
    for each in results:
        head: Row = {"conversation": each.memory.conversation.id} if len(results) > 1 else {}
        rows += [head | row for row in each.rows()]
    return rows


def _audits(options: Options, console: Console, clients: Models) -> Iterator[Audit]:
    """Yields the audit of a memory, or of a run on each conversation of which it has a question.

    Raises:
        UsageError: a file cannot be used, or the run has no question of the data set.
    """
    settings = given(options, SHARED)
    with user_errors(LoadError, OSError):
        run = read_run(path_of(options.run)) if options.run else None
        built = options.system or store.recognises(path_of(options.file))
    if run and built and run.retrieves:
        raise UsageError(f"{options.run} says what was retrieved; give it without a memory")
    if not run or built or (options.store and not run.retrieves):
        memory = _memory(options, console, clients)
        with user_errors():
            answers = run.of(memory.conversation, system=memory.system) if run else {}
            if run and not answers:
                about = f"{memory.system} to {memory.conversation.id}"
                raise ValueError(f"{options.run} has no answer of {about}; {_EXPECTED}")
            yield audited(memory, answers=answers, **settings)
        return
    refuse_idle(options.run, options, "unit", "texts", "settings")
    with user_errors(LoadError, OSError):
        stored = read_stored(path_of(options.store)) if options.store else ()
    if click.get_current_context().get_parameter_source("k") is ParameterSource.DEFAULT:
        del settings["k"]
    corpus = read_corpus(options, console)
    wanted = [*map(str, options.conversation)] or corpus.ids
    number = 0
    for name in wanted:
        with user_errors(ValueError, KeyError, LoadError):
            conversation = corpus[name]
            if answers := run.of(conversation, corpus.ids):
                number += 1
                embedder = clients.embedder
                memory = run_memory(conversation, answers, stored, name=run.name, embedder=embedder)
                yield audited(memory, answers=answers, **settings)
    if not number:
        about = " or ".join(map(repr, wanted[:3]))
        raise UsageError(f"{options.run} has no record of a question of {about}; {_EXPECTED}")


def _content(result: Audit) -> dict[str, Any]:
    """Returns the fields of ``--json`` about one conversation."""
    return {
        "conversation": result.memory.conversation.id,
        "system": result.memory.system,
        "settings": settings_content(result.settings),
        "counts": dict(result.counts),
        "stages": tables_of(result.stages),
        "evidence": result.rows(),
        "advice": [{"text": each.text, "evidence": each.places} for each in result.advice],
        "curve": curve_rows(result.stages),
        "stale": result.stale,
    }


def _limits(text: str | None) -> dict[str, float]:
    """Reads limits such as ``recall=.8,never-written=.1``; raises UsageError for another form."""
    limits: dict[str, float] = {}
    for part in [] if text is None else text.split(","):
        name, _, share = map(str.strip, part.partition("="))
        if name in limits:
            raise UsageError(f"--fail-under names {name!r:.40} twice; give each one share")
        try:
            limits[name] = float(share)
        except ValueError:
            limits[name] = math.nan
        if not (name and 0 <= limits[name] <= 1):
            expected = "a name and a share from 0 to 1, such as recall=.8"
            raise UsageError(f"--fail-under {part.strip()!r:.40}; expected {expected}")
    return limits


def _memory(options: Options, console: Console, clients: Models) -> Memory:
    """Returns the memory of a store, a file or a system; raises UsageError if there is none."""
    if not options.store and options.system != FACTS:
        return memory_of(options, console, clients)
    if store.recognises(path_of(options.file)):
        refuse_idle(options.file, options)
    idle = ("texts", "settings") if options.store else ("unit", "texts", "settings")
    refuse_idle(options.store or options.system, options, *idle)
    conversation, embedder = read_conversation(options, console), clients.embedder
    with user_errors(ValueError, LoadError, OSError):
        if options.system:
            return locomo_facts(conversation, embedder=embedder)
        path = path_of(options.store)
        name, unit = path.stem[:60] or "store", options.unit or "turn"
        return memory_from(path, conversation=conversation, unit=unit, name=name, embedder=embedder)
