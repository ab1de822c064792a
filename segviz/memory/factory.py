"""Makes systems and embedders from their names and settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

from segviz.construct import Parameter, System, make, parameters
from segviz.construct.annotate import ANNOTATORS
from segviz.construct.compatibility import COMPATIBILITY
from segviz.construct.tasks import TASKS
from segviz.conversation import Finding
from segviz.embedding import EMBEDDERS, Embedder, get_embedder
from segviz.llm import Chat, digest, texts_of
from segviz.plugins import load_plugins
from segviz.store import Saved
from segviz.systems import SYSTEMS
from segviz.tree import Invariant, Vector, are_invariants
from segviz.version import __version__

COMPONENTS: dict[str, Mapping[str, Callable[..., Any]]] = {
    "compatibility": COMPATIBILITY,
    "annotate": ANNOTATORS,
    "tasks": TASKS,
}
"""Registries of a system's parts, by the name in ``Parameter.spec.registry``."""


def known_prompts() -> dict[str, str]:
    """Returns all system messages for chat models by name: the shared ones and those of systems."""
    own = (getattr(kind, "prompts", {}) for kind in SYSTEMS.values())
    return {name: text for texts in (texts_of(), *own) for name, text in texts.items()}


def make_system(system: str | System, **params: Any) -> System:
    """Makes a system from its name and parameters; returns an instance unchanged.

    Args:
        system: a name from ``SYSTEMS``, or an instance.
        **params: its parameters; a component (``compatibility``, ``annotate``) as a name, a mapping
            ``{"name": …, parameter: value}`` or an object.

    Raises:
        ValueError: A name is unknown; the message lists the legal ones.
    """
    if not isinstance(system, str):
        if params:
            raise ValueError(
                "a system that is an instance takes no parameters here; give them to it"
            )
        return _sound(system)
    load_plugins()
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


def made_again(name: str, settings: Mapping[str, Any]) -> System | None:
    """Makes the system that a file names; None for an unknown part or an illegal setting."""
    try:
        return make_system(name, **settings)
    except (TypeError, ValueError):
        return None


_HAS = ("name", "invariants", "steps")


def _sound(system: System) -> System:
    """Returns an instance of a system; raises ValueError for anything else."""
    if isinstance(system, type):
        raise ValueError(f"{system.__name__} is a class; give an instance: {system.__name__}()")
    if hasattr(system, "add") and not hasattr(system, "steps"):
        raise ValueError(
            f"{type(system).__name__} adds and searches; give segviz.provider(it.add, it.search, "
            "name=…), which makes a system of it"
        )
    if missing := [each for each in _HAS if not hasattr(system, each)]:
        raise ValueError(
            f"{type(system).__name__} has no {' and no '.join(missing)}; a system has "
            f"{', '.join(_HAS)}, as segviz.construct.System says"
        )
    if not are_invariants(system.invariants):
        raise ValueError(
            f"{type(system).__name__}.invariants is {system.invariants!r:.40}; expected a tuple of "
            "functions, as those in segviz.tree.invariants"
        )
    return system


def _component(registry: str, value: Any) -> Any:
    """Makes a component of a registry from its name or settings; returns others unchanged."""
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


def declared(
    kind: type, chosen: Mapping[str, Any] | None = None, prefix: str = ""
) -> dict[str, Parameter]:
    """Returns every parameter by dotted name (``compatibility.threshold``), in order.

    ``chosen`` has the names of parts that are not the default, ``prefix`` begins every name.
    """
    by_name: dict[str, Parameter] = {}
    for parameter in parameters(kind):
        path, registry = prefix + parameter.name, parameter.spec.registry
        by_name[path] = parameter
        if registry is not None:
            part = COMPONENTS[registry].get((chosen or {}).get(path, part_name(parameter)))
            if isinstance(part, type):
                by_name |= declared(part, chosen, f"{path}.")
    return by_name


