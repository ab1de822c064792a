"""Writes a Python script that reproduces a view with public names of segviz."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from segviz.construct import TITLE, WRITTEN_BY
from segviz.conversation import sample_texts
from segviz.embedding import embedder_key
from segviz.export.text import file_name
from segviz.export.view import View
from segviz.memory import made_again, needs_chat, nested
from segviz.memory.written import BY_HAND
from segviz.retrieval import RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.tree import Add, Revise

_UPLOADED = "the-file-you-uploaded.json"
_LINE = 88
_PROPAGATION = ("policy", "alpha", "horizon")
_ALWAYS = (*_PROPAGATION, "k", "relevance")  # written even if they are the default


def python_snippet(view: View) -> str:
    """Returns a script that defines ``memory``, ``structure`` and, on Ask, ``result`` of a view.

    The script builds the memory from the conversation's file if segviz can do that offline, and
    puts the written texts of a bundled sample on it. Otherwise, or if the memory is in a file
    already, it opens that file or the JSON export of the memory. Text from a file enters the script
    as a Python literal.
    """
    memory = view.memory
    edited = any(step.operation for step in memory.steps)
    again = made_again(memory.system, memory.settings)
    offline = again is not None and type(again) is type(memory.model) and not needs_chat(again)
    known = embedder_key(memory.embedder) is not None
    texts = _with_texts(view)
    built = offline and known and view.saved is None and not edited and texts is not None
    lines = ["import segviz"]
    if built:
        lines += _built(view, texts or "")
    else:
        lines.append("")
        name = view.saved
        if name is None:
            name = file_name(memory.conversation.id, "memory", "json")
            lines.append("# The memory as JSON, from the same menu as this script.")
        lines.append(f"memory = segviz.open({name!r})")
        if not known:
            lines += [
                f"# Its vectors are by {memory.embedder.name!r}: without embedder=… it can",
                '# only be asked with relevance="lexical".',
            ]
    if view.result is not None:
        lines += [*_asked(view), "structure = result.structure"]
    else:
        moment = view.moment
        whole = "memory.structure" if moment == len(memory.steps) else f"memory.at({moment})"
        collapsed = view.structure.collapsed is view.structure
        lines.append(f"structure = {whole}{'.collapsed' if collapsed else ''}")
    return "\n".join(lines) + "\n"


def _with_texts(view: View) -> str | None:
    """Returns the call that restores a sample's texts, "" for none; None if none can."""
    if not view.memory.provenance.get("by_hand"):
        return ""
    link = view.bookmark
    known = sample_texts(link.sample or "", link.unit)
    for event in (event for step in view.memory.steps for event in step.events):
        if not isinstance(event, Add | Revise) or WRITTEN_BY not in (event.facts or {}):
            continue
        facts = event.facts or {}
        if facts[WRITTEN_BY] != BY_HAND or known.get(event.span) != (facts[TITLE], event.text):
            return None
    return f".with_texts(sample_texts({link.sample!r}), partly=True)"


def _built(view: View, texts: str) -> list[str]:
    """Returns the lines that load the conversation, build the memory and put ``texts`` on it."""
    link, lines = view.bookmark, list[str]()
    path = repr(link.path or _UPLOADED)
    names = ["sample_path"] * (link.sample is not None)
    names += ["sample_texts"] * bool(texts) + ["with_typed_turns"] * bool(view.typed)
    if names:
        lines.append(f"from segviz.conversation import {', '.join(names)}")
    if link.sample is not None:
        path = f"sample_path({link.sample!r})"
    key = 0 if link.conversation is None else link.conversation
    read = {name: dict(value) if name == "columns" else value for name, value in view.read.items()}
    foreign = ["# The path is of the computer that exported this script."]
    lines += ["", *foreign * (link.path is not None)]
    lines += [f"corpus = {_call('segviz.load', path, read)}", f"conversation = corpus[{key!r}]"]
    if view.typed:
        lines.append(f"conversation = with_typed_turns(conversation, {list(view.typed)!r})")
    embedder = embedder_key(view.memory.embedder)
    given = {"system": link.system, "unit": link.unit, "embedder": embedder}
    given |= nested(SYSTEMS[link.system], link.settings)
    lines.append(f"memory = {_call('segviz.build', 'conversation', given)}")
    return [*lines, f"memory = memory{texts}"] if texts else lines


def _asked(view: View) -> list[str]:
    """Returns the lines that ask the question, with the settings that are not the default."""
    result = view.result
    assert result is not None
    given = {name: getattr(result.settings, name) for name in _ALWAYS}
    usual = RetrievalSettings()
    for item in fields(RetrievalSettings):
        value = getattr(result.settings, item.name)
        if item.name not in _ALWAYS and value != getattr(usual, item.name):
            given[item.name] = value
    if result.native:  # the system's own retrieval does not propagate
        given = {name: value for name, value in given.items() if name not in _PROPAGATION}
    return [
        f"result = {_call('memory.ask', repr(result.question), given)}",
        "for item in result.evidence:",
        "    print(item.rank_after, item.node, item.turn_ids, item.initial, item.final)",
    ]


def _call(function: str, first: str, named: dict[str, Any]) -> str:
    """Returns a call as Python code, on several lines if it is long."""
    arguments = [first, *(f"{name}={value!r}" for name, value in named.items())]
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= _LINE:
        return line
    return "\n".join([f"{function}(", *(f"    {each}," for each in arguments), ")"])
