"""Builds with chat models, end to end over the wire protocol, faults included."""

import hashlib
import json
import re
from dataclasses import replace

import pytest

import segviz
from segviz.construct.annotate import Extractive
from segviz.embedding import Cached, HashingEmbedder
from segviz.llm import Endpoint, ModelCache, OpenAIChat, OpenAIEmbedder
from segviz.memory import BuildPaused
from segviz.store import StoreError
from segviz.tree import total_cost
from tests.llm.server import (
    ModelServer,
    drop,
    echo_key,
    empty,
    enum,
    hang,
    quoted,
    say,
    status,
    texts_under,
)
from tests.trees import chat as talk
from tests.trees import small_chat

UPWARDS = {"name": "pointwise", "asks": "upwards"}
KEY = "sk-never-to-be-seen-0123456789"
VARIANTS = [("pointwise", "eager"), ("batch", "lazy"), ("batch", "joined"), ("cosine", "eager")]


def steady(request):
    """A model that always answers the same to the same request."""
    # A repeated question carries a reminder after the parts; the answer must not depend on it.
    labels = enum(request)
    if labels:
        parts = quoted(request["messages"][1]["content"])
        digest = hashlib.sha256(json.dumps(parts).encode()).digest()
        return labels[digest[0] % len(labels)]
    parts = texts_under(request, "Part")
    said = "; ".join(" ".join(part.split()[5::-1]) for part in parts)
    return re.sub(r"\bI\b|\b[Mm]y\b|\bme\b", "they", said)  # a text in the third person


@pytest.fixture
def server():
    with ModelServer() as running:
        running.answer = steady
        yield running


CACHES: list[ModelCache] = []


@pytest.fixture(autouse=True)
def _close_caches():
    yield
    while CACHES:
        CACHES.pop().close()


def opened(path=None):
    CACHES.append(ModelCache(path))
    return CACHES[-1]


def client(server, cache=None, **options):
    settings = {"timeout": 30, "retries": 2, **options}
    endpoint = Endpoint(server.url, model="test-model", key=KEY, **settings)
    return OpenAIChat(endpoint, cache or opened())


def build(chat, compatibility="batch", refresh="eager", conversation=None, **options):
    options = {"annotate": "llm", "embedder": HashingEmbedder(), **options}
    options |= {"chat": chat, "compatibility": compatibility, "refresh": refresh}
    return segviz.build(conversation or small_chat(), unit="turn", **options)


def saved(memory, tmp_path, name="m.json"):
    memory.save(tmp_path / name)
    return (tmp_path / name).read_bytes()


