"""``segviz grade``: has models answer all questions and grade the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from segviz.cli.build_options import build_options
from segviz.cli.command import (
    OK,
    Console,
    Options,
    Unfinished,
    UsageError,
    command,
    names,
    numbers,
    option,
    output_options,
    user_errors,
    whole_numbers,
)
from segviz.cli.many import ANSWERS, Runs, runs_of
from segviz.cli.models import agree, judge_options, models
from segviz.cli.retrieval import SHARED, options_for, settings_content
from segviz.cli.source import files_argument, output_path, path_option, write_file
from segviz.cli.tables import check_disputed, counting_options
from segviz.conversation import Conversation, category_label
from segviz.evaluation import (
    COLLAPSED,
    GRADES,
    NATIVE,
    AnswerEvaluation,
    AnsweringPaused,
    Outcomes,
    category_rows,
    evaluate_answers,
    first_alike,
    gradable,
    grade_rows,
    one_grade,
    pooled,
    rehearse_answers,
    retrievals,
    summary,
)
from segviz.export import rows_csv
from segviz.llm import ChatByRole
from segviz.memory import RIGHT_FROM, CallEstimate, Memory, Rehearsal
from segviz.retrieval import POLICIES, RetrievalSettings
from segviz.text.captions import counted

_RETRIEVALS = (
    "Retrievals of the evidence: native (that of the system's paper; no propagation for a system "
    f"without one), or policies: {', '.join(POLICIES)}."
)
_LIMIT = "Questions of each conversation, evenly spread."
_CSV = "Also write a row per question and retrieval as CSV."
_ANSWERED = ("answer", "score", "right", "token_f1", "bleu1", "tokens", "fault", "left_out")


@dataclass(frozen=True)
class _Graded:
    """Evaluation of one conversation under one retrieval of one system."""

    conversation: Conversation
    system: str
    retrieval: str
    evaluation: AnswerEvaluation

    @property
    def setting(self) -> str:
        """Label of the row: system and retrieval."""
        return f"{self.system} · {self.retrieval}"


@command
@files_argument
@option("--retrievals", _RETRIEVALS, default="native", type=names, metavar="NAME,…")
@option("--alphas", "Decays of the policies.", "0.1", type=numbers, metavar="N,…")
@option("--horizons", "Hops of the policies.", "2", type=whole_numbers, metavar="N,…")
@option("--limit", _LIMIT, "all", type=click.IntRange(1), metavar="N")
@path_option("-o --output", _CSV)
@options_for(*SHARED)
@counting_options
@build_options(several=True)
@judge_options
@output_options
def grade(options: Options, console: Console) -> int:
    """Has models answer all questions and grade the answers.

    A chat model answers every question with a gold answer from the evidence that each system
    retrieves, and the judge grades the answers from 0 to 3; 2 and 3 are right. Adversarial
    questions and empty answers are graded by rule. Without --judge only these are graded: a model
    does not grade its own answers unless it is named twice. FILE and systems are those of segviz
    compare; several FILEs are built memories of one conversation.

    Before it starts it says how many calls and tokens it needs, for how long at the measured speed
    of the servers (each gets a few short requests), at which price if that is known, and asks.
    Every reply is saved: after a kill or a failed server the same command asks only the rest, and
    its result is the same.

    judge accuracy: share of right answers. perfect rate: share of grade 3. token F1 and BLEU-1:
    overlap with the gold answer; 1 or 0 for an adversarial question. gain: paired difference in
    judge accuracy to the first row that is asked alike, by a system's own retrieval or by segviz's
    relevance; with one system to the first row. Intervals resample conversations, and questions in
    them.

    JSON: command, answerer, judge ("" without), rows (for each system and retrieval: system,
    retrieval, settings, questions, faults, measures as in segviz compare, categories (category ->
    judge accuracy)), answers (for each question and row: conversation, system, retrieval,
    question, category, text, disputed, answer, score, right, token_f1, bleu1, tokens, fault,
    left_out: lowest-ranked excerpts that the longest prompt had no room for).

    Examples, the second as SegTreeMem Table 4:
        segviz grade sample:ines-theo --limit 10 --server Ollama
            --model qwen3 --judge phi4
        segviz grade locomo10.json --all --systems raptor,segment-tree
            --retrievals native,bottom-up --relevance dense
            --server gpt-5.4-mini --judge-server "gpt-4o-mini (judge)"
        segviz grade a.json.gz b.json.gz --server Ollama
            --model qwen3 --judge phi4 -o answers.csv
    """
    table = output_path(options.output, options) if options.output else None
    # One process calls the models, and the order of the units is kept.
    vars(options).update(workers=1, scheduler=None)
    with models(options, console) as clients:
        chat = clients.chat
        if chat is None:
            raise UsageError("no model answers; name one with --server and --model")
        # Say what it will cost and ask, before anything is built or answered.
        runs = runs_of(options, console, clients, counts=ANSWERS)
        talks = (runs.conversations[place] for place in range(len(runs.conversations)))
        asked = (one for talk in talks for one in gradable(talk.questions, options.limit))
        check_disputed(options, asked)
        if not chat.has("grade"):
            console.note("no model grades (--judge): only rules do, for adversarial questions")
        agree(lambda: _expected(runs, chat, options), clients, options, console)
        graded = _graded(runs, chat, options, console)
    if table is not None:
        write_file(table, rows_csv(_answers(graded)))
    _print(graded, options, console)
    return OK


def _ways(memory: Memory, options: Options) -> dict[str, RetrievalSettings]:
    """Returns the retrieval settings of the options by label; UsageError for a bad one."""
    with user_errors():
        limits = RetrievalSettings(**{name: getattr(options, name) for name in SHARED})
        alphas, horizons = options.alphas or (), options.horizons or ()
        return retrievals(memory, options.retrievals, limits, alphas, horizons)


def _expected(runs: Runs, chat: ChatByRole, options: Options) -> dict[str, CallEstimate]:
    """Returns the expected calls by role; other conversations need as many as the first."""
    first, builds = runs.conversations[0], dict[str, CallEstimate]()
    asked, stand_in = gradable(first.questions, options.limit), Rehearsal(chat)
    for label in runs.builders:
        build, memory = runs.rehearse(first, label)
        ways = _ways(memory, options).values()
        rehearse_answers(memory, asked, ways, stand_in, graded=chat.has("grade"))
        builds |= {role: builds.get(role, CallEstimate()) + build[role] for role in build}
    talks = [runs.conversations[place] for place in range(len(runs.conversations))]
    questions = sum(len(gradable(talk.questions, options.limit)) for talk in talks) / len(asked)
    turns = sum(len(talk.turns) for talk in talks) / len(first.turns)
    needed = {role: each.times(questions) for role, each in stand_in.by_role.items()}
    return {**{role: each.times(turns) for role, each in builds.items()}, **needed}


# --- answering and grading ---------------------------------------------------------------------


def _graded(runs: Runs, chat: ChatByRole, options: Options, console: Console) -> list[_Graded]:
    """Builds all memories, answers and grades; raises Unfinished if a model gives up."""
    graded: list[_Graded] = []
    judge = chat.of("grade") if chat.has("grade") else None
    on = "All replies are saved; the same command continues there."
    try:
        for talk, label in runs:
            # A memory is built once and asked by every retrieval.
            memory, questions = runs.builders[label](talk), gradable(talk.questions, options.limit)
            for way, settings in _ways(memory, options).items():
                what = f"answering {label} · {way}"
                with console.progress(what, "questions", chat=chat) as show:
                    show(0, len(questions))
                    evaluation = evaluate_answers(
                        memory,
                        questions,
                        chat.of("answer"),
                        judge,
                        settings,
                        retriever_chat=chat,
                        progress=show,
                    )
                graded.append(_Graded(talk, label, way, evaluation))
    except AnsweringPaused as pause:
        done = sum(len(each.evaluation.rows) for each in graded) + len(pause.done.rows)
        raise Unfinished(f"paused after {counted(done, 'question')}: {pause} {on}") from None
    except KeyboardInterrupt:
        console.error(on)
        raise
    return graded


# --- results -----------------------------------------------------------------------------------


def _print(graded: Sequence[_Graded], options: Options, console: Console) -> None:
    """Prints a row of grades for each system and retrieval, or all answers as JSON."""
    # The conversations of a system and a retrieval are one row.
    groups: dict[str, list[_Graded]] = {}
    for each in graded:
        groups.setdefault(each.setting, []).append(each)
    outcomes: dict[str, Outcomes] = {}
    for setting, parts in groups.items():
        by_conversation = {part.conversation.id: part.evaluation.outcomes for part in parts}
        whole = (
            pooled(by_conversation) if len(by_conversation) > 1 else parts[0].evaluation.outcomes
        )
        outcomes[setting] = whole.counting(disputed=not options.no_disputed)
    every, one = list(outcomes.values()), graded[0].evaluation
    first = every[0]
    # The row with which a row is compared: the first that is asked alike.
    firsts = first_alike(
        [
            (part.system, NATIVE if part.retrieval == NATIVE else COLLAPSED)
            for part, *_ in groups.values()
        ]
    )
    if options.json:
        rows = [
            {
                "system": parts[0].system,
                "retrieval": parts[0].retrieval,
                "settings": settings_content(parts[0].evaluation.settings),
                "questions": len(outcomes[setting]),
                "faults": sum(part.evaluation.faults for part in parts),
                "measures": summary(outcomes[setting], every[place], tuple(GRADES)),
                "categories": {
                    category_label(name): outcomes[setting].mean("accuracy", category=name)
                    for name in first.known_categories
                },
            }
            for (setting, parts), place in zip(groups.items(), firsts, strict=True)
        ]
        content = {"answerer": one.chat, "judge": one.judge, "rows": rows}
        console.json("grade", {**content, "answers": _answers(graded)})
        return
    # Above the table: questions, models, and what went wrong.
    talks = len({each.conversation.id for each in graded})
    console.line(
        f"{counted(len(first), 'question')} of {counted(talks, 'conversation')}, answered by "
        f"{one.chat}, graded by {one.judge or 'rules alone'}; grade {RIGHT_FROM} or 3 is right; "
        "95 % intervals"
    )
    if faults := sum(each.evaluation.faults for each in graded):
        console.line(
            f"{counted(faults, 'question')} without a usable answer or grade of the model; "
            "--json says why"
        )
    if cut := sum(row.left_out > 0 for each in graded for row in each.evaluation.rows):
        console.line(
            f"{counted(cut, 'answer')} without the lowest-ranked excerpts, for which the longest "
            "prompt had no room; --json says how many"
        )
    if warning := one_grade(each.evaluation for each in graded):
        console.line(warning)
    console.rows(grade_rows(outcomes, firsts, adversarial=not options.no_adversarial))
    if len(first.known_categories) > 1:
        console.line()
        console.line("judge accuracy by category")
        console.rows(category_rows(outcomes))


def _answers(graded: Sequence[_Graded]) -> list[dict[str, Any]]:
    """Returns a row for every answer: of each question, under each system and retrieval."""
    rows = []
    for each in graded:
        for row in each.evaluation.rows:
            question = each.conversation.question(row.index)
            rows.append(
                {
                    "conversation": each.conversation.id,
                    "system": each.system,
                    "retrieval": each.retrieval,
                    "question": row.index,
                    "category": row.category,
                    "text": question.text,
                    "disputed": question.disputed is not None,
                    **{name: getattr(row, name) for name in _ANSWERED},
                }
            )
    return rows
