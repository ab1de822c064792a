from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from segviz.cli import main
from tests.memories import built


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Standard output as strict JSON: no NaN, no Infinity."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is no JSON")

        assert self.out.isascii()
        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run ``segviz`` in an empty folder, with a cache of its own and no keys."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEGVIZ_CACHE", str(tmp_path / "cache"))
    for name in ("OPENAI_API_KEY", "SEGVIZ_API_KEY", "SEGVIZ_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object) -> Ran:
        code = main([str(each) for each in arguments])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def boat(tmp_path_factory):
    """A saved memory of the beginning of a bundled sample, embedded without a model."""
    path = tmp_path_factory.mktemp("boat") / "boat.json.gz"
    built(sessions=6, embedder="hashing").save(path)
    return path


@pytest.fixture
def talk(tmp_path):
    """A short LoCoMo file."""
    turns = [
        {"speaker": "AB"[i % 2], "dia_id": f"D1:{i + 1}", "text": f"line {i} about boats"}
        for i in range(8)
    ]
    path = tmp_path / "talk.json"
    talk = {"speaker_a": "A", "speaker_b": "B", "session_1": turns}
    path.write_text(json.dumps(talk | {"session_1_date_time": "9:05 am on 1 May, 2024"}))
    return path
