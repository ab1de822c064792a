"""A real Chromium against a real server, both started once.

The browser is the system's own (Debian: ``apt-get install chromium``); SEGVIZ_CHROMIUM
names another. Where there is none these tests skip, except where SEGVIZ_REQUIRE_BROWSER is
set (CI does), where that is a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.parse import urlparse

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.data import ROOT

# What the page looks like, or nothing while some of it is on its way: the script runs, a part
# is still loading, or the script of one of our components has not drawn yet.
LOOKS = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  if (app?.dataset.testScriptState !== "notRunning") return null;
  if (app.dataset.testConnectionState !== "CONNECTED") return null;
  if (document.querySelector('[data-testid="stSkeleton"]')) return null;
  const inside = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')]
    .map(({ shadowRoot }) => [...shadowRoot?.children ?? []]);
  if (inside.some(([style, ...own]) => !style || (style.querySelector("style") && !own.length)))
    return null;
  const drawn = inside.flat().map((part) =>
    [part.querySelectorAll("*").length, part.dataset.painted].join(":"));
  return [document.querySelectorAll("*").length, ...drawn].join(" ");
}"""


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The app as the README starts it: the ``segviz`` command, on a port it finds itself."""
    environment = {k: v for k, v in os.environ.items() if k != "SEGVIZ_FILE"}
    environment["PYTHONPATH"] = str(ROOT)
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", "import sys; from segviz.cli import main; sys.exit(main())"),
            "--no-browser",
        ],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    line = process.stdout.readline()
    if not line.startswith("segviz runs at "):
        process.kill()
        pytest.fail(f"the segviz command did not start the app; it said {line!r}")
    yield line.split()[3]
    process.terminate()
    process.wait(20)
    process.stdout.close()


SIZE = {"width": 1400, "height": 1000}


class App:
    """A browser tab with the app; notes every dialog, script error and outside request."""

    def __init__(self, page, server: str):
        self.page, self.server = page, server
        self.forget()
        page.on("request", self._request)
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)
        page.on("websocket", self._websocket)

    def forget(self) -> None:
        """Begin anew to note what happens."""
        self.outside: list[str] = []
        self.dialogs: list[str] = []
        self.errors: list[str] = []
        self.reruns = 0  # the page has asked for
        self._waiting = False  # for the answer to the last of them

    def _request(self, request):
        if urlparse(request.url).scheme in ("http", "https", "ws", "wss"):
            host = urlparse(request.url).netloc
            if host != urlparse(self.server).netloc:
                self.outside.append(request.url)

    def _console(self, message):
        # Opening a page by its path makes Streamlit ask for its own health under that path.
        if message.type == "error" and "404" not in message.text:
            self.errors.append(message.text)

    def _dialog(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _websocket(self, socket):
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, frame):
        if isinstance(frame, bytes) and BackMsg.FromString(frame).HasField("rerun_script"):
            self.reruns += 1
            self._waiting = True

    def _received(self, frame):
        if isinstance(frame, bytes):
            message = ForwardMsg.FromString(frame)
            if message.HasField("script_finished"):
                self._waiting = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN

    def open(self, path: str = "") -> App:
        self.page.goto(f"{self.server}/{path}")
        return self.settle()

    def settle(self) -> App:
        """Wait until every run that was asked for is answered and what it sent is drawn.

        Four looks over a third of a second must be the same: a slider tells Python a fifth of
        a second after it was moved.
        """
        end = time.monotonic() + 90
        same, last = 0, None
        while same < 3:
            self.page.wait_for_timeout(110)
            looks = None if self._waiting else self.page.evaluate(LOOKS)
            same = same + 1 if looks is not None and looks == last else 0
            last = looks
            if time.monotonic() > end:
                pytest.fail(f"the page did not come to rest: waiting={self._waiting}, {looks!r}")
        return self

    def tree(self, key: str):
        """The canvas component's root element, with its data attributes."""
        found = self.page.locator(f".st-key-{key} .segviz")
        found.wait_for(timeout=30_000)
        return found

    def attribute(self, key: str, name: str) -> str:
        return self.tree(key).get_attribute(f"data-{name}") or ""

    def until(self, key: str, name: str, value: str, timeout: float = 20) -> None:
        """Wait for a data attribute of a canvas to take a value."""
        end = time.monotonic() + timeout
        while (found := self.attribute(key, name)) != value:
            if time.monotonic() > end:
                pytest.fail(f"{key} data-{name} is {found!r}, expected {value!r}")
            self.page.wait_for_timeout(50)

    def still(self, key: str) -> None:
        """Wait until a canvas has drawn all that was asked of it and no longer slides."""
        self.page.wait_for_function(
            "(root) => { const s = root.parentNode.segvizTree; return !s.slide && !s.frame; }",
            arg=self.tree(key).element_handle(),
        )

    def choose(self, key: str, option: str) -> App:
        """Pick an option of a select box by its text."""
        self.page.locator(f".st-key-{key} [role=combobox], .st-key-{key} input").first.click()
        self.page.get_by_role("option", name=option, exact=True).first.click()
        return self.settle()

    def text(self) -> str:
        return self.page.locator('[data-testid="stApp"]').inner_text()


@pytest.fixture(scope="session")
def tab(chromium, server) -> Iterator[App]:
    """One tab for all tests: a page that was opened in it before opens in half the time."""
    context = chromium.new_context(viewport=SIZE)
    yield App(context.new_page(), server)
    context.close()


@pytest.fixture(params=["light"])
def app(tab, request) -> Iterator[App]:
    """The tab as a new visitor has it: nothing stored, nothing under the pointer."""
    tab.page.set_viewport_size(SIZE)
    tab.page.emulate_media(color_scheme=request.param, reduced_motion=None, media=None)
    tab.page.mouse.move(0, 0)
    tab.forget()
    yield tab
    seen = (list(tab.outside), list(tab.dialogs), list(tab.errors))
    tab.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    tab.page.goto("about:blank")
    tab.page.context.clear_cookies()
    assert seen == ([], [], [])
