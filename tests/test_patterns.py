"""No pattern of the package takes more than linear time on repeated signs.

A pattern holds the interpreter while it runs, so one slow text stops every visitor of a server.
"""

import ast
import builtins
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from operator import or_
from time import process_time
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.construct.annotate import _NO_WORDS
from segviz.construct.tasks.words import BREAK
from segviz.loaders.formats.lines import _EDITED, _WORDS
from segviz.retrieval.attribution import _CLAUSE
from segviz.text.dates import _WEEKDAYS

SMALL, LARGE = 4_000, 64_000
LINEAR = LARGE / SMALL
MOST = 4 * LINEAR
"""Largest ratio of the times of the two lengths; a quadratic pattern has 256."""

SLOW = 10
"""Patterns that take so many times a plain one's time on ``SMALL`` signs are timed on ``LARGE``."""

UNITS = [*"aA1_ \n\t.,:;-'\"’([{<>?!/|*#`…“ー中あก。？：–", "é", "e\u0301", "\u200e", "\r\n"]
UNITS += ["a ", "A ", "Aa ", "1 ", "1.", "1:", "1-", "1/", "a.", "a'", "a: ", "a\n", "\n ", " :"]
ENDLESS = ["a", " ", "1"]


def modules() -> list[ModuleType]:
    names = [each.name for each in pkgutil.walk_packages(segviz.__path__, "segviz.")]
    # The last module of ``run`` is the script of the app, which draws when it is imported.
    return [importlib.import_module(n) for n in names if ".run." not in n and "__main__" not in n]


def within(value: object, depth: int = 0) -> Iterator[re.Pattern]:
    """Yields the patterns of a value, of a container, and of containers in it."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, dict | tuple | list | set | frozenset):
        pairs = [*value, *value.values()] if isinstance(value, dict) else value
        for each in pairs:
            yield from within(each, depth + 1)


class Filled(ast.NodeTransformer):
    """Replaces what only a call knows (names of a file, words of a person) by two letters."""

    def __init__(self, known: dict[str, object]) -> None:
        self.known = known

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        names = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
        return node if names <= self.known.keys() else ast.Constant("ab")

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if node.id in self.known else ast.Constant("ab")


def written(module: ModuleType, tree: ast.Module) -> Iterator[re.Pattern]:
    """Yields the patterns that functions hand to ``re``."""
    known = {**vars(builtins), **vars(module)}
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.Lambda)]
    walked = (call for each in functions for call in ast.walk(each))
    calls = dict.fromkeys(call for call in walked if isinstance(call, ast.Call))  # in order
    for call in sorted(calls, key=lambda call: call.lineno):
        name = ast.unparse(call.func)
        if not name.startswith("re.") or name == "re.escape" or not call.args:
            continue
        text = ast.fix_missing_locations(ast.Expression(Filled(known).visit(call.args[0])))
        flags = re.findall(r"re\.[A-Z]+", ast.unparse(call))
        source = eval(compile(text, module.__name__, "eval"), known)
        yield re.compile(source, functools.reduce(or_, map(eval, flags), 0))


def patterns() -> dict[re.Pattern, tuple[str, list[str]]]:
    """Returns each pattern of the package with its name and the methods that use it."""
    sources = {module: inspect.getsource(module) for module in modules() if module.__file__}
    every = "\n".join(sources.values())
    rows: dict[re.Pattern, tuple[str, list[str]]] = {}
    for module, source in sources.items():
        for name, value in vars(module).items():
            for pattern in within(value):
                methods = set(re.findall(rf"\b{name}\.(\w*match|[a-z]+)\b", every))
                rows.setdefault(pattern, (f"{module.__name__}.{name}", sorted(methods)))
        for pattern in written(module, ast.parse(source)):
            rows.setdefault(pattern, (f"{module.__name__}: {pattern.pattern}", []))
    return rows


def seconds(pattern: re.Pattern, text: str | bytes, method: str) -> float:
    start = process_time()
    if method == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, method)(text)
    return process_time() - start


def texts(pattern: re.Pattern) -> Iterator[tuple[str, str]]:
    """Yields starts and repeated units: generic ones, and the words and signs of the pattern."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    plain = re.sub(r"\\u\w{4}|\\x\w\w|\\[bBsSdDwWAZ]", " ", source)
    own = [*dict.fromkeys(re.findall(r"[^\W_]{2,}", plain))][:5]
    own += [*dict.fromkeys(re.findall(r"[^\w\s\\]", plain))][:10]
    yield from (("", unit) for unit in dict.fromkeys((*UNITS, *own)))
    yield from ((start, unit) for start in own for unit in ENDLESS)


