"""Adds the options of building, and opens or builds the memory that a command works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from segviz import store
from segviz.cli.command import (
    Console,
    Option,
    Options,
    Unfinished,
    UsageError,
    either,
    names,
    section,
    together,
    user_errors,
)
from segviz.cli.models import Models, embedder_option, expectations, model_options
from segviz.cli.source import (
    SAMPLE,
    audit_option,
    audited,
    conversation_options,
    path_of,
    read_conversation,
)
from segviz.construct import Parameter, System, parameters
from segviz.conversation import UNIT_RULES, WRITTEN, Conversation, Corpus, sample_texts
from segviz.embedding import script_note
from segviz.files import NoRoom
from segviz.memory import (
    COMPONENTS,
    BuildPaused,
    Memory,
    build,
    declared,
    from_saved,
    make_system,
    needs_chat,
    nested,
    part_name,
    rehearse,
    sound,
    system_from,
)
from segviz.memory.written import Texts, instead_of_extracts
from segviz.systems import SYSTEMS
from segviz.view.bookmark import TEXTS, decode, in_link

SYSTEM, UNIT = "segment-tree", "exchange"
"""Default system and unit rule."""

Variant = tuple[str, dict[str, Any]]
"""Name of a system and its settings."""

NOTED = 10
"""Greatest number of repaired faults of a memory file that are printed."""


_building = section("Building a memory")


texts_option = _building(
    "--texts",
    "Texts of inner nodes of a sample: written by hand from its turns, or extracts.",
    "written, where the sample has some and one system is built",
    type=click.Choice(TEXTS),
    default=None,
)


class SystemName(click.Choice[str]):
    """Type of an option that names a system, or ``module:Class`` of a user's own system."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Returns the name of a known system, or any ``module:Class``; else fails."""
        return value if ":" in value else str(super().convert(value, param, ctx))


def imported(name: str) -> str:
    """Returns a system's name; a ``module:Class`` is imported and registered first.

    Raises:
        UsageError: the class cannot be used.
    """
    with user_errors():
        return system_from(name) if ":" in name else name


def build_options(several: bool = False) -> Option:
    """Returns the options of conversation, system and models, for ``several`` of them or one."""
    return together(conversation_options(several), audit_option, system_options(several))


def system_options(several: bool = False, others: Sequence[str] = ()) -> Option:
    """Returns the options of one or ``several`` systems (of ``others``, too), units and models."""
    systems, rules = SystemName([*SYSTEMS, *others]), click.Choice(list(UNIT_RULES))
    one = (
        f"Memory architecture: {', '.join([*SYSTEMS, *others])}; or MODULE:CLASS, your own system "
        "or a class with add and search."
    )
    each = "Build the system once for each value of this parameter; --set gives the others."
    some = "Several systems, each with its defaults."
    more = (
        _building("--systems", some, type=names, metavar="NAME,…"),
        _building("--vary", each, metavar="NAME=VALUE,…"),
    )
    parameter = (
        "A parameter of the system or, with a dot, of a component: compatibility=cosine, "
        "compatibility.threshold=0.3; repeatable. segviz build --help lists them."
    )
    return together(
        _building("--system", one, SYSTEM, type=systems, metavar="NAME"),
        *(more if several else ()),
        _building("--set settings", parameter, multiple=True, metavar="NAME=VALUE"),
        _building("--unit", "Rule that makes leaves from turns.", UNIT, type=rules),
        texts_option,
        embedder_option,
        model_options,
    )


def memory_of(options: Options, console: Console, models: Models) -> Memory:
    """Returns the memory in the file, or builds a memory of the conversation in the file.

    Raises:
        UsageError: the file or the options cannot be used.
        Unfinished: a model gave up.
    """
    path = path_of(options.file)
    if not store.recognises(path):
        return built(options, console, models)
    refuse_idle(options.file, options)
    return opened(path, options, models, console)


def opened(path: Path, options: Options, models: Models, console: Console) -> Memory:
    """Opens a memory file, prints its repaired faults, and marks questions that an audit disputes.

    Raises:
        UsageError: the file cannot be read.
    """
    with user_errors():
        saved = sound(store.read(path))
        for finding in saved.findings[:NOTED]:
            console.note(f"{finding.where}: {finding.what}")
        [conversation] = audited(Corpus((saved.conversation,)), options, console)
        saved = replace(saved, conversation=conversation)
        return from_saved(saved, models.embedder if models.remote else None)


