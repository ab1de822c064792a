import json

import pytest

from segviz.llm import Endpoint, ModelCache, OpenAIChat
from tests.llm.server import ModelServer, enum, quoted, texts_under


def plausible(request):
    """A label, a JSON answer of the asked kind that repeats the material, or a short text."""
    if enum(request):
        return enum(request)[0]
    system, user = (m["content"] for m in request["messages"])
    material = {head.split(",")[0]: text for head, text in quoted(user)}
    if '"facts"' in system:
        said = [line.split(": ", 1) for line in material["Conversation"].split("\n")]
        facts = [
            {
                "text": ": ".join(line),
                "speaker": line[0],
                "domain": "life",
                "entities": [{"name": line[0], "kind": "person"}],
            }
            for line in said
        ]
        return json.dumps({"facts": facts, "relations": []})
    if '"questions"' in system:
        part = {"number": 1, "text": f"{material['Question']} Now", "scope": "mixed"}
        return json.dumps({"questions": [part]})
    if '"order"' in system:
        return json.dumps({"order": list(range(len(texts_under(request, "Passage")), 0, -1))})
    if '"missing"' in system:
        return json.dumps({"missing": False})
    return " ".join(" ".join(texts_under(request, "Part")).split()[:20])


@pytest.fixture
def model_chat():
    """A chat client of a loopback server that answers every task."""
    with ModelServer() as server:
        server.answer = plausible
        cache = ModelCache(None)
        chat = OpenAIChat(Endpoint(server.url, model="m", timeout=5), cache)
        yield chat
        chat.close()
        cache.close()
