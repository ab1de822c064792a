"""Draws the controls of Ask: the question, and the retrieval settings it is asked with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.construct import Parameter, parameters
from segviz.figures.compare import group_of
from segviz.retrieval import (
    POLICIES,
    PRESETS_HELP,
    RELEVANCE,
    RERANKED,
    RetrievalSettings,
    relevance_model,
    spelled,
)
from segviz.ui import address, keys
from segviz.ui.address import VIEWS, read_view
from segviz.ui.settings import (
    CUSTOM,
    AskState,
    asked_from,
    beside_kind,
    change_settings,
    declared_setting,
    parameter_control,
    preset_options,
    read_option,
    read_preset,
    read_settings,
    setting,
    setting_control,
    with_option,
    write_beside,
    write_preset,
    write_relevance,
)
from segviz.ui.state import AppSession, keyed_fragment, redraw, shows
from segviz.ui.widgets import atlas, captions, measures, question, style, tree
from segviz.view.bookmark import build_name
from segviz.view.coloring import LIVE, LIVE_POLICIES
from segviz.view.scene import keeps_time
from segviz.view.words import GAINS, LOSES


def question_row(session: AppSession) -> DeltaGenerator:
    """Draws the question box; returns its row for further controls.

    The box holds all questions of the data set, which are not sent again with each answer.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom", key="asking")
    with row:
        keyed_fragment(question.question_box, "ask-question")(session, keys.ANSWER)
    return row


def ask_controls(asked: AskState, row: DeltaGenerator) -> None:
    """Draws the controls of the page, in the ``row`` of the question and below it."""
    with row:
        _k(asked)
        _setting(asked)
        tree.view_choice(folded=True)
        _beside(asked)
    # A canvas that draws the tree has α and H in its own header, if it can follow them.
    header = live(asked.session, asked.settings) and read_view() == VIEWS[0]
    if asked.settings.method == "propagate" and not header:
        _propagation(asked)


def tally(asked: AskState) -> None:
    """Draws on how many questions the setting gains and loses; a click on a count lists them.

    Says that Ask opened on the question it helps most, unless the user has chosen one. Draws
    nothing if measuring takes long.
    """
    session = asked.session
    if not session.conversation.questions or not measures.at_once(session):
        return
    source, rescue, settings = st.session_state.get(keys.RESCUED, ("", None, None))
    opens = (source, settings) == (session.source, asked.settings)
    most = opens and rescue is not None and rescue.place == asked.question.index
    rows = atlas.question_fates(session, asked.settings)
    if rows is None:
        return

    def show_question() -> None:
        redraw("ask-question", keys.ANSWER)

    groups = [group_of(row) for row in rows]
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="tally"):
        st.caption("This setting, against no propagation:", width="content")
        for group in (GAINS, LOSES):
            label = f"{group} on {groups.count(group)}"
            question.questions_popover(session, label, f"atlas-{group}", show_question, group)
        rest = "; this one gains most" if most else ""
        st.caption(f"of {captions.counted(len(groups), 'question')}{rest}", width="content")


def _in_force(asked: AskState) -> str:
    """Returns what is in force in a line of Markdown."""
    settings = asked.settings
    relevance = settings.relevance_for(asked.session.memory.model)
    way = f"α {settings.alpha:.2f}, H {settings.horizon}"
    spread = f"policy {settings.policy}" + f", {way}" * (settings.policy != "none")
    if settings.method == "native":
        spread = "the system's own retrieval"
    levels = "all levels"
    if settings.levels is not None:
        levels = f"{captions.counted(len(settings.levels), 'level')} admitted"
    levels += ", each node of a same-text chain" * settings.literal
    there = st.session_state.get(keys.COMPARED_BY, (relevance, settings.k))
    also = "" if there == (relevance, settings.k) else "; Compare asks by {}, K {}".format(*there)
    return captions.unmarked(f"{relevance} relevance; {spread}; {levels}; {settings.limits}{also}")