class TestVariants:
    @pytest.mark.parametrize(("compatibility", "refresh"), VARIANTS)
    def test_every_call_is_counted_and_none_repeated(
        self, server, tmp_path, compatibility, refresh
    ):
        cache = opened(tmp_path / "cache.sqlite")
        chat = client(server, cache)
        memory = build(chat, compatibility, refresh)
        assert memory.check() == []
        assert len(memory.steps) == 9
        calls = sum(step.cost.calls for step in memory.steps)
        assert calls == chat.usage.calls == len(server.requests) > 0
        assert sum(step.cost.tokens for step in memory.steps) == chat.usage.tokens > 0
        asked = sum(1 for request in server.requests if enum(request))
        cost = total_cost(memory.steps)
        assert calls == asked + cost.annotated
        assert cost.written == cost.annotated
        assert cost.decided == (0 if compatibility == "cosine" else len(memory.steps) - 2)
        assert cost.decided_instead == cost.written_instead == 0
        if compatibility == "batch":
            # One call per unit that has candidates: all but the first two.
            assert asked == 7
        if compatibility == "cosine":
            assert asked == 0
        again = build(client(server, cache), compatibility, refresh)
        assert len(server.requests) == calls
        assert saved(memory, tmp_path, "a") == saved(again, tmp_path, "b")

    def test_points_of_all_open_nodes_are_asked_for_at_once(self, server):
        server.delay = 0.02
        build(client(server), "pointwise", annotate="extractive")
        assert server.most_at_once > 1

    def test_joined_writes_about_one_text_a_leaf_and_knows_which_are_out_of_date(self, server):
        topics = "boats sails bread rye".split()
        names = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(36)]
        said = [f"{topics[n // 3 % 4]} {name}" for n, name in enumerate(names)]
        conversation = talk([[("AB"[n % 2], text) for n, text in enumerate(said)]])
        chat = client(server)
        memory = build(chat, "batch", "joined", conversation=conversation)
        assert memory.check() == []

        def stale(structure):
            """Nodes that do not say what the model makes of their children."""
            for node in structure.nodes.tolist():
                texts = [structure.text[child] for child in structure.children[node]]
                whole = "; ".join(" ".join(text.split()[5::-1]) for text in texts)
                if texts and structure.text[node] != (whole if len(texts) > 1 else texts[0]):
                    yield node

        late = 0
        for step in range(1, len(memory.steps)):
            waiting = set(stale(memory.at(step)))
            assert waiting <= set(memory.pending(step))
            late += len(waiting)
            assert list(stale(memory.settled(step, chat))) == []
        assert late, "some texts wait"
        assert list(stale(memory.structure)) == [], "none waits at the end"
        inner = sum(len(children) > 1 for children in memory.structure.children)
        written = total_cost(memory.steps).annotated
        assert len(memory.units) - 2 <= written <= len(memory.units) + inner

    def test_labels_and_reason_are_in_the_decision(self, server):
        memory = build(client(server), "batch")
        labels = [tuple(j.label for j in s.decision.candidates) for s in memory.steps[2:]]
        assert all(found[0] == "MERGE_1" for found in labels)
        assert all("The model answered " in s.decision.why for s in memory.steps[2:])
        memory = build(client(server), UPWARDS)
        for step in memory.steps[2:]:
            found = [j.label for j in step.decision.candidates]
            asked = [label for label in found if label != "not asked"]
            assert asked[:-1] == ["CONTINUE"] * (len(asked) - 1)
            assert (asked[-1] == "MERGE") == (step.decision.chosen is not None)

    def test_pointwise_scores_every_open_node_and_takes_the_best(self, server):
        answers = {}

        def points(request):
            if not enum(request):
                return steady(request)
            assert enum(request) == [str(n) for n in range(11)]
            (head, _), (_, message) = quoted(request["messages"][1]["content"])
            level = int(head.split()[-1])
            answers.setdefault(message, {})[level] = given = steady(request)
            return given

        server.answer = points
        memory = build(client(server), "pointwise", annotate=Extractive(30))
        low = joined = 0
        for step in memory.steps[2:]:
            said = answers[step.unit.text]
            levels = memory.at(step.unit.index).level
            candidates = step.decision.candidates
            assert sorted(said) == [int(levels[j.node]) for j in candidates]
            assert step.cost.calls == step.cost.inspected == len(candidates)
            assert [j.score for j in candidates] == [int(said[k]) / 10 for k in sorted(said)]
            assert {j.threshold for j in candidates} == {0.5}
            most = max(int(given) for given in said.values())
            lowest = min(level for level, given in said.items() if int(given) == most)
            chosen = step.decision.chosen
            assert (None if chosen is None else int(levels[chosen])) == (
                lowest if most >= 5 else None
            )
            low, joined = low + (chosen is None), joined + (chosen is not None)
        assert low
        assert joined


# What a client makes of every kind of fault its own tests hold. With a server that hangs the
# timeout is what ends the wait, in real seconds.
PASSING = [
    pytest.param(status(500), 30, id="500"),
    pytest.param(drop(), 30, id="drop"),
    pytest.param(hang(5), 1.5, id="hang", marks=pytest.mark.slow),
]


class TestFaults:
    @pytest.fixture
    def undisturbed(self, server):
        reference = build(client(server))
        server.requests.clear()
        return reference

    @pytest.mark.parametrize(("fault", "limit"), PASSING)
    def test_a_lasting_fault_pauses_and_resuming_ends_in_the_same_tree(
        self, server, undisturbed, tmp_path, fault, limit
    ):
        cache = opened(tmp_path / "cache.sqlite")
        server.script(*[None] * 5, *[fault] * 3)
        with pytest.raises(BuildPaused) as pause:
            build(client(server, cache, timeout=limit))
        assert 0 < len(pause.value.memory.steps) < 9
        assert pause.value.memory.check() == []
        assert str(pause.value)
        finished = len(server.requests) - 3
        server.requests.clear()
        memory = build(client(server, cache))
        total = sum(s.cost.calls for s in undisturbed.steps)
        assert len(server.requests) == total - finished
        assert saved(memory, tmp_path, "a") == saved(undisturbed, tmp_path, "b")

    def test_a_model_that_never_answers_with_a_label_is_replaced_visibly_and_for_good(
        self, server, tmp_path
    ):
        cache = opened(tmp_path / "cache.sqlite")
        server.fault = lambda request: say("purple") if enum(request) else None
        memory = build(client(server, cache))
        assert memory.check() == []
        asked = len(memory.steps) - 2
        assert total_cost(memory.steps).by_model.startswith(f"decisions 0 of {asked}, texts ")
        for step in memory.steps[2:]:
            assert (step.cost.decided, step.cost.decided_instead) == (0, 1)
            assert "'purple', which is none of the labels" in step.decision.why
            assert "offline calibrated model decided" in step.decision.why
            assert all(j.score is not None for j in step.decision.candidates)
            labels = [j.label for j in step.decision.candidates]
            assert labels == [f"MERGE_{i + 1}: 'purple'" for i in range(len(labels))]
        server.fault = lambda request: None  # from now on it would answer properly
        sent = len(server.requests)
        again = build(client(server, cache))
        assert len(server.requests) == sent
        assert saved(memory, tmp_path, "a") == saved(again, tmp_path, "b")

    @pytest.mark.parametrize(
        ("given", "title", "text"),
        [
            ("Title: The sloop\nAda bought a sloop.", "The sloop", "Ada bought a sloop."),
            ('**Title:** "The sloop."\n\nAda bought it.', "The sloop", "Ada bought it."),
            ("Ada bought a sloop.", "", "Ada bought a sloop."),
            ("Title: " + "sloops " * 10 + "\nAda has it.", "sloops " * 8 + "…", "Ada has it."),
            # Recorded: a small model puts a message into the line.
            ("Title: Part 1 - Ada: " + "sloop " * 9 + "\nAda has it.", "", "Ada has it."),
        ],
    )
    def test_a_reply_gives_a_node_its_title_and_its_text(self, server, given, title, text):
        server.answer = lambda request: steady(request) if enum(request) else given
        memory = build(client(server), refresh="lazy")
        shown = memory.structure.collapsed
        written = [n for n in shown.nodes.tolist() if len(shown.children[n]) > 1]
        assert written
        for node in written:
            assert shown.text[node] == text
            assert shown.facts[node]["title"] == title
            assert not title or memory.labels()[node] == title


