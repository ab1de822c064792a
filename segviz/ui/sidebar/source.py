"""Chooses the conversation: a sample, an upload, a path or pasted text."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz import loaders, store
from segviz.conversation import TITLES, Corpus, sample_path
from segviz.llm.endpoint import cache_path
from segviz.loaders import LoadError
from segviz.loaders.formats.locomo.download import LICENCE, NAME, PAGE, SIZE, fetch_locomo
from segviz.ui import keys, security
from segviz.ui.sidebar.open_file import OpenFile, open_file, opened_as
from segviz.ui.state import CORPORA_KEPT, fingerprint, remember, starts
from segviz.ui.visit import saved_memory, upload_budget, upload_mb
from segviz.ui.widgets.captions import refusal
from segviz.ui.widgets.waiting import waiting
from segviz.waiting import waited_for

_LIMITED = (
    "this server opens conversations and memories below the folder it was given with "
    "--allow-paths, and none without; upload the file instead"
)

_DOWNLOADED = "downloaded"  # path of a file that the next run opens
_OPENED = "just-opened"
_DROPPED = "dropped-file"  # file dropped on the page, until another is uploaded


def choose_source() -> tuple[OpenFile | None, DeltaGenerator]:
    """Draws the choice of a file; returns it, or the previous one if it cannot be read.

    Also returns the panel of the choice, for all else about the file and its memory.
    """
    state = st.session_state
    # What the run before opened folds the panel again, and a model to choose opens it.
    opens = state.get(keys.OPEN_MODELS, False)
    if state.pop(_OPENED, False) or opens:
        state[keys.MEMORY_PANEL] = opens
    state.setdefault(keys.MEMORY_PANEL, False)
    panel = st.expander("Memory", key=keys.MEMORY_PANEL, on_change="rerun")
    try:
        with panel:
            opened = _chosen()
    except (LoadError, store.StoreError) as error:
        opened = None
        refusal(error)
    previous: OpenFile | None = state.get("last")
    if opened is None and previous is None:
        # Upload, Path or Paste was chosen before anything was open: start from the sample.
        previous = _bundled(next(iter(TITLES)))
    elif opened is not None:
        state[_OPENED] = previous is not None and previous.key != opened.key
    state["last"] = opened or previous
    return opened or previous, panel


def _chosen() -> OpenFile | None:
    """Draws the choice of a source and of what is in it; returns the file, None if there is none.

    Raises LoadError or StoreError if it cannot be read.
    """
    downloaded = st.session_state.pop(_DOWNLOADED, None)
    if downloaded is not None:
        st.session_state[keys.SOURCE], st.session_state[keys.PATH] = "Path", downloaded
    sources: dict[str, Callable[[], OpenFile | None]] = {
        "Sample": _sample,
        "Upload": _upload,
        "Path": _path,
        "Paste": _paste,
    }
    # A link may still lead to a path, and is answered.
    if not security.names_paths() and st.session_state.get(keys.SOURCE) != "Path":
        del sources["Path"]
    source = st.segmented_control(
        "Source",
        list(sources),
        required=True,
        label_visibility="collapsed",
        **starts(keys.SOURCE, "Path" if os.environ.get(security.FILE) else "Sample"),
    )
    return sources[source or "Sample"]()


def _sample() -> OpenFile:
    name = st.selectbox(
        "Sample",
        list(TITLES),
        format_func=TITLES.__getitem__,
        key=keys.SAMPLE,
        label_visibility="collapsed",
        persist_state="session",
    )
    return _bundled(name)


def _bundled(name: str) -> OpenFile:
    return replace(open_file(str(sample_path(name))), sample=True)


def drop_zone() -> None:
    """Draws the upload zone that covers the page while a file is dragged over it.

    A dropped file is opened like an uploaded one.
    """

    def take() -> None:
        file = st.session_state[keys.DROPPED]
        if file is not None:
            st.session_state[keys.SOURCE], st.session_state[_DROPPED] = "Upload", file

    st.file_uploader(
        "Drop a file",
        key=keys.DROPPED,
        label_visibility="collapsed",
        max_upload_size=upload_mb(),
        on_change=take,
    )


def _upload() -> OpenFile | None:
    """Draws the upload of a file; returns the uploaded or dropped file, if any."""
    most = upload_mb()
    chosen = st.file_uploader(
        "Upload",
        key="upload",
        label_visibility="collapsed",
        max_upload_size=most,
        on_change=lambda: st.session_state.pop(_DROPPED, None),
    )
    file = st.session_state.get(_DROPPED, chosen)
    if file is not chosen:
        st.text(f"Dropped: {file.name}")
    larger = "" if security.paths_limited() else " A larger file is read where it is: choose Path."
    st.caption(f"At most {most} MB; a file can be dropped anywhere on the page.{larger}")
    if file is None:
        names = ", ".join(loader.label for loader in loaders.LOADERS.values())
        st.caption(f"A saved memory, or a conversation: {names}; also zipped.")
        return None
    # By content, not by name; read for it once, not at every click.
    key = remember("uploads", file.file_id, CORPORA_KEPT, lambda: fingerprint(file.getvalue()))

    def saved() -> store.Saved | None:
        data = file.getvalue()
        return saved_memory(data) if store.recognises(data) else None

    return opened_as(key, lambda how, _: _parsed(file.getvalue(), file.name, how), saved)


def _parsed(data: bytes, name: str, how: dict[str, Any]) -> Corpus:
    """Reads an upload; on a public server its unpacked size and its parts are limited too."""
    return loaders.parse(data, name, limit=upload_budget(), **how)


def _path() -> OpenFile | None:
    """Draws the field for a path; returns its file. LoadError if it may not be opened."""
    limited = security.paths_limited()
    path = st.text_input(
        "Path of a file on the machine that runs segviz",
        placeholder="~/data/locomo10.json",
        help=_LIMITED if limited else None,
        **starts(keys.PATH, os.environ.get(security.FILE, "")),
    )
    if not limited:
        with st.expander("Get LoCoMo", key="get-locomo"):
            get_locomo("path")
        return open_file(path) if path.strip() else None
    if not path.strip():
        return None
    # One answer to all that is not opened: it tells neither what there is nor what is in it.
    try:
        if security.may_open(path):
            return open_file(path, asks=False)
    except (LoadError, store.StoreError):
        pass
    raise LoadError("this path is not opened here", remedy=_LIMITED)


def get_locomo(place: str) -> None:
    """Offers to download and open the public LoCoMo file; names its owner and licence first."""
    st.caption(
        f"LoCoMo: ten long conversations with questions, published by Snap Research under "
        f"{LICENCE} (non-commercial use, with attribution). The button downloads {NAME} "
        f"({SIZE / 1e6:.1f} MB) from GitHub to your cache folder and checks it (SHA-256); nothing "
        f"else is sent. Or download it yourself from {PAGE} and give its path."
    )
    if not st.button(
        "I agree, get LoCoMo", icon=":material/download:", key=f"fetch-locomo-{place}"
    ):
        return
    try:
        with waiting("Downloading LoCoMo", f"stop-locomo-{place}"):
            path = waited_for(partial(fetch_locomo, cache_path(os.environ).parent))
    except LoadError as error:
        st.text(str(error))
        return
    st.session_state[_DOWNLOADED] = str(path)
    st.rerun()


@st.dialog("Open your own")
def open_your_own() -> None:
    """Draws the ways to open a conversation; a saved memory opens like one."""
    names = ", ".join(loader.label for loader in loaders.LOADERS.values())
    stay = (
        "This server forgets them when you leave."
        if security.public()
        else ("They stay on this machine.")
    )
    st.markdown(f"Conversations from {names}; also zipped. {stay}")

    def take(source: str) -> None:
        st.session_state[keys.SOURCE] = source
        st.session_state[keys.MEMORY_PANEL] = True

    chosen = [
        st.button(label, icon=icon, key=f"open-{source}", on_click=take, args=(source,))
        for source, label, icon in (
            ("Upload", "Upload a file, in the sidebar", ":material/upload:"),
            ("Path", "A path on this machine, in the sidebar", ":material/folder_open:"),
            ("Paste", "Paste a chat, in the sidebar", ":material/content_paste:"),
        )
        if source != "Path" or security.names_paths()
    ]
    if any(chosen):
        st.rerun()
    if not security.paths_limited():
        get_locomo("dialog")


def _paste() -> OpenFile | None:
    text = st.text_area(
        "Conversation",
        key="paste",
        height=160,
        placeholder="Ada: Did you find the key?\nBen: Under the third stone.",
        help="One turn per line with the speaker before a colon, or any text a supported "
        "file could hold.",
        persist_state="session",
    )
    if not text.strip():
        return None
    data = text.encode("utf-8", "replace")
    return opened_as(fingerprint(data), lambda how, _: _parsed(data, "pasted text", how))
