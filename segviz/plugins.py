"""Registers components of other installed packages, by standard entry points.

A package names its components in its metadata, in the group of their registry::

    [project.entry-points."segviz.systems"]
    last-words = "my_package:LastWords"

The groups are ``segviz.systems``, ``segviz.compatibility``, ``segviz.annotators``,
``segviz.embedders``, ``segviz.relevance``, ``segviz.policies`` and ``segviz.loaders``. An entry
names an object of the kind that the group's registry contains. Plug-ins are loaded once, with the
first public name of segviz, command, page or system by name. A component that cannot be loaded, has
a name in use, or is invalid is left out, with the reason in ``PLUGINS``. Such a component never
stops segviz.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from traceback import format_exception_only
from typing import Any

from segviz.construct import parameters
from segviz.construct.annotate import ANNOTATORS
from segviz.construct.compatibility import COMPATIBILITY
from segviz.conversation import Conversation
from segviz.embedding import EMBEDDERS
from segviz.loaders import LOADERS, Loader, LoadError
from segviz.loaders.document import Options
from segviz.loaders.loader import Reading
from segviz.retrieval import POLICIES, RELEVANCE
from segviz.systems import SYSTEMS
from segviz.tree.invariants import are_invariants

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class Plugin:
    """Component that another installed package registers.

    ``group`` is the registry (``systems``), ``name`` the component's name there, and ``package``
    the package with its version. ``problem`` is the reason why it is left out, "" if it is in use.
    """

    group: str
    name: str
    package: str
    problem: str = ""


PLUGINS: list[Plugin] = []
"""Components found in other packages, sorted by group and name."""


def foreign(group: str, name: str) -> str:
    """Returns the package that registered a component; "" for a component of segviz."""
    return next(
        (p.package for p in PLUGINS if (p.group, p.name, p.problem) == (group, name, "")), ""
    )


def _is_system(kind: Any, name: str) -> str:
    """Returns what is wrong with a plug-in's system; "" if nothing is."""
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return "expected a frozen dataclass"
    needed = ("label", "online", "invariants", "fidelity", "departures", "steps")
    lacks = [part for part in needed if not hasattr(kind, part)]
    if lacks:
        return f"it lacks {', '.join(lacks)}; see segviz.construct.System"
    invariants = getattr(kind, "invariants", None)
    if not are_invariants(invariants):
        return f"invariants is {invariants!r:.40}; expected a tuple of functions"
    parameters(kind)
    return _named(kind, name)


def _has(method: str) -> Callable[[Any, str], str]:
    """Returns a check of a component, which gives what is wrong with it, "" for nothing.

    The component must be a class with ``method``, and its ``name`` that of its entry point.
    """

    def problem(kind: Any, name: str) -> str:
        if not (isinstance(kind, type) and callable(getattr(kind, method, None))):
            return f"expected a class with a method {method}"
        return _named(kind, name)

    return problem


def _named(kind: Any, name: str) -> str:
    own = getattr(kind, "name", None)
    return "" if own == name else f"its class variable name is {own!r:.40}; expected {name!r}"


def _is_policy(kind: Any, name: str) -> str:
    policy = kind() if callable(kind) else None
    fits = callable(getattr(policy, "transitions", None)) and hasattr(policy, "label")
    return "" if fits else "expected a class with transitions and a label"


def _is_a(fits: Callable[[Any], bool], what: str) -> Callable[[Any, str], str]:
    return lambda part, name: "" if fits(part) else f"expected {what}"


_GROUPS: dict[str, tuple[dict[str, Any], Callable[[Any, str], str]]] = {
    "systems": (SYSTEMS, _is_system),
    "compatibility": (COMPATIBILITY, _has("choose")),
    "annotators": (ANNOTATORS, _has("__call__")),
    "embedders": (EMBEDDERS, _is_a(callable, "a class or function that makes an embedder")),
    "relevance": (RELEVANCE, _has("prepare")),
    "policies": (POLICIES, _is_policy),
    "loaders": (LOADERS, _is_a(lambda row: isinstance(row, Loader), "a segviz.loaders.Loader")),
}
"""Group to its registry and its check, which returns the problem of a new component, or ""."""


@cache
def load_plugins() -> None:
    """Loads the components of all installed packages; later calls do nothing."""
    add_plugins(entry_points().select)


def add_plugins(select: Callable[..., EntryPoints]) -> None:
    """Loads and registers the entry points that ``select(group=…)`` returns for each group."""
    for group, (registry, problem_of) in _GROUPS.items():
        ours = select(group=f"segviz.{group}")
        for point in sorted(ours, key=lambda point: (point.name, point.value)):
            PLUGINS.append(_added(group, point, registry, problem_of))


def _added(
    group: str, point: EntryPoint, registry: dict[str, Any], problem_of: Callable[[Any, str], str]
) -> Plugin:
    """Loads a plug-in into the registry; the returned record says what was wrong, if anything."""
    dist = point.dist
    package = _plain(f"{dist.name} {dist.version}" if dist else "a package without metadata", 80)
    name = point.name
    if not _NAME.fullmatch(name):
        what = "a name has 1 to 40 small letters, digits and hyphens"
        return Plugin(group, _plain(name, 40), package, what)
    if name in registry:
        other = foreign(group, name) or "segviz"
        return Plugin(group, name, package, f"the name is taken by {other}")
    try:
        part = point.load()
        problem = problem_of(part, name)
    except (Exception, SystemExit) as error:  # a foreign module may raise anything
        problem = format_exception_only(error)[-1].strip()  # not str(error), which may raise, too
    if problem:
        return Plugin(group, name, package, _plain(problem, 200))
    if group == "loaders":  # first, because some formats read anything with rows or lines
        others = dict(registry)
        registry.clear()
        registry.update({name: _checked(part)}, **others)
    else:
        registry[name] = part
    return Plugin(group, name, package)


def _checked(loader: Loader) -> Loader:
    """Returns a loader whose errors become a warning and no match, or a LoadError in reading."""

    def matches(document: object) -> bool:
        """Returns what the loader says; False, with a warning, if it raises."""
        try:
            return bool(loader.matches(document))
        except (Exception, SystemExit) as error:
            what = f"the loader {loader.label!r:.40} failed at a file: {error!r:.200}"
            warnings.warn(f"{what}; passed over", stacklevel=2)
            return False

    def read(document: object, name: str, options: Options) -> Reading:
        """Returns what the loader reads; any error of the loader becomes a LoadError."""
        try:
            conversations, notes = loader.read(document, name, options)
            if not isinstance(conversations, Sequence):  # an iterator may have no end
                raise TypeError(f"expected conversations, found {conversations!r:.80}")
            wrong = [each for each in conversations if not isinstance(each, Conversation)]
            if not conversations or wrong:
                first = wrong[0] if wrong else conversations
                raise TypeError(f"expected conversations, found {first!r:.80}")
            return conversations, tuple(notes)
        except LoadError:
            raise
        except (Exception, SystemExit) as error:
            what = f"the loader {loader.label!r:.40} failed: {error!r:.200}"
            raise LoadError(what, remedy="tell whoever wrote it, or uninstall it") from error

    return replace(loader, matches=matches, read=read)


def _plain(text: str, most: int) -> str:
    """Returns a text as one line of printable characters, at most ``most`` of them."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= most else line[: most - 1] + "…"
