"""``segviz ask``: prints the evidence for a question."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from segviz.cli.build_options import build_options, memory_of
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
from segviz.cli.models import models
from segviz.cli.retrieval import (
    number_option,
    question_of,
    retrieval_options,
    settings_content,
    settings_of,
)
from segviz.cli.source import file_argument
from segviz.conversation import Question
from segviz.llm import ModelError
from segviz.memory import Memory
from segviz.memory.answer import Answer, answer
from segviz.retrieval import Result
from segviz.systems import level_name, level_names
from segviz.view.captions import dispute_lines, moment_sentence, shown_labels


@command
@file_argument
@click.argument("question", required=False)
@number_option
@option("--as-of", "Ask the memory as it was before this date or time.", metavar="TIME")
@option("--answer", "Have the chat model answer from the evidence.", is_flag=True)
@retrieval_options
@build_options()
@output_options
def ask(options: Options, console: Console) -> int:
    """Retrieves the evidence for a question.

    Scores every node of a memory for the question and propagates the scores along the structure.
    Prints the best nodes with their scores before and after, rank, turns and text. FILE is a
    memory, a conversation file, or sample:NAME for a bundled one. For a conversation, the memory
    is built first and not saved (segviz build saves it).

    JSON: command, conversation, system, question, number (of the data set's question, or null),
    asked_at (id of the turn before which the question is asked, or null), settings (as used, with
    the step), evidence (best first: node, level, span [start, stop) in units,
    turn_ids, text, initial, final, rank_before, rank_after), levels (initial and final: number of
    retrieved nodes on each level), gold (turn id -> found, quoted, answered, missed, not in any
    leaf or not in memory yet), gold_answer, disputed (verdict of the audit: kind, evidence,
    unresolved, answer, reason; or null), answer (text, tokens, cached, fault, left_out:
    lowest-ranked excerpts that the longest prompt had no room for; null without --answer).

    Examples:
        segviz ask sample:ines-theo "What is the boat called now?"
        segviz ask boat.json.gz --number 3
        segviz ask boat.json.gz "Who is Duke?" --policy both --levels 0 --json
        segviz ask boat.json.gz "What is the boat called now?" --as-of 2024-05-01
    """
    with models(options, console) as clients:
        if options.answer and clients.chat is None:
            raise UsageError("--answer needs a chat model; name one with --server and --model")
        memory = memory_of(options, console, clients)
        text, question = question_of(options, memory.conversation)
        if text is None:
            raise UsageError("no question is given; write one after the file, or use --number")
        try:
            with user_errors():
                settings = settings_of(options, memory)
                as_of = options.as_of
                result = memory.ask(question or text, settings, as_of=as_of, chat=clients.chat)
            wanted = clients.chat if options.answer else None
            reply = answer(memory, result, wanted) if wanted else None
        except ModelError as error:
            raise Unfinished(f"{error} The same command asks again.") from None
    # Say which of the chosen levels have no node.
    there = np.unique(result.structure.level[result.structure.active]).tolist()
    if lost := sorted(set(result.settings.levels or ()).difference(there)):
        lacking, known = (", ".join(map(str, levels)) for levels in (lost, there))
        console.note(f"no node lies on level {lacking}; there are nodes on level {known or 'none'}")
    if options.json:
        console.json("ask", _content(memory, result, question, reply))
    else:
        _print_report(console, memory, result, question, reply)
    return OK


def _gold(memory: Memory, result: Result, question: Question | None) -> dict[str, str]:
    """Maps the id of each gold turn to its ``GoldEvidence.fate``; empty without any."""
    return memory.gold(question or (), result.structure).fate(result.evidence)


def _content(
    memory: Memory, result: Result, question: Question | None, reply: Answer | None
) -> dict[str, Any]:
    return {
        "conversation": memory.conversation.id,
        "system": memory.system,
        "question": result.question,
        "number": question.index if question else None,
        "asked_at": question.asked_at if question else None,
        "settings": settings_content(result.settings),
        "evidence": result.evidence,
        "levels": {which: result.levels(which) for which in ("initial", "final")},
        "gold": _gold(memory, result, question),
        "gold_answer": question.answer if question else None,
        "disputed": question.disputed if question else None,
        "answer": reply,
    }


def _print_report(
    console: Console,
    memory: Memory,
    result: Result,
    question: Question | None,
    reply: Answer | None,
) -> None:
    """Prints the question, the retrieved nodes, gold evidence and the model's answer."""
    # The question and how it was asked.
    console.line(result.question)
    asked = result.settings
    spread = f"{asked.policy}, alpha {asked.alpha:g}, H {asked.horizon}"
    alone = result.native and getattr(memory.model, "relevance", "") is None
    console.line(
        f"{len(result.evidence)} of {int(result.structure.active.sum())} nodes"
        + (", each of a same-text chain counted, " if asked.literal else ", ")
        + ("by the system's own retrieval" if result.native else spread)
        + (f", relevance {asked.relevance}" if not alone else "")
        + (f" ({asked.preset})" if asked.preset else "")
    )
    if asked.step is not None:
        console.line(moment_sentence(memory, question, asked.step))
    if result.evidence and not result.native:
        console.line("scores: before -> after propagation; was: rank before propagation")
    # A paragraph for each retrieved node, best first.
    gold = _gold(memory, result, question)
    gold_nodes = memory.gold(question or (), result.structure).by_node
    names = level_names(memory.system)
    labels = shown_labels(memory, result.structure)
    for item in result.evidence:
        start, stop = item.span
        where = f"unit {start}" if stop - start == 1 else f"units {start}-{stop - 1}"
        mark = ", gold" if gold_nodes.get(item.node) else ""
        # A system's own retrieval propagates nothing: its rank and score, and no change.
        moved = "" if item.rank_before == item.rank_after else f", was {item.rank_before}"
        scores = f"{item.initial:.5f} -> {item.final:.5f}{moved}"
        if result.native:
            scores = f"score {item.final:.5f}"
        console.line()
        label = labels[item.node]
        name = (f"{label}: " if label else "") + level_name(item.level, names)
        ends = dict.fromkeys((*item.turn_ids[:1], *item.turn_ids[-1:]))
        console.line(
            f"{item.rank_after:>3}. {name}, {where} "
            f"({' to '.join(ends) or 'no turns'}), "
            f"{scores}{mark}"
        )
        console.block(item.text, "     ")
    # What the data set says about the question, and the model's answer.
    if gold:
        console.line()
        console.line("gold: " + ", ".join(f"{turn} {state}" for turn, state in gold.items()))
    if question is not None and question.answer is not None:
        console.line(f"gold answer: {question.answer}")
    if question is not None and question.disputed is not None:
        for line in dispute_lines(question.disputed):
            console.line(line)
    if reply is not None:
        console.line()
        read = len(result.evidence) - reply.left_out
        fewer = f" from the best {read} of {len(result.evidence)} excerpts" * (reply.left_out > 0)
        console.line(f"answer{fewer}:")
        console.block(reply.fault or reply.text, "     ")
