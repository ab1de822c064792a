"""``segviz audit``: says at which stage a memory loses evidence."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from segviz import files, store
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
    output_path,
    path_of,
    path_option,
    read_conversation,
    write_file,
)
from segviz.evaluation.audit import Audit
from segviz.evaluation.audit import audit as audited
from segviz.evaluation.stages import curve_rows, occurring
from segviz.export import rows_csv, trec_qrels, trec_run
from segviz.export.audit import audit_html, audit_junit
from segviz.loaders import LoadError, table_rows
from segviz.memory import Memory, locomo_facts, memory_from

FACTS = "locomo-facts"

_STORE = (
    "Texts that a memory stored: a dump of mem0, Letta, Zep or Graphiti, a LangGraph store or "
    "Hindsight, or any JSON or CSV of texts. Its default --unit is turn."
)
_ANSWERS = "A table of segviz grade -o, or any with columns question (its number) and right."
_CSV = "Also write a row per question and gold turn as CSV."
_TREC = "Write qrels.txt and SYSTEM.run, TREC's formats, with the turns of the K nodes."
_LIMITS = (
    "Limits on shares of the gold turns: recall (read turns) is a least share, a stage with "
    "hyphens a largest one, as in recall=.8,never-written=.1. Exit code 3 if one is missed."
)
_JUNIT = "Write the limits as JUnit XML, a test case for each."
_STALE = 10
_YES_NO = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@command
@file_argument
@path_option("--store", _STORE, "FILE")
@path_option("--answers", _ANSWERS, "FILE")
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
    from it), written and not ranked (not among the K best), ranked and not read (beyond the
    budget), read; with --answers also read and answered wrong. Texts that name no turns are
    attributed to the turns they most likely came from. An unsure source gets no credit, and an
    invention has no source. So written means that a text comes from the turn, and read that such a
    text is read, not that the text repeats the answer. A creation time with a clock guides the
    search for sources, other times less, and none excludes a turn. A system uses its
    own retrieval. If its search gives no scores, score and needed are in proportion to 1/rank.
    --system locomo-facts audits the facts that a LoCoMo file brings.

    Sentences say what to do: raise K, look at extraction, look at recency. JSON and the page have
    the gold turns behind each, and the share that a larger K or more tokens would read.

    Also lists texts that a later text on the same subject may have replaced. They are compared by
    words and meaning: a pair may agree, and a contradiction in other words is not found.

    JSON: command, conversation, system, settings, counts (texts, attributed, unsure, no source,
    against time, turns, written, questions), stages (all, category, session: a row each with the
    share of every stage), evidence (question, number, category, turn, said, stage, rank, score,
    needed, memory, unsure), stale
    (text, turns, newer, newer_turns, likeness, ended), advice (text, evidence: places in that
    list), curve (read, share), limits (name, limit, share, kept).

    Examples:
        segviz audit chat.json --store mem0.json
        segviz audit talk.json --store facts.csv --html audit.html
        segviz audit talk.json --store facts.csv --fail-under recall=.8
        segviz audit sample:ines-theo --system my_module:Notes
        segviz audit talk.json --system bm25 -k 100 --trec runs
        segviz audit boat.json.gz
    """
    either(options, "store", "system")
    # Check the files to write before the work begins.
    inputs = [each for each in (options.file, options.store) if each]
    named = {name: getattr(options, name) for name in ("output", "html", "junit")}
    paths = {name: output_path(path, *inputs) for name, path in named.items() if path}
    limits = _limits(options.fail_under or "")
    if options.junit and not limits:
        raise UsageError("--junit writes the limits of --fail-under; give both")
    with models(options, console) as clients:
        memory = _memory(options, console, clients)
        conversation = memory.conversation
        with user_errors():
            right = _right(options.answers, memory) if options.answers else None
            result = audited(memory, right=right, **given(options, SHARED))
            kept = result.limits(limits) if limits else {}
    # Write the files, then print the result.
    contents = {
        "output": lambda: rows_csv(result.rows()),
        "html": lambda: audit_html(result),
        "junit": lambda: audit_junit(result, limits),
    }
    for name, path in paths.items():
        write_file(path, contents[name]())
    if options.trec:
        folder = Path(options.trec).expanduser()
        with user_errors(OSError):
            folder.mkdir(exist_ok=True)
        write_file(folder / "qrels.txt", trec_qrels(conversation))
        write_file(folder / re.sub(r"[^\w.-]", "_", f"{memory.system}.run"), trec_run(result))
    code = OK if all(fine for _, fine in kept.values()) else UNFINISHED
    if options.json:
        console.json("audit", _content(result, limits, kept))
        return code
    _report(result, console)
    for name, (share, fine) in kept.items():
        side = "at least" if name == "recall" else "at most"
        verdict = "kept" if fine else "failed"
        console.line(f"{verdict}: {name} is {share:.3f}, expected {side} {limits[name]:g}")
    return code