def slow(pattern: re.Pattern, methods: list[str]) -> str:
    """Returns the first text on which a pattern takes more than linear time, "" if none does."""
    anchored = methods and {*methods} <= {"match", "fullmatch"}
    encode = str.encode if isinstance(pattern.pattern, bytes) else str
    plain = min(seconds(re.compile(r"(?s)."), "a" * SMALL, "finditer") for _ in range(5))
    for start, unit in texts(pattern):
        # The last sign makes a pattern that has taken all of them go back.
        small, large = (encode(f"{start}{(unit * n)[:n]}§") for n in (SMALL, LARGE))
        for method in methods if anchored else ("finditer",):
            if seconds(pattern, small, method) < SLOW * plain:
                continue
            took = min(seconds(pattern, small, method) for _ in range(3))
            ratio = seconds(pattern, large, method) / took
            if took > SLOW * plain and ratio > MOST:
                return f"{method} of {start + unit!r}, repeated: {ratio:.0f} times as long"
    return ""


ROWS = patterns()


def test_every_pattern_is_listed():
    assert len(ROWS) > 150
    assert {"segviz.construct.annotate._NO_WORDS", "segviz.text.dates._TIME"} <= {
        name for name, _ in ROWS.values()
    }


@pytest.mark.parametrize("pattern", ROWS, ids=[name for name, _ in ROWS.values()])
def test_time_grows_no_faster_than_the_text(pattern):
    assert slow(pattern, ROWS[pattern][1]) == ""


@pytest.mark.parametrize("source", [r"\S+://", r"\s+$", r"“[^”]*”", r"\w+?x"])
def test_quadratic_patterns_are_noticed(source):
    assert slow(re.compile(source), ["search"])


SIGNS = st.sampled_from(
    [*". ,;:!?…\"')(\n<>a1¿。\u200e日星期一", "and", "://", "www.", "'ll", "[image: "]
)
RESTATED = {
    BREAK: r"(?<=[.!?…])[\"')\]]*\s+(?=[\"'(\[]?\w)|(?<=[。！？])\s*(?=\S)|\s+(?=[¿¡])"
    r"|\s*(?=\[image: )",
    _NO_WORDS: r"\S+://\S+|www\.\S+|(?<=\w)['’`]\w{1,2}\b",
    _CLAUSE: r"(?<=[.!?;])\s+|\s*\n\s*|,?\s+(?:and|but|while|then)\s+",
    _EDITED: rf"\s+\u200e?<{_WORDS}(?: {_WORDS}){{2,8}}\.?>\s*$",
    _WEEKDAYS: r"\s*\([^()]*\)|\s?(?:(?:星期|週|周)[一二三四五六日天]|[月火水木金土日]曜日?"
    r"|[월화수목금토일]요일)",
}
"""Patterns that try a run of blanks once, and the same without that."""


@given(st.lists(SIGNS, max_size=12).map("".join))
def test_patterns_that_try_a_run_once_find_what_plain_ones_find(text):
    for pattern, plain in RESTATED.items():
        expected = [match.span() for match in re.finditer(plain, text)]
        assert [match.span() for match in pattern.finditer(text)] == expected
