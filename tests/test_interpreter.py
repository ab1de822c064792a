"""segviz leaves the interpreter and other packages as they are; its modules import by path."""

import ast
import importlib
import pkgutil
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator

import segviz
import segviz.evaluation
import segviz.evaluation.sweep as sweep_module
from segviz.evaluation import measures
from tests.data import ROOT, SOURCES, parsed

FOREIGN = ("numpy", "openai", "pandas", "plotly", "scipy", "streamlit")
SHORT = {"np": "numpy", "pd": "pandas", "st": "streamlit"}
BANNED = re.compile(
    r"_sparsetools|is_repl|scan_component_manifests|gc\.(?:disable|freeze)|__class__ = |addFilter"
)

STATE = """
import gc, logging, signal, sys

def state():
    loggers = {None: logging.root, **logging.root.manager.loggerDict}
    return (
        {number: signal.getsignal(number) for number in signal.valid_signals()},
        {name: one.filters for name, one in loggers.items() if getattr(one, "filters", None)},
        (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()),
    )

before = state()
import segviz
segviz.build, segviz.evaluate
import segviz.cli, segviz.ui.main
assert state() == before
assert type(sys.modules["segviz"]) is type(sys)
"""


def test_importing_changes_nothing_of_the_interpreter():
    # As the command, which once had a rule of its own.
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv[0] = '/bin/segviz'\n{STATE}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr


def names_used(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The imports, and the attributes of imported packages, with their usual short names."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{SHORT.get(node.value.id, node.value.id)}.{node.attr}"


def test_no_private_part_of_another_package_is_used():
    for path in SOURCES:
        source = path.read_text("utf-8")
        private = [
            name
            for name in names_used(parsed(path))
            if name.startswith(FOREIGN) and re.search(r"\._(?!_)", name)
        ]
        assert not private + BANNED.findall(source), path


def test_every_module_of_evaluation_imports_by_its_path(monkeypatch):
    assert callable(segviz.evaluate)
    for found in pkgutil.iter_modules(segviz.evaluation.__path__):
        module = importlib.import_module(f"segviz.evaluation.{found.name}")
        assert getattr(segviz.evaluation, found.name) is module
    assert sweep_module.sweep is segviz.sweep
    assert "aggregate" in pydoc.render_doc("segviz.evaluation")
    monkeypatch.setattr("segviz.evaluation.measures.DEFAULT", "mrr")
    assert measures.DEFAULT == "mrr"
