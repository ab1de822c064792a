"""``--set NAME=VALUE``: reads the parameters of a system, checked by their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import indent, wrap
from typing import Any

from segviz.cli.exits import UsageError
from segviz.construct import Parameter, parameters
from segviz.memory import COMPONENTS, declared, nested, part_name
from segviz.systems import SYSTEMS
from segviz.view.bookmark import decode, in_link

_WIDTH = 84


def settings_of(system: str, given: Sequence[str]) -> dict[str, Any]:
    """Keywords for ``segviz.build`` from ``name=value`` texts. UsageError names what cannot be
    used, what was expected and the parameters there are."""
    flat: dict[str, str] = {}
    for text in given:
        name, mark, value = text.partition("=")
        if not mark or not name.strip():
            raise UsageError(f"--set {text!r}: expected NAME=VALUE, such as refresh=lazy")
        if name.strip() in flat:
            raise UsageError(f"--set {name.strip()} is given twice")
        flat[name.strip()] = value.strip()
    known = declared(SYSTEMS[system], flat)  # a link may say more; here only parameters count
    for name in flat:
        if name not in known:
            legal = ", ".join(known) or "none"
            raise UsageError(f"{system} has no parameter {name!r} here; it has {legal}")
    bookmark, problems = decode({"system": system, **{in_link(n): v for n, v in flat.items()}})
    if problems:
        raise UsageError(f"--set {problems[0]}")
    return nested(SYSTEMS[system], bookmark.settings)


def parameters_help() -> str:
    """Systems, parts and their parameters with defaults and ranges, as declared."""
    lines = ["parameters of the systems, for --set NAME=VALUE:"]
    for name, kind in SYSTEMS.items():
        lines += ["", f"  {name}: {kind.label}", *_rows(kind, "")]
    lines += ["", "parameters of their parts, for --set PART.NAME=VALUE:"]
    for registry, choices in COMPONENTS.items():
        for name, component in choices.items():
            if isinstance(component, type):
                lines += ["", f"  {registry}={name}", *_rows(component, f"{registry}.")]
    return "\n".join(lines)


def _rows(kind: type, prefix: str) -> Iterator[str]:
    for parameter in parameters(kind):
        text = f"{parameter.spec.help} ({_range(parameter)})"
        yield f"    {prefix}{parameter.name}"
        yield indent("\n".join(wrap(text, _WIDTH - 8)), " " * 8)


def _range(parameter: Parameter) -> str:
    spec, default = parameter.spec, parameter.default
    if spec.registry is not None:
        return f"default {part_name(parameter)}; one of {', '.join(COMPONENTS[spec.registry])}"
    if spec.choices:
        return f"default {default}; one of {', '.join(spec.choices)}"
    if isinstance(default, bool):
        return f"default {'yes' if default else 'no'}; yes or no"
    bounds = "" if spec.low is None else f"; {spec.low} to {spec.high}"
    return f"default {default}{bounds}"
