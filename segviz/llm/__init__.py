"""Real models: anything that speaks the OpenAI API.

``protocols``   what a chat model promises, and how it fails
``chat``        a chat model; ``embedder`` an embedding model behind the same API
``endpoint``    which model, where, with what parameters; ``environment`` keys and the cache
``cache``       finished replies by content, in SQLite (``database``)
``prices``      what tokens cost; ``usage`` counts what was requested
``wire``        one connection: requests, retries, limits (``faults``, ``waiting``, ``pool``)
``labels``      asking for one of a set of labels

Nothing here is used unless the user configured an endpoint. Importing it does not import
the ``openai`` package; making a client does. May import ``tree`` and ``embedding``.
"""

from segviz.llm.cache import ModelCache
from segviz.llm.chat import OpenAIChat
from segviz.llm.embedder import OpenAIEmbedder
from segviz.llm.endpoint import PRESETS, Endpoint
from segviz.llm.prices import PRICES, Price, cost, price
from segviz.llm.protocols import Chat, LabelError, LastingFault, ModelError, Prompt, Reply
from segviz.llm.usage import Usage

__all__ = [
    "PRESETS",
    "PRICES",
    "Chat",
    "Endpoint",
    "LabelError",
    "LastingFault",
    "ModelCache",
    "ModelError",
    "OpenAIChat",
    "OpenAIEmbedder",
    "Price",
    "Prompt",
    "Reply",
    "Usage",
    "cost",
    "price",
]
