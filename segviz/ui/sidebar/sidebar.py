"""Draws the sidebar: conversation, unit rule, system and parameters.

Parameters are drawn from their declarations, so that a new system needs no page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz import store
from segviz.construct import WRITTEN_BY, Parameter, parameters
from segviz.construct.annotate import Extractive
from segviz.conversation import UNIT_RULES, Conversation, sample_texts, with_typed_turns
from segviz.embedding import Embedder, script_note
from segviz.memory import (
    COMPONENTS,
    Memory,
    MissingEmbedder,
    declared,
    from_saved,
    nested,
    part_name,
)
from segviz.plugins import PLUGINS, foreign
from segviz.systems import SYSTEMS
from segviz.tree import Span
from segviz.ui import address, keys, security
from segviz.ui import settings as controls
from segviz.ui.settings import write_beside
from segviz.ui.sidebar import build, models, open_file, source, texts, watching
from segviz.ui.state import (
    MEMORIES_KEPT,
    AppSession,
    fingerprint,
    id_in_link,
    remember,
    starts,
    typed_turns,
)
from segviz.ui.widgets import canvas, captions, charts, style
from segviz.view.bookmark import TEXTS, Bookmark, differing
from segviz.view.captions import provenance_lines

UNIT_HELP = {
    "exchange": "Consecutive turns of one speaker and the reply to them. Every turn is in a leaf.",
    "turn": "One leaf per turn.",
    "paper": "As in the SegTreeMem paper. Some turns are in no leaf.",
    "session": "One leaf per session.",
}


def sidebar() -> AppSession | None:
    """Draws the sidebar; returns the open session, or draws why there is none yet."""
    with st.sidebar:
        if security.WATCH in os.environ:
            return _watched()
        opened, panel = source.choose_source()
        if opened is None:
            return None
        address.opened(opened.key, opened.saved)
        with panel:
            opened = open_file.audit_panel(opened)
            opened = open_file.joined_conversations(opened)
        original = open_file.choose_conversation(opened, panel)
        if original is None:
            return None
        key = fingerprint(opened.key, original.id)
        if opened.saved is not None:
            return _saved(opened, original, key, panel)
        typed = typed_turns(key)
        conversation = original
        if typed:  # remembered, because a conversation caches its units
            continued = partial(with_typed_turns, original, typed)
            conversation = remember("continued", fingerprint(key, typed), 1, continued)
        with panel:
            texts_place = st.container()
        with panel, st.expander(_sum_up(conversation), key="built-as"):
            unit: str = st.selectbox(
                "One leaf per",
                list(UNIT_RULES),
                key=keys.UNIT,
                help="\n".join(f"- **{name}**: {meaning}" for name, meaning in UNIT_HELP.items()),
                persist_state="session",
            )
            system, settings = _system()
        with texts_place:
            sample = original.id if opened.sample else ""
            written = _texts(sample, unit, settings)
        _say_dropped(conversation, unit)
        with panel, models.models_panel():
            chosen = models.choose_models(*_for_models(system, settings))
            elsewhere = st.container()
        _embedding_note(chosen.embedder, conversation, panel)
    order = build.Order(conversation, unit, system, settings, chosen, written)
    typed_key = fingerprint(key, typed)
    built = build.obtain(order, typed_key, fingerprint(key, []), bool(typed))
    models.show_spending()
    if built is None:
        listed = id_in_link(opened.corpus, conversation)
        link = address.ordered(key, listed, system, settings)
        canvas.part("address", key="address-order", data=link)
        return None
    if written:
        texts_place.caption(_about_written(built[1]))
    own_key, memory = texts.written_elsewhere(elsewhere, key, *built)
    _name_panel(memory)
    session = AppSession(own_key, key, opened.corpus, conversation, memory, chosen.chat)
    chosen_texts = st.session_state.get(keys.TEXTS, TEXTS[0])
    changed = differing(SYSTEMS[system], memory.settings)
    made = Bookmark(system=system, settings=changed, texts=chosen_texts)
    axis = fingerprint(typed_key, unit)
    session = replace(session, how=opened.how, axis=axis, build=made)
    return replace(session, second=_second(session, order, typed_key, sample))


def _second(session: AppSession, order: build.Order, source: str, sample: str) -> AppSession | None:
    """Returns the session of the build that is drawn beside this one, if any.

    Notes how this one is built, and with which texts it may be, as choices of a second tree;
    ``sample`` is as in ``_written``.
    """
    own = session.build
    known: list[Bookmark] = remember(keys.BUILDS, session.axis, MEMORIES_KEPT, list)
    if _written(sample, order.unit, order.settings):
        other = TEXTS[own.texts == TEXTS[0]]
        known[:] = [replace(own, texts=other), *(each for each in known if each.texts == own.texts)]
    known[:] = [*(each for each in known if each != own), own][-_BUILDS:]
    wanted = st.session_state.get(keys.BESIDE)
    if not isinstance(wanted, Bookmark):
        return None
    if wanted == own:
        write_beside(None)
        return None
    # Its settings as widgets would have them, so that it is found if it was built before.
    kind = SYSTEMS[wanted.system]
    flat = {
        name: wanted.settings.get(name, part_name(each))
        if each.spec.registry
        else each.kind(wanted.settings.get(name, each.default))
        for name, each in declared(kind, wanted.settings).items()
    }
    settings = nested(kind, flat)
    written = _written(sample, order.unit, settings)
    texts = written if wanted.texts == TEXTS[0] else {}
    order = replace(order, system=wanted.system, settings=settings, texts=texts)
    built = build.at_once(order, source)
    if built is None:
        st.warning(
            "The build of the second tree takes long or calls a model. Choose its parameters here "
            "and build it first."
        )
        write_beside(None)
        return None
    return replace(session, key=built[0], memory=built[1], build=wanted, second=session)


_BUILDS = 6
"""Most builds of a conversation that are offered as a second tree."""


def _written(sample: str, unit: str, settings: Mapping[str, Any]) -> dict[Span, tuple[str, str]]:
    """Returns the written texts of a sample, if a build would have extracts in their place.

    ``sample`` is the name of the sample, "" for any other conversation.
    """
    extracts = settings.get("annotate", {}).get("name") == Extractive.name
    return sample_texts(sample, unit) if extracts else {}


def _texts(sample: str, unit: str, settings: Mapping[str, Any]) -> dict[Span, tuple[str, str]]:
    """Draws the choice of texts of a sample that has written ones, where extracts would be.

    Returns the written texts, if they are chosen.
    """
    written = _written(sample, unit, settings)
    if not written:
        return {}
    chosen = st.segmented_control("Texts", TEXTS, required=True, **starts(keys.TEXTS, TEXTS[0]))
    if chosen == TEXTS[0]:
        return written
    st.caption("Extracts are lines quoted from the turns, chosen offline.")
    return {}


def _name_panel(memory: Memory) -> None:
    """Puts the conversation, its turns and its nodes on the line that the sidebar folds to."""
    conversation, nodes = memory.conversation, int(memory.structure.collapsed.active.sum())
    sizes = captions.counted(len(conversation.turns), "turn"), captions.counted(nodes, "node")
    style.label_panel(keys.MEMORY_PANEL, " · ".join([conversation.id[:60], *sizes]))


def _about_written(memory: Memory) -> str:
    """Returns a sentence about written texts, with the number of nodes that have none."""
    shown = memory.structure.collapsed
    inner = [n for n in shown.nodes.tolist() if shown.active[n] and shown.level[n] > 0]
    extracts = sum(WRITTEN_BY not in shown.facts[node] for node in inner)
    sentence = "Titles and summaries are written by hand from the turns."
    if not extracts:
        return sentence
    return f"{sentence} {extracts} of {len(inner)} inner nodes have other turns: extracts."


def _watched() -> AppSession | None:
    """Returns the session of the watched file; models serve questions alone."""
    session = watching.watch_panel()
    if session is None:
        return None
    with models.models_panel():
        chosen = models.choose_models()
    models.show_spending()
    _embedding_note(session.memory.embedder, session.memory.conversation, st.container())
    return replace(session, chat=chosen.chat)


def _saved(
    opened: open_file.OpenFile, conversation: Conversation, source: str, panel: DeltaGenerator
) -> AppSession:
    """Returns the session of a memory file.

    The memory is built already, so models only embed and answer questions.
    """
    saved = cast(store.Saved, opened.saved)
    with panel:
        label = SYSTEMS[saved.system].label if saved.system in SYSTEMS else saved.system
        st.text(f"{label}, as saved")
        steps = captions.counted(len(saved.steps), "step")
        st.caption(f"{steps}, leaves by the rule '{saved.unit}'")
        with models.models_panel():
            chosen = models.choose_models()
            elsewhere = st.container()
    models.show_spending()
    # Questions are embedded as the nodes were, or not at all.
    remote = chosen.embedder if chosen.embedder.name == saved.embedder else None
    key = fingerprint(opened.key, "saved", chosen.embedder.name)
    memory = remember(keys.MEMORIES, key, MEMORIES_KEPT, lambda: from_saved(saved, remote))
    key, memory = texts.written_elsewhere(elsewhere, source, key, memory)
    for name, value in provenance_lines(memory):
        panel.text(f"{name}: {value}")
    _name_panel(memory)
    if isinstance(memory.embedder, MissingEmbedder):
        st.warning(
            "The embedder of this memory is not installed, so questions are compared by words only."
        )
        st.text(memory.embedder.name[:80])
    else:
        _embedding_note(memory.embedder, memory.conversation, panel)
    return AppSession(key, source, opened.corpus, conversation, memory, chosen.chat, saved=True)


def _sum_up(conversation: Conversation) -> str:
    """Returns how the memory is built, as the label of the panel that changes it."""
    state = st.session_state
    rule, name = state.get(keys.UNIT, "exchange"), state.get(keys.SYSTEM, "segment-tree")
    count = captions.counted(len(conversation.units(rule)), "leaf", "leaves")
    declared = {parameter.name: parameter.default for parameter in parameters(SYSTEMS[name])}
    default = getattr(declared.get("compatibility"), "name", None)
    chosen = state.get(keys.parameter(name, "compatibility"), default)
    return ", ".join(
        filter(None, (f"{count} by {rule}", charts.sentence_of(SYSTEMS[name].label), chosen))
    )


def _say_dropped(conversation: Conversation, rule: str) -> None:
    """Warns of turns that the unit rule leaves out."""
    dropped = set(conversation.dropped(rule))
    if not dropped:
        return
    lost = sum(bool(q.evidence) and dropped.issuperset(q.evidence) for q in conversation.questions)
    st.warning(
        f"{len(dropped)} of {captions.counted(len(conversation.turns), 'turn')} are in no leaf, "
        f"which takes all evidence from {captions.counted(lost, 'question')}."
    )


def _system() -> tuple[str, dict[str, Any]]:
    """Draws the choice of a system and its parameters; returns both."""

    def label(name: str) -> str:
        package, own = foreign("systems", name), str(SYSTEMS[name].label)
        return f"{own} ({package})" if package else own

    name: str = st.selectbox(
        "System",
        list(SYSTEMS),
        format_func=label,
        key=keys.SYSTEM,
        persist_state="session",
    )
    for plugin in PLUGINS:
        if plugin.problem:
            what = f"{plugin.group} {plugin.name} of {plugin.package} is not in use"
            st.warning(captions.unmarked(f"{what}: {plugin.problem}"))
    return name, component_controls(SYSTEMS[name], prefix=name)


def _for_models(system: str, settings: dict[str, Any]) -> tuple[str, Callable[[], None] | None]:
    """Returns the parts that use a chat model, in words, and a callback that selects such parts."""
    declared = [p for p in parameters(SYSTEMS[system]) if p.spec.registry is not None]
    chosen = {p.name: COMPONENTS[str(p.spec.registry)][settings[p.name]["name"]] for p in declared}
    asks = [f"{p} ({settings[p]['name']})" for p, part in chosen.items() if _needs(part)]
    able = {
        p.name: [n for n, part in COMPONENTS[str(p.spec.registry)].items() if _needs(part)]
        for p in declared
    }

    def use() -> None:
        for name, choices in able.items():
            if choices:  # the last one decides on all open nodes at once
                st.session_state[keys.parameter(system, name)] = choices[-1]

    return " and ".join(asks), use if any(able.values()) else None


def _needs(part: Any) -> bool:
    return bool(getattr(part, "needs_chat", False))


def _embedding_note(embedder: Embedder, conversation: Conversation, panel: DeltaGenerator) -> None:
    """Says in a panel how texts are compared; warns of texts that the embedder cannot read."""
    name = embedder.name
    if note := script_note(embedder, (turn.text for turn in conversation.turns)):
        st.warning(note)
    if name.startswith("hashing"):
        st.warning(
            "The offline language model is not installed for this platform; similarity is "
            "by spelling only (hashing embedder)."
        )
    else:
        plain = name if ":" in name else name.partition("-")[0]
        what = "precomputed embeddings" if plain == "given" else plain
        panel.caption(f"Similarity by {captions.unmarked(what)}", help=captions.unmarked(name))


# --- parameters -----------------------------------------------------------------------

# A system with more parameters has them in a closed panel.
FEW = 4


def component_controls(kind: type, prefix: str, draws: bool = True) -> dict[str, Any]:
    """Draws one control per declared parameter of ``kind``; returns the chosen settings.

    A parameter with a registry becomes a choice of component. That component's parameters are below
    it, drawn once their panel is open. More than a few others are in a closed panel. Without
    ``draws``, these keep their last values.
    """
    declared = parameters(kind)
    settings: dict[str, Any] = dict.fromkeys(parameter.name for parameter in declared)
    for parameter in declared:
        if parameter.spec.registry is not None:
            key = keys.parameter(prefix, parameter.name)
            settings[parameter.name] = _component(parameter, key)
    plain = [parameter for parameter in declared if parameter.spec.registry is None]
    folded = len(plain) > FEW and "." not in prefix  # a component's are folded already
    with st.expander(f"{len(plain)} parameters of the system") if folded else nullcontext():
        for parameter in plain:
            key = keys.parameter(prefix, parameter.name)
            settings[parameter.name] = (
                controls.parameter_control(
                    parameter, **starts(key, parameter.kind(parameter.default))
                )
                if draws
                else st.session_state.get(key, parameter.default)
            )
    return settings


def _component(parameter: Parameter, key: str) -> dict[str, Any]:
    """Draws the choice of a part and, in a panel, its parameters; returns both."""
    known = COMPONENTS[str(parameter.spec.registry)]
    name = st.selectbox(
        parameter.name.capitalize(),
        list(known),
        help=parameter.spec.help,
        **starts(key, getattr(parameter.default, "name", next(iter(known)))),
    )
    chosen = known[name]
    nested: dict[str, Any] = {}
    if isinstance(chosen, type) and parameters(chosen):
        own = keys.parameter(key, name)
        with st.expander(f"Parameters of {name}", key=f"open-{own}", on_change="rerun") as panel:
            nested = component_controls(chosen, own, bool(panel.open))
    return {"name": name, **nested}
