"""Answers the question from the evidence with a chat model, and grades the answer.

Nothing is sent before the user presses a button. Answers are cached for the browser session: a
slider moved away and back sends no new request.
"""

from __future__ import annotations

import streamlit as st

from segviz.evaluation import bleu1, token_f1
from segviz.llm import ChatByRole, LabelError, ModelError, OpenAIChat, Prompt
from segviz.llm.prompts import fitted, tokens_of
from segviz.memory.answer import (
    RIGHT_FROM,
    Answer,
    answer,
    answering,
    by_rule,
    is_adversarial,
    judge,
    reference,
)
from segviz.retrieval import estimated_tokens
from segviz.ui.settings import AnswerState
from segviz.ui.state import fingerprint, keep, peek
from segviz.ui.widgets.captions import counted, place, trouble, unmarked
from segviz.ui.widgets.lists import struck
from segviz.ui.widgets.waiting import waiting
from segviz.view.word_diff import repeats

ANSWERS_KEPT = 50
_MEANING = (
    "wrong, or no answer",
    "on the subject, but the requested information is missing or mostly wrong",
    "correct, but a detail is missing or inexact",
    "agrees with the gold answer",
)


def answer_panel(state: AnswerState) -> None:
    """Draws the answer panel for a question and its evidence."""
    session, result = state.session, state.result
    prompt, cut = None, 0
    chat = session.chat.of("answer") if session.chat else None
    if chat is not None and result.evidence:
        prompt, cut = fitted(answering(session.memory, result), chat.prompt_tokens, chat.prompts)
    if result.evidence:
        _context(state, prompt, cut)
    if session.chat is None or chat is None:
        st.caption("Choose a chat model under Models in the sidebar to have the question answered.")
        return
    st.markdown("**Answer from this evidence**")
    if prompt is None:
        st.caption("Nothing was retrieved, so there is nothing to answer from.")
        return
    key = fingerprint(chat.name, prompt.system, prompt.user)
    known: Answer | None = peek("answers", key)
    if known is None:
        fresh = _ask(state, chat, prompt)
        if fresh is None:
            return
        keep("answers", key, ANSWERS_KEPT, fresh)
        st.rerun()
    st.text(known.text or "(The model gave no answer.)")
    _compared(state, known, session.chat, key)


_ORDERS = ("chronological, as sent", "by rank")


def _context(state: AnswerState, prompt: Prompt | None, cut: int) -> None:
    """Draws how many tokens of evidence a model reads, and how many repeat an earlier excerpt.

    The excerpts in ``prompt``, in which ``cut`` texts are shortened, are in a panel that the user
    opens. Without a model there is no ``prompt`` yet, and all excerpts are read.
    """
    session, result = state.session, state.result
    number = len(result.evidence) if prompt is None else len(prompt.parts) - 1  # the question
    out = len(result.evidence) - number
    ordered = [item for item in result.reading_order if item in result.evidence[:number]]
    pieces = dict(zip(ordered, repeats([item.text for item in ordered]), strict=True))
    tokens = {item: estimated_tokens(item.text) for item in ordered}
    twice = sum(
        estimated_tokens(text)
        for parts in pieces.values()
        for kind, text in parts
        if kind == "gone"
    )
    total = sum(tokens.values())
    of = f"{number} of " * (out > 0)
    excerpts = of + counted(len(result.evidence), "excerpt")
    label = f"What the model reads: {excerpts}, about {total:,} tokens"
    again = f", {twice / total:.0%} of them twice" * (twice > 0)
    with st.expander(label + again, key="model-reads", on_change="rerun") as opened:
        if not opened.open:
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            order = st.segmented_control(
                "Order", _ORDERS, default=_ORDERS[0], required=True, label_visibility="collapsed"
            )
            with st.popover("Copy", icon=":material/content_copy:", key="copy-context"):
                st.caption("The message to the model, with the question.")
                prompt = prompt or answering(session.memory, result)
                st.code(prompt.user, language=None, wrap_lines=True, height=320)
        lowest = f"the {out} lowest-ranked {'excerpt' if out == 1 else 'excerpts'}" * (out > 0)
        longest = f"the end of {counted(cut, 'text')} (see Copy)" * (cut > 0)
        if lacking := " and ".join(filter(None, (lowest, longest))):
            st.caption(f"The longest prompt (Models, Limits) has no room for {lacking}.")
        st.caption("Text struck through already occurs in an earlier excerpt.")
        listed = ordered if order == _ORDERS[0] else result.evidence[:number]
        struck(
            [
                (
                    f"rank {item.rank_after} · {place(session, result.structure, item.node)} · "
                    f"{counted(tokens[item], 'token')}",
                    pieces[item],
                )
                for item in listed
            ],
            key="context",
        )


