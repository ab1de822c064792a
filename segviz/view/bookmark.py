"""Encodes a view of the explorer as the parameters of a link, and decodes it.

Only values that differ from the defaults are written, so links stay short. Every part of a link is
checked; unusable parts are left out and named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from segviz.construct import Parameter, parameters
from segviz.conversation import TITLES, UNIT_RULES
from segviz.memory import COMPONENTS, declared, part_name
from segviz.retrieval import OPENING, PRESETS, RetrievalSettings, Retriever
from segviz.systems import SYSTEMS
from segviz.view.coloring import AXES, COLOURS, LABELS

LONGEST = 2_000
"""Most characters of a question or path in a link; browsers and servers truncate long addresses."""

TEXTS = ("written", "extracts")
"""Texts of inner nodes: written ones where the conversation has some, or quotes of its turns."""


@dataclass(frozen=True, kw_only=True)
class Bookmark:
    """Parameters of a view: the data, the system, the question and the display.

    Attributes:
        sample, path, upload: the file: bundled, on this machine, or uploaded; at most one is set.
        conversation: id of the conversation.
        unit: the unit rule.
        texts: the texts of inner nodes, "written" where the sample has some, or "extracts".
        system: name of the system.
        settings: the system's parameters that differ from its defaults, nested ones with dots
            (``compatibility.threshold``).
        question: index of a question of the data set.
        text: a typed question.
        retrieval: settings of the question.
        step: number of steps shown on Grow.
        node: the selected node.
        view: the kind of drawing, such as the canvas or the outline.
        colour, labels, axis: the choice of colour and label of nodes and of the axis (``Look``).
        pins: up to two nodes that are compared side by side.
        sweep_cell: the setting that Sweep shows in full: policy, α and H.
        beside: what a second tree shows: on Ask another ranking (how nodes are scored, and which
            may come back) or the memory after another number of steps; on Ask and Grow another
            build, with its system, settings and texts.
        controls: texts of what Sweep and Compare are set to, by their names in a link
            (``CONTROLS``). The pages read them, because only they know what can be chosen.
    """

    sample: str | None = None
    path: str | None = None
    upload: str | None = None
    conversation: str | None = None
    unit: str = "exchange"
    texts: str = TEXTS[0]
    system: str = "segment-tree"
    settings: Mapping[str, Any] = field(default_factory=dict)
    question: int | None = None
    text: str | None = None
    retrieval: RetrievalSettings = PRESETS[OPENING]
    step: int | None = None
    node: int | None = None
    view: str = ""
    colour: str = ""
    labels: str = ""
    axis: str = ""
    pins: tuple[int, ...] = ()
    sweep_cell: tuple[str, float, int] | None = None
    beside: RetrievalSettings | int | Bookmark | None = None
    controls: Mapping[str, str] = field(default_factory=dict)


def usual_method(system: str) -> str:
    """Returns the default method for a system: "native" if it has its own retrieval."""
    native = system in SYSTEMS and issubclass(SYSTEMS[system], Retriever)
    return "native" if native else "propagate"


def opening_settings(system: str) -> RetrievalSettings:
    """Returns the default retrieval of a view: the system's own, else ``OPENING``."""
    native = usual_method(system) == "native"
    return RetrievalSettings(method="native") if native else PRESETS[OPENING]


def encode(bookmark: Bookmark) -> dict[str, str]:
    """Returns the parameters of a link, text to text, in the order of the fields."""
    written: dict[str, str] = {}
    for item in fields(Bookmark):
        value = getattr(bookmark, item.name)
        if item.name == "settings":
            written |= {in_link(name): as_text(part) for name, part in value.items()}
        elif item.name == "controls":
            written |= value
        elif item.name == "retrieval":
            # Those that differ from the opening if they score as it does, else from the defaults
            # with the system's usual method.
            opening = opening_settings(bookmark.system)
            opens = value == value.scored_as(opening)
            usual = opening if opens else RetrievalSettings(method=opening.method)
            parts = _parts(value, usual)
            # A part about scoring, the policy if there is no other, tells the decoder the base.
            if not opens and parts.keys().isdisjoint(value.names("scoring")):
                written["policy"] = value.policy
            written |= parts
        elif value != item.default:
            written[item.name.replace("_", "-")] = as_text(value)
    return written


def build_name(build: Bookmark, present: Bookmark) -> str:
    """Names a build by what differs from the present one: system, parameters, texts."""
    kind, same = SYSTEMS[build.system], build.system == present.system
    parts = [] if same else [str(kind.label)]
    there = present.settings if same else {}
    for name, each in declared(kind, build.settings).items():
        if build.settings.get(name) != there.get(name):
            usual = each.default if each.spec.registry is None else part_name(each)
            plain = name.rpartition(".")[2].replace("_", " ")
            parts.append(f"{plain} {as_text(build.settings.get(name, usual))}")
    return ", ".join(parts + [build.texts] * (build.texts != present.texts))


def in_link(name: str) -> str:
    """Returns the name in a link of a system's parameter: with ``system.`` if it is ambiguous."""
    return f"system.{name}" if name in _READERS else name


