"""Has models answer all questions from the evidence of every system, and grade the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

import streamlit as st

from segviz.conversation import Question, category_label
from segviz.evaluation import AnswerEvaluation, AnsweringPaused, Mean, evaluate_answers
from segviz.evaluation.aggregate import Row
from segviz.evaluation.generation import (
    GRADES,
    category_rows,
    gradable,
    grade_rows,
    one_grade,
    rehearse_answers,
)
from segviz.figures.compare import DIFFERENCE, standing_plot, standing_sentence
from segviz.llm import ChatByRole
from segviz.llm.usage import Pace
from segviz.memory import CallEstimate, Memory, Rehearsal
from segviz.memory.answer import reference
from segviz.retrieval import RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.ui.pages.compare.questions import retrieval_of
from segviz.ui.pages.compare.structures import built_key
from segviz.ui.sidebar.models import expected_calls
from segviz.ui.state import AppSession, fingerprint, keep, peek, remember
from segviz.ui.widgets.captions import counted, short, spread, trouble, unmarked
from segviz.ui.widgets.charts import chart, pair, sentence_of, table
from segviz.waiting import heartbeat

_KEPT = 6
_MANY = 30  # questions that are asked unless the user wants more
_TALL = 400

_MEANING = (
    "A chat model answers from the evidence that each system retrieves; the grading model compares "
    "with the gold answer. Grades 2 and 3 of 3 are right. Adversarial questions and empty answers "
    "are graded by rule. Intervals: 95 %, paired differences to the first system."
)


def answers_panel(
    session: AppSession, ready: Mapping[str, Memory], settings: Mapping[str, Any], by_paper: bool
) -> dict[str, AnswerEvaluation]:
    """Draws, on request, how often a model answers right from the evidence of each system.

    Args:
        session: the open memory.
        ready: memories by system.
        settings: ``k`` and ``relevance``.
        by_paper: use the own retrieval of a system, if it has one.

    Returns:
        The graded answers by system label; empty until they are made.
    """
    with st.expander("Answers, graded by a model", key="answers", on_change="rerun") as panel:
        if not panel.open:
            return {}
        questions = gradable(session.conversation.questions)
        if not questions:
            st.caption("No question has a gold answer to grade by.")
            return {}
        if session.chat is None:
            st.caption(
                "Choose a chat model under Models in the sidebar to have the questions answered, "
                "and under A model for each role another that grades the answers."
            )
            return {}
        number = st.slider(
            "Questions, evenly spread",
            min(len(questions), 5),
            len(questions) + (len(questions) < 6),
            min(len(questions), _MANY),
            key="answers-asked",
        )
        asked = gradable(questions, number)
        ways = {name: retrieval_of(memory, settings, by_paper) for name, memory in ready.items()}
        found = _answered(session, session.chat, ready, ways, asked)
        if found:
            _results(found, asked)
        return found


def _answered(
    session: AppSession,
    chat: ChatByRole,
    ready: Mapping[str, Memory],
    ways: Mapping[str, RetrievalSettings],
    asked: Sequence[Question],
) -> dict[str, AnswerEvaluation]:
    """Returns the evaluations by system label; offers to make them, with what they cost.

    ``ways`` are the retrieval settings by system, ``asked`` the questions. Empty until all
    evaluations are made.
    """
    judge = chat.of("grade") if chat.has("grade") else None
    keys = {
        name: fingerprint(
            built_key(session, name),
            repr(way),
            len(asked),
            [chat.of("answer").name, judge.name if judge else ""],
        )
        for name, way in ways.items()
    }
    found = {name: peek("graded", key) for name, key in keys.items()}
    missing = [name for name, each in found.items() if each is None]
    if not missing:
        return {SYSTEMS[name].label: each for name, each in found.items() if each}
    if not _offered(chat, {name: ready[name] for name in missing}, ways, asked, [*keys.values()]):
        return {}
    bar = st.progress(0.0, "Answering")
    st.button("Stop", icon=":material/stop:", key="stop-answering")  # any click ends this run
    pace, every, at = Pace(chat), len(missing) * len(asked), (0, 0)

    def show() -> None:
        turn, done = at
        past, label = turn * len(asked) + done, sentence_of(SYSTEMS[missing[turn]].label)
        said = pace.phrase(past, every, monotonic())
        bar.progress(past / every, f"{label}: {done} of {counted(len(asked), 'question')}{said}")

    def count(turn: int, done: int, _: int) -> None:
        nonlocal at
        at = turn, done
        show()

    for turn, name in enumerate(missing):
        count(turn, 0, 0)
        try:
            with heartbeat(show):
                graded = evaluate_answers(
                    ready[name],
                    asked,
                    chat.of("answer"),
                    judge,
                    ways[name],
                    retriever_chat=chat,
                    progress=partial(count, turn),
                )
        except AnsweringPaused as pause:
            done = counted(len(pause.done.rows), "question")
            trouble(f"Paused after {done}; a new click asks the rest.", pause)
            return {}
        keep("graded", keys[name], _KEPT, graded)
    st.rerun()


def _offered(
    chat: ChatByRole,
    memories: Mapping[str, Memory],
    ways: Mapping[str, RetrievalSettings],
    asked: Sequence[Question],
    parts: Sequence[str],
) -> bool:
    """Draws the expected calls and the button that starts; returns True after a click.

    ``ways`` are the retrieval settings by system, ``asked`` the questions, and ``parts`` the
    content keys of the evaluations.
    """
    expected = remember(
        "answers-expected",
        fingerprint(parts, list(memories)),
        _KEPT,
        lambda: _expected(chat, memories, ways, asked),
    )
    for role, doing in (("answer", "answers"), ("grade", "grades")):
        if needed := expected.get(role):
            client = chat.of(role)
            st.text(
                f"{client.endpoint.model} {doing}: {expected_calls(needed, client)}, sent to "
                f"{client.endpoint.address}"
            )
    if not chat.has("grade"):
        st.caption(
            "No model is chosen to grade: only adversarial questions are graded, by rule. Choose "
            "one in the sidebar: Models, “A model for each role”."
        )
    pressed = st.button(
        f"Answer {counted(len(asked), 'question')}", key="answer-all", icon=":material/play_arrow:"
    )
    st.caption("Answers in the cache cost nothing. Nothing is sent before you click.")
    return pressed


def _expected(
    chat: ChatByRole,
    memories: Mapping[str, Memory],
    ways: Mapping[str, RetrievalSettings],
    asked: Sequence[Question],
) -> dict[str, CallEstimate]:
    """Returns the expected calls by role; ``ways`` are the retrieval settings by system."""
    stand_in = Rehearsal(chat)
    for name, memory in memories.items():
        rehearse_answers(memory, asked, [ways[name]], stand_in, graded=chat.has("grade"))
    return stand_in.by_role


def _by(one: AnswerEvaluation) -> str:
    """Returns a sentence that names the models that answered and graded."""
    judge = unmarked(one.judge.partition(" ")[0]) or "rules alone"
    return f"Answered by {unmarked(one.chat.partition(' ')[0])}, graded by {judge}."


def _results(found: Mapping[str, AnswerEvaluation], asked: Sequence[Question]) -> None:
    """Draws means, categories and every answer."""
    outcomes = {label: one.outcomes for label, one in found.items()}
    means = grade_rows(outcomes)
    measure, label = next((name, text) for name, text in GRADES.items() if text in means[0])
    first = next(iter(outcomes.values()))
    rows: list[Row] = [
        {
            "system": row["answered from"],
            label: row[label],
            DIFFERENCE: each.gain(first, measure),
            **{name: value for name, value in row.items() if name not in ("answered from", "gain")},
        }
        for row, each in zip(means, outcomes.values(), strict=True)
    ]
    sentence = standing_sentence(rows, label)
    chart(
        standing_plot(rows, label, **pair()),
        sentence,
        "answers-chart",
        f"{_by(next(iter(found.values())))} {_MEANING}",
        rows=lambda: [
            {n: spread(v) if isinstance(v, Mean) else v for n, v in row.items()} for row in rows
        ],
    )
    if warning := one_grade(found.values()):
        st.caption(f"{warning[0].upper()}{warning[1:]}.")
    faults = sum(one.faults for one in found.values())
    if faults:
        st.caption(f"{counted(faults, 'answer')} or grades of the model could not be used.")
    st.markdown(f"**{label.capitalize()} by category**")
    table(
        [
            {n: spread(v) if isinstance(v, Mean) else v for n, v in row.items()}
            for row in category_rows(outcomes, measure)
        ],
        about=f"{label.capitalize()} by category",
    )
    st.markdown("**Every answer**, with its grade of 3")
    answers = {label: {row.index: row for row in one.rows} for label, one in found.items()}
    table(
        [
            {
                "category": category_label(question.category),
                "question": short(question.text),
                "gold answer": short(reference(question) or ""),
                **{
                    label: f"{'–' if (row := rows[question.index]).score is None else row.score}: "
                    f"{short(row.answer) or row.fault}"
                    for label, rows in answers.items()
                },
            }
            for question in asked
        ],
        about="Every answer with its grade",
        height=_TALL,
    )