_IDLE = (
    *("system", "systems", "unit", "texts", "settings", "vary", "workers", "scheduler", "store"),
    *("conversation", "all", "columns", "day_first", "gap_hours", "join"),
)


def refuse_idle(file: str, options: Options, *names: str) -> None:
    """Raises UsageError if an option was given that is idle for a built memory.

    With ``names``, only these are idle: ``file`` is then the work of another system.
    """
    what, hint = "a built memory", "give the conversation's file to build another"
    if names:
        what, hint = "not built here", "leave it out"
    context = click.get_current_context()
    given = {each.name: each for each in context.command.params if each.name}
    idle = [
        given[name].opts[0]
        for name in names or _IDLE
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        and getattr(options, name) != given[name].default
    ]
    if idle:
        raise UsageError(f"{file} is {what}, so it has no use for {' and '.join(idle)}; {hint}")


def built(options: Options, console: Console, models: Models) -> Memory:
    """Builds a memory of the conversation in the file; raises the errors of :func:`memory_of`."""
    name = imported(options.system or SYSTEM)
    settings = settings_of(name, options.settings)
    conversation = read_conversation(options, console)
    note_script(conversation, console, models)
    unit = options.unit or UNIT
    texts = written_texts(options, unit)
    memory = build_one(conversation, name, settings, unit, console, models)
    return instead_of_extracts(memory, texts)


def written_texts(options: Options, unit: str) -> Texts:
    """Returns the texts that the app shows for a bundled sample; {} for extracts.

    Raises:
        UsageError: written texts are asked for, but there are none.
    """
    written, extracts = TEXTS
    name = options.file.removeprefix(SAMPLE) if options.file.startswith(SAMPLE) else ""
    texts = sample_texts(name, unit) if options.texts != extracts else {}
    if options.texts == written and not texts:
        raise UsageError(
            f"{options.file} has no written texts by the rule {unit!r}; {SAMPLE} "
            f"{' and '.join(WRITTEN)} have some by {UNIT!r}"
        )
    return texts


def note_script(conversation: Conversation, console: Console, models: Models) -> None:
    """Prints a note if the embedder does not support the main script of a conversation."""
    if note := script_note(models.embedder, (turn.text for turn in conversation.turns)):
        console.note(note)


def usable(name: str, settings: dict[str, Any], models: Models) -> tuple[System, list[str]]:
    """Returns a system and the names of its parts that call a chat model.

    Raises:
        UsageError: a setting is illegal, or a part needs a model and none is named.
    """
    with user_errors():
        system = make_system(name, **settings)
    callers = needs_chat(system)
    if callers and models.chat is None:
        raise UsageError(
            f"{name} needs a chat model for {' and '.join(callers)}; name one with --server and "
            "--model, or choose an offline part with --set"
        )
    return system, callers


def variants(options: Options, usual: Sequence[str]) -> dict[str, Variant]:
    """Returns the systems to build with their settings, by label.

    Options name either several systems (``--systems``, default ``usual``), or one system with
    settings (``--set``), which is built once for each value of ``--vary``.

    Raises:
        UsageError: a system or parameter is unknown, or the options exclude each other.
    """
    either(options, "system", "systems")
    # One system, built for each value of a parameter.
    name, given = imported(options.system or SYSTEM), options.settings
    if options.vary:
        parameter, mark, values = options.vary.partition("=")
        if not mark or not values or options.systems:
            raise UsageError("--vary takes NAME=VALUE,VALUE of one --system")
        return {
            f"{parameter} {value}": (name, settings_of(name, [*given, f"{parameter}={value}"]))
            for value in names(values)
        }
    # One system with settings.
    if options.system or (given and not options.systems):
        return {name: (name, settings_of(name, given))}
    if given:
        raise UsageError("--set is for one --system; several have their defaults")
    # Several systems with their defaults.
    systems: dict[str, Variant] = {}
    for one in options.systems or usual:
        name = imported(one)
        if name not in SYSTEMS:
            raise UsageError(f"unknown system {name!r}; choose among {', '.join(SYSTEMS)}")
        if name in systems:
            raise UsageError(f"--systems {one!r}: {name!r} is named before; name it once")
        systems[name] = (name, {})
    return systems


