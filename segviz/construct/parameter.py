"""Declares parameters with their type, default, range and meaning.

``param`` declares a field of a frozen dataclass. From that come a control, an option of the command
line, a part of a link, a documented row in the Guide and a checked argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

_KEY = "segviz"


@dataclass(frozen=True, slots=True)
class Spec:
    """Range, meaning and origin of one parameter.

    Attributes:
        help: the meaning; ends with the ``source``, if given.
        low: least legal value.
        high: greatest legal value.
        step: increment of a control.
        registry: key of ``segviz.memory.COMPONENTS`` whose names are legal.
        choices: legal values of a text parameter.
        source: origin of the default.
        kind: type of the value, if the default is None.
        check: takes name and value; returns the value in its normal form, or raises ValueError.
            It replaces the check of the range, which then limits controls and links only.
        label: name on screen, if it is not that of the field.
        details: the meaning in more sentences, for the screen.
        heading: name in exports, if it is not the label.
        words: the words for values such as None.
        link: name in a link, if it is not that of the field.
        opposite: name of the negated value, by which links and JSON have it.
        part: group of parameters to which it belongs.
        drawn_by: the panel that draws it, if it is not the list of all others.
    """

    help: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    registry: str | None = None
    choices: Collection[str] = ()
    source: str = ""
    kind: type | None = None
    check: Callable[[str, Any], Any] | None = None
    label: str = ""
    details: str = ""
    heading: str = ""
    words: Mapping[Any, str] = field(default_factory=dict)
    link: str = ""
    opposite: str = ""
    part: str = ""
    drawn_by: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Declared field: its name, default and :class:`Spec`."""

    name: str
    default: Any
    spec: Spec

    @property
    def kind(self) -> type:
        """Type of the value; a parameter whose default is None may have None instead."""
        return self.spec.kind or type(self.default)

    @property
    def label(self) -> str:
        """Name on screen."""
        return self.spec.label or self.name.replace("_", " ").capitalize()

    @property
    def heading(self) -> str:
        """Name in exports."""
        return self.spec.heading or self.label

    def in_words(self, value: Any) -> str:
        """Returns the words for a value; a collection is listed."""
        if value in self.spec.words:
            return self.spec.words[value]
        return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)

    @property
    def in_link(self) -> str:
        """Name in a link; of a parameter with an ``opposite`` the link has that."""
        return self.spec.opposite or self.spec.link or self.name


def param(
    default: Any = MISSING,
    help: str = "",
    bounds: tuple[float, float] | None = None,
    *,
    registry: str | None = None,
    choices: Collection[str] = (),
    source: str = "",
    factory: Any = MISSING,
    **more: Any,
) -> Any:
    """Declares a dataclass field with its range and meaning.

    Args:
        default: the default value.
        help: the meaning as a sentence.
        bounds: least and greatest legal number.
        registry: registry (a key of ``segviz.memory.COMPONENTS``) from which the value may be
            chosen by name.
        choices: legal values of a text parameter.
        source: the passage it comes from (a section, a table, the authors' code) with its value
            there, or "ours".
        factory: creates the default of a parameter with a ``registry``.
        more: further attributes of :class:`Spec`.

    Returns:
        A ``dataclasses.field``.
    """
    sentence = f"{help} Source: {source}." if source else help
    low, high = bounds or (None, None)
    # Controls move in steps of 1 for integers, else in steps that suit the width of the range.
    step = None
    if bounds:
        wide = bounds[1] - bounds[0]
        step = 1 if isinstance(default, int) else 0.01 if wide <= 4 else 0.1 if wide <= 10 else 1
    spec = Spec(sentence, low, high, step, registry, choices, source, **more)
    return field(default=default, default_factory=factory, metadata={_KEY: spec})


def parameters(kind: type) -> tuple[Parameter, ...]:
    """Returns the declared parameters of a dataclass type, in order; any other type has none."""
    declared = []
    for item in fields(kind) if is_dataclass(kind) else ():
        if _KEY in item.metadata:
            default = item.default
            if default is MISSING and item.default_factory is not MISSING:
                default = item.default_factory()
            declared.append(Parameter(item.name, default, item.metadata[_KEY]))
    return tuple(declared)


def check_number(
    name: str,
    value: Any,
    expected: str,
    low: float = 0,
    high: float = math.inf,
    *,
    whole: bool = False,
) -> Any:
    """Returns a number in its normal form; API, commands, links and widgets check numbers here.

    Args:
        name: name of the value, for the error.
        value: the value. Numbers of NumPy are numbers; True, NaN and texts are not.
        expected: what the value must do, for the error: "be at least 1".
        low: least legal value.
        high: greatest legal value.
        whole: True for an int; 2.0 becomes 2.

    Raises:
        ValueError: names the value and what was expected.
    """
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not low <= value <= high or (whole and value != int(value)):
        raise ValueError(f"{name} is {value!r:.80}; it must {expected}")
    return int(value) if whole else value


class Declared:
    """Base of dataclasses with declared parameters; it rejects values outside their range."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Checks all parameters; ValueError names field, value and legal range of a bad one."""
        for parameter in parameters(type(self)):
            spec, value = parameter.spec, getattr(self, parameter.name)
            low, high = spec.low, spec.high
            if value is None and parameter.default is None:
                continue
            if spec.check is not None:
                object.__setattr__(self, parameter.name, spec.check(parameter.name, value))
                continue
            if spec.choices and value not in spec.choices:
                raise ValueError(
                    f"{parameter.name} is {value!r}; choose one of {', '.join(spec.choices)}"
                )
            if low is None or high is None:  # ``param`` declares both or none
                continue
            check_number(parameter.name, value, f"lie between {low} and {high}", low, high)


def as_settings(instance: Any) -> dict[str, Any]:
    """Returns the parameters as plain JSON data; a component becomes ``{"name": …, fields}``."""
    settings: dict[str, Any] = {}
    for parameter in parameters(type(instance)):
        value = getattr(instance, parameter.name)
        if parameter.spec.registry is not None:
            name = getattr(value, "name", type(value).__name__)
            nested = as_settings(value) if hasattr(value, "__dataclass_fields__") else {}
            value = {"name": name, **nested}
        settings[parameter.name] = value
    return settings


def make(kind: type, settings: Mapping[str, Any]) -> Any:
    """Returns ``kind(**settings)``.

    Raises:
        ValueError: a name is unknown; lists the legal names.
    """
    legal = [parameter.name for parameter in parameters(kind)]
    unknown = [name for name in settings if name not in legal]
    if unknown:
        raise ValueError(
            f"{kind.__name__} has no parameter {', '.join(map(repr, unknown))}; "
            f"it has {', '.join(legal) or 'none'}"
        )
    return kind(**settings)
