"""Between the app and the outside: whose requests are answered, which paths are opened, and what
is shown when something fails."""

import socket
import time
from contextlib import ExitStack, suppress
from threading import Thread

import pytest
import streamlit as st
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.testing.v1 import AppTest

from segviz.ui import connections, security
from tests.app.conftest import clean, grow, open_path, texts
from tests.data import ROOT
from tests.serving import start

HERE = ["localhost", "localhost:8501", "LOCALHOST.", "127.0.0.1:8501", "[::1]:8501"]
ADDRESSES = ["192.168.1.5:8501", "8.8.8.8", "[2001:db8::1]:80"]
NEVER = ["evil.example", "evil.example:8501", "localhost.evil.example", "127.0.0.1.evil.example"]
LENGTH = [(b"content-length", b"2")]
WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPGRADE = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
UPGRADE += b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
NEVER += ["", "a b", "[", "evil@localhost.example", "localhost,evil.example", "x" * 70_000]


@pytest.fixture
def at(monkeypatch):
    """Sets the address the server listens on, and the names it was given."""

    def listen(address, names="", allowed=()):
        options = {"server.address": address, "server.allowedHosts": list(allowed)}
        options["server.enableCORS"] = True
        monkeypatch.setattr(st, "get_option", options.__getitem__)
        monkeypatch.setenv(security.HOSTS, names)

    return listen


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1"])
def test_on_loopback_only_its_own_names_are_answered(at, address):
    at(address)
    assert not security.beyond_loopback()
    assert all(map(security.answers_to, HERE))
    assert not any(map(security.answers_to, [*ADDRESSES, *NEVER]))


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5", None])
def test_beyond_it_addresses_are_answered_and_names_of_other_sites_are_not(at, address):
    at(address)
    assert security.beyond_loopback()
    assert all(map(security.answers_to, [*HERE, *ADDRESSES]))
    assert not any(map(security.answers_to, NEVER))


def test_names_can_be_allowed_and_the_one_listened_on_is(at):
    at("box.lan", "a.example,*.b.example", ["c.example"])
    for host in ("box.lan:8501", "a.example", "x.b.example", "C.example:80"):
        assert security.answers_to(host)
    assert not any(map(security.answers_to, ["b.example", "xa.example", *NEVER]))


@pytest.fixture
def public(monkeypatch):
    """A server that is open to everybody, with room."""
    monkeypatch.setenv(security.PUBLIC, "1")
    monkeypatch.delenv(security.FOLDER, raising=False)
    monkeypatch.delenv(security.FILE, raising=False)


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_public_server_answers_under_any_name_and_opens_no_path(at, public, address):
    at(address)
    for host in (*HERE, *ADDRESSES, "demo.example", "a-b.hf.space:7860"):
        assert security.answers_to(host)
    assert not any(map(security.answers_to, ["", "a b", "["]))
    assert security.beyond_loopback()
    assert not security.names_paths()
    assert not security.may_open(str(ROOT / "README.md"))


@pytest.fixture
def client(at):
    """The server's rim around an app that answers everything."""
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route, WebSocketRoute

    async def page(request):
        return PlainTextResponse("the page")

    async def stream(socket):
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()

    at("127.0.0.1")
    routes = [
        Route("/{path:path}", page, methods=["GET", "PUT"]),
        WebSocketRoute("/stream", stream),
    ]
    return TestClient(Starlette(routes=routes, middleware=security.RIM["middleware"]))


def test_another_host_reaches_neither_pages_nor_sockets(client):
    for path in ("/", "/_stcore/health", "/media/x.png"):
        assert client.get(path, headers={"host": "localhost:8501"}).text == "the page"
        refused = client.get(path, headers={"host": "evil.example:8501"})
        assert refused.status_code == 403
        assert "evil" not in refused.text
    both = [("host", "localhost:8501"), ("host", "evil.example")]
    assert client.get("/", headers=both).status_code == 403
    headers = {"host": "localhost:8501"}
    with client.websocket_connect("/stream", headers=headers) as socket:
        assert socket.receive_text() == "hello"
    headers = {"host": "evil.example:8501", "origin": "http://evil.example:8501"}
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/stream", headers=headers) as socket,
    ):
        socket.receive_text()


def test_only_on_this_machine_may_any_model_server_be_named(at, monkeypatch):
    monkeypatch.delenv(security.MODELS, raising=False)
    at("127.0.0.1")
    assert security.model_servers() is None
    for address in ("0.0.0.0", "192.168.1.5", None):
        at(address)
        assert security.model_servers() == ()
    monkeypatch.setenv(security.MODELS, "http://a.example/v1, http://b.example/v1")
    assert security.model_servers() == ("http://a.example/v1", "http://b.example/v1")