def _ask(state: AnswerState, chat: OpenAIChat, prompt: Prompt) -> Answer | None:
    """Offers to send ``prompt`` to the model; returns the answer once it is there."""
    tokens = tokens_of(prompt.system) + tokens_of(prompt.user)
    excerpts = counted(len(prompt.parts) - 1, "excerpt")
    pressed = st.button(
        f"Answer with {unmarked(chat.endpoint.model)}", icon=":material/forum:", key="answer"
    )
    sent = f"the question and {excerpts} (about {tokens:,} tokens)"
    st.text(f"Sends {sent} to {chat.endpoint.address}")
    if not pressed:
        return None
    try:
        with waiting("Waiting for the answer", "stop-answer"):
            return answer(state.session.memory, state.result, chat)
    except ModelError as error:
        trouble("There is no answer.", error)
        return None


def _compared(state: AnswerState, given: Answer, models: ChatByRole, key: str) -> None:
    """Draws how a model's answer compares with the gold answer, and the button that grades it.

    Without a gold answer it draws a sentence that says so. ``key`` is the key of the widgets.
    """
    question = state.question
    spent = "from the cache" if given.cached else counted(given.tokens, "token")
    cost = f"By {unmarked(models.of('answer').endpoint.model)}, {spent}"
    gold = reference(question)
    if gold is None:
        st.caption(f"{cost}. There is no gold answer to compare with.")
        return
    if is_adversarial(question):
        verdict = "" if by_rule(question, given.text) else " not"
        st.caption(
            f"{cost}. The correct answer is “not mentioned”. The model did{verdict} give it."
        )
        return
    st.caption(
        f"{cost}. Token F1 {token_f1(given.text, gold):.2f}, "
        f"BLEU-1 {bleu1(given.text, gold):.2f} against the gold answer."
    )
    _graded(state, given, models, key)


def _graded(state: AnswerState, given: Answer, models: ChatByRole, key: str) -> None:
    """Draws the grade: at once if a rule decides it, else on request."""
    question = state.question
    score: int | None = by_rule(question, given.text)
    by = "by rule"
    if score is None and not models.has("grade"):
        st.caption(
            "No model is chosen to grade it. Name one under Models, A model for each role; a model "
            "grades its own answers only if it is named there."
        )
        return
    chat = models.of("grade") if models.has("grade") else models.usual
    graded = fingerprint(key, question.text, reference(question), chat.name, chat.prompts)
    if score is None:
        by = f"by {unmarked(chat.endpoint.model)}"
        score = peek("grades", graded)
    if score is None:
        if not st.button(
            f"Grade with {unmarked(chat.endpoint.model)}", icon=":material/grading:", key="judge"
        ):
            return
        try:
            with waiting("Waiting for the grade", "stop-grade"):
                fresh = judge(question, given.text, chat, state.session.conversation)
        except LabelError as error:
            trouble("The model gave no grade from 0 to 3.", error)
            return
        except ModelError as error:
            trouble("There is no grade.", error)
            return
        keep("grades", graded, ANSWERS_KEPT, fresh)
        st.rerun()
    right = "counts as correct" if score >= RIGHT_FROM else "counts as wrong"
    st.caption(f"Graded **{score}** of 3 {by} ({right}): {_MEANING[score]}.")
