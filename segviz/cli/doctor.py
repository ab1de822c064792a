"""``segviz doctor``: checks this installation."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module, metadata

from segviz.cli.command import FAILED, OK, Console, Options, command, option, output_options
from segviz.cli.models import server_at
from segviz.embedding import get_embedder
from segviz.export.browser import BrowserError, find_browser
from segviz.llm import Endpoint, ModelCache
from segviz.llm.endpoint import CACHE_BYTES, cache_path, key_for
from segviz.llm.probe import probe
from segviz.plugins import PLUGINS
from segviz.version import DISTRIBUTION, __version__

GOOD, NOTE, BAD = "ok", "note", "missing"

_EXTRAS = ("parallel", "neural", "cluster")
"""Extras of the package that some command needs. All other extras are for development."""

Finding = tuple[str, str, str]
"""Result of a check: name, state (``ok``, ``missing``, or ``note`` for limits) and description."""


def _packages() -> Iterator[Finding]:
    """Checks Python, the required packages and the packages of the extras."""
    fits = sys.version_info >= (3, 11)
    what = platform.python_version() + ("" if fits else "; segviz needs 3.11 or later")
    yield "python", GOOD if fits else BAD, what
    # A package may have another name than its module.
    distributions = metadata.packages_distributions().items()
    named = [(module, packages) for module, packages in distributions if module[0] != "_"]
    modules = {package.lower(): module for module, packages in named for package in packages}
    checked = set()
    try:
        required = metadata.requires(DISTRIBUTION) or ()
    except metadata.PackageNotFoundError:
        required = ()
        yield "segviz", NOTE, 'not installed; in its folder, python -m pip install -e "."'
    for line in required:
        name, extra = re.split(r"[^\w.-]", line)[0], re.search(r"extra == ['\"](.*)['\"]", line)
        if name in checked or name == "wordllama" or (extra and extra[1] not in _EXTRAS):
            continue  # the embedder is checked below; two extras may need one package
        checked.add(name)
        try:
            version = metadata.version(name)
            import_module(modules.get(name.lower(), name))
            yield name, GOOD, version
        except metadata.PackageNotFoundError:
            optional = " (optional)" if extra else ""
            what = f"not installed{optional}; python -m pip install {name}"
            yield name, GOOD if extra else BAD, what
        except (Exception, SystemExit) as error:  # an import may raise anything
            yield name, BAD, f"{version} cannot be imported: {type(error).__name__}: {error}"


def _parts() -> Iterator[Finding]:
    """Checks plug-ins, embedder, cache of replies, browser for pictures, and port of the app."""
    for each in PLUGINS:
        what = f"{each.package}: {each.problem}" if each.problem else each.package
        yield f"{each.group} {each.name}", NOTE if each.problem else GOOD, what
    embedder = get_embedder()
    dimensions = embedder.embed(["doctor"]).shape[1]
    if embedder.name.startswith("wordllama"):
        yield "embedder", GOOD, f"{embedder.name}, {dimensions} dimensions, offline"
    else:
        what = f"{embedder.name}: without wordllama, only shared words and spellings match"
        yield "embedder", NOTE, what
    with ModelCache(path := cache_path(os.environ), limit_bytes=CACHE_BYTES) as cache:
        answers, vectors = cache.counts()
        sizes = f"{answers} answers, {vectors} embeddings, {cache.size / 1e6:.1f} MB"
        yield "cache", NOTE if cache.notes else GOOD, " ".join(cache.notes) or f"{path}: {sizes}"
    try:
        yield "browser", GOOD, f"{find_browser()} (draws pictures; not started now)"
    except BrowserError as error:
        yield "browser", NOTE, str(error)


def _keys() -> Iterator[Finding]:
    """Lists the environment variables that hold a key, and its server; never the key."""
    base = os.environ.get("SEGVIZ_BASE_URL", "")
    try:
        server = Endpoint(base).address if base else ""
    except ValueError as error:
        yield "SEGVIZ_BASE_URL", NOTE, f"cannot be used: {error}"
        return
    for name, whom in {"OPENAI_API_KEY": "api.openai.com", "SEGVIZ_API_KEY": server}.items():
        if not os.environ.get(name, "").strip():
            yield name, GOOD, "not set (only real models need one)"
        elif whom:
            yield name, GOOD, f"set, for {whom} alone"
        else:
            yield name, NOTE, "set, but used for no server until SEGVIZ_BASE_URL names it"


def _server(place: str, model: str) -> Iterator[Finding]:
    """Tests a server by its list of models and, if ``model`` is named, by a few short requests."""
    endpoint = server_at(place, model=model)
    report = probe(replace(endpoint, key=key_for(endpoint, os.environ)))
    yield "server", BAD if report.problem else GOOD, endpoint.address
    for name, what in report.lines:
        bad = name == "Problem" or (name == "Schema" and report.schema in ("ignored", "none"))
        yield f"server, {name.lower()}", NOTE if bad else GOOD, what


@command
@option("--server", "Test this server, too, in at most five seconds.", metavar="NAME|URL")
@option("--model", "Model to test on the server.", metavar="NAME")
@output_options
def doctor(options: Options, console: Console) -> int:
    """Checks this installation.

    Checks Python, the packages, the plug-ins, the embedder, the cache of model answers, the keys
    (never their values), the browser that draws pictures, and the port of the app. Only a named
    server is contacted: for its models and, if a model is named, for a few short answers that test
    the JSON schema and the speed. The app itself opens in your default browser.

    JSON: command, version, healthy, findings (each name, state: ok, note or missing, what).
    """
    tested = _server(options.server, options.model or "") if options.server else ()
    findings = list(dict.fromkeys([*_packages(), *_parts(), *_keys(), *tested]))
    healthy = all(state != BAD for _, state, _ in findings)
    if options.json:
        described = [dict(zip(("name", "state", "what"), each, strict=True)) for each in findings]
        console.json("doctor", {"version": __version__, "healthy": healthy, "findings": described})
    else:
        console.line(f"segviz {__version__}")
        for name, state, what in findings:
            console.line(f"{state:<8} {name}: {what}")
    return OK if healthy else FAILED
