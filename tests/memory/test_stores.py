"""Memories of others: anything that can add and search."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import repeat
from types import SimpleNamespace
from typing import ClassVar
from uuid import uuid4

import numpy as np
import pytest

import segviz
from segviz.contract import verify
from segviz.embedding import HashingEmbedder
from segviz.evaluation.stages import evidence_stages
from segviz.handover import HandoverError
from segviz.memory import system_from, system_of
from segviz.systems import SYSTEMS
from segviz.text.words import content_tokens
from tests.memory.test_stored_texts import SAID, conversation

EMBEDDER = HashingEmbedder()


class Notes:
    """A small memory: the upper case of what Ann or Ada says, found by shared words."""

    def __init__(self):
        self.notes = []

    def add(self, turn):
        if turn.speaker.startswith("A"):
            self.notes.append((turn.id, turn.text.upper()))

    def search(self, question, k):
        asked = content_tokens(question)
        scored = [(len(asked & content_tokens(text)), name, text) for name, text in self.notes]
        best = sorted(scored, key=lambda row: (-row[0], row[1]))[:k]
        return [{"id": name, "memory": text, "score": score} for score, name, text in best]


class Listing(Notes):
    """The same, which can list all and knows its turns."""

    def texts(self):
        return [{"id": name, "text": text, "turns": [name]} for name, text in self.notes]


def test_it_is_built_asked_and_credited_by_its_own_search():
    store = Notes()
    mine = segviz.provider(store.add, store.search, name="mine")
    memory = segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)
    assert (memory.system, memory.check()) == ("mine", [])
    assert len(store.notes) == 2
    result = memory.ask("What did Ann buy? A bicycle?")
    assert result.native
    assert not memory.ask("What did Ann buy?", policy="none").native
    assert result.evidence[0].text == "I BOUGHT A RED BICYCLE IN UTRECHT."
    assert result.evidence[0].turn_ids == ("D1:1",)
    asked = memory.conversation.questions
    stages = [one.stage for one in evidence_stages(memory, asked)]
    assert stages == ["read", "never written", "read"]


class Retrieving(Listing):
    """The same, whose search is called retrieve."""

    retrieve = Listing.search
    search = None


class Columns(Notes):
    """The same, which lists columns as a chroma collection does, empty ones at first."""

    def texts(self):
        ids = [name for name, _ in self.notes]
        documents = [text for _, text in self.notes]
        turns = [{"turn": name} for name in ids]
        included = ["metadatas", "documents"]
        return {
            "ids": ids,
            "embeddings": None,
            "documents": documents,
            "included": included,
            "metadatas": turns,
        }


class Plain(Listing):
    """The same as a package does it: fresh ids, any order of equals, no empty question."""

    def texts(self):
        return [{**row, "id": uuid4().hex} for row in super().texts()]

    def search(self, question, k):
        if not question:
            raise ValueError("the query is empty")
        return sorted(super().search(question, k), key=lambda _: uuid4().hex)


@pytest.mark.parametrize("kind", [Notes, Listing, Retrieving, Columns, Plain])
def test_the_contract_holds(kind):
    verify(system_of(kind, "small-notes")())


@pytest.mark.parametrize("part", ["conversation", "session", "turn", "anything"])
def test_add_takes_what_its_parameter_is_named(part):
    got = []
    scope = {"got": got}
    exec(f"def add({part}): got.append({part})", scope)
    mine = segviz.provider(scope["add"], lambda question, k: [], name="mine")
    memory = segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)
    kinds = {"conversation": ("Conversation", 1), "session": ("Session", 2)}
    expected = kinds.get(part, ("Turn", 4))
    assert (type(got[0]).__name__, len(got)) == expected
    assert memory.structure.ghost.all()
    assert memory.ask("bicycle", method="native").evidence == ()


@dataclass
class Hit:
    memory: str
    score: float = 0.5
    metadata: dict = field(default_factory=dict)


TEXT = "Ann owns a bicycle"


@pytest.mark.parametrize(
    "given",
    [
        [TEXT],
        [(TEXT, 0.5)],
        [{"memory": TEXT, "turns": ["D1:1", "x"]}],
        {"results": [{"id": "m", "memory": TEXT}]},
        [Hit(TEXT)],
        [SimpleNamespace(fact=TEXT, uuid="u")],
        [(TEXT, -3.0), "never listed"],
        iter([TEXT]),
    ],
)
def test_results_of_any_form_are_read(given):
    given = list(given) if not isinstance(given, dict) else given
    mine = segviz.provider(
        lambda turn: None, lambda question, k: given, name="m", texts=lambda: given
    )
    memory = segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)
    found = memory.ask("bicycle", method="native")
    assert found.evidence[0].text == TEXT
    assert found.evidence[0].turn_ids == ("D1:1",)


async def later(question, k):
    """A search of an asynchronous client."""


def failing(question, k):
    """A search that fails while its results are read."""
    yield TEXT
    raise KeyError("index")


@pytest.mark.parametrize(
    ("method", "mistake", "kind"),
    [
        ("__init__", lambda path: Notes(), "TypeError.*without arguments"),
        (
            "add",
            lambda message: message["text"],
            r"TypeError.*stores\.py, line \d+\).*Turn.*session",
        ),
        ("add", lambda session: session.text, r"AttributeError.*Session \(id, start"),
        ("add", lambda: None, "TypeError.*Turn"),
        ("search", lambda question: [TEXT], r"TypeError.*question, k"),
        ("search", failing, r"KeyError.*stores\.py, line \d+"),
        ("search", later, "async"),
        ("search", lambda question, k: None, "returned None"),
        ("search", lambda question, k: TEXT, "expected a list"),
        ("search", lambda question, k: [(0.5, TEXT)], "pairs"),
        ("search", lambda question, k: [{"said": TEXT}], "memory, fact, text"),
        ("search", lambda question, k: [{"text": 5}], "with a text"),
        ("search", lambda question, k: repeat(TEXT), "must end"),
        ("texts", lambda: [None], "None in its list"),
    ],
)
def test_a_mistake_of_the_author_names_method_and_expected_form(method, mistake, kind):
    def make(**given):
        store = SimpleNamespace(add=lambda turn: None, search=lambda question, k: [])
        vars(store)[method] = mistake
        return store

    mine = system_of(mistake if method == "__init__" else make, "mine")()
    with pytest.raises(HandoverError, match=f"^{method} of mine .*{kind}"):
        segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)


@pytest.mark.parametrize("given", [[], [""], [{"text": ""}], [{"memories": []}]])
def test_a_search_may_find_nothing(given):
    mine = segviz.provider(lambda turn: None, lambda question, k: given, name="mine")
    memory = segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)
    assert memory.structure.ghost.all()


class Finding(Notes):
    """Finds nothing."""

    def search(self, question, k):
        return []


class Deep(Notes):
    """Has texts that a search for no turn ranks high."""

    def search(self, question, k):
        if k > 1_000:
            return [{"id": name, "text": text} for name, text in self.notes] + ["A hidden note"]
        return super().search(question, k)


@pytest.mark.parametrize("most", [100_000, 500])
def test_without_a_list_of_texts_a_search_for_all_completes_them(most, monkeypatch):
    monkeypatch.setattr("segviz.memory.stores._ALL", most)
    memory = segviz.build(conversation(), system_of(Deep, "deep")(), "turn", embedder=EMBEDDER)
    assert ("A hidden note" in memory.structure.text) == (most > 1_000)


def test_a_store_without_a_list_of_texts_says_what_it_had_before():
    used = Notes()
    used.notes += [(f"old {place}", f"An older text, {place}") for place in range(3)]
    mine = segviz.provider(used.add, used.search, name="used")
    memory = segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)
    assert "the store had 3 texts before" in memory.steps[0].note


class Shared(Notes):
    """Has one list for the memories of all conversations."""

    everything: ClassVar[list] = []

    def __init__(self):
        self.notes = self.everything

    def texts(self):
        return [{"text": text} for _, text in self.notes]


@pytest.mark.parametrize(
    ("kind", "problem"), [(Finding, "none of .* retrieves"), (Shared, "differs")]
)
def test_the_contract_finds_what_no_single_build_shows(kind, problem):
    with pytest.raises(AssertionError, match=problem):
        verify(system_of(kind, "small-notes")())


def test_half_characters_of_a_search_are_replaced():
    mine = segviz.provider(lambda turn: None, lambda question, k: [TEXT + "\ud83d"], name="m")
    memory = segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)
    assert memory.ask("bicycle", method="native").evidence[0].text == TEXT + "\ufffd"


@pytest.mark.parametrize("ids", [{}, {"id": "of both"}])
def test_distances_keep_the_order_of_the_search(ids):
    told = ["Ann owns a bicycle", "Bob bakes bread"]
    rows = [{"text": text, "score": at / 9, **ids} for at, text in enumerate(told, 1)]
    mine = segviz.provider(lambda turn: None, lambda q, k: rows, name="m", texts=lambda: rows)
    memory = segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)
    result = memory.ask("x", method="native")
    assert [each.text for each in result.evidence] == told
    assert (np.diff([each.final for each in result.evidence]) < 0).all()


def test_a_text_that_was_not_listed_is_told():
    mine = segviz.provider(lambda turn: None, lambda q, k: ["new"], name="m", texts=lambda: [TEXT])
    memory = segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)
    result = memory.ask("x", method="native")
    assert result.evidence == ()
    assert "1 of them not listed" in result.stages[0].note


def test_each_conversation_has_a_store_of_its_own():
    made = []

    def make():
        made.append(Notes())
        return made[-1]

    kind = system_of(make, "mine")
    for _ in range(2):
        segviz.build(conversation(), kind(), "turn", embedder=EMBEDDER)
    assert len(made) == 1


def test_a_store_that_is_built_directly_is_sent_to_provider():
    for given in (Notes(), Notes):
        with pytest.raises(ValueError, match=r"provider|instance"):
            segviz.build(conversation(), given, "turn", embedder=EMBEDDER)


# --- module:Class ----------------------------------------------------------------------------


@pytest.fixture
def registry():
    kept = dict(SYSTEMS)
    yield SYSTEMS
    SYSTEMS.clear()
    SYSTEMS.update(kept)


def test_a_class_is_imported_under_its_name(registry):
    assert system_from("tests.memory.test_stores:Notes") == "notes"
    assert system_from("tests.memory.test_stores:Notes") == "notes"
    memory = segviz.build(conversation(), "notes", "turn", embedder=EMBEDDER)
    assert memory.ask("bicycle", method="native").evidence


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("no_such_module:Thing", "cannot be imported"),
        ("tests.memory.test_stores:Thing", "cannot be imported"),
        ("tests/memory/test_stores.py:Notes", "write .*test_stores:Notes"),
        ("tests.memory.test_stores:Hit", "expected add with search"),
        ("segviz.systems.flat:BM25", None),
    ],
)
def test_what_is_no_memory_is_refused(registry, spec, problem):
    if problem is None:
        assert system_from(spec) == "bm25"
        return
    with pytest.raises(ValueError, match=problem):
        system_from(spec)


def test_a_name_that_is_taken_is_refused(registry):
    registry["listing"] = registry["bm25"]
    with pytest.raises(ValueError, match="taken"):
        system_from("tests.memory.test_stores:Listing")


# --- results of well-known packages -----------------------------------------------------------


class Sloted:
    """An object whose attributes are slots of two classes, as those of LangGraph's results."""

    __slots__ = ("key", "value")