def looks(link: Mapping[str, str]) -> dict[str, str]:
    """Returns the parts of a link about the display, without those about data and build."""
    known = {*_READERS, *CONTROLS} - {*MADE}
    return {name: link[name] for name in link if name in known}


def decode(link: Mapping[str, str]) -> tuple[Bookmark, list[str]]:
    """Returns the bookmark of a link, and a sentence for each unusable part of it."""
    values: dict[str, Any] = {}
    problems: list[str] = []

    def take(name: str, read: Callable[[str], Any], store: dict[str, Any]) -> None:
        """Reads a value of the link into ``store``; notes a problem instead if it is bad."""
        given = link[name]
        try:
            store[name.removeprefix("system.")] = read(given)
        except UnicodeError:  # a lone surrogate from an escape, "\\ud800"; no link can contain it
            problems.append(f"{name}={given[:80]!r}: expected whole characters, found half of one")
        except ValueError as error:
            problems.append(f"{name}={given[:80]!r}: {error}")

    readers = {**_READERS, **dict.fromkeys(CONTROLS, _short_text)}
    for name in link:
        if name in readers:
            take(name, readers[name], values)
    system = values.get("system", "segment-tree")
    known = {in_link(path): each for path, each in declared(SYSTEMS[system], link).items()}
    settings: dict[str, Any] = {}
    for name in link:
        if name in known:
            take(name, _value_reader(known[name]), settings)
        elif name not in readers:
            problems.append(f"{name[:80]!r} is not a part of a view")
    # Missing retrieval settings are the defaults if the link has a part about scoring, else those
    # that the system opens with.
    opening = opening_settings(system)
    if not values.keys().isdisjoint(opening.names("scoring")):
        opening = RetrievalSettings(method=opening.method)
    given = {each.name: values.pop(name) for name, each in _RETRIEVAL.items() if name in values}
    retrieval = replace(opening, **given)
    controls = {name: values.pop(name) for name in CONTROLS if name in values}
    parts = {name.replace("-", "_"): value for name, value in values.items()}
    return Bookmark(**parts, settings=settings, retrieval=retrieval, controls=controls), problems


