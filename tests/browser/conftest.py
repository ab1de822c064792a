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
from collections.abc import Callable, Iterator
from urllib.parse import urlparse

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from segviz.conversation import sample_texts
from segviz.memory import Memory
from tests.data import ROOT
from tests.memories import SAMPLE, built

# Tells how often canvases have painted and how large the page is once neither has changed for
# ``quiet`` milliseconds; nothing if that takes longer than ``patience``. The page does not
# count as at rest while the script runs, a part is still loading, or the script of one of our
# components has not drawn yet. The quiet time runs on the page's own clock, behind the timers
# that are due in it (a slider tells Python a fifth of a second after it was moved), so a busy
# machine makes it longer, not shorter.
AT_REST = """([quiet, patience]) => new Promise((done) => {
  const looks = () => {
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
  };
  const begun = performance.now();
  let last = null, since = begun;
  const look = () => {
    const found = looks(), now = performance.now();
    if (found === null || found !== last) [last, since] = [found, now];
    else if (now - since >= quiet) return done(found);
    if (now - begun >= patience) return done(null);
    setTimeout(look, 40);
  };
  look();
})"""


def serve(*folders: str) -> Iterator[str]:
    """The app as the README starts it: the ``segviz`` command, on a port it finds itself, with
    more ``folders`` to import from."""
    environment = {k: v for k, v in os.environ.items() if k != "SEGVIZ_FILE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *folders])
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


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    yield from serve()


@pytest.fixture(scope="session")
def memory() -> Memory:
    """What the app builds of the sample it opens on, with its written texts."""
    return built().with_texts(sample_texts(SAMPLE))


SIZE = {"width": 1400, "height": 1000}


# The nodes of the evidence list by the rank it names.
LISTED = """(root) => [...root.querySelectorAll(".evidence li:not(.out) > .entry")]
  .map((entry) => [Number(entry.querySelector(".rank").textContent), Number(entry.dataset.node)])
  .sort(([a], [b]) => a - b).map(([, node]) => node)"""


class App:
    """A browser tab with the app; notes every dialog, script error and outside request."""

    def __init__(self, page, server: str):
        self.page, self.server = page, server
        self.first = ("", 0)  # the path and the dialogs of what was opened first
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
        self._fragment = ""  # that asked for it, "" for the page
        self._asked = 0.0

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
        message = BackMsg.FromString(frame) if isinstance(frame, bytes) else BackMsg()
        if message.HasField("rerun_script"):
            self.reruns += 1
            self._waiting, self._asked = True, time.monotonic()
            self._fragment = message.rerun_script.fragment_id

    def _received(self, frame):
        if isinstance(frame, bytes):
            message = ForwardMsg.FromString(frame)
            if message.HasField("script_finished"):
                self._waiting = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN

    def open(self, path: str = "") -> App:
        self.page.goto(f"{self.server}/{path}")
        return self.settle()

    def settle(self) -> App:
        """Wait until every run that was asked for is answered and what it sent is drawn."""
        end = time.monotonic() + 180
        while time.monotonic() < end:
            if self._waiting:
                self.page.wait_for_timeout(20)  # in which frames are received
                # What a fragment asks for that a run of the page has just removed, Streamlit drops
                # without a word.
                if self._fragment and time.monotonic() - self._asked > 5:
                    self._waiting = self.page.evaluate(AT_REST, [250, 500]) is None
                continue
            asked = self.reruns
            found = self.page.evaluate(AT_REST, [250, 10_000])
            if found is not None and not self._waiting and self.reruns == asked:
                return self
        asked = f"for {self._fragment or 'the page'}" if self._waiting else "for nothing"
        pytest.fail(f"the page did not come to rest: it waits {asked}")

    def tree(self, key: str):
        """The canvas component's root element, with its data attributes."""
        found = self.page.locator(f".st-key-{key} .segviz")
        while found.count() > 1:  # that of the run before is still there
            self.page.wait_for_timeout(20)
        found.wait_for()
        return found

    def attribute(self, key: str, name: str) -> str:
        # In one look: between two of them another canvas may come.
        look = "(found, name) => found.map((one) => one.getAttribute(name) ?? '')"
        while True:
            self.page.locator(f".st-key-{key} .segviz").first.wait_for()
            values = self.page.locator(f".st-key-{key} .segviz").evaluate_all(look, f"data-{name}")
            if len(values) == 1:
                return str(values[0])
            self.page.wait_for_timeout(20)

    def until(
        self, key: str, name: str, value: str | Callable[[str], bool], timeout: float = 90
    ) -> None:
        """Wait for a data attribute of a canvas to take a value, or one that will do."""
        will_do = value if callable(value) else value.__eq__
        end = time.monotonic() + timeout
        while not will_do(found := self.attribute(key, name)):
            if time.monotonic() > end:
                pytest.fail(f"{key} data-{name} is {found!r}, expected {value!r}")
            self.page.wait_for_timeout(50)

    def still(self, key: str) -> None:
        """Wait until a canvas has drawn all that was asked of it and no longer slides."""
        self.page.wait_for_function(
            "(root) => { const { sight, frames } = root.parentNode.segvizTree;"
            " return !sight.slide && !frames.asked; }",
            arg=self.tree(key).element_handle(),
        )

    def evidence(self):
        """The visible entries of what is retrieved on Ask."""
        every = self.page.locator(".st-key-ask-tree .evidence li:not(.out) > .entry")
        return every.locator("visible=true")

    def retrieved(self) -> list[int]:
        """The nodes that are listed on Ask, by rank, also those folded into another's row."""
        return self.tree("ask-tree").evaluate(LISTED)

    def ask_own(self, text: str) -> App:
        """Type a question of one's own on Ask."""
        box = self.page.locator(".st-key-asking [data-testid=stSelectbox] input").first
        box.fill(text)
        box.press("Enter")
        self.settle()
        self.evidence().first.wait_for()
        return self

    def open_memory(self) -> App:
        """Unfold the line of the sidebar, which has the file, the memory and the models."""
        self.page.locator(".st-key-memory-panel summary").first.click()
        return self.settle()

    def choose(self, key: str, option: str) -> App:
        """Pick an option of a select box by its text; ``key`` is how its own begins."""
        box = self.page.locator(f"[class*=st-key-{key}]")
        box.locator("[role=combobox], input").first.click()
        self.page.get_by_role("option", name=option, exact=True).first.click()
        return self.settle()

    def text(self) -> str:
        return self.page.locator('[data-testid="stApp"]').inner_text()


@pytest.fixture(scope="session")
def tab(chromium, server) -> Iterator[App]:
    """One tab for all tests: a page that was opened in it before opens in half the time."""
    context = chromium.new_context(viewport=SIZE)
    context.set_default_timeout(90_000)
    app = App(context.new_page(), server).open("ask")
    app.first = (urlparse(app.page.url).path, app.page.get_by_role("dialog").count())
    yield app
    context.close()


@pytest.fixture
def app(tab) -> Iterator[App]:
    """The tab as a new visitor has it: nothing stored, nothing under the pointer."""
    tab.page.set_viewport_size(SIZE)
    tab.page.emulate_media(color_scheme="light", reduced_motion=None, media=None)
    tab.page.mouse.move(0, 0)
    tab.forget()
    yield tab
    seen = (list(tab.outside), list(tab.dialogs), list(tab.errors))
    if tab.page.url.startswith(tab.server):
        tab.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    tab.page.goto("about:blank")
    tab.page.context.clear_cookies()
    assert seen == ([], [], [])
