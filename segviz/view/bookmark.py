"""Assembly: a view of the explorer as the parameters of a link, and back.

A :class:`Bookmark` names what is looked at and how: conversation, cut, system with its
parameters, question, retrieval setting, selected node. Only what differs from the default
is written, so links stay short and readable. Whatever a link says is checked; what cannot
be used is left out and named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from segviz.construct import Operates, Parameter, parameters
from segviz.conversation import TITLES, UNIT_RULES
from segviz.memory import COMPONENTS, make_system
from segviz.retrieval import POLICIES, RELEVANCE
from segviz.systems import SYSTEMS
from segviz.view.link_readers import (
    COUNT,
    LONGEST,
    MOST_OPERATIONS,
    Operated,
    levels,
    local_path,
    number,
    one_of,
    operations,
    pins,
    short_text,
    yes_or_no,
)

__all__ = [
    "COLOURS",
    "LABELS",
    "LONGEST",
    "METHODS",
    "MOST_OPERATIONS",
    "Bookmark",
    "Operated",
    "decode",
    "differing",
    "encode",
    "looks",
    "nested",
]

METHODS = ("own", "propagate", "adaptive")

COLOURS = ("session", "level", "initial", "propagated", "change", "gold", "coherence")
LABELS = ("session", "words", "node", "score")
"""What the canvas can be coloured by and can write on its nodes, as in frontend.look."""


@dataclass(frozen=True, kw_only=True)
class Bookmark:
    """What is looked at and how.

    ``sample`` or ``path`` name the file, ``upload`` a file that only its owner has;
    ``settings`` are the system's parameters that differ from its defaults, nested ones
    with dots (``compatibility.threshold``); ``question`` is the index of a question of the
    data set, ``text`` one's own; ``step`` and ``asked`` are moments on Grow and Ask;
    ``levels`` the admissible ones, None for all; ``budget`` tokens in place of ``k``;
    ``method`` is "own", "propagate" or "adaptive" where another than the system's usual one
    is taken; ``view`` the drawing, ``colour`` and ``labels`` what it shows; ``pins`` the
    two nodes held side by side; ``done`` the operations on the memory since it was built,
    each with its arguments in the order its system declares them.
    """

    sample: str | None = None
    path: str | None = None
    upload: str | None = None
    conversation: str | None = None
    unit: str = "exchange"
    system: str = "segment-tree"
    settings: Mapping[str, Any] = field(default_factory=dict)
    question: int | None = None
    text: str | None = None
    policy: str = "top-down"
    alpha: float = 0.1
    horizon: int = 2
    k: int = 10
    relevance: str = "hybrid"
    levels: tuple[int, ...] | None = None
    distinct: bool = True
    budget: int | None = None
    method: str | None = None
    step: int | None = None
    asked: int | None = None
    node: int | None = None
    view: str = ""
    colour: str = ""
    labels: str = ""
    pins: tuple[int, ...] = ()
    done: tuple[Operated, ...] = ()


def encode(bookmark: Bookmark) -> dict[str, str]:
    """Link parameters, text to text, in the order of the fields."""
    written: dict[str, str] = {}
    for item in fields(Bookmark):
        value = getattr(bookmark, item.name)
        if item.name == "settings":
            written |= {name: _written(part) for name, part in value.items()}
        elif item.name == "done" and value:
            written["done"] = ",".join(".".join([name, *map(str, given)]) for name, given in value)
        elif value != item.default:
            written[item.name] = _written(value)
    return written


def looks(bookmark: Bookmark) -> Bookmark:
    """Only how something is looked at: without what names the data and how it is built."""
    usual = Bookmark()
    return replace(
        bookmark,
        sample=None,
        path=None,
        upload=None,
        conversation=None,
        unit=usual.unit,
        system=usual.system,
        settings=usual.settings,
        done=usual.done,
    )


def decode(link: Mapping[str, str]) -> tuple[Bookmark, list[str]]:
    """The bookmark of a link, and a sentence for each part of it that cannot be used."""
    values: dict[str, Any] = {}
    problems: list[str] = []

    def take(name: str, read: Callable[[str], Any], store: dict[str, Any]) -> None:
        given = link[name]
        try:
            store[name] = read(given)
        except ValueError as error:
            problems.append(f"{name}={given[:80]!r}: {error}")

    for name, read in _READERS.items():
        if name in link:
            take(name, read, values)
    if values.pop("done", None):
        take("done", _known_operations(values.get("system", "segment-tree")), values)
    settings: dict[str, Any] = {}
    for name in link:
        if name not in _READERS:
            readers = _setting_readers(SYSTEMS[values.get("system", "segment-tree")], link)
            if name in readers:
                take(name, readers[name], settings)
            else:
                problems.append(f"{name[:80]!r} is not a part of a view")
    return Bookmark(**values, settings=settings), problems


def differing(kind: type, settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The settings of a system or component that differ from its defaults, flat.

    ``settings`` are as in ``Memory.settings``; nested components appear by name under the
    parameter's name, their own parameters below it with a dot.
    """
    flat: dict[str, Any] = {}
    for parameter in parameters(kind):
        if parameter.name not in settings:
            continue
        path, value = prefix + parameter.name, settings[parameter.name]
        if parameter.spec.registry is None:
            if value != parameter.default:
                flat[path] = value
            continue
        if value["name"] != _default_name(parameter):
            flat[path] = value["name"]
        component = COMPONENTS[parameter.spec.registry].get(value["name"])
        if isinstance(component, type):
            flat |= differing(component, value, f"{path}.")
    return flat


