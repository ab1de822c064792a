"""PNG, SVG and WebP: what the installed browser draws, and what is said where it cannot."""

import io
import os
import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
import pytest
from PIL import Image

from segviz.cli import main
from segviz.export import FORMATS, Sheet, pictures
from segviz.export.browser import NAMES, VARIABLE, BrowserError, find_browser
from segviz.export.html import FILM, WIDTH, picture_height
from segviz.export.pictures import draw, made
from segviz.export.sheet import Kind, film
from segviz.view.palette import SURFACE, session_colours
from tests.export.views import ask_view, build, grow_view
from tests.trees import chat

KINDS = get_args(Kind)
WORDS = "Grüße, שלום, Привет, αβγ"  # of scripts the fonts of CI have


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder temporary files go to; nothing may remain in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def dots(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    assert image.format == "PNG"
    return image.convert("RGB")


def colours(image: Image.Image) -> dict[str, int]:
    found = image.getcolors(image.width * image.height)
    return {f"#{bytes(colour).hex()}": count for count, colour in found}


def size(view) -> tuple[int, int]:
    return WIDTH, picture_height(view)


# --- drawn -------------------------------------------------------------------------------------


@pytest.mark.browser
def test_a_png_has_two_dots_a_pixel_and_the_colours_of_the_picture(memory, drawer, temporary):
    view = grow_view(memory)
    content = made(FORMATS["png"], view)
    assert content == made(FORMATS["png"], view)
    image = dots(content)
    width, height = size(view)
    assert image.size == (2 * width, 2 * height)
    found = colours(image)
    assert max(found, key=found.get) == SURFACE["light"][0]
    for colour in session_colours(2):
        assert found[colour] > 400
    corners = [(x, y) for x in (0, image.width - 1) for y in (0, image.height - 1)]
    assert {image.getpixel(place) for place in corners} == {(255, 255, 255)}


@pytest.mark.browser
def test_an_animation_shows_the_picture_at_every_alpha(memory, drawer, temporary):
    view = ask_view(memory, "How many gears?", policy="both", alpha=0.5)
    content = made(FORMATS["animation"], view)
    with Image.open(io.BytesIO(content)) as moving:
        assert (moving.format, moving.size) == ("WEBP", size(view))
        assert moving.n_frames == FILM[0] * FILM[1]
        frames = []
        for at in range(moving.n_frames):
            moving.seek(at)
            frames.append(np.asarray(moving.convert("RGB"), dtype=int))
    # The picture of the same α is the frame, but for what WebP loses.
    still = np.asarray(dots(made(FORMATS["png"], view)).resize(size(view)), dtype=int)
    apart = [np.abs(frame - still).mean() for frame in frames]
    assert np.argmin(apart) == 10
    assert apart[10] < 0.5 * apart[0]


def test_an_animation_needs_scores_that_travel(memory):
    for view in (grow_view(memory), ask_view(memory, "Saturn?", policy="none")):
        with pytest.raises(ValueError, match="choose a policy"):
            film(view)


# --- hostile -----------------------------------------------------------------------------------


@contextmanager
def listening():
    """A server on this machine, and the paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.browser
@pytest.mark.parametrize("kind", KINDS)
def test_the_browser_reaches_nobody_even_if_a_page_asks(drawer, temporary, kind):
    with listening() as (address, asked):
        named = address.replace("127.0.0.1", "localhost")
        page = (
            f"<img src={address}/a><img src={named}/b><link rel=stylesheet href={address}/c>"
            f"<script>fetch('{address}/d', {{mode: 'no-cors'}});"
            "document.documentElement.dataset.picture = btoa('drawn')</script><p>hello"
        )
        assert draw(Sheet(kind, page, 600, 200))
    assert asked == []


def test_keys_do_not_reach_the_browser(temporary, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    told = tmp_path / "told"
    monkeypatch.setenv(VARIABLE, script(tmp_path, f'env > {told}; echo "$@" >> {told}; exit 3'))
    with pytest.raises(BrowserError, match="exit code 3"):
        draw(Sheet("png", "<p>hello", 600, 200))
    assert "sk-secret" not in told.read_text()
    assert "--user-data-dir=" in told.read_text()


# --- no browser --------------------------------------------------------------------------------


def script(folder: Path, body: str) -> str:
    """A program that is no browser."""
    if os.name == "nt":
        pytest.skip("a text is no program there")
    path = folder / "no-browser"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_a_browser_is_found_by_name_in_order(tmp_path):
    for name in (NAMES[2], NAMES[5]):
        shutil.copy(script(tmp_path, ":"), tmp_path / name)
    assert find_browser({"PATH": str(tmp_path)}) == tmp_path / NAMES[2]
    assert find_browser({"PATH": str(tmp_path), VARIABLE: " "}) == tmp_path / NAMES[2]
    assert find_browser({"PATH": str(tmp_path), VARIABLE: NAMES[5]}) == tmp_path / NAMES[5]
    own = script(tmp_path, ":")
    assert find_browser({"PATH": "", VARIABLE: own}) == Path(own)


@pytest.mark.parametrize("environ", [{"PATH": ""}, {"PATH": "", VARIABLE: "/nowhere/at-all"}])
def test_where_there_is_none_it_says_what_to_do(environ):
    with pytest.raises(BrowserError) as raised:
        find_browser(environ)
    said = str(raised.value)
    assert VARIABLE in said
    assert "html" in said
    assert "PNG and SVG" in said
    assert environ.get(VARIABLE, "") in said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("exit 7", r"made no picture \(exit code 7\)"),
        ("echo first; echo x:FATAL: no sandbox >&2; echo last; exit 1", "x:FATAL: no sandbox"),
        ("printf 'bad \\033[31m\\377 end'", r"exit code 0: bad \[31m\ufffd end"),
    ],
)
def test_a_browser_that_fails_is_a_readable_error(temporary, tmp_path, monkeypatch, body, said):
    monkeypatch.setenv(VARIABLE, script(tmp_path, body))
    with pytest.raises(BrowserError, match=said) as raised:
        draw(Sheet("png", "<p>hello", 600, 200))
    assert "The interactive page (html) needs none" in str(raised.value)


def test_what_cannot_be_started_is_a_readable_error(temporary, tmp_path, monkeypatch):
    path = tmp_path / "broken"
    path.write_bytes(b"\x7fELF no program at all")
    path.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(path))
    with pytest.raises(BrowserError, match="does not start"):
        draw(Sheet("svg", "<p>hello", 600, 200))


def test_a_browser_that_hangs_is_ended_with_its_helpers(temporary, tmp_path, monkeypatch):
    helper = tmp_path / "helper"
    monkeypatch.setenv(VARIABLE, script(tmp_path, f"sleep 600 & echo $! > {helper}; sleep 600"))
    monkeypatch.setattr(pictures, "SECONDS", 2)
    with pytest.raises(BrowserError, match="took more than"):
        draw(Sheet("png", "<p>hello", 600, 200))
    state = ["ps", "-o", "stat=", "-p", helper.read_text().strip()]
    for _ in range(100):  # a moment passes until the system has taken it away
        left = subprocess.run(state, capture_output=True, text=True).stdout.strip()
        if not left or left.startswith("Z"):
            return
        time.sleep(0.05)
    pytest.fail(f"the browser's helper still runs: {left}")


def test_a_picture_of_another_size_is_no_picture(temporary, tmp_path, monkeypatch):
    small = tmp_path / "small.png"
    Image.new("RGB", (4, 6)).save(small)
    copy = f'for a in "$@"; do case $a in --screenshot=*) cp {small} "${{a#*=}}";; esac; done'
    monkeypatch.setenv(VARIABLE, script(tmp_path, copy))
    with pytest.raises(BrowserError, match="another size"):
        draw(Sheet("png", "<p>hello", 600, 200))
    assert draw(Sheet("png", "<p>hello", 2, 3)) == small.read_bytes()


# --- the command -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved():
    """A saved memory with a name that is hostile too."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.json.gz"
        build(chat([[("Ann", "The boat is called Saturn."), ("Ben", WORDS)]])).save(path)
        yield str(path)


@pytest.mark.browser
def test_the_command_writes_them(saved, drawer, tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    assert main(["export", saved, "--format", "png", "--dark"]) == 0
    (image,) = tmp_path.glob("*.png")
    assert colours(dots(image.read_bytes()))[SURFACE["dark"][0]] > 1000
    assert main(["export", saved, "--format", "svg", "--question", "Boats?", "-o", "-"]) == 0
    assert b"Boats?" in capsysbinary.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "nodes", "--dark"], "--dark"),
        (["--format", "svg"], "SEGVIZ_BROWSER names '/nowhere'"),
    ],
)
def test_what_the_command_cannot_do_is_a_user_error(saved, monkeypatch, capsys, options, said):
    monkeypatch.setenv(VARIABLE, "/nowhere")
    try:
        code = main(["export", saved, *options])
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr().err
    assert code == 2
    assert said in printed
    assert "Traceback" not in printed