def _setting(asked: AskState) -> None:
    """Draws a panel with all settings of retrieval; the preset in force is on its button."""
    session, settings = asked.session, asked.settings
    parts = [read_preset(settings)]
    parts += ["read as leaves"] * (settings.expand is not None)
    parts += ["no repeats"] * settings.deduplicate + ["by tokens"] * (settings.budget is not None)
    style.label_panel("more-settings", f": {', '.join(parts)}")
    with st.popover("Setting", width=216, key="more-settings", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(f"In force: {_in_force(asked)}")
        _scoring(asked)
        for each in parameters(RetrievalSettings):
            if each.kind is tuple:
                _levels(asked, each)
            elif not each.spec.drawn_by:
                setting_control(session, settings, each.name)
        _budget(asked)
        step = declared_setting("step")  # at first the question's moment, or the end
        now = asked_from(session) if settings.step is None else settings.step
        change = partial(write_asked, session)
        moment_control(session, step.label, now, change, "asked", step.spec.details)
        _ingredients(asked)


def _scoring(asked: AskState) -> None:
    """Draws presets, relevance and policy; each shows the current setting."""
    session, settings = asked.session, asked.settings
    model = session.memory.model
    usual = replace(settings, relevance=None).relevance_for(model)
    shown, _, changed = settings.relevance_for(model).partition(":")

    def label(name: str) -> str:
        own = settings.method == "native" and name == usual
        also = f" ({changed})" if changed and name == shown else ""
        return f"{name}{also}" + ", its paper's" * own

    # Streamlit draws option texts as plain text.
    st.selectbox(
        "Preset",
        preset_options(session.memory.system),
        help=PRESETS_HELP[RERANKED],
        **shows("scoring-preset", read_preset(settings), partial(write_preset, session)),
    )
    st.selectbox(
        "Relevance: how a node is scored on its own",
        list(RELEVANCE),
        format_func=label,
        **shows("relevance-shown", shown, partial(write_relevance, session)),
    )
    if settings.method == "propagate":
        st.selectbox(
            "Policy: the direction in which scores travel along the tree",
            list(POLICIES),
            format_func=lambda name: POLICIES[name]().label,
            **setting(session, settings, "policy"),
        )


def live(session: AppSession, settings: RetrievalSettings) -> bool:
    """Returns True if the header of the canvas holds the controls of these settings.

    The nodes must be ordered in time and read as they are, and the browser must know the policy.
    """
    follows = settings.policy in LIVE_POLICIES and settings.expand is None
    return follows and keeps_time(session.memory, session.memory.structure)


def _k(asked: AskState) -> None:
    """Draws the choice of K."""
    session, settings = asked.session, asked.settings
    st.selectbox(
        "K",
        # A link or a session file may have a larger K.
        sorted({*range(1, 31), settings.k}),
        format_func=lambda k: f"K {k}",
        label_visibility="collapsed",
        width=84,
        **setting(session, settings, "k"),
    )


def _levels(asked: AskState, levels: Parameter) -> None:
    """Draws the choice of the levels that may be retrieved."""
    session, settings = asked.session, asked.settings
    there = list(range(int(session.memory.structure.level.max()) + 1))
    st.multiselect(
        levels.label,
        there,
        format_func=lambda level: captions.level_label(session.memory, level),
        help=levels.spec.details,
        **setting(
            session, settings, levels.name, there, list, lambda chosen: tuple(sorted(chosen))
        ),
    )


_NOTHING, _KEPT = "nothing", "this setting, kept as it is"
_MOMENT = "another moment"


def _beside(asked: AskState) -> None:
    """Draws the choice of a second setting, moment or build, drawn beside the first tree."""
    session, scoring = asked.session, asked.beside
    presets = [name for name in preset_options(session.memory.system) if name != CUSTOM]
    builds, kind = address.other_builds(session), beside_kind()
    shown = _NOTHING if scoring is None else read_option(scoring)
    shown = _MOMENT if kind is int else _KEPT if shown == CUSTOM else shown
    if session.second is not None:
        shown = build_name(session.second.build, session.build)
        builds.setdefault(shown, session.second.build)
    total = len(session.memory.steps)

    def choose(name: str) -> None:
        settings = read_settings(session)
        if name == _NOTHING:
            write_beside(None)
        elif name == _MOMENT:
            now = asked_from(session) if settings.step is None else settings.step
            write_beside(now // 2)
        elif name in builds:
            write_beside(builds[name])
        else:
            write_beside(settings if name == _KEPT else with_option(settings, name))

    with st.popover(
        "Beside" if scoring is None else f"Beside: {'kept' if shown == _KEPT else shown}",
        width="content",
        key="second-setting",
        disabled=read_view() != VIEWS[0],
    ):
        st.radio(
            "Draw a second tree, with",
            [
                _NOTHING,
                *presets,
                _KEPT,
                *([_MOMENT] if total > 1 or shown == _MOMENT else []),
                *builds,
            ],
            # On the button it would cover the first options.
            help="Side by side on the time axis. A build is offered once you have changed a "
            "parameter in the sidebar",
            **shows("second-option", shown, choose),
        )
        if shown == _MOMENT and scoring is not None:
            moment_control(session, "The other moment", scoring.step or 0, write_beside, "second")


def _ingredients(asked: AskState) -> None:
    """Draws the parameters of the relevance in force; a weight of 0 switches an ingredient off."""
    session = asked.session
    model = relevance_model(asked.settings.relevance_for(session.memory.model))
    declared = parameters(type(model))
    if declared:
        st.markdown(f"**Ingredients of {model.name} relevance**")
    columns = st.columns(2)
    for place, each in enumerate(declared):

        def change(value: float, name: str = each.name) -> None:
            write_relevance(session, spelled(replace(model, **{name: value})))

        key, value = keys.parameter(model.name, each.name), float(getattr(model, each.name))
        with columns[place % 2]:
            parameter_control(each, **shows(key, value, change))


_BUDGET = 1_000
"""Default token budget."""


def _budget(asked: AskState) -> None:
    """Draws a switch from K to a budget of tokens, and the budget while it is on."""
    session, settings = asked.session, asked.settings
    wanted = st.toggle(
        "Fill a token budget instead of K",
        help="Nodes are taken best first; the last text is cut at the budget. A token is "
        "estimated as four characters.",
        **shows(
            "by-budget",
            settings.budget is not None,
            lambda on: change_settings(session, budget=_BUDGET if on else None),
        ),
    )
    if wanted:
        tokens = declared_setting("budget")
        low, high = int(tokens.spec.low or 1), int(tokens.spec.high or _BUDGET)
        st.number_input(
            tokens.label, low, high, step=50, **setting(session, settings, "budget", _BUDGET)
        )


def _propagation(asked: AskState) -> None:
    """Draws α and H as widgets, where the header of the canvas does not have them."""
    session, settings = asked.session, asked.settings
    still = settings.policy == "none"
    for column, name in zip(st.columns([2, 1], gap="medium"), ("alpha", "horizon"), strict=True):
        declared = LIVE[name]
        spec, kind = declared.spec, declared.kind
        column.slider(
            declared.label,
            kind(spec.low),
            kind(spec.high),
            step=kind(spec.step),
            disabled=still,
            help=spec.details,
            **setting(session, settings, name),
        )


def write_asked(session: AppSession, step: int) -> None:
    """Asks the memory in its state after ``step``."""
    change_settings(session, step=step)


def moment_control(
    session: AppSession,
    label: str,
    step: int,
    write: Callable[[int], None],
    name: str,
    details: str | None = None,
) -> None:
    """Draws a slider of steps, and a box for a date where the conversation has times.

    ``name`` tells this control from the others; ``write`` takes the chosen number of steps.
    """
    memory = session.memory
    if not memory.steps:
        return
    st.slider(label, 0, len(memory.steps), help=details, **shows(f"{name}-step", step, write))
    if memory.conversation.period is None:
        return
    first, last = (f"{end:%Y-%m-%d}" for end in memory.conversation.period)
    problem = f"{name}-date-problem"

    def read(text: str) -> None:
        """Takes a date; keeps the reason if it is none."""
        st.session_state.pop(problem, None)
        try:
            if text.strip():
                write(memory.as_of(text))
        except ValueError as error:
            st.session_state[problem] = str(error)

    st.text_input(
        "or as it was before the date",
        placeholder=f"{first} to {last}",
        help="A date or a time: 2024-05-01, 2024-05-01 14:30. What was said on that day or later "
        "is not known then.",
        **shows(f"{name}-date", "", read),
    )
    if problem in st.session_state:
        st.caption(captions.unmarked(st.session_state[problem]))
