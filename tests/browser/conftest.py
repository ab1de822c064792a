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

from tests.data import ROOT


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


class App:
    """A browser tab with the app; notes every dialog, script error and outside request."""

    def __init__(self, page, server: str):
        self.page, self.server = page, server
        self.outside: list[str] = []
        self.dialogs: list[str] = []
        self.errors: list[str] = []
        page.on("request", self._request)
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)

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

    def open(self, path: str = "") -> App:
        self.page.goto(f"{self.server}/{path}")
        return self.settle()

    def settle(self) -> App:
        """Wait until the script has run and nothing has started again."""
        idle = '[data-testid="stApp"][data-test-script-state="notRunning"]'
        for _ in range(2):
            self.page.wait_for_selector(idle, timeout=60_000)
            self.page.wait_for_timeout(350)
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

    def choose(self, key: str, option: str) -> App:
        """Pick an option of a select box by its text."""
        self.page.locator(f".st-key-{key} [role=combobox], .st-key-{key} input").first.click()
        self.page.get_by_role("option", name=option, exact=True).first.click()
        return self.settle()

    def text(self) -> str:
        return self.page.locator('[data-testid="stApp"]').inner_text()


@pytest.fixture(params=["light"])
def app(chromium, server, request) -> Iterator[App]:
    context = chromium.new_context(
        viewport={"width": 1400, "height": 1000}, color_scheme=request.param
    )
    page = context.new_page()
    tab = App(page, server)
    yield tab
    context.close()
    assert tab.outside == []
    assert tab.dialogs == []
    assert tab.errors == []
