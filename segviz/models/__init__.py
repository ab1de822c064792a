"""Stage: real models, anything that speaks the OpenAI API.

Nothing here is used unless the user configured an endpoint. Importing it does not import
the ``openai`` package; making a client does.
"""

from segviz.models.cache import ModelCache
from segviz.models.chat import OpenAIChat
from segviz.models.embedder import OpenAIEmbedder
from segviz.models.prices import PRICES, Price, cost, price
from segviz.models.settings import PRESETS, Endpoint
from segviz.models.usage import Usage

__all__ = [
    "PRESETS",
    "PRICES",
    "Endpoint",
    "ModelCache",
    "OpenAIChat",
    "OpenAIEmbedder",
    "Price",
    "Usage",
    "cost",
    "price",
]
