"""One word for each meaning on the screen."""

import ast
import re

from segviz.view.words import GAINS, LOSES
from tests.data import ROOT, parsed

SYNONYMS = {
    "enters": ("replaced",),
    GAINS: ("rescue", "rescues", "rescued", "win", "wins", "won", "gained"),
    LOSES: ("lost",),
    "answered": ("stated now", "no longer stated"),
    "modified": ("touched",),
    "own retrieval": ("native", "natively", "Native", "retrieval as usual"),
    "the average node": ("even share", "even shares", "scored alike"),
}
"""Word to what no text of pages, exports and charts says in its place."""

SHOWN = [ROOT / "segviz" / part for part in ("ui", "view", "figures", "export")]
SHOWN += [ROOT / "segviz" / "evaluation"]
APART = {"parallel.py"}  # workers that are lost
SCRIPTS = ROOT / "segviz" / "frontend" / "src"
REFUSED = re.compile(
    rf"\b({'|'.join(re.escape(one) for many in SYNONYMS.values() for one in many)})\b"
)


def shown_texts(path):
    """Texts of several words in a source, without docstrings: what a page may say."""
    nodes = parsed(path)
    docs = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    docs |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        said = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if said and id(node) not in docs and " " in node.value:
            yield node.value


def test_no_text_of_the_screen_uses_a_synonym():
    found = [
        (path.name, text)
        for folder in SHOWN
        for path in folder.rglob("*.py")
        if path.name not in APART
        for text in shown_texts(path)
        if REFUSED.search(text)
    ]
    for path in SCRIPTS.rglob("*.js"):
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text("utf-8"), flags=re.S)
        for text in re.findall(r"`[^`]*`|\"[^\"\n]* [^\"\n]*\"", code):
            if REFUSED.search(re.sub(r"\$\{[^}]*\}", "", text)):
                found.append((path.name, text))
    assert found == []


def test_the_check_sees_a_synonym():
    assert REFUSED.search("this setting rescues 2")
    assert not REFUSED.search("this setting gains 2")
