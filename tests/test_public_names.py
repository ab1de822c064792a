"""Every public name is documented, in all its parts; the package map names what there is."""

import ast
import inspect
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import cached_property

import pytest

import segviz
from segviz.construct import parameters
from tests.data import ROOT

FUNCTIONS = [name for name in segviz.__all__ if inspect.isfunction(getattr(segviz, name))]
CLASSES = [name for name in segviz.__all__ if inspect.isclass(getattr(segviz, name))]
REGISTRIES = [name for name in segviz.__all__ if isinstance(getattr(segviz, name), dict)]


def documented(public) -> str:
    """The docstring; its first paragraph is a sentence."""
    text = inspect.getdoc(public) or ""
    assert text.split("\n\n")[0].endswith((".", ".)")), public
    return text


def test_every_public_name_is_of_a_kind_that_is_checked():
    assert {*FUNCTIONS, *CLASSES, *REGISTRIES} == set(segviz.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_tells_its_parameters_and_errors(name):
    function = getattr(segviz, name)
    text = documented(function)
    # "The settings are those of ``segviz.ask``" is as good as repeating them.
    known = text
    if re.search(r"(?:those of|as in)\s+``segviz\.ask``", text):
        known += inspect.getdoc(segviz.ask)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            assert re.search(rf"\b{parameter.name}\b", known), parameter.name
    if name != "check":  # what is wrong with a structure it returns
        assert re.search(r"[A-Z]\w+(?:Error|Paused)\b", text)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_tells_its_fields_and_every_member_what_it_is(name):
    public = getattr(segviz, name)
    text = documented(public)
    own = {item.name: item for item in fields(public)} if is_dataclass(public) else {}
    declared = {item.name: item for item in parameters(public)} if own else {}
    for field in own.values():
        if field.name in declared:  # such a field tells itself
            assert declared[field.name].spec.help.endswith("."), field.name
        else:
            assert re.search(rf"\b{field.name}\b", text), field.name
            assert "NDArray" not in str(field.type) or "float64 (" in text
    for member, value in vars(public).items():
        told = callable(value) or isinstance(value, property | cached_property)
        if told and not member.startswith("_") and member not in own:
            documented(value)


@pytest.mark.parametrize("name", REGISTRIES)
def test_a_registry_says_what_it_maps(name):
    """A string stands right below the assignment, where documentation tools look for it."""
    module = {
        "POLICIES": "retrieval/propagation.py",
        "PRESETS": "retrieval/settings.py",
        "SYSTEMS": "systems/__init__.py",
    }[name]
    body = ast.parse((ROOT / "segviz" / module).read_text("utf-8")).body
    place = next(
        i for i, s in enumerate(body) if isinstance(s, ast.AnnAssign) and s.target.id == name
    )
    said = body[place + 1]
    assert isinstance(said, ast.Expr)
    assert said.value.value.endswith(".")


@pytest.mark.parametrize(
    ("imported", "heavy"),
    [
        ("segviz, segviz.cli", "streamlit plotly pyvis networkx openai bm25s wordllama"),
        # The first page would wait: scipy alone takes as long as all of segviz.
        ("segviz.ui.main, segviz.ui.pages.grow.page", "scipy networkx pandas pyvis openai bm25s"),
    ],
)
def test_what_is_heavy_is_imported_when_it_is_used(imported, heavy):
    script = f"import sys, {imported}; print({{*{heavy.split()}}} & {{*sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
