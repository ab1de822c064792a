"""Docstrings of the package: a function's begins with a verb, no class name occurs twice."""

import ast
from collections import Counter

from tests.data import SOURCES, parsed

FORBIDDEN = {"What", "Whether", "One", "As", "Of", "If"}

# Nouns that end in s, as a verb in the third person does.
NOUNS = set(
    "Ids Items Keys Messages Nodes Rows Sentences Sessions Violations Means Patterns".split()
)


def nodes() -> list[tuple[str, ast.AST]]:
    return [(path.name, node) for path in SOURCES for node in parsed(path)]


def first_word(text: str) -> str:
    return text.split()[0].strip(",.:`")


def is_attribute(node: ast.FunctionDef) -> bool:
    """A property is named like an attribute, by a noun."""
    return any("property" in ast.unparse(each) for each in node.decorator_list)


def test_no_docstring_begins_with_a_pronoun_or_a_conjunction():
    """Docstrings of attributes, which are expressions too, included."""
    assert [
        f"{file}:{node.lineno}"
        for file, node in nodes()
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and first_word(str(node.value.value)) in FORBIDDEN
    ] == []


def test_a_function_begins_with_a_verb_in_the_third_person():
    functions = [
        (file, node, first_word(text))
        for file, node in nodes()
        if isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node))
    ]
    assert [
        f"{file}: {node.name}: {first}"
        for file, node, first in functions
        if not is_attribute(node) and (first[-1] != "s" or first in NOUNS)
    ] == []


def test_no_two_classes_have_one_name():
    named = Counter(node.name for _, node in nodes() if isinstance(node, ast.ClassDef))
    assert [name for name, count in named.items() if count > 1] == []
