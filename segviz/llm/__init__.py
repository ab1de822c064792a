"""Clients for servers with the OpenAI API: chat and embedding models.

``protocols``   interface of a chat model, its prompts, replies and errors
``endpoint``    server, model, parameters and key
``client``      requests, retries and error messages for one endpoint
``chat``        chat model of an endpoint; ``embedder`` its embedding model
``checks``      rejects loops, copies, lists and introductions as texts of a memory
``roles``       a chat model for each role: decisions, texts, answers, grades
``prompts``     prompts for chat models, from ``prompts.toml``
``cache``       finished replies by content, in SQLite
``usage``       counts requests and tokens, and computes their cost
``probe``       tests a server: its models, structured output and speed

Nothing here is used unless the user configured an endpoint. Importing it does not import
the ``openai`` package; making a client does. May import ``tree``, ``text`` and ``embedding``.
"""

from segviz.llm.cache import ModelCache
from segviz.llm.chat import OpenAIChat
from segviz.llm.client import RequestError
from segviz.llm.embedder import OpenAIEmbedder
from segviz.llm.endpoint import PRESETS, Endpoint
from segviz.llm.prompts import digest, fitted, overrides, texts_of
from segviz.llm.protocols import Chat, LabelError, ModelError, Part, Prompt, Reply
from segviz.llm.roles import ChatByRole
from segviz.llm.usage import PRICES, Metered, Pace, Price, Usage, cost, price

__all__ = [
    "PRESETS",
    "PRICES",
    "Chat",
    "ChatByRole",
    "Endpoint",
    "LabelError",
    "Metered",
    "ModelCache",
    "ModelError",
    "OpenAIChat",
    "OpenAIEmbedder",
    "Pace",
    "Part",
    "Price",
    "Prompt",
    "Reply",
    "RequestError",
    "Usage",
    "cost",
    "digest",
    "fitted",
    "overrides",
    "price",
    "texts_of",
]