def nested(kind: type, flat: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The other way round: settings for ``segviz.build`` from flat ones."""
    settings: dict[str, Any] = {}
    for parameter in parameters(kind):
        path = prefix + parameter.name
        below = any(name.startswith(f"{path}.") for name in flat)
        if parameter.spec.registry is None:
            if path in flat:
                settings[parameter.name] = flat[path]
        elif path in flat or below:
            name = flat.get(path, _default_name(parameter))
            component = COMPONENTS[parameter.spec.registry][name]
            inner = nested(component, flat, f"{path}.") if isinstance(component, type) else {}
            settings[parameter.name] = {"name": name, **inner}
    return settings


def _default_name(parameter: Parameter) -> str:
    return str(getattr(parameter.default, "name", type(parameter.default).__name__))


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or "none"
    return str(value)


def _setting_readers(
    kind: type, link: Mapping[str, str], prefix: str = ""
) -> dict[str, Callable[[str], Any]]:
    """What reads each setting of a system, given which components the link names."""
    readers: dict[str, Callable[[str], Any]] = {}
    for parameter in parameters(kind):
        path, registry = prefix + parameter.name, parameter.spec.registry
        if registry is None:
            readers[path] = _value_reader(parameter)
            continue
        readers[path] = one_of(tuple(COMPONENTS[registry]))
        chosen = link.get(path, _default_name(parameter))
        component = COMPONENTS[registry].get(chosen)
        if isinstance(component, type):
            readers |= _setting_readers(component, link, f"{path}.")
    return readers


def _value_reader(parameter: Parameter) -> Callable[[str], Any]:
    spec, default = parameter.spec, parameter.default
    if isinstance(default, bool):
        return yes_or_no
    if isinstance(default, int):
        return number(int, spec.low, spec.high)
    if isinstance(default, float):
        return number(float, spec.low, spec.high)
    return one_of(spec.choices) if spec.choices else short_text


def _known_operations(system: str) -> Callable[[str], tuple[Operated, ...]]:
    """Reads operations that a system has, with as many arguments as it wants."""

    def read(given: str) -> tuple[Operated, ...]:
        made = make_system(system)
        known = made.operations() if isinstance(made, Operates) else {}
        done = operations(given)
        for name, arguments in done:
            if name not in known:
                raise ValueError(f"expected one of {', '.join(known) or 'no operation'}")
            wanted = known[name].arguments
            if len(arguments) != len(wanted):
                raise ValueError(f"{name} takes {', '.join(wanted) or 'no arguments'}")
        return done

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "sample": one_of(tuple(TITLES)),
    "path": local_path,
    "upload": short_text,
    "conversation": short_text,
    "unit": one_of(tuple(UNIT_RULES)),
    "system": one_of(tuple(SYSTEMS)),
    "question": COUNT,
    "text": short_text,
    "policy": one_of(tuple(POLICIES)),
    "alpha": number(float, 0, 0.99),
    "horizon": number(int, 0, 5),
    "k": number(int, 1, 1_000),
    "relevance": one_of(tuple(RELEVANCE)),
    "levels": levels,
    "distinct": yes_or_no,
    "budget": number(int, 50, 100_000),
    "method": one_of(METHODS),
    "step": number(int, 1, 2**31),
    "asked": number(int, 1, 2**31),
    "node": COUNT,
    "view": short_text,
    "colour": one_of(COLOURS),
    "labels": one_of(LABELS),
    "pins": pins,
    "done": operations,
}
"""Every field but ``settings``, with what reads it."""
