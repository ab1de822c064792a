"""Real models: anything that speaks the OpenAI API.

``protocols``   what a chat model promises, and how it fails
``endpoint``    which model, where, with what parameters and whose key
``client``      one endpoint: requests, retries, errors for people
``chat``        a chat model on it; ``embedder`` an embedding model
``checks``      tells texts that can become memory from loops, fragments and introductions
``roles``       a chat model for each role: decisions, texts, answers, grades
``prompts``     what is said to chat models, from ``prompts.toml``
``cache``       finished replies by content, in SQLite
``usage``       counts requests and tokens, and what they cost
``timeouts``    several requests at once; waits that can be watched and ended

Nothing here is used unless the user configured an endpoint. Importing it does not import
the ``openai`` package; making a client does. May import ``tree``, ``text`` and ``embedding``.
"""

from segviz.llm.cache import ModelCache
from segviz.llm.chat import OpenAIChat
from segviz.llm.embedder import OpenAIEmbedder
from segviz.llm.endpoint import PRESETS, Endpoint
from segviz.llm.protocols import Chat, LabelError, LastingFault, ModelError, Part, Prompt, Reply
from segviz.llm.roles import ROLES, ChatByRole
from segviz.llm.usage import PRICES, Price, Usage, cost, price

__all__ = [
    "PRESETS",
    "PRICES",
    "ROLES",
    "Chat",
    "ChatByRole",
    "Endpoint",
    "LabelError",
    "LastingFault",
    "ModelCache",
    "ModelError",
    "OpenAIChat",
    "OpenAIEmbedder",
    "Part",
    "Price",
    "Prompt",
    "Reply",
    "Usage",
    "cost",
    "price",
]
