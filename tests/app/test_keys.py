"""Names of session-state entries and widgets: one that two places use comes from ``ui.keys``."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from functools import cache
from pathlib import Path

import segviz.ui
from segviz.ui import keys
from segviz.ui.widgets import style

ROOT = Path(segviz.ui.__file__).parent
FIXED = {name: value for name, value in vars(keys).items() if name.isupper()}


@cache
def _trees() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
        if path.name != "keys.py"
    }


@cache
def _positions() -> dict[str, int]:
    """Where functions of the app take a name: their parameter ``key``, or the store that
    ``remember`` and its kin look into."""
    found = {"remember": 0, "keep": 0, "peek": 0, "forget": 0}
    for tree in _trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in node.args.args]
                if "key" in names:
                    found.setdefault(node.name, names.index("key"))
    return found


def _state_names(tree: ast.Module) -> set[str]:
    """``st.session_state`` and the variables that stand for it."""
    found = {"st.session_state"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts, strict=True))
            found |= {ast.unparse(a) for a, b in pairs if ast.unparse(b) == "st.session_state"}
    return found


def _names(tree: ast.Module):
    """The expressions of a module that name an entry or a widget."""
    states = _state_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id="key")], value=value):
                yield value
            case ast.Subscript(value=state, slice=name) if ast.unparse(state) in states:
                yield name
            case ast.Compare(left=name, comparators=[state]) if ast.unparse(state) in states:
                yield name
            case ast.Call(func=called, args=given, keywords=named):
                yield from (one.value for one in named if one.arg == "key")
                owner, _, function = ast.unparse(called).rpartition(".")
                if owner in states and given:
                    yield from given[0].keys if isinstance(given[0], ast.Dict) else given[:1]
                elif owner not in states and function in _positions():
                    yield from given[_positions()[function] :][:1]


def test_a_name_is_written_in_one_place():
    literals = Counter(
        ast.unparse(name)
        for tree in _trees().values()
        for name in _names(tree)
        if isinstance(name, ast.JoinedStr)
        or (isinstance(name, ast.Constant) and isinstance(name.value, str))
    )
    twice = [name for name, count in literals.items() if count > 1]
    assert not twice, f"{twice} belong into ui/keys.py: two places name them"
    known = {repr(value) for value in FIXED.values()}
    assert not known & set(literals)
    assert len(known) == len(FIXED)


def test_keys_has_what_two_places_share():
    tests = (path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("*.py"))
    trees = [*_trees().values(), *(ast.parse(text) for text in tests if "keys." in text)]
    used = Counter(
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "keys"
    )
    functions = {n for n, v in vars(keys).items() if inspect.isfunction(v) and n[0] != "_"}
    for name in set(FIXED) | functions:
        assert used[name] > 1, f"{name} stands where it is used"


def test_rules_of_style_select_what_there_is():
    source = inspect.getsource(style)
    modules = [*_trees().values(), ast.parse(inspect.getsource(keys))]
    texts = {
        node.value
        for tree in modules
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    } - {
        inspect.cleandoc(source),
        *(value for value in vars(style).values() if isinstance(value, str)),
    }
    assert set(re.findall(r"\.st-key-([\w-]+)", source)) <= texts
    for beginning in re.findall(r'class\*="st-key-([\w-]+)"', source):
        assert any(text.startswith(beginning) for text in texts), beginning
