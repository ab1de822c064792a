"""Draws the controls above the tree on Grow: step, play, jump to a session, type turns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.ui import keys
from segviz.ui.address import other_builds, write_step
from segviz.ui.settings import write_beside
from segviz.ui.state import AppSession, PageState, shows, typed_turns
from segviz.ui.widgets.canvas import part
from segviz.ui.widgets.export_menu import exports_panel
from segviz.ui.widgets.tree import view_choice
from segviz.view.bookmark import build_name

# Seconds between frames and steps per frame. A frame redraws the whole panel in about a quarter
# of a second, so faster play takes more steps per frame.
SPEEDS: dict[str, tuple[float, int]] = {"1×": (0.8, 1), "2×": (0.4, 1), "10×": (0.4, 5)}


def playing(session: AppSession) -> bool:
    """Returns True while this memory is being played."""
    return bool(st.session_state.get(keys.PLAYING) == session.key)


def transport(shown: PageState) -> None:
    """Draws the step and play controls, the slider and the jump to a session."""
    session, now = shown.session, shown.step
    key, total = session.grow_step, len(session.memory.steps)

    go = partial(write_step, session)

    def move(by: int) -> None:
        # Relative to the step at the time of the click: a fast second click may arrive before
        # the page has been drawn again.
        go(st.session_state[key] + by)

    with st.container(
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
        key="transport",
    ):
        with _group():
            _step_button("First step", "skip_previous", go, 1, now == 1)
            _step_button("Back one step", "chevron_left", move, -1, now == 1)
            _play_button(session, key, total)
            _step_button("Forward one step", "chevron_right", move, 1, now == total)
            _step_button("Last step", "skip_next", go, total, now == total)
            st.segmented_control(
                "Speed",
                list(SPEEDS),
                # In a label beyond ASCII Streamlit looks for thousands of emojis.
                format_func=lambda speed: speed.replace("×", "&times;"),
                default="2×",
                required=True,
                key=keys.SPEED,
                label_visibility="collapsed",
                persist_state="session",
            )
        with _group():
            view_choice()
            if not (session.live or session.saved):
                typing_panel(session)
            exports_panel(shown)
    if total == 1:
        whole = len(session.memory.units)
        if whole > 1 and not session.live:
            st.caption(f"The build is paused after 1 of {whole:,} leaves, so there is one step.")
        else:
            st.caption("This conversation has a single leaf, so there is one step.")
        return
    speed = st.session_state.get(keys.SPEED, "2×")
    pause, at_once = SPEEDS[speed]
    minutes = round(pause * (total - now) / at_once / 60)
    left = f" · {minutes} min to the end at {speed.replace('×', '&times;')}" * (minutes > 0)
    with st.container(horizontal=True, vertical_alignment="center", key="scrub"):
        st.markdown(
            f"Step **{now:,}** / {total:,}{left}",
            width="content",
            help="One step is one unit joining as a leaf. Steps count from 1, units from 0.",
        )
        st.slider(
            f"Step of {total:,}",
            1,
            total,
            format="localized",
            label_visibility="collapsed",
            **shows(key, now, partial(st.session_state.__setitem__, key)),
        )
        _jump(session, go)
        _beside(session)


def _beside(session: AppSession) -> None:
    """Draws the choice of another build of the same units, drawn below this one."""
    second, builds = session.second, other_builds(session)
    shown = build_name(second.build, session.build) if second else None
    if second and shown:
        builds.setdefault(shown, second.build)
    if builds:
        st.selectbox(
            "Beside another build",
            list(builds),
            index=None,
            placeholder="Beside another build",
            label_visibility="collapsed",
            width=200,
            **shows("grow-beside", shown, lambda name: write_beside(builds.get(name))),
        )


def _group() -> DeltaGenerator:
    """Returns a container whose controls wrap together in a narrow row."""
    return st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content")


def _step_button(
    meaning: str, icon: str, action: Callable[[int], None], argument: int, disabled: bool
) -> None:
    st.button(
        meaning,  # for screen readers; style.css hides all but the icon
        icon=f":material/{icon}:",
        key=f"go-{icon}",
        help=meaning,
        on_click=action,
        args=(argument,),
        disabled=disabled,
    )


def _play_button(session: AppSession, key: str, total: int) -> None:
    """Draws the button that plays or pauses; ``key`` is that of the step."""

    def toggle() -> None:
        if playing(session):
            st.session_state[keys.PLAYING] = None
            return
        if st.session_state[key] == total:
            st.session_state[key] = 1
        st.session_state[keys.PLAYING] = session.key

    running = playing(session)
    st.button(
        "Pause" if running else "Play",
        icon=":material/pause:" if running else ":material/play_arrow:",
        key="play",
        on_click=toggle,
        disabled=total == 1,
        help="Pause" if running else "Play from here; at the end, from the start",
    )


def _jump(session: AppSession, go: Callable[[int], None]) -> None:
    """Draws the menu that jumps to the first leaf of a session."""
    first: dict[int, int] = {}
    for unit in session.memory.units:
        first.setdefault(unit.session, unit.index)

    def jump(chosen: int | None) -> None:
        if chosen is not None:
            go(first[chosen] + 1)

    def title(position: int) -> str:
        part = session.conversation.sessions[position]
        day = f"{part.start:%d %b %Y}" if part.start else ""
        return " · ".join(filter(None, (f"Session {position + 1}", part.chat, day)))

    st.selectbox(
        "Jump to",
        list(first),
        index=None,
        format_func=title,
        placeholder="Go to session",
        label_visibility="collapsed",
        width=200,
        **shows("jump", None, jump),
    )


def keep_playing(session: AppSession) -> None:
    """Advances the played memory when the timer ticks.

    A late tick, for another step than the one shown, is ignored.
    """
    key, total = session.grow_step, len(session.memory.steps)
    seconds, stride = SPEEDS[st.session_state.get(keys.SPEED, "2×")]
    now: int = st.session_state[key]

    def advance(tick: object) -> None:
        if tick == now and playing(session):
            st.session_state[key] = min(total, st.session_state[key] + stride)
            if st.session_state[key] == total:
                st.session_state[keys.PLAYING] = None

    part(
        "playback_timer",
        key="playback_timer",
        data={"tick": now, "milliseconds": round(1000 * seconds) if playing(session) else 0},
        tick=advance,
    )


# Most characters of a typed turn.
LONGEST = 5_000


def typing_panel(session: AppSession) -> None:
    """Draws a form for further turns; after each the tree is built again, with that turn."""
    typed = typed_turns(session.source)
    title = f"Type turns ({len(typed)})" if typed else "Type turns"
    with st.popover(title, icon=":material/edit:", key="typing"):
        st.caption(
            "Your turns continue this conversation in a new session. The tree adds them like all "
            "other turns."
        )
        with st.form("type-turn", clear_on_submit=True, border=False):
            speakers = list(session.conversation.speakers)
            last = typed[-1][0] if typed else session.conversation.turns[-1].speaker
            following = next((who for who in speakers if who != last), speakers[0])
            who = st.selectbox("Speaker", speakers, index=speakers.index(following))
            text = st.text_area("Turn", max_chars=LONGEST, placeholder="What do they say?")
            sent = st.form_submit_button("Add turn")
        if sent and text.strip():
            typed.append((who, text.strip()))
            st.rerun()
        undo, clear = st.columns(2)
        if undo.button("Undo last", disabled=not typed, width="stretch"):
            typed.pop()
            st.rerun()
        if clear.button("Remove all", disabled=not typed, width="stretch"):
            typed.clear()
            st.rerun()