class TestUnanswered:
    """A prompt that never gets an answer does not stop a build, once others were answered."""

    @pytest.mark.parametrize(
        ("compatibility", "name"),
        [("batch", "filter"), ("pointwise", "empty"), ("batch", "cut off")],
    )
    def test_its_decision_is_made_offline(self, server, tmp_path, compatibility, name):
        faults = {
            "filter": status(400, error="content_filter"),
            "empty": empty(),
            "cut off": say('{"label":', finish="length"),
        }
        about = [u.text for u in small_chat().units("turn")][4]

        def fault(request):
            if not enum(request):
                return None
            return faults[name] if texts_under(request, "New message") == [about] else None

        server.fault = fault
        cache = opened(tmp_path / "cache.sqlite")
        memory = build(client(server, cache), compatibility)
        assert memory.check() == []
        assert len(memory.steps) == 9
        decision = memory.steps[4].decision
        assert "The model gave no answer, so the offline calibrated model decided" in decision.why
        assert any("no answer" in j.label for j in decision.candidates)
        others = [s.decision.why for s in memory.steps[2:] if s.unit.index != 4]
        assert not any("offline" in why for why in others)
        again = build(client(server, cache), compatibility)
        assert saved(memory, tmp_path, "a") == saved(again, tmp_path, "b")

    @pytest.mark.parametrize("refresh", ["eager", "lazy"])
    def test_its_text_is_written_offline_and_noted(self, server, tmp_path, refresh):
        server.fault = lambda request: (
            status(400, error="content_filter")
            if not enum(request) and "telescope" in request["messages"][1]["content"]
            else None
        )
        cache = opened(tmp_path / "cache.sqlite")
        memory = build(client(server, cache), "batch", refresh)
        assert any("made offline" in step.note for step in memory.steps)
        assert all(memory.structure.text)
        again = build(client(server, cache), "batch", refresh)
        assert saved(memory, tmp_path, "a") == saved(again, tmp_path, "b")

    @pytest.mark.parametrize("fault", [status(401), status(400)])
    def test_a_fault_of_the_server_or_of_every_prompt_pauses(self, server, fault):
        server.fault = lambda request: fault
        with pytest.raises(BuildPaused):
            build(client(server))


def test_a_wrong_label_is_kept_with_the_decision_after_the_answers_before_it(server):
    def fault(request):
        low = bool(texts_under(request, "Open segment, level 1"))
        return say("CONTINUE") if low else say("<b>per-\nhaps</b>" + "!" * 100)

    server.fault = fault
    memory = build(client(server), UPWARDS, annotate="extractive")
    step = next(s for s in memory.steps if s.decision and len(s.decision.candidates) > 1)
    first, second, *others = [j.label for j in step.decision.candidates]
    assert first == "CONTINUE"
    assert second.startswith("'<b>per- haps</b>!!!")
    assert len(second) < 70
    assert second in step.decision.why
    assert set(others) <= {"not asked"}