def test_the_metrics_are_closed(client):
    for path in ("/_stcore/metrics", "/base/_stcore/metrics"):
        assert client.get(path, headers={"host": "localhost"}).status_code == 404


@pytest.mark.parametrize(
    ("origin", "opens"),
    [("http://localhost:9", True), ("http://here.example", True), ("http://there.example", False)],
)
def test_a_socket_of_the_page_of_another_site_is_refused(client, monkeypatch, origin, opens):
    monkeypatch.setenv(security.HOSTS, "here.example")
    headers = {"host": "here.example", "origin": origin}
    if opens:
        with client.websocket_connect("/stream", headers=headers) as socket:
            assert socket.receive_text() == "hello"
    else:
        with (
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect("/stream", headers=headers),
        ):
            pass


def test_a_public_server_opens_the_sockets_of_a_page_behind_any_proxy(at, public):
    """The proxy names its backend as host; Streamlit, behind the rim, sees no other site."""

    async def stream(scope, receive, send):
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": str([*map(str, scope["headers"])])})
        await send({"type": "websocket.close"})

    at("127.0.0.1")
    headers = {"host": "backend:8501", "origin": "https://demo.example"}
    client = TestClient(security.HostCheck(stream))
    with client.websocket_connect("/stream", headers=headers) as socket:
        seen = socket.receive_text()
    assert "backend:8501" in seen
    assert "demo.example" not in seen


def _sent(client, visit, count, host="8.8.8.8", path="/_stcore/upload_file/{}/file", **headers):
    """Sends bytes in parts, without their number if it is not given as a header."""
    parts = (b"x" * min(1_000, count - start) for start in range(0, count, 1_000))
    headers = {"content-length": "1", "x-forwarded-for": host, **headers}
    return client.put(path.format(visit), headers=headers, content=parts).status_code


@pytest.fixture
def reading(public, at, monkeypatch):
    """The rim of a public server around an app that reads bodies, of 20 kB in each 100 kB."""
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def read(request):
        known = "invented" not in request.url.path
        return PlainTextResponse(f"{len(await request.body()) if known else 0}")

    at("127.0.0.1")
    monkeypatch.setattr(security, "_BODY", 20_000)
    monkeypatch.setattr(security, "UPLOADS_MB", 0.1)
    monkeypatch.setattr(security, "ALL_MB", 0.3)
    routes = [Route("/{path:path}", read, methods=["GET", "PUT", "POST"])]
    app = Starlette(routes=routes, middleware=security.RIM["middleware"])
    return TestClient(app, client=("10.0.0.1", 1))


