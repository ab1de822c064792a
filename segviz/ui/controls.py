"""Controls made from parameter declarations, so that a new system needs no page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from segviz.parameters import Parameter, parameters


def component_controls(
    kind: type, components: Mapping[str, Mapping[str, Callable[..., Any]]], prefix: str
) -> dict[str, Any]:
    """Draw one control per declared parameter of ``kind``; the chosen settings.

    A parameter with a registry becomes a choice of component with that component's own
    parameters below it.
    """
    settings: dict[str, Any] = {}
    for parameter in parameters(kind):
        key = f"{prefix}.{parameter.name}"
        registry = parameter.spec.registry
        if registry is None:
            settings[parameter.name] = _control(parameter, key)
            continue
        known = components[registry]
        default = getattr(parameter.default, "name", next(iter(known)))
        name = st.selectbox(
            parameter.name.capitalize(),
            list(known),
            index=list(known).index(default),
            help=parameter.spec.help,
            key=key,
            persist_state="session",
        )
        chosen = known[name]
        nested: dict[str, Any] = {}
        if isinstance(chosen, type) and parameters(chosen):
            with st.expander(f"Parameters of {name}"):
                nested = component_controls(chosen, components, f"{key}.{name}")
        settings[parameter.name] = {"name": name, **nested}
    return settings


def _control(parameter: Parameter, key: str) -> Any:
    spec, label = parameter.spec, parameter.name.replace("_", " ").capitalize()
    if isinstance(parameter.default, bool):
        return st.toggle(
            label, value=parameter.default, help=spec.help, key=key, persist_state="session"
        )
    if spec.choices:
        return st.selectbox(
            label,
            list(spec.choices),
            index=spec.choices.index(parameter.default),
            help=spec.help,
            key=key,
            persist_state="session",
        )
    whole = isinstance(parameter.default, int)
    cast = int if whole else float
    return st.number_input(
        label,
        value=cast(parameter.default),
        min_value=None if spec.low is None else cast(spec.low),
        max_value=None if spec.high is None else cast(spec.high),
        step=cast(spec.step) if spec.step is not None else None,
        help=spec.help,
        key=key,
        persist_state="session",
    )