class TestEmbeddings:
    """Texts that a model embeds are sent once."""

    def embedder(self, server, cache):
        endpoint = Endpoint(server.url, embedding_model="e", key=KEY, timeout=2, retries=0)
        return Cached(OpenAIEmbedder(endpoint, cache))

    def build(self, server, cache, embedder=None):
        embedder = embedder or self.embedder(server, cache)
        return build(client(server, cache), "calibrated", embedder=embedder)

    def test_cold_warm_and_resumed_builds_are_alike(self, server, tmp_path):
        cache = opened(tmp_path / "cold.sqlite")
        embedder = self.embedder(server, cache)
        cold = self.build(server, cache, embedder)
        assert len(server.embedded) == len(set(server.embedded))
        assert embedder.inner.usage.tokens > 0
        sent = len(server.requests)
        warm = self.build(server, cache, embedder)
        for one, two in zip(cold.steps, warm.steps, strict=True):
            assert (one.cost.cached, two.cost.cached) == (0, one.cost.calls)
        reopened = self.build(server, cache)
        assert len(server.requests) == sent

        other = opened(tmp_path / "resumed.sqlite")
        server.script(*[None] * 4, status(500), status(500), status(500))
        with pytest.raises(BuildPaused) as pause:
            self.build(server, other)
        assert pause.value.memory.steps
        server.script()
        resumed = self.build(server, other)
        files = [saved(m, tmp_path, "m") for m in (cold, warm, reopened, resumed)]
        assert len(set(files)) == 1

    def test_what_is_saved_comes_back(self, server, tmp_path):
        memory = self.build(server, opened())
        saved(memory, tmp_path)
        again = segviz.open(tmp_path / "m.json")
        for one, two in zip(memory.steps, again.steps, strict=True):
            assert replace(one.cost, seconds=0, cached=0) == two.cost
        assert sum(step.cost.output for step in again.steps) > 0


class TestOpening:
    """A memory of a remote embedder opens without it, and asks with it."""

    @pytest.fixture
    def path(self, server, tmp_path):
        memory = segviz.build(small_chat(), embedder=self.embedder(server))
        memory.save(tmp_path / "m.json")
        server.requests.clear()
        return tmp_path / "m.json"

    def embedder(self, server, model="e"):
        return OpenAIEmbedder(Endpoint(server.url, embedding_model=model), opened())

    def test_it_can_be_looked_at_and_asked_by_words(self, server, path, tmp_path):
        memory = segviz.open(path)
        assert memory.check() == []
        assert memory.ask("red bicycle", relevance="lexical").evidence
        for relevance in ("dense", "hybrid"):
            with pytest.raises(ValueError, match=r"openai:e@.*segviz\.open\(path, embedder=…\)"):
                memory.ask("red bicycle", relevance=relevance)
        memory.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
        assert server.requests == []

    def test_with_its_embedder_it_answers(self, server, path):
        memory = segviz.open(path, embedder=self.embedder(server))
        assert server.requests == []
        assert memory.ask("red bicycle", relevance="dense").evidence
        assert server.embedded == ["red bicycle"]

    def test_another_embedder_is_refused(self, server, path):
        for other in (self.embedder(server, "f"), HashingEmbedder()):
            with pytest.raises(StoreError, match=r"embedded with 'openai:e@.*, not with"):
                segviz.open(path, embedder=other)


def test_a_file_says_how_the_model_was_asked_and_how_much_it_made(server, tmp_path):
    mine = {"annotate": "Sum up in $words words. $data"}
    endpoint = Endpoint(server.url, model="test-model", key=KEY, seed=7)
    memory = build(OpenAIChat(endpoint, opened(), prompts=mine))
    memory.save(tmp_path / "m.json")
    found = segviz.open(tmp_path / "m.json")
    known = found.provenance
    assert known == memory.provenance
    assert set(known["models"]) == {"decision", "annotation"}
    told = known["models"]["annotation"]
    assert (told["model"], told["server"], told["seed"]) == ("test-model", server.url, 7)
    assert known["own_prompts"] == mine
    assert known["prompts"] != build(client(server)).provenance["prompts"]
    assert set(known["versions"]) == {"segviz", "openai"}
    assert total_cost(found.steps) == total_cost(memory.steps)
    node = next(n for n in found.structure.nodes.tolist() if "prompt" in found.structure.facts[n])
    assert found.prompt_of(node).system.startswith("Sum up in 80 words.")


def test_the_key_is_in_no_file_and_no_pause(server, tmp_path):
    """That it is in no log and no other error the tests of the clients hold."""
    cache = opened(tmp_path / "cache.sqlite")
    memory = build(client(server, cache))
    saved(memory, tmp_path)
    server.script(None, None, echo_key(), echo_key(), echo_key())
    with pytest.raises(BuildPaused) as pause:
        build(client(server))
    cache.close()
    assert KEY not in repr(pause.value) + str(pause.value) + repr(memory.settings)
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()
