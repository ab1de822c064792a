"""``segviz doctor``: reports what this installation has and lacks."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from segviz.cli.command import FAILED, OK, Options, UsageError, command, output_options
from segviz.cli.console import Console
from segviz.cli.serve import free_port
from segviz.embedding import get_embedder
from segviz.export.browser import BrowserError, find_browser
from segviz.llm import Endpoint, ModelCache
from segviz.llm.endpoint import CACHE_BYTES, cache_path
from segviz.plugins import PLUGINS

GOOD, NOTE, BAD = "ok", "note", "missing"

_AMONG_EXTRAS = ("parallel", "neural", "cluster")
"""Extras that commands use; the others are for those who work on segviz."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: ``ok``, a ``note`` (works, with less) or ``missing``."""

    name: str
    state: str
    what: str


def _python() -> Finding:
    fits = (3, 11) <= sys.version_info[:2] < (3, 14)
    what = platform.python_version() + ("" if fits else "; segviz needs 3.11 to 3.13")
    return Finding("python", GOOD if fits else BAD, what)


def _packages() -> list[Finding]:
    """What segviz needs, and what its extras bring."""
    found = []
    for line in metadata.requires("segviz") or ():
        name, extra = re.split(r"[^\w.-]", line)[0], re.search(r"extra == ['\"](.*)['\"]", line)
        if name == "wordllama" or (extra and extra[1] not in _AMONG_EXTRAS):
            continue  # the embedder is looked at below
        try:
            found.append(Finding(name, GOOD, metadata.version(name)))
        except metadata.PackageNotFoundError:
            if extra:
                what = f"not here; the extra brings it: python -m pip install 'segviz[{extra[1]}]'"
                found.append(Finding(name, GOOD, what))
            else:
                found.append(Finding(name, BAD, f"needed; python -m pip install {name}"))
    return list(dict.fromkeys(found))


def _plugins() -> list[Finding]:
    """Parts of other packages, in use or not."""
    return [
        Finding(
            f"{each.group} {each.name}",
            NOTE if each.problem else GOOD,
            f"{each.package}: {each.problem}" if each.problem else each.package,
        )
        for each in PLUGINS
    ]


def _embedder() -> Finding:
    embedder = get_embedder()
    dimensions = embedder.embed(["doctor"]).shape[1]
    if embedder.name.startswith("wordllama"):
        return Finding("embedder", GOOD, f"{embedder.name}, {dimensions} dimensions, offline")
    what = f"{embedder.name}: wordllama is not here, so only spelling counts"
    return Finding("embedder", NOTE, what)


def _cache() -> Finding:
    path = cache_path(os.environ)
    with ModelCache(path, limit_bytes=CACHE_BYTES) as cache:
        answers, vectors = cache.counts()
        if cache.notes:
            return Finding("cache", NOTE, " ".join(cache.notes))
        size = f"{cache.size / 1e6:.1f} MB"
    return Finding("cache", GOOD, f"{path}: {answers} answers, {vectors} embeddings, {size}")


def _keys() -> list[Finding]:
    """Whether keys are there and for whom; never what they are."""
    base = os.environ.get("SEGVIZ_BASE_URL", "")
    try:
        server = Endpoint(base).address if base else ""
    except ValueError as error:
        return [Finding("SEGVIZ_BASE_URL", NOTE, f"cannot be used: {error}")]
    found = []
    for name, whom in {"OPENAI_API_KEY": "api.openai.com", "SEGVIZ_API_KEY": server}.items():
        if not os.environ.get(name, "").strip():
            found.append(Finding(name, GOOD, "not set (only real models need one)"))
        elif whom:
            found.append(Finding(name, GOOD, f"set, for {whom} alone"))
        else:
            what = "set, but used for no server until SEGVIZ_BASE_URL names it"
            found.append(Finding(name, NOTE, what))
    return found


def _port() -> Finding:
    try:
        return Finding("port", GOOD, f"{free_port()} is free")
    except UsageError as error:
        return Finding("port", BAD, str(error))


def _browser() -> Finding:
    try:
        return Finding(
            "browser", GOOD, f"{find_browser()} (draws PNG, PDF and SVG; not started now)"
        )
    except BrowserError as error:
        return Finding("browser", NOTE, str(error))


CHECKS: tuple[Callable[[], Finding | list[Finding]], ...] = (
    _python,
    _packages,
    _plugins,
    _embedder,
    _cache,
    _keys,
    _browser,
    _port,
)


@command
@output_options
def doctor(options: Options, console: Console) -> int:
    """Says what this installation has and lacks.

    Looks at Python, the packages, the parts that other packages bring, the embedder, the cache of
    model replies, which keys are set (never what they are), the browser that draws pictures, and
    the port of the app. Nothing is sent anywhere. The app itself opens in the browser you use.

    JSON: command, version, healthy, findings (each name, state: ok, note or missing, what).
    """
    findings: list[Finding] = []
    for check in CHECKS:
        found = check()
        findings += found if isinstance(found, list) else [found]
    healthy = all(finding.state != BAD for finding in findings)
    version = metadata.version("segviz")
    if options.json:
        console.json("doctor", {"version": version, "healthy": healthy, "findings": findings})
    else:
        console.line(f"segviz {version}")
        for finding in findings:
            console.line(f"{finding.state:<8} {finding.name}: {finding.what}")
    return OK if healthy else FAILED
