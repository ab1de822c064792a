"""Makes systems and embedders from their names and settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from segviz.construct import System, make, parameters
from segviz.construct.annotate import ANNOTATORS
from segviz.construct.compatibility import COMPATIBILITY
from segviz.construct.tasks import TASKS
from segviz.embedding import EMBEDDERS, Charges, Embedder, get_embedder
from segviz.systems import SYSTEMS
from segviz.tree import Vector

COMPONENTS: dict[str, Mapping[str, Callable[..., Any]]] = {
    "compatibility": COMPATIBILITY,
    "annotate": ANNOTATORS,
    "tasks": TASKS,
}
"""The registries of a system's parts, by the name a parameter refers to them."""


def make_system(system: str | System, **params: Any) -> System:
    """A system from its name and parameters; an instance passes through.

    Parameters that hold a component (``compatibility``, ``annotate``) take a name, a
    mapping ``{"name": …, parameter: value}`` or an object. ValueError lists the legal
    names for anything unknown.
    """
    if not isinstance(system, str):
        if params:
            raise ValueError("give parameters to the instance itself, not beside it")
        return system
    if system not in SYSTEMS:
        raise ValueError(f"unknown system {system!r}; choose one of {', '.join(SYSTEMS)}")
    kind = SYSTEMS[system]
    registries = {p.name: p.spec.registry for p in parameters(kind) if p.spec.registry}
    settings = {
        name: _component(registries[name], value) if name in registries else value
        for name, value in params.items()
    }
    made: System = make(kind, settings)
    return made


def _component(registry: str, value: Any) -> Any:
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, Mapping):
        return value
    settings = dict(value)
    name = settings.pop("name", None)
    known = COMPONENTS[registry]
    if name not in known:
        raise ValueError(f"unknown {registry} {name!r}; choose one of {', '.join(known)}")
    kind = known[name]
    return make(kind, settings) if isinstance(kind, type) else kind(**settings)


def needs_chat(system: System, registries: Collection[str] = tuple(COMPONENTS)) -> list[str]:
    """Names of the parts of a system, among those from ``registries``, that call a chat
    model; empty for an offline one."""
    parts = [
        getattr(system, p.name) for p in parameters(type(system)) if p.spec.registry in registries
    ]
    return [part.name for part in parts if getattr(part, "needs_chat", False)]


def paid(embedder: Embedder) -> Charges | None:
    """The embedder that charges by the token, inside its cache if it has one; None for a
    free one."""
    inner = getattr(embedder, "inner", embedder)
    return inner if isinstance(inner, Charges) else None


@dataclass(frozen=True)
class Absent:
    """Stands for an embedder that is not installed, so that its memories can be viewed.

    ``name`` is the missing one, ``available`` are the installed ones; ``embed`` raises
    ValueError, which says how to supply it.
    """

    name: str
    available: tuple[str, ...]

    def embed(self, texts: Sequence[str]) -> Vector:
        """Always raises ValueError."""
        raise ValueError(
            f"this memory was embedded with {self.name[:80]!r}, which is not here (available: "
            f"{', '.join(self.available)}), so questions cannot be compared with it. Open it "
            "with segviz.open(path, embedder=…), or ask with relevance='lexical'."
        )


def embedder_named(name: str) -> Embedder:
    """The offline embedder of this name, else ``Absent``."""
    available = []
    for key in EMBEDDERS:
        try:
            embedder = get_embedder(key)
        except ImportError:
            continue
        available.append(embedder.name)
        if embedder.name == name:
            return embedder
    return Absent(name, tuple(available))