def differing(kind: type, settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns those of ``Memory.settings`` that differ from the defaults, by dotted name.

    A parameter that selects a part has the part's name; its own parameters have both names.
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
        if value["name"] != part_name(parameter):
            flat[path] = value["name"]
        component = COMPONENTS[parameter.spec.registry].get(value["name"])
        if isinstance(component, type):
            flat |= differing(component, value, f"{path}.")
    return flat


def _parts(settings: RetrievalSettings, usual: RetrievalSettings) -> dict[str, str]:
    """Returns the settings that differ from the ``usual`` ones, by their names in a link."""
    parts: dict[str, str] = {}
    for each in parameters(RetrievalSettings):
        part = getattr(settings, each.name)
        if part != getattr(usual, each.name):
            parts[each.in_link] = as_text(not part if each.spec.opposite else part)
    return parts


def as_text(value: Any) -> str:
    """Returns a value as it is written in a link."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Bookmark):  # another build, in the notation of a link
        link = encode(value)
        made = {name: link[name] for name in link if name not in looks(link)}
        return urlencode({"system": value.system} | made)
    if isinstance(value, RetrievalSettings):
        # The ranking of the second tree on Ask: a preset, or all that differs from the default.
        presets = [name for name, preset in PRESETS.items() if value == value.ranked_as(preset)]
        if presets:
            return presets[0]
        return ";".join(
            f"{name}={part}" for name, part in _parts(value, RetrievalSettings()).items()
        )
    return (",".join(map(str, value)) or "none") if isinstance(value, tuple) else str(value)


def _value_reader(parameter: Parameter) -> Callable[[str], Any]:
    """Returns the reader of a parameter of a system or of a retrieval setting."""
    spec, kind, check = parameter.spec, parameter.kind, parameter.spec.check
    if spec.registry:
        return _one_of(tuple(COMPONENTS[spec.registry]))
    if spec.opposite:
        return lambda given: not _yes_or_no(given)
    if kind is bool:
        return _yes_or_no
    if kind in (int, float):
        return _number(kind, spec.low, spec.high)
    if kind is tuple:
        # Numbers with commas, in ascending order, or "none".
        number = _number(int, spec.low, spec.high)
        return lambda given: tuple(
            sorted({number(part) for part in given.split(",")}) if given != "none" else ()
        )
    if spec.choices:
        return _one_of(spec.choices)
    return _short_text if check is None else lambda given: check(parameter.name, _short_text(given))


# --- readers: each takes a text, or raises ValueError saying what fits ---------------------------


def _number(kind: type, low: float | None, high: float | None) -> Callable[[str], Any]:
    """Returns a reader of finite numbers from ``low`` to ``high``; None means no bound."""

    def read(given: str) -> Any:
        """Returns the number that a text gives; ValueError if it is none, or out of bounds."""
        try:
            value = kind(given)
        except (ValueError, OverflowError):
            what = "a whole number" if kind is int else "a number"
            raise ValueError(f"expected {what}") from None
        if value != value or abs(value) == math.inf:  # isfinite fails for 310 digits
            raise ValueError("expected a finite number")
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = f"{'' if low is None else low} to {'' if high is None else high}"
            raise ValueError(f"expected {bounds}")
        return value

    return read


_COUNT = _number(int, 0, 2**31)
"""Reads a count or the id of a node."""


def _one_of(legal: Collection[str]) -> Callable[[str], str]:
    def read(given: str) -> str:
        if given not in legal:
            raise ValueError(f"expected one of {', '.join(legal)}")
        return given

    return read


def _short_text(given: str) -> str:
    """Returns a text; ValueError if it is longer than ``LONGEST`` or cannot be written as UTF-8."""
    if len(given) > LONGEST:
        raise ValueError(f"longer than {LONGEST} characters")
    given.encode()
    return given


def _local_path(given: str) -> str:
    """Reads a path; ValueError if it names a file of another machine."""
    # Opening a network share would contact another machine and reveal the user to it.
    if given.replace("\\", "/").startswith("//"):
        raise ValueError("a link may name files of this machine only; type the path yourself")
    return _short_text(given)


def _yes_or_no(given: str) -> bool:
    if given not in ("yes", "no"):
        raise ValueError("expected yes or no")
    return given == "yes"


def _cell(given: str) -> tuple[str, float, int]:
    """Reads policy, α and H of the setting that Sweep shows, as in ``both,0.5,2``."""
    parts = given.split(",")
    if len(parts) != 3:
        raise ValueError("expected a policy, α and H, as in both,0.5,2")
    readers = (_READERS["policy"], _number(float, 0, 1), _READERS["horizon"])
    policy, alpha, horizon = (read(part) for read, part in zip(readers, parts, strict=True))
    return policy, alpha, horizon


def _beside(given: str) -> RetrievalSettings | int | Bookmark:
    """Reads a preset, a ranking as in alpha=0.3;levels=0, a step, or a build (system=…&…)."""
    if given.startswith("system="):
        link = dict(parse_qsl(given))
        build, problems = decode({n: link[n] for n in link if n not in _VIEW})
        problems += [f"{name[:80]!r} is not a part of a build" for name in link.keys() & _VIEW]
        if problems:
            raise ValueError("; ".join(problems))
        return build
    if given.isdecimal():
        return int(_COUNT(given))
    if given in PRESETS:
        return PRESETS[given]
    parts = dict(part.partition("=")[::2] for part in given.split(";") if part)
    if unknown := parts.keys() - {each.in_link for each in _RANKING}:
        names = ", ".join(each.in_link for each in _RANKING)
        raise ValueError(
            f"found {', '.join(sorted(unknown))}; expected a preset, one of "
            f"{', '.join(PRESETS)}, or some of {names}, as in policy=both;alpha=0.3"
        )
    known = [each for each in _RANKING if each.in_link in parts]
    return RetrievalSettings(
        **{each.name: _READERS[each.in_link](parts[each.in_link]) for each in known}
    )


def _pins(given: str) -> tuple[int, ...]:
    nodes = tuple(_COUNT(part) for part in given.split(","))
    if len(set(nodes)) != len(nodes) or len(nodes) > 2:
        raise ValueError("expected one node or two different ones")
    return nodes


_RETRIEVAL = {each.in_link: each for each in parameters(RetrievalSettings)}
"""The retrieval settings, by their names in a link."""

_RANKING = [each for each in _RETRIEVAL.values() if each.spec.part in ("scoring", "nodes")]

_READERS: dict[str, Callable[[str], Any]] = {
    "sample": _one_of(tuple(TITLES)),
    "path": _local_path,
    "upload": _short_text,
    "conversation": _short_text,
    "unit": _one_of(tuple(UNIT_RULES)),
    "texts": _one_of(TEXTS),
    "system": _one_of(SYSTEMS),
    "question": _COUNT,
    "text": _short_text,
    **{name: _value_reader(each) for name, each in _RETRIEVAL.items()},
    "step": _number(int, 1, 2**31),
    "node": _COUNT,
    "view": _short_text,
    "colour": _one_of(COLOURS),
    "labels": _one_of(LABELS),
    "axis": _one_of(AXES),
    "pins": _pins,
    "sweep-cell": _cell,
    "beside": _beside,
}
"""Reader of every part of a link but the system's settings."""

CONTROLS = (
    *("swept-over", "sweep-policies", "sweep-relevance", "sweep-k", "sweep-expand"),
    *("sweep-atlas-A", "sweep-atlas-B", "varied-system", "varied-parameter", "varied-values"),
    *("compared-systems", "compare-relevance", "compare-k", "compare-asked"),
    *("compare-atlas-A", "compare-atlas-B", "measured-by", "adversarial", "disputed"),
)
"""Further parts of a link, which pages read: values of widgets of Sweep and Compare."""

_BUILD = ("system", "texts")
_VIEW = {*_READERS, *CONTROLS} - {*_BUILD}
"""Parts of a link that another build is named by, besides its settings, and all the others."""

MADE = ("sample", "path", "upload", "conversation", "unit", "texts", "system")
"""Parts of a link about the data and the build, besides the system's settings."""
