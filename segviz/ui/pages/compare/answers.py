"""Has models answer all questions from the evidence of every system, and grade the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic

import streamlit as st

from segviz.conversation import Question, category_label
from segviz.evaluation import (
    GRADES,
    AnswerEvaluation,
    AnsweringPaused,
    Row,
    category_rows,
    evaluate_answers,
    gradable,
    grade_rows,
    one_grade,
    rehearse_answers,
)
from segviz.figures.compare import DIFFERENCE, standing_plot, standing_sentence
from segviz.llm import ChatByRole, usage
from segviz.loaders.runs import RunAnswer
from segviz.memory import CallEstimate, Rehearsal, answer
from segviz.ui.pages.compare import Comparing
from segviz.ui.pages.compare.lost import lost_panel, upload
from segviz.ui.pages.compare.stages import followed, stages_panel
from segviz.ui.sidebar.models import expected_calls
from segviz.ui.state import fingerprint, peek, remember
from segviz.ui.widgets.captions import counted, short, spread_rows, trouble, unmarked
from segviz.ui.widgets.charts import chart, sentence_of, signs, table
from segviz.ui.widgets.waiting import PLAY, Job, JobPart, Progress

_KEPT = 6
_FEW, _MANY = 5, 30  # least questions that are asked, and how many unless the user wants more
_TALL = 400

_MEANING = (
    "A chat model answers from the evidence that each system retrieves; the grading model compares "
    "with the gold answer. Grades 2 and 3 of 3 are right. Adversarial questions and empty answers "
    "are graded by rule. Intervals: 95 %, paired differences to the first system."
)


def graded_panel(compared: Comparing) -> None:
    """Draws the stages of gold turns, which the graded answers below them decide, and these.

    A memory or run in a file is one more.
    """
    opened = upload(compared)
    above = st.container()
    answers = answers_panel(compared)
    graded = {
        label: {
            row.index: RunAnswer(None, row.answer, row.right)
            for row in each.rows
            if row.right is not None
        }
        for label, each in answers.items()
    }
    with above:
        shown = followed(compared, graded, opened)
        stages_panel(compared, shown)
        lost_panel(shown, opened)


def answers_panel(compared: Comparing) -> dict[str, AnswerEvaluation]:
    """Draws, on request, how often a model answers right from the evidence of each system.

    Returns:
        The graded answers by system label; empty until they are made.
    """
    with st.expander("Answers, graded by a model", key="answers", on_change="rerun") as panel:
        if not panel.open:
            return {}
        questions = gradable(compared.questions)
        if not questions:
            st.caption("No question has a gold answer to grade by.")
            return {}
        chat = compared.session.chat
        if chat is None:
            st.caption(
                "Choose a chat model under Models in the sidebar to have the questions answered, "
                "and under A model for each role another that grades the answers."
            )
            return {}
        # Fewer questions cost less; those asked are spread over the conversation.
        number = len(questions)
        if number > _FEW:
            start = min(number, _MANY)
            number = st.slider("Questions, evenly spread", _FEW, number, start, key="answers-asked")
        asked = gradable(questions, number)
        answers = _answered(compared, chat, asked)
        if answers:
            _results(answers, asked)
        return answers


def _answered(
    compared: Comparing, chat: ChatByRole, asked: Sequence[Question]
) -> dict[str, AnswerEvaluation]:
    """Returns the evaluations by system label; offers to make them, with what they cost.

    ``asked`` are the questions. Empty until all evaluations are made.
    """
    judge = chat.of("grade") if chat.has("grade") else None
    models = [chat.of("answer").name, judge.name if judge else ""]
    keys = {
        name: fingerprint(compared.key(name), repr(compared.asked(name)), len(asked), models)
        for name in compared.memories
    }
    missing = [name for name, key in keys.items() if peek("graded", key) is None]
    if missing:
        _costs(compared, chat, asked, missing, fingerprint([*keys.values()], missing))
    pace, every = usage.Pace(chat), len(missing) * len(asked)

    def part(name: str) -> JobPart[AnswerEvaluation]:
        def work(progress: Progress) -> AnswerEvaluation:
            return evaluate_answers(
                compared.memories[name],
                asked,
                chat.of("answer"),
                judge,
                compared.asked(name),
                retriever_chat=chat,
                progress=progress,
            )

        def text(done: int, _: int) -> str:
            past, label = missing.index(name) * len(asked) + done, sentence_of(compared.label(name))
            left = pace.phrase(past, every, monotonic())
            return f"{label}: {done} of {counted(len(asked), 'question')}{left}"

        return JobPart(keys[name], work, text)

    job = Job(
        "graded",
        max(_KEPT, len(keys)),
        fingerprint([*keys.values()]),
        f"Answer {counted(len(asked), 'question')}",
        "answer-all",
        PLAY,
        note=lambda: "Answers in the cache cost nothing. Nothing is sent before you click.",
        stop="stop-answering",
    )
    try:
        graded = job.values({name: part(name) for name in missing or keys})
    except AnsweringPaused as pause:
        done = counted(len(pause.done.rows), "question")
        trouble(f"Paused after {done}; a new click asks the rest.", pause)
        return {}
    if graded and missing:
        st.rerun()  # without the costs
    return {compared.label(name): each for name, each in (graded or {}).items()}


def _costs(
    compared: Comparing,
    chat: ChatByRole,
    asked: Sequence[Question],
    missing: Sequence[str],
    key: str,
) -> None:
    """Draws the expected calls of the ``missing`` systems, which ``key`` identifies."""

    def rehearsed() -> dict[str, CallEstimate]:
        stand_in = Rehearsal(chat)
        for name in missing:
            memory, way = compared.memories[name], compared.asked(name)
            rehearse_answers(memory, asked, [way], stand_in, graded=chat.has("grade"))
        return stand_in.by_role

    # A rehearsal counts the calls without sending any.
    expected = remember("answers-expected", key, _KEPT, rehearsed)
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


def _results(answers: Mapping[str, AnswerEvaluation], asked: Sequence[Question]) -> None:
    """Draws means, categories and every answer."""
    outcomes = {label: one.outcomes for label, one in answers.items()}
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
    # The models' names, then the means with their differences to the first system.
    one = next(iter(answers.values()))
    judge = unmarked(one.judge.partition(" ")[0]) or "rules alone"
    models = f"Answered by {unmarked(one.chat.partition(' ')[0])}, graded by {judge}."
    sentence = standing_sentence(rows, label)
    chart(
        standing_plot(rows, label, **signs()),
        sentence,
        "answers-chart",
        f"{models} {_MEANING}",
        rows=lambda: spread_rows(rows),
    )
    # What limits the reading of the grades.
    if warning := one_grade(answers.values()):
        st.caption(f"{warning[0].upper()}{warning[1:]}.")
    faults = sum(one.faults for one in answers.values())
    if faults:
        st.caption(f"{counted(faults, 'answer')} or grades of the model could not be used.")
    st.markdown(f"**{label.capitalize()} by category**")
    table(
        spread_rows(category_rows(outcomes, measure)),
        about=f"{label.capitalize()} by category",
    )
    st.markdown("**Every answer**, with its grade of 3")
    graded = {label: {row.index: row for row in one.rows} for label, one in answers.items()}
    table(
        [
            {
                "category": category_label(question.category),
                "question": short(question.text),
                "gold answer": short(answer.reference(question) or ""),
                **{
                    label: f"{'–' if (row := rows[question.index]).score is None else row.score}: "
                    f"{short(row.answer) or row.fault}"
                    for label, rows in graded.items()
                },
            }
            for question in asked
        ],
        about="Every answer with its grade",
        height=_TALL,
    )
