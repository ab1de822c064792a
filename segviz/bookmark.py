"""Assembly: a view of the explorer as the parameters of a link, and back.

A :class:`Bookmark` names what is looked at and how: conversation, cut, system with its
parameters, question, retrieval setting, selected node. Only what differs from the default
is written, so links stay short and readable. Whatever a link says is checked; what cannot
be used is left out and named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from segviz.assemble import COMPONENTS, make_system
from segviz.parameters import Parameter, parameters
from segviz.propagate import POLICIES
from segviz.protocols import Operates
from segviz.relevance import RELEVANCE
from segviz.samples import TITLES
from segviz.systems import SYSTEMS
from segviz.units import UNIT_RULES

METHODS = ("own", "propagate", "adaptive")

COLOURS = ("session", "level", "initial", "propagated", "change", "gold", "coherence")
LABELS = ("session", "words", "node", "score")
"""What the canvas can be coloured by and can write on its nodes, as in frontend.look."""

Operated = tuple[str, tuple[int, ...]]
"""An operation on a finished memory: its name and arguments."""

MOST_OPERATIONS = 20
"""In a link, and kept in the app."""

LONGEST = 2_000
"""Characters of a question or path in a link; browsers and servers cut long addresses."""


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
        readers[path] = _one_of(tuple(COMPONENTS[registry]))
        chosen = link.get(path, _default_name(parameter))
        component = COMPONENTS[registry].get(chosen)
        if isinstance(component, type):
            readers |= _setting_readers(component, link, f"{path}.")
    return readers


def _value_reader(parameter: Parameter) -> Callable[[str], Any]:
    spec, default = parameter.spec, parameter.default
    if isinstance(default, bool):
        return _yes_or_no
    if isinstance(default, int):
        return _number(int, spec.low, spec.high)
    if isinstance(default, float):
        return _number(float, spec.low, spec.high)
    return _one_of(spec.choices) if spec.choices else _text


def _number(kind: type, low: float | None, high: float | None) -> Callable[[str], Any]:
    def read(given: str) -> Any:
        try:
            value = kind(given)
        except (ValueError, OverflowError):
            what = "a whole number" if kind is int else "a number"
            raise ValueError(f"expected {what}") from None
        if not math.isfinite(value):
            raise ValueError("expected a finite number")
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = f"{'' if low is None else low} to {'' if high is None else high}"
            raise ValueError(f"expected {bounds}")
        return value

    return read


def _one_of(legal: tuple[str, ...]) -> Callable[[str], str]:
    def read(given: str) -> str:
        if given not in legal:
            raise ValueError(f"expected one of {', '.join(legal)}")
        return given

    return read


def _text(given: str) -> str:
    if len(given) > LONGEST:
        raise ValueError(f"longer than {LONGEST} characters")
    return given


def _local_path(given: str) -> str:
    # A share of another machine would be asked for it, and told who asks.
    if given.replace("\\", "/").startswith("//"):
        raise ValueError("a link may name files of this machine only; type the path yourself")
    return _text(given)


def _yes_or_no(given: str) -> bool:
    if given not in ("yes", "no"):
        raise ValueError("expected yes or no")
    return given == "yes"


def _levels(given: str) -> tuple[int, ...]:
    if given == "none":
        return ()
    read = _number(int, 0, 100_000)
    return tuple(sorted({read(part) for part in given.split(",")}))


def _pins(given: str) -> tuple[int, ...]:
    nodes = tuple(_COUNT(part) for part in given.split(","))
    if len(set(nodes)) != len(nodes) or len(nodes) > 2:
        raise ValueError("expected one node or two different ones")
    return nodes


def _done(given: str) -> tuple[Operated, ...]:
    parts = _text(given).split(",")
    if len(parts) > MOST_OPERATIONS:
        raise ValueError(f"expected at most {MOST_OPERATIONS} operations")
    return tuple(_operation(*part.split(".")) for part in parts)


def _operation(name: str, *arguments: str) -> Operated:
    if len(arguments) > _MOST_ARGUMENTS or not re.fullmatch("[a-z][a-z_-]{0,40}", name):
        raise ValueError("expected operations such as delete.12, with dots before numbers")
    return name, tuple(_COUNT(argument) for argument in arguments)


def _known_operations(system: str) -> Callable[[str], tuple[Operated, ...]]:
    """Reads operations that a system has, with as many arguments as it wants."""

    def read(given: str) -> tuple[Operated, ...]:
        made = make_system(system)
        known = made.operations() if isinstance(made, Operates) else {}
        done = _done(given)
        for name, arguments in done:
            if name not in known:
                raise ValueError(f"expected one of {', '.join(known) or 'no operation'}")
            wanted = known[name].arguments
            if len(arguments) != len(wanted):
                raise ValueError(f"{name} takes {', '.join(wanted) or 'no arguments'}")
        return done

    return read


_COUNT = _number(int, 0, 2**31)
_MOST_ARGUMENTS = 8

_READERS: dict[str, Callable[[str], Any]] = {
    "sample": _one_of(tuple(TITLES)),
    "path": _local_path,
    "upload": _text,
    "conversation": _text,
    "unit": _one_of(tuple(UNIT_RULES)),
    "system": _one_of(tuple(SYSTEMS)),
    "question": _COUNT,
    "text": _text,
    "policy": _one_of(tuple(POLICIES)),
    "alpha": _number(float, 0, 0.99),
    "horizon": _number(int, 0, 5),
    "k": _number(int, 1, 1_000),
    "relevance": _one_of(tuple(RELEVANCE)),
    "levels": _levels,
    "distinct": _yes_or_no,
    "budget": _number(int, 50, 100_000),
    "method": _one_of(METHODS),
    "step": _number(int, 1, 2**31),
    "asked": _number(int, 1, 2**31),
    "node": _COUNT,
    "view": _text,
    "colour": _one_of(COLOURS),
    "labels": _one_of(LABELS),
    "pins": _pins,
    "done": _done,
}
"""Every field but ``settings``, with what reads it."""
