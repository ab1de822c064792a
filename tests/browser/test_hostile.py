"""Hostile text in every place a file can put it: no page, view or export runs any of it.

The ``app`` fixture fails a test on any dialog, script error or request to another host.
"""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from segviz.ui.address import VIEWS

CORPUS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</script><svg onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "[link](javascript:alert(1)) <a href='javascript:alert(1)'>x</a>",
    "![pixel](https://evil.example/p.png) <https://evil.example>",
    ":red[x] :material/home: :smile: $\\rm{x}$ `code` **bold** # head",
    "<b>bold</b><br><a href='https://evil.example'>link</a> <extra></extra> %{x}",
    "<style>*{display:none}</style><link rel=stylesheet href=https://evil.example/x.css>",
    "{{7*7}} ${alert(1)} {%raw%} `${1}` -->",
    "\u202eright to left\u202c \u2066isolate\u2069 \u200bzero\u2028line",
    "]]> \\u003cscript\\u003e '\"><iframe srcdoc='<script>alert(1)</script>'>",
    '=HYPERLINK("https://evil.example","x") @SUM(1) +1 -1',
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A conversation with the corpus as text, speaker, id, date, question, answer and name."""
    folder = tmp_path_factory.mktemp("hostile")
    sessions: dict[str, object] = {"speaker_a": CORPUS[0], "speaker_b": CORPUS[1]}
    for number in range(1, 4):
        sessions[f"session_{number}"] = [
            {
                "speaker": CORPUS[i % 2],
                "dia_id": f"D{number}:{i + 1}",
                "text": text,
                "blip_caption": CORPUS[-1 - i],
                "img_url": ["https://evil.example/p.png"],
            }
            for i, text in enumerate(CORPUS)
        ]
        sessions[f"session_{number}_date_time"] = CORPUS[number]
    questions = [
        {"question": text, "answer": CORPUS[i - 1], "evidence": ["D1:1"], "category": 1 + i % 5}
        for i, text in enumerate(CORPUS)
    ]
    path = folder / "<img src=x onerror=alert(3)>.json"
    path.write_text(
        json.dumps([{"sample_id": CORPUS[2], "conversation": sessions, "qa": questions}]),
        encoding="utf-8",
    )
    return path


def at(path: Path, **link: str) -> str:
    return "?" + "&".join(f"{k}={quote(v)}" for k, v in {"path": str(path), **link}.items())


def test_grow_and_ask_with_a_selected_node(app, hostile):
    app.open(at(hostile, system="memforest", node="1", unit="turn"))
    for expander in app.page.locator('[data-testid="stExpander"] summary').all():
        expander.click()
    app.settle()
    assert CORPUS[0] in app.text()
    # The same memory on the other page, which the tab has open already.
    app.page.get_by_role("link", name="Ask").first.click()
    app.tree("ask-tree")
    app.settle()
    for expander in app.page.locator('[data-testid="stMain"] [data-testid="stExpander"]').all():
        expander.locator("summary").click()
    app.settle()
    assert "alert(1)" in app.text()


@pytest.mark.parametrize("view", VIEWS[1:])
def test_other_views(app, hostile, view):
    app.open("ask" + at(hostile, view=view, unit="turn"))
    app.settle()
    assert app.page.locator("[class*=st-key-view] input").first.input_value() == view


@pytest.mark.parametrize("page", ["sweep", "compare", "guide"])
def test_the_other_pages(app, hostile, page):
    app.open(page + at(hostile, unit="turn"))
    for expander in app.page.locator('[data-testid="stMain"] [data-testid="stExpander"]').all():
        expander.locator("summary").click()
    app.settle()
