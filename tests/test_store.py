import gzip
import json
import os
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

import segviz
from segviz import store
from segviz.embed import HashingEmbedder
from segviz.samples import TITLES, sample_path
from segviz.store import StoreError
from tests.trees import small_chat


def same(a, b):
    """Equal in every field, arrays compared byte for byte."""
    if isinstance(a, np.ndarray):
        return a.tobytes() == b.tobytes()
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and all(
            same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.name != "seconds"
        )
    return a == b


class TestRoundTrip:
    @pytest.mark.parametrize("name", ["memory.json", "memory.json.gz"])
    def test_everything_comes_back(self, memory, tmp_path, name):
        memory.save(tmp_path / name)
        again = segviz.open(tmp_path / name)
        assert again.conversation == memory.conversation
        assert (again.unit, again.system, again.laws) == ("turn", "segment-tree", "segment-tree")
        assert again.settings == memory.settings
        assert again.embedder.name == memory.embedder.name
        assert same(again.steps, memory.steps)
        question = "What colour is the bicycle?"
        assert again.ask(question).after == memory.ask(question).after

    def test_settings_name_the_components(self, memory):
        assert memory.settings == {
            "compatibility": {"name": "cosine", "threshold": 0.3},
            "annotate": {
                "name": "extractive",
                "max_words": 60,
                "diversity": 0.3,
                "fact_bonus": 0.15,
            },
            "refresh": "eager",
        }

    def test_saving_again_gives_the_same_bytes(self, memory, tmp_path):
        memory.save(tmp_path / "a.json.gz")
        segviz.open(tmp_path / "a.json.gz").save(tmp_path / "b.json.gz")
        assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()

    def test_two_processes_give_the_same_bytes(self, tmp_path):
        script = (
            "import sys, segviz\n"
            f"c = segviz.load({str(sample_path(next(iter(TITLES))))!r})[0]\n"
            "segviz.build(c).save(sys.argv[1])\n"
        )
        for seed, name in (("1", "a"), ("2", "b")):
            environment = {**os.environ, "PYTHONHASHSEED": seed}
            command = [sys.executable, "-c", script, str(tmp_path / name)]
            subprocess.run(command, check=True, env=environment, timeout=120)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


class TestAtomic:
    def test_a_failed_write_leaves_the_old_file(self, memory, tmp_path, monkeypatch):
        target = tmp_path / "memory.json"
        target.write_text("old")

        def broken(*args):
            raise OSError("disk full")

        monkeypatch.setattr(store.os, "replace", broken)
        with pytest.raises(OSError, match="disk full"):
            memory.save(target)
        assert target.read_text() == "old"
        assert [p.name for p in tmp_path.iterdir()] == ["memory.json"]


class TestDamaged:
    @pytest.fixture
    def document(self, tmp_path):
        memory = segviz.build(small_chat(), embedder=HashingEmbedder())
        memory.save(tmp_path / "m.json")
        return json.loads((tmp_path / "m.json").read_text())

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "not readable JSON"),
            (b"\x1f\x8bnonsense", "not readable JSON"),
            (b"[1, 2]", 'no "format"'),
            (b'{"format": "segviz-memory", "version": 99}', "version 99; this segviz reads"),
        ],
    )
    def test_other_files(self, data, message):
        with pytest.raises(StoreError, match=message):
            store.parse(data)

    @pytest.mark.parametrize("key", ["conversation", "unit", "system", "steps", "vectors"])
    def test_a_missing_part_is_named(self, document, key):
        del document[key]
        with pytest.raises(StoreError, match=f"damaged: KeyError: '{key}'"):
            store.parse(json.dumps(document).encode())

    def test_vectors_cut_short(self, document):
        document["vectors"]["data"] = document["vectors"]["data"][:400]
        with pytest.raises(StoreError, match="damaged"):
            store.parse(json.dumps(document).encode())

    def test_events_that_do_not_make_a_structure(self, document):
        document["steps"][1]["events"] = [["link", 55, 66]]
        with pytest.raises(StoreError, match="step 1: node 55 is not in the structure"):
            store.parse(json.dumps(document).encode())

    def test_a_structure_that_breaks_the_laws(self, document):
        for event in document["steps"][-1]["events"]:
            if event[0] == "revise":
                event[2:4] = [0, 1]
        with pytest.raises(StoreError, match="spans: node"):
            store.parse(json.dumps(document).encode())

    def test_an_embedder_that_is_not_here(self, document):
        document["embedder"] = "text-embedding-3-small"
        with pytest.raises(StoreError, match=r"embedded with 'text-embedding-3-small'; available"):
            segviz.pipeline.from_saved(store.parse(json.dumps(document).encode()))

    def test_gzip_cut_short(self, document):
        data = gzip.compress(json.dumps(document).encode())
        with pytest.raises(StoreError, match="not readable"):
            store.parse(data[: len(data) // 2])