def test_the_bytes_of_uploads_are_counted_as_they_arrive(reading, monkeypatch):
    assert _sent(reading, "a", 20_001) == 413  # whatever its header says
    assert _sent(reading, "a", 1, **{"content-length": "many"}) == 411
    assert _sent(reading, "a", 1, **{"content-length": "20001"}) == 413
    # What was refused counts, and so do bodies sent anywhere else.
    assert [_sent(reading, "a", 20_000) for _ in range(4)] == [200] * 3 + [413]
    assert _sent(reading, "b", 1) == 413  # another visit of the client
    assert _sent(reading, "b", 1, path="/elsewhere") == 413
    assert reading.get("/", headers={"x-forwarded-for": "8.8.8.8"}).status_code == 200
    monkeypatch.setattr(security, "free_memory", lambda: security.RESERVE // 2)
    assert _sent(reading, "d", 1, host="9.9.9.9") == 503


def test_a_visit_and_all_visits_have_limits_too(reading, monkeypatch):
    hosts = [f"1.1.1.{row}" for row in range(1, 40)]
    assert [_sent(reading, "a", 20_000, host=host) for host in hosts[:6]] == [200] * 5 + [413]
    rest = [_sent(reading, f"v{host}", 20_000, host=host) for host in hosts[6:18]]
    assert rest == [200] * 9 + [413] * 3
    # An hour later everybody may send again.
    monkeypatch.setattr(security, "monotonic", lambda: 1e9)
    assert _sent(reading, "a", 20_000) == 200


def test_bodies_for_visits_that_are_invented_are_not_read_and_take_no_room(reading):
    assert {_sent(reading, f"invented-{row}", 20_000) for row in range(200)} == {200}
    assert _sent(reading, "a", 20_000) == 200


@pytest.mark.parametrize(
    ("near", "forwarded", "client"),
    [
        ("8.8.8.8", "1.1.1.1", "8.8.8.8"),  # without a proxy it cannot choose
        ("10.0.0.1", "9.9.9.9, 1.1.1.1", "1.1.1.1"),  # what a proxy adds is last
        ("10.0.0.1", "1.1.1.1, 10.0.0.7", "1.1.1.1"),
        ("10.0.0.1", "unknown", "10.0.0.1"),
        ("2600:1:2:3:4::1", "", "2600:1:2:3::/64"),
    ],
)
def test_the_client_is_the_nearest_address_that_is_global(near, forwarded, client):
    scope = {"client": (near, 1), "headers": [(b"x-forwarded-for", forwarded.encode())]}
    assert security.client_of(scope) == client


def test_one_client_cannot_take_all_connections_of_a_public_server(public, at, monkeypatch):
    from starlette.routing import WebSocketRoute

    async def stream(socket):
        await socket.accept()
        async for _ in socket.iter_text():
            pass

    at("127.0.0.1")
    monkeypatch.setattr(security, "SOCKETS", 3)
    monkeypatch.setattr(security, "LINGER", 0.2)
    routes, rim = [WebSocketRoute("/stream", stream)], security.RIM["middleware"]
    app = Starlette(routes=routes, middleware=rim)
    with TestClient(app, client=("10.0.0.1", 1)) as client, ExitStack() as open_ones:

        def connect(host):
            return client.websocket_connect("/stream", headers={"x-forwarded-for": host})

        taken = [open_ones.enter_context(connect("8.8.8.8")) for _ in range(3)]
        with pytest.raises(WebSocketDisconnect), connect("8.8.8.8"):
            pass
        with connect("9.9.9.9"):
            pass
        # A closed one counts for a while, as its session is kept.
        taken[0].close()
        with pytest.raises(WebSocketDisconnect), connect("8.8.8.8"):
            pass
        time.sleep(0.5)
        with connect("8.8.8.8"):
            pass


@pytest.fixture
def address(public, at, monkeypatch):
    """Where a public server with short patience runs; it reads what is PUT or comes by websocket,
    and answers the rest."""

    async def app(scope, receive, send):
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
        while scope.get("method") != "GET":
            await receive()
        await send({"type": "http.response.start", "status": 200, "headers": LENGTH})
        await send({"type": "http.response.body", "body": b"ok"})

    at("127.0.0.1")
    monkeypatch.setattr(connections, "HEADERS", 1.0)
    monkeypatch.setattr(connections, "WAITING", 3)
    for name, value in {"REQUESTS": 2, "PATIENCE": 2.0, "_prepare": lambda: None}.items():
        monkeypatch.setattr(security, name, value)
    rim = {name: security.RIM[name] for name in ("lifespan", "middleware")}
    host = Starlette(routes=[Mount("/", app)], **rim)
    server = uvicorn.Server(uvicorn.Config(host, log_level="critical"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        yield listening.getsockname()
        server.should_exit = server.force_exit = True
        thread.join()


@pytest.fixture
def sent(address):
    """Opens a connection and sends bytes; all are closed in the end."""
    with ExitStack() as stack:

        def send(words):
            connection = stack.enter_context(socket.create_connection(address, 5))
            connection.sendall(words)
            return connection

        yield send


def _until_the_end(connection, within):
    connection.settimeout(within)
    with suppress(ConnectionResetError):
        return b"".join(iter(lambda: connection.recv(1_000), b""))


def test_headers_that_drip_hold_no_connection_of_a_public_server(sent):
    dripped = [sent(b"GET / HTTP/1.1\r\nHost: local") for _ in range(6)]
    for oldest in dripped[:3]:
        _until_the_end(oldest, 0.7)  # at once
    page, upgraded = sent(WHOLE), sent(WHOLE[:-2] + UPGRADE)
    assert b" 200 " in page.recv(1_000)
    assert b" 101 " in upgraded.recv(1_000)
    page.sendall(b"G")  # of a second request, which does not arrive
    for late in (*dripped[3:], page):
        _until_the_end(late, 3)
    with pytest.raises(TimeoutError):  # the websocket stays
        _until_the_end(upgraded, 0.1)


def test_bodies_that_creep_hold_no_connection_and_are_counted(sent):
    creeping = b"PUT" + WHOLE[3:-2] + b"Content-Length: 9\r\n\r\na"
    bodies = [sent(creeping), sent(creeping)]
    time.sleep(0.3)
    assert b" 503 " in _until_the_end(sent(WHOLE), 1)  # two requests are being answered
    for body in bodies:
        _until_the_end(body, 4)
    assert b" 200 " in sent(WHOLE).recv(1_000)


def test_elsewhere_uploads_have_the_limit_of_streamlit_alone(client):
    assert _sent(client, "a", 1, **{"content-length": str(150_000_000)}) != 413


@pytest.mark.parametrize("script", ["app.py", "segviz/ui/run/app.py"])
def test_streamlit_finds_the_rim_in_what_it_runs(script):
    """It looks for the app in the script's text, without running it."""
    from streamlit.web.server.app_discovery import discover_asgi_app

    found = discover_asgi_app(ROOT / script)
    assert found.is_asgi_app
    assert found.app_name == "app"
    assert "**RIM" in (ROOT / script).read_text()
    assert security.RIM["on_script_error"] is security.show_failure
    assert [type(one) for one in security.RIM["middleware"]] == [Middleware]


# --- paths -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch, small_file):
    """A folder that may be opened, beside one that may not, and links between them."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for place in (inside, outside):
        place.mkdir()
        (place / "chat.json").write_bytes(small_file.read_bytes())
        (place / "secret.csv").write_text("password,hunter2\nroot,x\n")
    (inside / "link.json").symlink_to(outside / "chat.json")
    (inside / "linked").symlink_to(outside)
    (outside / "back.json").symlink_to(inside / "chat.json")
    monkeypatch.setenv(security.FOLDER, str(inside))
    monkeypatch.delenv(security.FILE, raising=False)
    return tmp_path


def test_paths_lead_below_the_folder_and_nowhere_else(folder, at, monkeypatch):
    at("0.0.0.0")
    opened = {"inside": True, "inside/chat.json": True, "inside/../inside/chat.json": True}
    opened |= {"inside/none.json": True, "outside/back.json": True}
    closed = {"outside/chat.json", "inside/../outside/chat.json", "inside/link.json", "nowhere"}
    closed |= {"inside/linked/chat.json", "insider", ".", "inside\0", "x" * 5_000}
    for path in [*opened, *closed]:
        assert security.may_open(f"{folder}/{path}") is opened.get(path, False), path
    assert not any(map(security.may_open, ["/etc/passwd", "~root/x", "~", "", "/dev/zero"]))
    monkeypatch.delenv(security.FOLDER)
    assert not security.may_open(f"{folder}/inside/chat.json")
    monkeypatch.setenv(security.FILE, f"{folder}/outside/chat.json")
    assert security.may_open(f"{folder}/outside/chat.json")
    assert not security.may_open(f"{folder}/outside/secret.csv")
    at("127.0.0.1")
    assert security.may_open("/etc/passwd")  # the visitor's own machine


def test_refusals_tell_neither_what_exists_nor_what_is_in_it(folder):
    app = grow().run()
    refusals = set()
    for path in ("inside/secret.csv", "inside/none", "outside/chat.json", "outside/none"):
        open_path(app, folder / path)
        assert not app.exception
        said = texts(app)
        assert "Not opened." in said
        assert "hunter2" not in said
        assert not [box.label for box in app.selectbox if "column" in str(box.key)]
        refusals.add(tuple(text.value for text in app.text if "this path" in text.value))
    assert len(refusals) == 1
    assert next(iter(refusals))
    assert "Not opened." not in texts(clean(open_path(app, folder / "inside/chat.json")))


# --- faults ------------------------------------------------------------------------------------


def _failing() -> None:
    import streamlit as st

    from segviz.ui import security

    st.session_state["something"] = "kept"
    for fault in (RuntimeError("the [file](http://x) says `so`"), KeyError("again")):
        security.show_failure(fault)


def test_a_fault_is_told_literally_with_ways_to_go_on(at):
    at("127.0.0.1")
    app = AppTest.from_function(_failing, default_timeout=60).run()
    assert not app.exception
    said = [text.value for text in app.text]
    assert "RuntimeError: the [file](http://x) says `so`" in said
    assert any("Nothing was sent anywhere" in text for text in said)
    labels = [button.label for button in app.button]
    assert labels == ["Try again", "Start over with the sample"] * 2
    app.session_state["open"] = "what failed"
    app.button[1].click().run()
    assert "open" not in app.session_state
    at("0.0.0.0")  # beyond loopback its kind alone
    assert app.run().text[0].value == "RuntimeError"


def test_a_fault_in_a_running_server_shows_our_page_and_not_streamlits(chromium, tmp_path):
    """In the page itself and in a fragment."""
    (tmp_path / "app.py").write_text(
        "from streamlit import App\nfrom segviz.ui.security import RIM\n"
        "if __name__ == '__main__':\n"
        "    import streamlit as st\n"
        "    @st.fragment\n"
        "    def part():\n"
        "        raise ValueError('in a fragment')\n"
        "    part() if 'part' in st.query_params else None\n"
        "    raise ValueError('in the page')\n"
        "else:\n    app = App(__file__, **RIM)\n"
    )
    server, address = start(script=str(tmp_path / "app.py"))
    page = chromium.new_page()
    try:
        for query, what in (("", "in the page"), ("?part=1", "in a fragment")):
            page.goto(f"{address}/{query}")
            page.get_by_text(f"ValueError: {what}").wait_for(timeout=60_000)
            assert page.get_by_text("This did not work").count()
            assert not page.get_by_test_id("stException").count()
    finally:
        page.close()
        server.terminate()
        server.wait(20)
