"""Docstrings of the package: a function's begins with a verb, no class name occurs twice."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.data import ROOT

FORBIDDEN = {"What", "Whether", "One", "As", "Of", "If"}

# Packages and files whose docstrings are plain; the others follow.
PLAIN = """
conversation construct embedding evaluation export figures retrieval store systems text tree view
__init__.py __main__.py contract.py files.py notebook.py plugins.py public.py
cli/__init__.py cli/ask.py cli/build.py cli/build_options.py cli/command.py cli/compare.py
cli/completion.py cli/console.py cli/convert.py cli/doctor.py cli/export.py cli/many.py
cli/reproduce.py cli/retrieval.py cli/source.py cli/sweep.py cli/tables.py cli/watch.py
ui/__init__.py ui/address.py ui/embed.py ui/keys.py ui/main.py ui/settings.py ui/state.py
ui/visit.py ui/welcome.py ui/inspector ui/run ui/pages/__init__.py ui/pages/compare ui/pages/grow
ui/pages/guide ui/pages/sweep ui/widgets/__init__.py ui/widgets/captions.py ui/widgets/charts.py
ui/widgets/export_menu.py ui/widgets/measures.py ui/widgets/question.py ui/widgets/shapes.py
ui/widgets/style.py ui/widgets/tour.py
""".split()

Documented = ast.Module | ast.ClassDef | ast.FunctionDef


def trees(part: str) -> Iterator[tuple[str, ast.Module]]:
    path = ROOT / "segviz" / part
    for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
        yield str(file.relative_to(ROOT)), ast.parse(file.read_text("utf-8"))


def documented(part: str) -> Iterator[tuple[str, Documented, str]]:
    for file, tree in trees(part):
        for node in ast.walk(tree):
            if isinstance(node, Documented) and (text := ast.get_docstring(node)):
                name = getattr(node, "name", "module")
                yield f"{file}: {name}: {text[:60]}", node, text.split()[0].strip(",.:`")


def is_attribute(node: ast.FunctionDef) -> bool:
    """A property is named like an attribute, by a noun."""
    return any("property" in ast.unparse(each) for each in node.decorator_list)


@pytest.mark.parametrize("part", PLAIN)
def test_no_docstring_begins_with_a_pronoun_or_a_conjunction(part):
    assert [place for place, _, first in documented(part) if first in FORBIDDEN] == []


@pytest.mark.parametrize("part", PLAIN)
def test_a_function_begins_with_a_verb_in_the_third_person(part):
    functions = [each for each in documented(part) if isinstance(each[1], ast.FunctionDef)]
    assert [
        place for place, node, first in functions if not (is_attribute(node) or first[-1] == "s")
    ] == []


def test_no_two_classes_have_one_name():
    named = Counter(
        node.name
        for _, tree in trees("")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in named.items() if count > 1] == []
