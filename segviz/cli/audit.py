"""``segviz audit``: says at which stage a memory loses evidence."""

from __future__ import annotations

import re
from pathlib import Path

import click

from segviz import files
from segviz.cli.build_options import UNIT, SystemName, build_one, imported
from segviz.cli.command import (
    OK,
    Options,
    UsageError,
    command,
    either,
    option,
    output_options,
    user_errors,
)
from segviz.cli.console import Console
from segviz.cli.models import Models, embedder_option, model_options, models
from segviz.cli.retrieval import given, settings_content
from segviz.cli.source import GAP_HOURS, output_path, path_of, read_corpus, write_file
from segviz.conversation import UNIT_RULES, Conversation
from segviz.evaluation.audit import audit as audited
from segviz.evaluation.stages import occurring
from segviz.export.audit import audit_html
from segviz.export.tables import rows_csv
from segviz.export.trec import trec_qrels, trec_run
from segviz.loaders import LoadError, table_rows
from segviz.memory import Memory, locomo_facts, memory_from
from segviz.systems import SYSTEMS

FACTS = "locomo-facts"

_FILE = "The conversation with its questions, in any format, or sample:NAME."
_STORE = (
    "Texts that a memory stored: a dump of mem0, Letta, Zep or Graphiti, a LangGraph store or "
    "Hindsight, or any JSON or CSV of texts."
)
_SYSTEM = f"A system, MODULE:CLASS with add and search, or {FACTS} for the facts of a LoCoMo file."
_UNIT = "Unit of evidence with --store, else rule of the leaves."
_BUDGET = "Tokens a model reads of the K nodes."
_ANSWERS = "A table of segviz grade -o, or any with columns question (its number) and right."
_TREC = "Write qrels.txt and SYSTEM.run, TREC's formats, with the turns of the K nodes."
_STALE = 10
_YES_NO = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@command
@option("--conversation", _FILE, required=True, type=click.Path(), metavar="FILE")
@option("--only", "Id of the conversation in the file.", "the first", metavar="ID")
@option("--store", _STORE, type=click.Path(), metavar="FILE")
@option("--system", _SYSTEM, type=SystemName([*SYSTEMS, FACTS]), metavar="NAME")
@option("--unit", _UNIT, f"turn; {UNIT} of systems", type=click.Choice(list(UNIT_RULES)))
@option("-k", "Nodes that are ranked.", default=10)
@option("--budget", _BUDGET, "all", type=int)
@option("--answers", _ANSWERS, type=click.Path(), metavar="FILE")
@option("--relevance", "Relevance for a store without search.", "contextual", metavar="NAME")
@option("--csv", "Write a row per question and gold turn.", type=click.Path(), metavar="PATH")
@option("--trec", _TREC, type=click.Path(), metavar="FOLDER")
@option("--html", "Write a report that works offline.", type=click.Path(), metavar="PATH")
@embedder_option
@model_options
@output_options
def audit(options: Options, console: Console) -> int:
    """Says at which stage a memory loses evidence.

    Follows every gold turn of every question of the conversation: never written (no text was made
    from it), written and not ranked (not among the K best), ranked and not read (beyond the
    budget), read; with --answers also read and answered wrong. Texts that name no turns are
    attributed to the turns they most likely came from. So written means that a text comes from the
    turn, and read that such a text is read, not that the text repeats the answer. A system uses its
    own retrieval. If its search gives no scores, score and needed are in
    proportion to 1/rank.

    Also lists texts that a later text on the same subject may have replaced. They are compared by
    words and meaning: a pair may agree, and a contradiction in other words is not found.

    JSON: command, conversation, system, settings, counts (texts, attributed, unsure, turns,
    written, questions), stages (all, category, session: a row each with the share of every stage),
    evidence (question, number, category, turn, said, stage, rank, score, needed, memory), stale
    (text, turns, newer, newer_turns, likeness, ended).

    Examples:
        segviz audit --conversation chat.json --store mem0.json
        segviz audit --conversation talk.json --store facts.csv --html audit.html
        segviz audit --conversation sample:ines-theo --system my_module:Notes
        segviz audit --conversation talk.json --system bm25 -k 100 --trec runs
    """
    either(options, "store", "system")
    if not (options.store or options.system):
        raise UsageError("name what is audited: --store FILE or --system NAME")
    inputs = [each for each in (options.conversation, options.store) if each]
    targets = {
        name: output_path(path, *inputs)
        for name in ("csv", "html")
        if (path := getattr(options, name)) is not None
    }
    reading = {"file": options.conversation, "columns": None, "day_first": None}
    corpus = read_corpus(Options(**reading, gap_hours=GAP_HOURS), console)
    with user_errors(ValueError, KeyError):
        conversation = corpus[options.only or 0]
    if len(corpus) > 1 and not options.only:
        console.note(f"{len(corpus)} conversations; this is about {conversation.id} (--only ID)")
    with models(options, console) as clients:
        memory = _memory(options, console, clients, conversation)
        with user_errors():
            right = _right(options.answers, memory) if options.answers else None
            found = audited(memory, right=right, **given(options, ("k", "budget", "relevance")))
    if "csv" in targets:
        write_file(targets["csv"], rows_csv(found.rows()))
    if options.trec:
        folder = Path(options.trec).expanduser()
        with user_errors(OSError):
            folder.mkdir(exist_ok=True)
        write_file(folder / "qrels.txt", trec_qrels(conversation))
        write_file(folder / re.sub(r"[^\w.-]", "_", f"{memory.system}.run"), trec_run(found))
    if "html" in targets:
        write_file(targets["html"], audit_html(found))
    tables = found.tables()
    if options.json:
        content = {
            "conversation": conversation.id,
            "system": memory.system,
            "settings": settings_content(found.settings),
            "counts": dict(found.counts),
            "stages": tables,
            "evidence": found.rows(),
            "stale": found.stale,
        }
        console.json("audit", content)
        return OK
    said, how = found.counts, found.settings.in_words
    console.line(
        f"{memory.system}: {said['texts']} texts, {said['attributed']} attributed "
        f"({said['unsure']} unsure); of {said['written']} of {said['turns']} turns"
    )
    if not found.stages:
        console.line(f"{conversation.id} has no question with evidence, so no stage is known")
    else:
        console.line(f"{said['questions']} questions with evidence, K {options.k}, by {how}")
        kept = ("group", "gold turns", *occurring(tables["all"]))
        console.rows([{name: row[name] for name in kept} for t in tables.values() for row in t])
    if found.stale:
        console.line(f"{len(found.stale)} texts with a later one on the same subject, or ended:")
    for each in found.stale[:_STALE]:
        console.line(f"  {each.text}")
        console.line(f"    -> {each.newer or 'ended ' + each.ended}")
    return OK


