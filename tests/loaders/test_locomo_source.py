"""Fetching LoCoMo's file: a loopback server stands in for the real one."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest

from segviz.loaders import LoadError, load
from segviz.loaders.formats.locomo import download
from segviz.loaders.formats.locomo.download import NAME, SIZE, fetch_locomo

TURN = {"speaker": "Ann", "dia_id": "D1:1", "text": "hi"}
DATA = json.dumps([{"sample_id": "conv-1", "conversation": {"session_1": [TURN]}}]).encode()
SUM = hashlib.sha256(DATA).hexdigest()

# The server of this machine, whatever proxy the environment names.
direct = build_opener(ProxyHandler({})).open


class Server(ThreadingHTTPServer):
    """Serves ``DATA`` and other things by path, and counts the requests."""

    asked = 0

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Good, missing, cut off, other and endless files."""

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.asked += 1
        if self.path == "/missing":
            self.send_error(404)
            return
        others = {"/other": b"<html>Sign in</html>", "/endless": bytes(3 * SIZE), "/cut": DATA[:50]}
        body = others.get(self.path, DATA)
        self.send_response(200)
        self.send_header("Content-Length", str(len(DATA if self.path == "/cut" else body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *parts: object) -> None:
        """Quiet."""


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of the loopback server is the known one."""
    monkeypatch.setattr(download, "urlopen", direct)
    monkeypatch.setattr(download, "SHA256", SUM)
    monkeypatch.setattr(download, "URL", "http://127.0.0.1:1")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server of its own port, stopped afterwards."""
    with Server(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setattr(download, "URL", running.url)
        yield running
        running.shutdown()
        thread.join()


def refused(folder: Path) -> LoadError:
    """The error of a fetch that leaves nothing behind."""
    with pytest.raises(LoadError) as caught:
        fetch_locomo(folder)
    assert not folder.exists() or list(folder.iterdir()) == []
    return caught.value


def test_fetched_once_and_loaded(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "cache"
    for _ in range(2):
        path = fetch_locomo(folder)
        assert path == folder / NAME
        assert load(path).ids == ("conv-1",)
    assert server.asked == 1
    assert [each.name for each in folder.iterdir()] == [NAME]


def test_a_damaged_copy_is_replaced(server: Server, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"half")
    assert fetch_locomo(tmp_path).read_bytes() == DATA


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/missing", "the file could not be downloaded (Not Found)"),
        ("/endless", "the server sends more than 5.4 MB"),
        ("/other", "the download (20 bytes, SHA-256 "),
        ("/cut", "the download (50 bytes, SHA-256 "),
    ],
)
def test_what_can_go_wrong(
    path: str, what: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "URL", server.url + path)
    error = refused(tmp_path)
    assert error.what.startswith(what)
    assert "by hand" in error.remedy
    assert error.where == server.url + path


def test_offline(server: Server, tmp_path: Path) -> None:
    server.shutdown()
    server.server_close()
    error = refused(tmp_path)
    assert error.what.startswith("the file could not be downloaded (")
    assert error.remedy.startswith("check the network, or download locomo10.json from https://")


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LoadError, match="the folder cannot be used"):
        fetch_locomo(tmp_path / "file")