def build_one(
    conversation: Conversation,
    name: str,
    settings: dict[str, Any],
    unit: str,
    console: Console,
    models: Models,
) -> Memory:
    """Builds a memory with progress on standard error; raises the errors of :func:`memory_of`."""
    system, callers = usable(name, settings, models)
    if not conversation.units(unit):
        raise UsageError(f"the rule {unit!r} makes no leaf from {conversation.id}; try another")
    # With a model, a rehearsal tells the expected calls and the number of replies for the progress.
    chat = models.chat if callers else None
    total, replies = len(conversation.units(unit)), 0.0
    if chat is not None and not console.quiet:
        wanted, _ = rehearse(conversation, system, unit, models.embedder, chat)
        for line in expectations(wanted, models):
            console.note(line)
        replies = sum(each.replies for each in wanted.values())
    # A pause or an interruption says what is saved.
    try:
        with console.progress(f"building {name}", "leaves", chat=chat, replies=replies) as show:
            show(0, total)
            return build(
                conversation, system, unit, embedder=models.embedder, chat=chat, progress=show
            )
    except NoRoom as error:
        raise UsageError(str(error)) from None
    except BuildPaused as pause:
        where = f"{system.name}: paused after {len(pause.memory.steps)} of {total} leaves: {pause}"
        on = "The finished steps are saved; the same command continues there."
        raise Unfinished(f"{where} {on}") from None
    except KeyboardInterrupt:
        if callers or models.remote:
            console.error("the answers of the models are saved; the same command continues there")
        raise


def settings_of(system: str, given: Sequence[str]) -> dict[str, Any]:
    """Returns keyword arguments of ``segviz.build`` from ``name=value`` texts.

    Raises:
        UsageError: a text has another form, or a parameter is unknown or illegal; the message
            names the legal ones.
    """
    flat: dict[str, str] = {}
    for text in given:
        name, mark, value = text.partition("=")
        if not mark or not name.strip():
            raise UsageError(f"--set {text!r}: expected NAME=VALUE, such as refresh=lazy")
        if name.strip() in flat:
            raise UsageError(f"--set {name.strip()} is given twice")
        flat[name.strip()] = value.strip()
    known = declared(SYSTEMS[system], flat)  # links have further fields; here only parameters
    for name in flat:
        if name not in known:
            legal = ", ".join(known) or "none"
            raise UsageError(f"{system} has no parameter {name!r} here; it has {legal}")
    bookmark, problems = decode({"system": system, **{in_link(n): v for n, v in flat.items()}})
    if problems:
        raise UsageError(f"--set {problems[0]}")
    return nested(SYSTEMS[system], bookmark.settings)


def parameters_help(formatter: click.HelpFormatter) -> None:
    """Writes all systems and their parts into a help text: parameters, defaults, ranges."""
    with formatter.section("Parameters of the systems, for --set NAME=VALUE"):
        for name, kind in SYSTEMS.items():
            _rows(formatter, f"{name}: {kind.label}", kind, "")
    with formatter.section("Parameters of their parts, for --set PART.NAME=VALUE"):
        for registry, choices in COMPONENTS.items():
            for name, component in choices.items():
                if isinstance(component, type):
                    _rows(formatter, f"{registry}={name}", component, f"{registry}.")


def _rows(formatter: click.HelpFormatter, title: str, kind: type, prefix: str) -> None:
    rows = [(f"{prefix}{p.name}", f"{p.spec.help} ({_range(p)})") for p in parameters(kind)]
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)


def _range(parameter: Parameter) -> str:
    """Describes a parameter's default and its legal values for the help."""
    spec, default = parameter.spec, parameter.default
    if spec.registry is not None:
        return f"default {part_name(parameter)}; one of {', '.join(COMPONENTS[spec.registry])}"
    if spec.choices:
        return f"default {default}; one of {', '.join(spec.choices)}"
    if isinstance(default, bool):
        return f"default {'yes' if default else 'no'}; yes or no"
    bounds = "" if spec.low is None else f"; {spec.low} to {spec.high}"
    return f"default {default}{bounds}"
