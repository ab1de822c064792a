"""Session-state entries and widgets have their names from ``ui.keys`` alone."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import segviz.ui
from segviz.ui import keys
from segviz.ui.widgets import style

ROOT = Path(segviz.ui.__file__).parent
TREES = {
    str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(ROOT.rglob("*.py"))
    if path.name != "keys.py"
}
FIXED = {name: value for name, value in vars(keys).items() if name.isupper()}


def _positions() -> dict[str, int]:
    """Where functions of the app take a name: their parameter ``key``, or the store that
    ``remember`` and its kin look into."""
    found = {"remember": 0, "peek": 0, "forget": 0, "form": 0}
    for tree in TREES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in node.args.args]
                if "key" in names:
                    found.setdefault(node.name, names.index("key"))
    return found


POSITIONS = _positions()


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
                elif owner not in states and function in POSITIONS:
                    yield from given[POSITIONS[function] :][:1]


@pytest.mark.parametrize("module", TREES)
def test_no_module_names_an_entry_by_itself(module):
    for name in _names(TREES[module]):
        own = isinstance(name, ast.JoinedStr) or (
            isinstance(name, ast.Constant) and isinstance(name.value, str)
        )
        own |= isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add)
        own |= isinstance(name, ast.Name) and name.id.isupper()
        assert not own, f"{module}:{name.lineno}: {ast.unparse(name)} belongs into ui/keys.py"


def test_every_name_is_used_and_names_one_thing():
    assert len(set(FIXED.values())) == len(FIXED)
    used = {
        node.attr
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "keys"
    }
    functions = {n for n, v in vars(keys).items() if inspect.isfunction(v) and n[0] != "_"}
    assert used == set(FIXED) | functions


def test_rules_of_style_select_what_there_is():
    source = inspect.getsource(style)
    assert set(re.findall(r"\.st-key-([\w-]+)", source)) <= set(FIXED.values())
    known = inspect.getsource(keys)
    for beginning in re.findall(r'class\*="st-key-([\w-]+)"', source):
        assert f'"{beginning}' in known