def _content(
    result: Audit, limits: dict[str, float], kept: dict[str, tuple[float, bool]]
) -> dict[str, Any]:
    """Returns the fields of ``--json``."""
    return {
        "conversation": result.memory.conversation.id,
        "system": result.memory.system,
        "settings": settings_content(result.settings),
        "counts": dict(result.counts),
        "stages": result.tables(),
        "evidence": result.rows(),
        "advice": [{"text": each.text, "evidence": each.places} for each in result.advice],
        "curve": curve_rows(result.stages),
        "limits": [
            {"name": name, "limit": limits[name], "share": share, "kept": fine}
            for name, (share, fine) in kept.items()
        ],
        "stale": result.stale,
    }


def _report(result: Audit, console: Console) -> None:
    """Prints counts, stages, advice and texts that may be out of date."""
    memory, tables = result.memory, result.tables()
    counts, how = result.counts, result.settings.in_words
    console.line(
        f"{memory.system}: {counts['texts']} texts from {counts['written']} of "
        f"{counts['turns']} turns; {counts['attributed']} name no turn and were compared with all "
        f"({counts['unsure']} unsure, {counts['no source']} without a source)"
    )
    if late := counts["against time"]:
        console.line(f"{late} texts have the words of a turn that was said after they were written")
    if not result.stages:
        console.line(
            f"{memory.conversation.id} has no question with evidence, so no stage is known"
        )
    else:
        console.line(
            f"{counts['questions']} questions with evidence, K {result.settings.k}, by {how}"
        )
        columns = ("group", "gold turns", *occurring(tables["all"]))
        console.rows([{name: row[name] for name in columns} for t in tables.values() for row in t])
    for advice in result.advice:
        console.line(f"* {advice.text}")
    if result.stale:
        console.line(f"{len(result.stale)} texts with a later one on the same subject, or ended:")
    for each in result.stale[:_STALE]:
        console.line(f"  {each.text}")
        console.line(f"    -> {each.newer or 'ended ' + each.ended}")


def _limits(text: str) -> dict[str, float]:
    """Reads limits such as ``recall=.8,never-written=.1``; raises UsageError for another form."""
    limits: dict[str, float] = {}
    for part in filter(str.strip, text.split(",")):
        name, _, share = part.partition("=")
        try:
            limits[name.strip()] = float(share)
        except ValueError:
            limits[name.strip()] = math.nan
        if not 0 <= limits[name.strip()] <= 1:
            expected = "a name and a share from 0 to 1, such as recall=.8"
            raise UsageError(f"--fail-under {part.strip()!r:.40}; expected {expected}")
    return limits


def _right(path: str, memory: Memory) -> dict[int, bool]:
    """Reads a table of graded answers; maps a question's number to True for a right answer.

    Rows that name another conversation or system are skipped.

    Raises:
        UsageError: the table has no answer of this memory, two to one question, or a bad number.
    """
    mine = {"conversation": memory.conversation.id, "system": memory.system}
    with user_errors(OSError, LoadError):
        rows = table_rows(files.read(path), Path(path).name)
    right: dict[int, bool] = {}
    for row in rows:
        if any(str(row.get(name, own)) != own for name, own in mine.items()):
            continue
        number, graded = str(row.get("question", "")), str(row.get("right", "")).lower()
        if not number.isdecimal():
            raise UsageError(f"{path}: question is {number!r:.60}; expected its number")
        if int(number) in right:
            raise UsageError(f"{path}: question {number} has two answers; keep one retrieval")
        if graded in _YES_NO:
            right[int(number)] = _YES_NO[graded]
    if not right:
        raise UsageError(f"{path} has no answer of {memory.system} to {memory.conversation.id}")
    return right


def _memory(options: Options, console: Console, clients: Models) -> Memory:
    """Returns the memory of a store, a file or a system; raises UsageError if there is none."""
    if not options.store and options.system != FACTS:
        return memory_of(options, console, clients)
    if options.settings:
        raise UsageError("--set is for a system; stored texts have no parameters")
    if store.recognises(path_of(options.file)):
        refuse_idle(options.file, options)
    conversation, embedder = read_conversation(options, console), clients.embedder
    with user_errors(ValueError, LoadError, OSError):
        if options.system:
            return locomo_facts(conversation, embedder=embedder)
        path = path_of(options.store)
        name, unit = path.stem[:60] or "store", options.unit or "turn"
        return memory_from(path, conversation=conversation, unit=unit, name=name, embedder=embedder)
