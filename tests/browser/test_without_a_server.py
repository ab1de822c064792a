"""The page without a server (``.github/app``), under the conditions of Python in a browser.

The page itself needs Python for WebAssembly, from elsewhere. So its app runs here in an environment
with the packages that the page installs, in the versions that stlite's Python has, and there
segviz can start no thread and no process. See "The page without a server" in CONTRIBUTING.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import venv

import pytest

from tests.browser.conftest import SIZE, App
from tests.data import ROOT
from tests.serving import start

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# stlite 1.9.2: Streamlit 1.62.0, and packages of Pyodide 0.29.3.
VERSIONS = """
streamlit==1.62.0
numpy==2.2.5
scipy==1.14.1
pandas==2.3.3
pillow==11.3.0
networkx==3.4.2
pydantic==2.12.5
click==8.3.1
threadpoolctl==3.5.0
"""

LIKE_A_BROWSER = """
import subprocess, sys, threading

for absent in ("openai", "tokenizers", "fcntl"):
    sys.modules[absent] = None
start = threading.Thread.start

def start_none_of_segviz(self):
    if (getattr(self._target, "__module__", None) or "").startswith("segviz"):
        raise RuntimeError("can't start new thread")
    start(self)

def no_process(*_, **__):
    raise OSError(138, "emscripten does not support processes.")

threading.Thread.start = start_none_of_segviz
subprocess.Popen.__init__ = no_process
"""


def listed(page: str, before: str) -> list[str]:
    """The strings of a list in the script of the page."""
    return ast.literal_eval(re.search(rf"{before}(\[.*?\])", page)[1])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, ROOT / ".github" / "app", folder], check=True, timeout=300)
    return folder


@pytest.fixture(scope="module")
def in_a_browser(site, tmp_path_factory):
    place = tmp_path_factory.mktemp("in-a-browser")
    page = (site / "index.html").read_text("utf-8")
    limits = place / "versions.txt"
    limits.write_text(VERSIONS)
    venv.create(place / "environment", with_pip=True)
    python = place / "environment" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--constraint", limits]
    (wheel,) = site.glob("*.whl")
    subprocess.run(
        [*install, "streamlit", *listed(page, "requirements: ")], check=True, timeout=600
    )
    alone = listed(page, r"\.\.\.")
    subprocess.run([*install, "--no-deps", wheel, *alone], check=True, timeout=300)
    script = re.search(r'"app.py": (".*"),', page)[1]
    (place / "app.py").write_text(LIKE_A_BROWSER + json.loads(script))
    (place / ".streamlit").mkdir()
    (place / ".streamlit" / "config.toml").write_bytes((site / "config.toml").read_bytes())
    log = place / "log"
    with log.open("wb") as errors:
        process, address = start(errors.fileno(), home=place, python=python)
    yield address
    process.terminate()
    process.wait(20)
    assert "Traceback" not in log.read_text()


@pytest.fixture
def pages(chromium):
    """Opens tabs of servers."""
    context = chromium.new_context(viewport=SIZE)
    context.set_default_timeout(90_000)
    yield lambda address: App(context.new_page(), address)
    context.close()


def test_every_page_opens_and_the_first_answer_is_that_of_the_desktop(pages, server, in_a_browser):
    there = pages(in_a_browser)
    for path in ("", "sweep", "compare", "guide", "ask"):
        there.open(path)
        for bad in ("stException", "stAlert"):
            assert not there.page.get_by_test_id(bad).count(), path
    here = pages(server).open("ask")
    assert there.retrieved() == here.retrieved()
    assert len(there.retrieved()) == 10
    assert (there.errors, there.outside) == ([], [])


def test_a_model_server_is_refused_with_the_reason(pages, in_a_browser):
    tab = pages(in_a_browser).open("ask")
    tab.open_memory().page.get_by_text("Models", exact=True).click()
    tab.settle().choose("preset", "gpt-5.4-mini")
    assert "needs the package openai, which is not installed here" in tab.text()
