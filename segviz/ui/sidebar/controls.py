"""Draws controls from parameter declarations, so that a new system needs no page."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import streamlit as st

from segviz.construct import Parameter, parameters
from segviz.memory import COMPONENTS
from segviz.ui import keys
from segviz.ui.state import starts

# So many parameters of a system stand open in the sidebar.
FEW = 4


def component_controls(kind: type, prefix: str, draws: bool = True) -> dict[str, Any]:
    """Draws one control per declared parameter of ``kind``; the chosen settings.

    A parameter with a registry becomes a choice of component with that component's own
    parameters below it, which are drawn when they are opened. More than a few others are folded
    away. Where it does not draw, others than choices of components are as they were left.
    """
    declared = parameters(kind)
    settings: dict[str, Any] = dict.fromkeys(parameter.name for parameter in declared)
    for parameter in declared:
        if parameter.spec.registry is not None:
            key = keys.parameter(prefix, parameter.name)
            settings[parameter.name] = _component(parameter, key)
    plain = [parameter for parameter in declared if parameter.spec.registry is None]
    folded = len(plain) > FEW and "." not in prefix  # a component's are folded already
    with st.expander(f"{len(plain)} parameters of its own") if folded else nullcontext():
        for parameter in plain:
            key = keys.parameter(prefix, parameter.name)
            settings[parameter.name] = _control(parameter, key, draws)
    return settings


def _component(parameter: Parameter, key: str) -> dict[str, Any]:
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


def _control(parameter: Parameter, key: str, draws: bool) -> Any:
    spec, label = parameter.spec, parameter.name.replace("_", " ").capitalize()
    if not draws:
        return st.session_state.get(key, parameter.default)
    if isinstance(parameter.default, bool):
        return st.toggle(label, help=spec.help, **starts(key, parameter.default))
    if spec.choices:
        choices = list(spec.choices)
        return st.selectbox(label, choices, help=spec.help, **starts(key, parameter.default))
    whole = isinstance(parameter.default, int)
    cast = int if whole else float
    return st.number_input(
        label,
        min_value=None if spec.low is None else cast(spec.low),
        max_value=None if spec.high is None else cast(spec.high),
        step=cast(spec.step) if spec.step is not None else cast(1 if whole else 0.01),
        help=spec.help,
        **starts(key, cast(parameter.default)),
    )