def nested(kind: type, flat: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Converts values by dotted name, after ``prefix``, into arguments of ``segviz.build``."""
    settings: dict[str, Any] = {}
    for parameter in parameters(kind):
        path = prefix + parameter.name
        below = any(name.startswith(f"{path}.") for name in flat)
        if parameter.spec.registry is None:
            if path in flat:
                settings[parameter.name] = flat[path]
        elif path in flat or below:
            name = flat.get(path, part_name(parameter))
            component = COMPONENTS[parameter.spec.registry][name]
            inner = nested(component, flat, f"{path}.") if isinstance(component, type) else {}
            settings[parameter.name] = {"name": name, **inner}
    return settings


def part_name(parameter: Parameter) -> str:
    """Returns the name of the part, such as an annotator, that a parameter has by default."""
    return str(getattr(parameter.default, "name", type(parameter.default).__name__))


def sound(saved: Saved) -> Saved:
    """Checks a memory file's settings and structure against the system that it names.

    Settings that the system cannot have are removed. Parts that are not registered here are
    accepted: the author of the file may have defined them. If the structure violates the system's
    invariants, the system becomes "unknown".

    Args:
        saved: content of the file.

    Returns:
        The corrected content, with a finding for each change.
    """
    kind = SYSTEMS.get(saved.system)
    if kind is None:
        return saved
    # Leave out settings that the system cannot have.
    known = {parameter.name: parameter for parameter in parameters(kind)}
    settings, findings = {}, list(saved.findings)
    for name, value in saved.settings.items():
        parameter = known.get(name)
        problem = _fault_of(kind, parameter, value)
        if problem:
            where = f"system.settings.{name[:80]}"
            findings.append(Finding("skipped", where, f"{problem}; left out"))
        else:
            part = parameter is not None and parameter.spec.registry and isinstance(value, str)
            settings[name] = {"name": value} if part else value
    structure = saved.structure
    if settings != saved.settings:
        saved = replace(saved, settings=settings, findings=tuple(findings))
    # Without a violation the structure is one of this system.
    violations = (v for invariant in invariants_of(saved) for v in invariant(structure))
    violation = next(violations, None)
    if violation is None:
        return saved
    what = f"no structure of {saved.system} ({violation}); taken as unknown"
    other = Finding("skipped", "system.name", what)
    return replace(saved, system="unknown", settings={}, findings=(*findings, other))


def invariants_of(saved: Saved) -> tuple[Invariant, ...]:
    """Returns the invariants of the system that a memory file names; () if it is not registered.

    () also if an earlier segviz changed the built memory: its last step has an ``operation``.
    """
    if saved.steps and saved.steps[-1].operation:
        return ()
    return tuple(getattr(SYSTEMS.get(saved.system), "invariants", ()))


def _fault_of(kind: type, parameter: Parameter | None, value: Any) -> str:
    """Returns the reason why a system cannot have a parameter with this value; "" if it can."""
    if parameter is None:
        return "there is no such parameter"
    registry = parameter.spec.registry
    if registry and not isinstance(value, str):
        part = value.get("name") if isinstance(value, Mapping) else None
        if not isinstance(part, str):
            return f"expected the name of a part, found {value!r:.60}"
        if part not in COMPONENTS[registry]:
            return ""
    try:
        if registry:
            _component(registry, value)
        else:
            make(kind, {parameter.name: value})
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        return str(error)[:200]
    return ""


def needs_chat(system: System, registries: Collection[str] = tuple(COMPONENTS)) -> list[str]:
    """Returns the parts of ``registries`` that call a chat model, such as "annotate (llm)"."""
    parts = parts_of(system, registries).items()
    return [f"{name} ({part.name})" for name, part in parts if getattr(part, "needs_chat", False)]


_ROLES = {"compatibility": "decision", "tasks": "decision", "annotate": "annotation"}


def provenance(chat: Chat, system: System) -> dict[str, Any]:
    """Returns versions, models by role, hash of all prompts and the user's own, as plain values."""
    roles = {role for registry, role in _ROLES.items() if needs_chat(system, [registry])}
    prompts = {**texts_of(), **getattr(system, "prompts", {}), **chat.prompts}
    versions = {"segviz": __version__, "openai": metadata.version("openai")}
    return {
        "versions": versions,
        "models": {role: chat.about(role) for role in sorted(roles)},
        "prompts": digest(prompts),
        "own_prompts": dict(chat.prompts),
    }


def parts_of(system: System, registries: Collection[str] = tuple(COMPONENTS)) -> dict[str, Any]:
    """Returns the parts of a system from ``registries``, such as its annotator, by parameter."""
    chosen = [p.name for p in parameters(type(system)) if p.spec.registry in registries]
    return {name: getattr(system, name) for name in chosen}


def paid(embedder: Embedder) -> bool:
    """Returns True if an embedder, or the one inside it, belongs to a server (``charges``)."""
    return bool(getattr(getattr(embedder, "inner", embedder), "charges", False))


class NoEmbedder(ValueError):
    """Error of a question to a memory whose embedder is not installed."""


@dataclass(frozen=True)
class MissingEmbedder:
    """Placeholder for an embedder that is not installed, so that its memories can be viewed.

    ``name`` is the missing embedder, ``available`` are the installed ones. ``embed`` raises
    NoEmbedder, whose message says how to supply the missing one.
    """

    name: str
    available: tuple[str, ...]

    def embed(self, texts: Sequence[str]) -> Vector:
        """Raises NoEmbedder, always."""
        raise NoEmbedder(
            f"this memory was embedded with {self.name[:80]!r}, which is not installed (available: "
            f"{', '.join(self.available)}), so questions cannot be compared with it. Open it "
            "with segviz.open(path, embedder=…), or ask with relevance='lexical'."
        )


def embedder_named(name: str) -> Embedder:
    """Returns the offline embedder of this name; a MissingEmbedder if it is not installed.

    What follows "@" is the version of its package, all of which have the same weights.
    """
    available = []
    for key in EMBEDDERS:
        try:
            embedder = get_embedder(key)
        except ImportError:
            continue
        available.append(embedder.name)
        if embedder.name.partition("@")[0] == name.partition("@")[0]:
            return embedder
    return MissingEmbedder(name, tuple(available))
