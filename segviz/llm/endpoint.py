"""Defines an endpoint: a server with its model, parameters and key. The key is never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

# Names whose labels DNS allows, or an address of version 6.
_HOST = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*\.?|[0-9a-f]*:[0-9a-f:.]*", re.ASCII)
_GAP = re.compile(r"[\s\x00-\x1f\x7f\\]")

RANGES: dict[str, tuple[float, float]] = {
    "timeout": (0.05, 3600),
    "retries": (0, 10),
    "concurrency": (1, 64),
    "max_tokens": (1, 1_000_000),
    "temperature": (0, 2),
    "prompt_tokens": (1_000, 1_000_000),
    "seed": (0, 2**31 - 1),
}
"""Smallest and largest legal value of each limit of an endpoint."""


@dataclass(frozen=True)
class Endpoint:
    """Server with the OpenAI API, its models and limits.

    ``model`` answers prompts and ``embedding_model`` embeds; an unused one may be empty.
    ``timeout`` is the longest silence of the server in seconds. ``retries`` is the number of tries
    after the first, ``concurrency`` that of requests at the same time. ``max_tokens`` limits an
    answer. A prompt with more than ``prompt_tokens``, as estimated, has its quoted texts shortened.

    ``repr``, comparison and hashing leave the key out. Two endpoints that differ only in the key
    are equal, so make a new client when the key changes.
    """

    base_url: str
    model: str = ""
    embedding_model: str = ""
    key: str = field(default="", repr=False, compare=False)
    timeout: float = 30
    retries: int = 4
    concurrency: int = 4
    max_tokens: int = 1024
    temperature: float = 0
    seed: int | None = 0
    prompt_tokens: int = 3_000

    def __post_init__(self) -> None:
        """Checks address, key and limits; raises ValueError, whose message repeats no secret."""
        object.__setattr__(self, "base_url", self.base_url.strip())
        object.__setattr__(self, "key", self.key.strip())
        # The address: a scheme of the web, a host, a legal port, no blanks.
        try:
            parts = self._parts
            named = _HOST.fullmatch(parts.hostname or "") is not None
            # Reading a port out of range raises ValueError.
            usable = parts.scheme in ("http", "https") and named and parts.port != 0
            usable = usable and self.base_url.isascii() and not _GAP.search(self.base_url)
        except ValueError:
            usable = False
        if not usable:
            raise ValueError(
                f"base_url is {_shown(self.base_url)!r}; it must be an http:// or https:// "
                "address such as http://localhost:11434/v1"
            )
        if parts.query or parts.fragment or parts.username is not None:
            raise ValueError(
                f"base_url {_shown(self.base_url)!r} carries a user name, '?' or '#' part, which "
                "would reach log files; leave it out, a key belongs in the key field"
            )
        # The key goes into a header, and no message repeats it.
        if not self.key.isascii() or any(c.isspace() or not c.isprintable() for c in self.key):
            raise ValueError(
                "the key has characters no key has; legal: visible ASCII without spaces"
            )
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name} is {value}; legal range: {low} to {high}")

    def __repr__(self) -> str:
        embeds = f"embedding_model={self.embedding_model!r}"
        return f"Endpoint({self.address!r}, {self.identity!r}, {embeds})"

    @property
    def _parts(self) -> SplitResult:
        return urlsplit(self.base_url)

    @property
    def host(self) -> str:
        """Host of the server, with its port if ``base_url`` has one."""
        return self._parts.netloc.lower()

    @property
    def address(self) -> str:
        """``base_url`` in its usual form, which is safe to show and to store."""
        return f"{self._parts.scheme}://{self.host}{self._parts.path.rstrip('/')}"

    @property
    def identity(self) -> str:
        """The model and those parameters that change its answers, without the server."""
        return (
            f"{self.model} temperature={self.temperature:g} "
            f"seed={self.seed} max_tokens={self.max_tokens}"
        )

    @property
    def local(self) -> bool:
        """True if the address of the server is one of this machine."""
        name = self._parts.hostname or ""
        return name in ("localhost", "::1") or re.fullmatch(r"127(\.\d+){3}", name) is not None

    def scrub(self, text: str, shortest: int = 1) -> str:
        """Returns ``text`` with "[secret]" for the key, if that is not under ``shortest`` long."""
        return text.replace(self.key, "[secret]") if len(self.key) >= shortest else text


def _shown(url: str) -> str:
    """Returns an unusable address for an error message, without parts that may be a password."""
    head, mark, tail = url.rpartition("@")
    return f"…@{tail}" if mark and head else url.partition("?")[0]


_OPENAI = "https://api.openai.com/v1"
_SMALL = "text-embedding-3-small"

LOCAL: Mapping[str, Any] = {"timeout": 240, "concurrency": 1}
"""Limits for a server on this machine, which reads slowly and writes one answer at a time."""


def at(address: str) -> Endpoint:
    """Returns the endpoint at an address, with the limits of a local server if it is one."""
    endpoint = Endpoint(address)
    return replace(endpoint, **LOCAL) if endpoint.local else endpoint


PRESETS: dict[str, Endpoint] = {
    "gpt-5.4-mini": Endpoint(_OPENAI, "gpt-5.4-mini", _SMALL),
    "qwen3.5-flash": Endpoint(
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen3.5-flash"
    ),
    "gpt-4o-mini (judge)": Endpoint(_OPENAI, "gpt-4o-mini", _SMALL),
    "text-embedding-3-small": Endpoint(_OPENAI, "", _SMALL),
    "Ollama": Endpoint("http://localhost:11434/v1", **LOCAL),
    "LM Studio": Endpoint("http://localhost:1234/v1", **LOCAL),
    "vLLM": Endpoint("http://localhost:8000/v1", timeout=LOCAL["timeout"]),
}
"""The paper's models, and servers on this computer whose model the user names.
``dataclasses.replace(PRESETS[name], key=...)`` makes one ready to use."""

CACHE_BYTES = 1_000_000_000
"""Size limit of the cache file. A larger one loses its older half when the app starts."""

NAMES = ("SEGVIZ_BASE_URL", "SEGVIZ_API_KEY", "OPENAI_API_KEY")
"""Environment variables, and Streamlit secrets, that hold a key or the server of a key."""


def key_for(endpoint: Endpoint, known: Mapping[str, str]) -> str:
    """Returns the key for the server of an endpoint in ``known`` (``os.environ``); "" without one.

    OPENAI_API_KEY goes to api.openai.com alone and SEGVIZ_API_KEY to the server of SEGVIZ_BASE_URL
    alone: an address somebody types must never receive another's key.
    """
    if endpoint.address == PRESETS["gpt-5.4-mini"].address:
        return known.get("OPENAI_API_KEY", "").strip()
    try:
        meant = Endpoint(known.get("SEGVIZ_BASE_URL", "")).address
    except ValueError:
        return ""
    return known.get("SEGVIZ_API_KEY", "").strip() if meant == endpoint.address else ""


def cache_path(known: Mapping[str, str]) -> Path:
    """Returns the path of the cache file: below SEGVIZ_CACHE, else in the user's cache folder."""
    folder = known.get("SEGVIZ_CACHE")
    if folder is None:
        base = known.get("XDG_CACHE_HOME") or "~/.cache"
        folder = str(Path(base).expanduser() / "segviz")
    return Path(folder) / "models.sqlite"
