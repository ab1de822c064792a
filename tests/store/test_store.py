import base64
import copy
import gzip
import json
import math
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import fields, replace

import numpy as np
import pytest

import segviz
from segviz import files, store
from segviz.construct import Verdict
from segviz.conversation import TITLES, Question, sample_path
from segviz.embedding import HashingEmbedder
from segviz.memory import Absent
from segviz.store import StoreError
from segviz.tree import Add, History, Judgement, Link, Relate, Revise, Step
from tests.trees import chat, small_chat

AT = [None, "D1:3", "D9:9"]


def same(a, b):
    """Equal in every field, arrays compared byte for byte."""
    if isinstance(a, np.ndarray):
        return a.tobytes() == b.tobytes()
    if isinstance(a, tuple | History) and isinstance(b, tuple | History):
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
        assert (again.unit, again.system, again.invariants) == (
            "turn",
            "segment-tree",
            memory.invariants,
        )
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
                "max_words": 90,
                "floor": 2.0,
                "repeat": 0.4,
                "fact_bonus": 0.25,
            },
            "refresh": "eager",
        }

    def test_kinds_facts_relations_and_operations(self, memory, tmp_path):
        """What richer systems keep comes back, and a file without any of it has none."""
        n = len(memory.structure)
        root = memory.structure.roots[0]
        vector = memory.structure.vector[0]
        span = (0, len(memory.units))
        facts = {"mentions": 2, "share": 0.5, "type": "person", "seen": None, "known": True}
        late = Step(
            memory.units[-1],
            "An entity.",
            None,
            (
                Add(n, 9, span, "Ines", vector, "entity", facts),
                Link(n, root),
                Relate(n, root, "about", 0.5),
                Revise(n, span, "Ines", vector, 10, {}),
                Revise(n, span, "Ines", vector, None, {"mentions": 3}),
            ),
            operation="name",
        )
        memory = replace(memory, steps=(*memory.steps, late))
        memory.save(tmp_path / "m.json")
        again = segviz.open(tmp_path / "m.json")
        assert again.steps[-1].operation == "name"
        assert same(again.steps[-1].events, late.events)
        assert again.structure.kind[n] == "entity"
        assert dict(again.structure.facts[n]) == {"mentions": 3}
        assert again.structure.relations == (Relate(n, root, "about", 0.5),)

    def test_the_moment_of_a_question(self, memory, tmp_path):
        """Written where there is one, so that files of other questions stay as they were."""
        questions = [Question(n, "why?", None, None, (), asked_at=at) for n, at in enumerate(AT)]
        talked = replace(memory.conversation, questions=tuple(questions))
        replace(memory, conversation=talked).save(tmp_path / "m.json")
        again = segviz.open(tmp_path / "m.json")
        assert [q.asked_at for q in again.conversation.questions] == AT
        written = json.loads((tmp_path / "m.json").read_text())["conversation"]["questions"]
        assert ["asked_at" in question for question in written] == [False, True, True]
        assert again.moment(again.conversation.questions[1]) == 2
        assert again.moment(again.conversation.questions[2]) is None

    @pytest.mark.parametrize("version", [1, 2])
    def test_older_versions_which_named_laws_are_still_read(self, memory, tmp_path, version):
        memory.save(tmp_path / "m.json")
        document = json.loads((tmp_path / "m.json").read_text()) | {"version": version}
        document["system"]["laws"] = "segment-tree"
        (tmp_path / "m.json").write_text(json.dumps(document))
        again = segviz.open(tmp_path / "m.json")
        assert same(again.steps, memory.steps)
        assert again.invariants == memory.invariants

    def test_saving_again_gives_the_same_bytes(self, memory, tmp_path):
        memory.save(tmp_path / "a.json.gz")
        segviz.open(tmp_path / "a.json.gz").save(tmp_path / "b.json.gz")
        packed = (tmp_path / "a.json.gz").read_bytes()
        assert packed == (tmp_path / "b.json.gz").read_bytes()
        # No time in it, and no operating system: Python names one before 3.13, none since.
        assert packed[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"

    def test_a_memory_without_steps(self, tmp_path):
        segviz.build(chat([[]]), embedder=HashingEmbedder()).save(tmp_path / "m.json")
        again = segviz.open(tmp_path / "m.json")
        assert (again.steps, again.check()) == ((), [])

    def test_scores_beyond_all_numbers(self, tmp_path):
        """What is written opens again, also under a threshold nothing can reach."""

        class Never:
            def judge(self, unit, candidates):
                judged = tuple(Judgement(c.node, 0.5, math.inf) for c in candidates)
                return Verdict(None, judged, "Never.")

        built = segviz.build(small_chat(), embedder=HashingEmbedder(), compatibility=Never())
        segviz.build(small_chat(), embedder=HashingEmbedder()).save(tmp_path / "m.json")
        store.write(
            replace(store.read(tmp_path / "m.json"), steps=built.steps),
            tmp_path / "m.json",
        )
        assert same(segviz.open(tmp_path / "m.json").steps, built.steps)

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

        monkeypatch.setattr(files.os, "replace", broken)
        with pytest.raises(OSError, match="disk full"):
            memory.save(target)
        assert target.read_text() == "old"
        assert [p.name for p in tmp_path.iterdir()] == ["memory.json"]

    @pytest.mark.parametrize("after", [0.0, 0.02, 0.05])
    @pytest.mark.slow
    def test_a_killed_process_leaves_a_whole_file(self, tmp_path, after):
        """SIGKILL in the middle of saving: readers find the file before or the one after."""
        target = tmp_path / "memory.json.gz"
        script = (
            "import sys, segviz\n"
            f"c = segviz.load({str(sample_path('recurrence'))!r})[0]\n"
            "memory = segviz.build(c)\n"
            "memory.save(sys.argv[1])\n"
            "print('saved', flush=True)\n"
            "while True:\n"
            "    memory.save(sys.argv[1])\n"
        )
        command = [sys.executable, "-c", script, str(target)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "saved\n"
        time.sleep(after)
        process.kill()
        process.wait()
        process.stdout.close()
        assert segviz.open(target).check() == []


@pytest.fixture(scope="module")
def text():
    return store.dump(segviz.build(small_chat(), embedder=HashingEmbedder()).saved)


class TestDamaged:
    @pytest.fixture
    def document(self, text):
        return json.loads(text)

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "not readable JSON"),
            (b"\x1f\x8bnonsense", "the archive is damaged"),
            (b"[1, 2]", 'no "format"'),
            (b'{"format": "segviz-memory", "version": 99}', "version 99; this segviz reads"),
        ],
    )
    def test_other_files(self, data, message):
        with pytest.raises(StoreError, match=message):
            store.parse(data)

    @pytest.mark.parametrize(
        "key", ["conversation", "unit", "system", "steps", "vectors", "embedder", "chat"]
    )
    def test_a_missing_part_is_named(self, document, key):
        del document[key]
        with pytest.raises(StoreError, match=f"damaged: the file: '{key}' is missing"):
            store.parse(json.dumps(document).encode())

    def test_vectors_cut_short(self, document):
        document["vectors"]["data"] = document["vectors"]["data"][:400]
        with pytest.raises(StoreError, match=r"vectors\.data: expected \d+ vectors of 256 numbers"):
            store.parse(json.dumps(document).encode())

    def test_events_that_do_not_make_a_structure(self, document):
        last = len(document["steps"]) - 1
        document["steps"][last]["events"] = [["link", 55, 66]]
        with pytest.raises(StoreError, match=f"step {last}: node 55 is not in the structure"):
            store.parse(json.dumps(document).encode())

    def test_a_structure_that_violates_an_invariant(self, document):
        for event in document["steps"][-1]["events"]:
            if event[0] == "revise":
                event[2:4] = [0, 1]
        with pytest.raises(StoreError, match="spans: node"):
            store.parse(json.dumps(document).encode())

    def test_vectors_of_another_dimension(self, document):
        import base64

        table = document["vectors"]
        rows = np.frombuffer(base64.b64decode(table["data"]), dtype="<f4")
        rows = rows.reshape(table["count"], table["dimension"])[:, :2]
        table["dimension"] = 2
        table["data"] = base64.b64encode(np.ascontiguousarray(rows).tobytes()).decode()
        with pytest.raises(StoreError, match="have 2 dimensions, those of hashing-256@1 have 256"):
            segviz.memory.from_saved(store.parse(json.dumps(document).encode()))

    def test_a_cost_has_five_numbers_or_eight(self, document):
        for numbers in ([0] * 6, [0] * 9):
            document["steps"][0]["cost"] = numbers
            with pytest.raises(StoreError, match=r"steps\[0\].cost: expected a list of 5 or 8"):
                store.parse(json.dumps(document).encode())
        document["steps"][0]["cost"] = [1, 9, 0, 0, 1, 4, 2, 30]
        cost = store.parse(json.dumps(document).encode()).steps[0].cost
        assert (cost.calls, cost.tokens, cost.output) == (1, 9, 4)
        assert (cost.embedded, cost.embedding_tokens) == (2, 30)

    def test_gzip_cut_short(self, document):
        data = gzip.compress(json.dumps(document).encode())
        with pytest.raises(StoreError, match="it ends too early"):
            store.parse(data[: len(data) // 2])

    def test_gzip_with_broken_contents(self, document):
        data = bytearray(gzip.compress(json.dumps(document).encode()))
        data[10:40] = b"\xff" * 30  # the deflate stream, which raises zlib.error
        with pytest.raises(StoreError, match="the archive is damaged"):
            store.parse(bytes(data))

    @pytest.mark.parametrize(
        ("place", "value", "message"),
        [
            (
                ("conversation", "sessions", 0, "turns", 1, 2),
                ["x"],
                "conversation.sessions[0].turns[1].text: expected text, found a list of 1",
            ),
            (
                ("conversation", "sessions", 0, "start"),
                "May",
                "conversation.sessions[0].start: expected an ISO date and time, found 'May'",
            ),
            (("conversation", "speakers"), "Ada", "speakers: expected a list, found 'Ada'"),
            (("conversation", "id"), "\ud800", "conversation.id: expected text without lone"),
            (
                ("conversation", "questions", 0, "category"),
                True,
                "questions[0].category: expected text, found True",
            ),
            (("unit",), [], "unit: expected text, found a list of 0"),
            (("unit",), "word", "unknown unit rule 'word'; choose one of"),
            (("system", "laws"), [], "system.laws: expected text, found a list of 0"),
            (("system", "settings"), [], "system.settings: expected an object, found a list"),
            (("steps", 0, "events", 0, 3), math.inf, "events[0].start: expected a whole number"),
            (("steps", 0, "events", 0, 4), 7, "stop: expected a whole number from 0 to 5, found 7"),
            (
                ("steps", 0, "events", 0, 6),
                -1,
                "events[0].row: expected a whole number of at least 0",
            ),
            (("steps", 0, "events", 0, 2), 10**30, "events[0].level: expected a whole number"),
            (("steps", 0, "unit"), True, "steps[0].unit: expected a whole number, found True"),
            (
                ("steps", 0, "unit"),
                5,
                "steps[0].unit: expected a whole number from 0 to 4, found 5",
            ),
            (("steps", 0, "cost"), [0], "steps[0].cost: expected a list of 5 or 8, found"),
            (("steps", 1, "decision"), 0, "steps[1].decision: expected an object, found 0"),
            (("steps", 2, "decision", "chosen"), 99, "decision.chosen: expected a whole number"),
            (("vectors", "count"), 1e999, "vectors.count: expected a whole number"),
            (("vectors", "data"), "€", "vectors.data: not base64"),
            (("vectors", "dtype"), {}, "vectors.dtype: expected 'float32', found an object with 0"),
        ],
    )
    def test_a_value_of_the_wrong_kind_is_named_with_its_place(
        self, document, place, value, message
    ):
        put(document, place, value)
        with pytest.raises(StoreError, match=re.escape(message)):
            store.parse(json.dumps(document).encode())

    def test_a_level_without_end(self, document):
        added = [e for s in document["steps"] for e in s["events"] if e[0] == "add"]
        max(added, key=lambda event: event[2])[2] = 2**31 - 1  # the root
        with pytest.raises(StoreError, match="level 2147483647 in a structure of"):
            store.parse(json.dumps(document).encode())

    def test_settings_nested_without_end(self, document):
        document["system"]["settings"] = nested = {}
        for _ in range(100):
            nested["deeper"] = nested = {}
        with pytest.raises(StoreError, match="expected a value, not a further level of nesting"):
            store.parse(json.dumps(document).encode())

    def test_vectors_that_are_not_numbers(self, document):
        table = document["vectors"]
        blob = np.full(table["count"] * table["dimension"], np.nan, dtype="<f4").tobytes()
        table["data"] = base64.b64encode(blob).decode()
        with pytest.raises(StoreError, match="found NaN or infinity"):
            store.parse(json.dumps(document).encode())


class TestPaths:
    """A path that cannot be read is a StoreError that says what to do."""

    def test_no_file(self, tmp_path):
        with pytest.raises(StoreError, match=r"there is no file .*give the path of a memory"):
            segviz.open(tmp_path / "nothing.json")

    def test_a_folder(self, tmp_path):
        with pytest.raises(StoreError, match="is a folder; name the memory file itself"):
            segviz.open(tmp_path)

    def test_a_file_in_a_file(self, tmp_path):
        (tmp_path / "a").write_text("")
        with pytest.raises(StoreError, match="check the path and its permissions"):
            segviz.open(tmp_path / "a" / "b.json")

    def test_a_name_too_long(self, tmp_path):
        with pytest.raises(StoreError, match="cannot be read"):
            segviz.open(tmp_path / ("x" * 5000))

    def test_one_without_permission(self, tmp_path, monkeypatch):
        def refused(path):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(store.files, "opened", refused)
        with pytest.raises(StoreError, match=r"\(Permission denied\); check the path and its perm"):
            segviz.open(tmp_path / "secret.json")

    @pytest.mark.parametrize("path", ["a\0b", "~nobody-of-this-name/m.json"])
    def test_a_path_that_is_none(self, path):
        with pytest.raises(StoreError, match="cannot be read"):
            segviz.open(path)


class TestMutations:
    """Whatever is changed in a saved file: it opens and works, or a StoreError says why."""

    @pytest.fixture
    def written(self, tmp_path):
        path = tmp_path / "written.json"
        segviz.build(small_chat(), embedder=HashingEmbedder()).save(path)
        return path.read_text()

    @pytest.mark.parametrize("system", ["segment-tree", "unknown"])
    def test_a_mutated_file_opens_and_works_or_is_refused(self, written, system, tmp_path):
        rng = random.Random(f"mutations {system}")
        opened = 0
        for _ in range(300):
            document = json.loads(written)
            document["system"]["name"] = system
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                mutate(document, rng)
            (tmp_path / "m.json").write_text(json.dumps(document))
            try:
                memory = segviz.open(tmp_path / "m.json")
            except StoreError:
                continue
            opened += 1
            if not memory.steps:
                continue  # nothing to ask
            here = not isinstance(memory.embedder, Absent)
            result = memory.ask("boat", relevance="dense" if here else "lexical")
            assert memory.check() == []
            assert [result.explain(node).node for node in result.after] == list(result.after)
            memory.save(tmp_path / "again.json")
            segviz.open(tmp_path / "again.json").save(tmp_path / "third.json")
            assert (tmp_path / "third.json").read_bytes() == (tmp_path / "again.json").read_bytes()
        assert 10 < opened < 290  # both outcomes were met

    def test_every_single_value_replaced_by_every_kind(self, written, tmp_path):
        """Exhaustive where random search may miss: each place of the first levels once."""
        document = json.loads(written)
        places = [p for p in walk(document) if len(p) < 5]
        for place in places:
            for value in (None, [], {}, "", 0, -1, True, 1.5, 1e999, 10**40, "\ud800", ["x"]):
                changed = json.loads(written)
                put(changed, place, value)
                try:
                    saved = store.parse(json.dumps(changed).encode())
                except StoreError:
                    continue
                assert saved.steps is not None


def walk(value, place=()):
    """The places of all values below this one."""
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, child in pairs:
        yield (*place, key)
        yield from walk(child, (*place, key))


def at(document, place):
    for key in place:
        document = document[key]
    return document


def put(document, place, value):
    at(document, place[:-1])[place[-1]] = value


KINDS = (None, True, False, 0, 1, -1, 3, 2**31, 10**40, 0.5, 1e999, math.nan, "", "x", "turn")
DEEP_KINDS = ([], {}, ["x"], [0, 1], {"a": 1}, "\ud800", "2024-01-01", [[]])


def anywhere(document, rng):
    """A random place: any one, or by descent, which favours what stands near the top."""
    if rng.random() < 0.5:
        return rng.choice(list(walk(document)))
    place, value = (), document
    while not place or (isinstance(value, dict | list) and value and rng.random() < 0.8):
        key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        place, value = (*place, key), value[key]
    return place


def mutate(document, rng):
    """Change one value anywhere: another kind, a neighbour's value, gone, doubled, moved."""
    place = anywhere(document, rng)
    holder, key = at(document, place[:-1]), place[-1]
    match rng.randrange(6):
        case 0 | 1:
            holder[key] = rng.choice(KINDS)
        case 2:
            holder[key] = copy.deepcopy(rng.choice(DEEP_KINDS))
        case 3:
            holder[key] = json.loads(json.dumps(at(document, anywhere(document, rng))))
        case 4:
            del holder[key]
        case 5 if isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), holder[key])
        case 5 if isinstance(holder[key], int | float):
            holder[key] += rng.choice([-1, 1, 0.5])
