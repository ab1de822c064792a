import logging
from dataclasses import replace
from pathlib import Path

import pytest

from segviz.llm import PRESETS, PRICES, Endpoint, ModelError, Price, Prompt, Usage, cost, price
from segviz.llm.endpoint import cache_path, key_for
from tests.llm import server as wire
from tests.llm.conftest import KEY, Bench

URL = "https://host.example/v1"


def test_the_key_is_in_no_text_and_no_comparison():
    one, two = Endpoint(URL, "m", key=KEY), Endpoint(URL, "m", key="other-key")
    assert KEY not in f"{one!r}{one}{one.identity}{one.address}"
    assert one == two
    assert hash(one) == hash(two)


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:1234", "ftp://host/v1", "file:///etc/passwd", "javascript:alert(1)"),
        *("http://", "http:///v1", "http://host:0/v1", "http://host:99999/v1", "http://a..b/v1"),
        *("http://ho st/v1", "http://host/v1\nX: y", "http://[::1/v1", "http://höst/v1"),
    ],
)
def test_an_address_must_be_http(url: str):
    with pytest.raises(ValueError, match="must be an http:// or https:// address"):
        Endpoint(url)
    for good in ("http://127.0.0.1:8000/v1", "http://[::1]:8000/v1", "http://my_box.local", URL):
        assert Endpoint(good).address == good


def test_secrets_are_not_repeated_by_validation():
    with pytest.raises(ValueError, match="base_url") as caught:
        Endpoint("ftp://me:password@host")
    assert "password" not in str(caught.value)
    for address in ("https://host/v1?key=password", "https://me:password@host/v1"):
        with pytest.raises(ValueError, match="would reach log files") as caught:
            Endpoint(address)
        assert "password" not in str(caught.value)
    with pytest.raises(ValueError, match="the key has characters") as caught:
        Endpoint(URL, key="pass word")
    assert "pass" not in str(caught.value)
    assert Endpoint(URL, key=f" {KEY}\n").key == KEY


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("timeout", 0),
        ("timeout", float("nan")),
        ("retries", -1),
        ("retries", 11),
        ("concurrency", 0),
        ("max_tokens", 0),
        ("temperature", 2.5),
    ],
)
def test_numbers_out_of_range_are_named_with_the_range(name: str, value: float):
    with pytest.raises(ValueError, match=rf"{name} is {value}; legal range: .* to "):
        Endpoint(URL, **{name: value})  # type: ignore[arg-type]


def test_prices_are_known_or_unknown_never_nothing():
    openai = PRESETS["gpt-4o-mini (judge)"]
    assert price(openai, "gpt-4o-mini") == Price(0.15, 0.60)
    assert price(openai, "gpt-99") is None
    assert price(PRESETS["Ollama"], "gpt-4o-mini") is None
    assert price(PRESETS["qwen3.5-flash"], "qwen3.5-flash") is None
    usage = Usage(calls=3, tokens_in=2_000_000, tokens_out=500_000)
    assert cost(usage, Price(0.15, 0.60)) == pytest.approx(0.60)
    assert cost(usage, None) is None
    assert cost(replace(usage, unknown_usage=1), Price(0.15, 0.60)) is None
    assert all(row.input > 0 for table in PRICES.values() for row in table.values())


@pytest.mark.parametrize("code", [400, 401, 429, 500])
def test_the_key_is_in_no_error_and_no_log(
    bench: Bench, code: int, caplog: pytest.LogCaptureFixture
):
    names = ("", "openai", "httpx", "httpx2", "httpcore", "httpcore2")
    for name in names:
        caplog.set_level(logging.DEBUG, logger=name)
    bench.server.script(*[wire.echo_key(code)] * 10)
    for client in (bench.chat(retries=1), bench.embedder(retries=1)):
        with pytest.raises(ModelError) as caught:
            client.reply(Prompt("s", "u")) if hasattr(client, "reply") else client.embed(["u"])
        error: BaseException | None = caught.value
        while error is not None:
            for text in (str(error), repr(error), str(vars(error))):
                assert KEY not in text
            error = error.__cause__ or error.__context__
    assert any(record.name.startswith("httpx") for record in caplog.records)
    logged = caplog.text + str([record.args for record in caplog.records])
    assert KEY not in logged
    assert bench.server.authorizations[0] == f"Bearer {KEY}"


def test_a_server_that_answers_with_the_key_does_not_get_it_kept(bench: Bench):
    bench.server.answer = lambda request: f"your key is {KEY}"
    assert bench.chat().reply(Prompt("s", "u")).text == "your key is [secret]"
    contents = b"".join(file.read_bytes() for file in bench.path.parent.iterdir())
    assert b"your key is" in contents
    assert KEY.encode() not in contents


OPENAI = "https://api.openai.com/v1"
OWN = "http://models.example:8000/v1"
BOTH = {"OPENAI_API_KEY": " sk-openai\n", "SEGVIZ_API_KEY": "sk-own", "SEGVIZ_BASE_URL": OWN}


@pytest.mark.parametrize(
    ("address", "known", "key"),
    [
        (OPENAI, BOTH, "sk-openai"),
        (OWN, BOTH, "sk-own"),
        (f"{OWN}/", BOTH, "sk-own"),
        ("http://models.example:9000/v1", BOTH, ""),
        ("https://api.openai.com.evil.example/v1", BOTH, ""),
        (OWN, {"SEGVIZ_API_KEY": "sk-own"}, ""),
        (OWN, {"SEGVIZ_API_KEY": "sk-own", "SEGVIZ_BASE_URL": "nonsense"}, ""),
        (OPENAI, {"SEGVIZ_API_KEY": "sk-own"}, ""),
        (OPENAI, {}, ""),
    ],
)
def test_a_key_is_for_one_server(address, known, key):
    assert key_for(Endpoint(address), known) == key


def test_where_replies_are_kept():
    home = Path("~/.cache").expanduser()
    assert cache_path({}) == home / "segviz" / "models.sqlite"
    assert cache_path({"XDG_CACHE_HOME": "/x"}) == Path("/x/segviz/models.sqlite")
    assert cache_path({"XDG_CACHE_HOME": "/x", "SEGVIZ_CACHE": "/y"}) == Path("/y/models.sqlite")
