"""What is fuzzed: each target takes bytes and raises only where segviz is at fault."""

import gzip
import json
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from itertools import cycle
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import segviz
from segviz import store
from segviz.embedding import HashingEmbedder
from segviz.llm import Endpoint, ModelError, OpenAIChat
from segviz.memory import from_saved, nested
from segviz.memory.answer import answer
from segviz.retrieval import RELEVANCE, RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.text.captions import printable
from segviz.view import bookmark
from tests.llm.server import Fault, ModelServer
from tests.loaders.test_fuzz import FILES, outcome
from tests.memories import sample
from tests.trees import chat as talk

CORPUS = Path(__file__).parent / "corpus"


def loaders(data: bytes) -> None:
    """A conversation file of any format: a sound Corpus, or a LoadError in one line."""
    outcome(data, "fuzz.json")


def sessions(data: bytes) -> None:
    """A saved memory or session file: what opens can be looked at, asked and saved again."""
    try:
        saved = store.parse(data)
        memory = from_saved(saved)
    except store.StoreError as error:
        assert "\n" not in str(error), "one line for people"
        return
    bytes_again = store.dump(saved)
    assert store.dump(store.parse(bytes_again)) == bytes_again
    memory.units  # noqa: B018
    assert memory.check() == []
    if kind := SYSTEMS.get(memory.system):
        settings = bookmark.differing(kind, memory.settings)
        view = bookmark.Bookmark(system=memory.system, settings=settings)
        bookmark.decode(bookmark.encode(view))
    for question in memory.conversation.questions:
        memory.moment(question)
    memory.conversation.units(memory.unit)
    if memory.steps:
        for relevance in (
            RELEVANCE if memory.embedder.name == HashingEmbedder.name else ("lexical",)
        ):
            memory.ask("the boat in May", relevance=relevance)


def links(data: bytes) -> None:
    """The parameters of a link, as a JSON object: unusable ones are left out and named, the
    others come back from the link that is written of them."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(given, dict):
        return
    found, problems = bookmark.decode({name: str(value) for name, value in given.items()})
    assert all(isinstance(problem, str) for problem in problems)
    link = bookmark.encode(found)
    assert bookmark.decode(dict(parse_qsl(urlencode(link), keep_blank_values=True))) == (found, [])
    nested(SYSTEMS[found.system], found.settings)


BRIEF = talk(
    [
        [("Ada", "I bought a red bicycle in Utrecht."), ("Ben", "How many gears has it?")],
        [("Ada", "The telescope shows the rings of Saturn."), ("Ada", "The bicycle has eight.")],
    ]
)


@cache
def _server() -> ModelServer:
    return ModelServer().__enter__()


def replies(data: bytes) -> None:
    """What a model's server sends, as a JSON list that is repeated: a text is a reply's text,
    anything else a whole body. The memory that is built is sound and can be saved."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(given, list) or not given:
        return
    bodies = cycle(given)

    def fault(_: object) -> Fault:
        body = next(bodies)
        if isinstance(body, str):
            return Fault(text=body)
        return Fault(body=json.dumps(body).encode())

    server = _server()
    server.fault = fault
    server.requests.clear()
    chat = OpenAIChat(Endpoint(server.url, "m", retries=0, concurrency=1))
    settings = {"compatibility": "pointwise", "annotate": "llm", "embedder": HashingEmbedder()}
    try:
        memory = segviz.build(BRIEF, unit="turn", chat=chat, **settings)
        answer(memory, memory.ask("What colour is the bicycle?"), chat)
    except ModelError as error:
        assert "\n" not in str(error), "one line for people"
        return
    finally:
        chat.close()
    assert memory.check() == []
    assert all(printable(text)[1] == 0 for text in memory.structure.text)
    sessions(store.dump(memory.saved))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "loaders": loaders,
    "sessions": sessions,
    "links": links,
    "replies": replies,
}


def seeds(target: str) -> list[bytes]:
    """Valid inputs of every kind, to begin with."""
    if target == "loaders":
        return FILES
    if target == "links":
        views = [
            bookmark.Bookmark(sample="ines-theo", question=3, step=5, node=7, pins=(1, 2)),
            bookmark.Bookmark(path="/a.json", system="h-mem", settings={}, text="the boat?"),
            bookmark.Bookmark(unit="turn", settings={"compatibility.threshold": 0.25}),
            bookmark.Bookmark(retrieval=RetrievalSettings(policy="both", alpha=0.3, budget=900)),
        ]
        return [json.dumps(bookmark.encode(view)).encode() for view in views]
    if target == "replies":
        texts = [
            ['{"label": "merge"}', "Ada bought a red bicycle in Utrecht."],
            ["split", "<think>A bicycle.", "\\\\ " * 90, "Answer: red."],
            ["continue", '```json\n{"label": "merge"}\n```', "Ada bought Ada bought " * 30, ""],
        ]
        message = {"role": "assistant", "content": "merge", "reasoning_content": "so"}
        choice = {"index": 0, "message": message, "finish_reason": "length"}
        usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
        body = {"id": "1", "model": "m", "choices": [choice], "usage": usage}
        return [json.dumps(given).encode() for given in [*texts, [body], [body, "merge"]]]
    memories = [
        segviz.build(sample(sessions=1), name, embedder=HashingEmbedder()) for name in SYSTEMS
    ]
    files = [store.dump(memory.saved) for memory in memories]
    view = {"page": "ask", "link": {"question": "0", "policy": "both"}}
    return [
        *files,
        *(store.pack(memory.saved) for memory in memories),
        gzip.compress(files[0], mtime=0),
        json.dumps({**json.loads(files[0]), "view": view}).encode(),
    ]


def kept(target: str) -> list[bytes]:
    """The inputs kept of earlier runs."""
    with zipfile.ZipFile(CORPUS / f"{target}.zip") as archive:
        return [archive.read(name) for name in archive.namelist()]


def keep(target: str, inputs: Iterable[bytes]) -> None:
    """Writes the inputs to keep, shortest first, always the same bytes for the same inputs."""
    CORPUS.mkdir(exist_ok=True)
    with zipfile.ZipFile(CORPUS / f"{target}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number, data in enumerate(sorted(set(inputs), key=lambda data: (len(data), data))):
            entry = zipfile.ZipInfo(f"{number:04d}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
