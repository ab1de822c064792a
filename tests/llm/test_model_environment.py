"""Keys go to their own server; replies are kept where the environment says."""

from __future__ import annotations

from pathlib import Path

import pytest

from segviz.llm import Endpoint
from segviz.llm.endpoint import cache_path, key_for

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