def _right(path: str, memory: Memory) -> dict[int, bool]:
    """Reads a table of graded answers; maps a question's number to True for a right answer.

    Rows that name another conversation or system are skipped.

    Raises:
        UsageError: the table has no answer of this memory, two to one question, or a bad number.
    """
    mine = {"conversation": memory.conversation.id, "system": memory.system}
    with user_errors(OSError, LoadError):
        rows = table_rows(files.read(path), Path(path).name)
    found: dict[int, bool] = {}
    for row in rows:
        if any(str(row.get(name, own)) != own for name, own in mine.items()):
            continue
        number, said = str(row.get("question", "")), str(row.get("right", "")).lower()
        if not number.isdecimal():
            raise UsageError(f"{path}: question is {number!r:.60}; expected its number")
        if int(number) in found:
            raise UsageError(f"{path}: question {number} has two answers; keep one retrieval")
        if said in _YES_NO:
            found[int(number)] = _YES_NO[said]
    if not found:
        raise UsageError(f"{path} has no answer of {memory.system} to {memory.conversation.id}")
    return found


def _memory(
    options: Options, console: Console, clients: Models, conversation: Conversation
) -> Memory:
    """Returns the memory of a store or system; raises UsageError if there is none."""
    if options.system and options.system != FACTS:
        unit = options.unit or UNIT
        return build_one(conversation, imported(options.system), {}, unit, console, clients)
    unit = options.unit or "turn"
    with user_errors(ValueError, LoadError, OSError):
        if options.system:
            return locomo_facts(conversation, embedder=clients.embedder)
        path = path_of(options.store)
        name = path.stem[:60] or "store"
        return memory_from(
            path, conversation=conversation, unit=unit, name=name, embedder=clients.embedder
        )