class SearchItem(Sloted):
    __slots__ = ("score",)

    def __init__(self, key, value, score):
        self.key, self.value, self.score = key, value, score


class ChatMessage:
    """A message whose text is a property that joins blocks, as that of LlamaIndex."""

    def __init__(self, text):
        self.role, self.blocks = "user", [SimpleNamespace(text=text)]

    @property
    def content(self):
        return self.blocks[0].text


QUERIED = {
    "ids": [["a", "b"]],
    "documents": [[SAID[0][1], SAID[3][1]]],
    "metadatas": [[{"turn": "D1:1"}, {"turn": "D2:2"}]],
    "distances": [[0.1, 0.2]],
}
RESULTS = {
    "chroma query": lambda: QUERIED,
    "chroma get": lambda: {name: column[0] for name, column in QUERIED.items()},
    "langgraph": lambda: [SearchItem("a", {"text": SAID[0][1], "source": "D1:1"}, 0.5)],
    "llama-index message": lambda: [ChatMessage(SAID[0][1])],
    "llama-index node": lambda: [
        SimpleNamespace(
            node=SimpleNamespace(text=SAID[0][1], metadata={"message_id": "D1:1"}), score=0.4
        )
    ],
    "a-mem": lambda: [{"content": SAID[0][1], "links": [], "keywords": ["bicycle"], "id": "a"}],
    "document": lambda: [{"document": SAID[0][1], "turn_id": "D1:1"}],
}


@pytest.mark.parametrize("form", [*RESULTS])
def test_results_of_well_known_packages_are_read(form):
    result = RESULTS[form]()
    store = SimpleNamespace(add=lambda turn: None, search=lambda question, k: result)
    mine = segviz.provider(store.add, store.search, texts=lambda: result, name="mine")
    memory = segviz.build(conversation(), mine, "exchange", embedder=EMBEDDER)
    first, *_ = memory.ask("bicycle", method="native").evidence
    assert (first.text, first.turn_ids) == (SAID[0][1], ("D1:1",))
    count = 2 if form.startswith("chroma") else 1
    assert memory.structure.retrievable.sum() == count


def test_an_unreadable_record_with_a_list_is_an_error_that_shows_it():
    result = [{"note_id": 7, "links": [], "vectors": [[0.1]]}]
    mine = segviz.provider(lambda turn: None, lambda question, k: result, name="mine")
    with pytest.raises(HandoverError, match=r"'note_id': 7.*expected a list of texts"):
        segviz.build(conversation(), mine, "turn", embedder=EMBEDDER)
