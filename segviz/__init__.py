"""segviz: watch a conversation become a memory tree, ask it, see why evidence came back.

A package per stage, in the order the data walks:

================  ================================================================
``files``         regular files opened, whole files written
``conversation``  turns, sessions, questions; the units that leaves hold
``loaders``       files of many formats to conversations
``tree``          the history of a build, the structure folded from it, its invariants
``embedding``     text to vectors, offline by default
``llm``           real models over the OpenAI API
``construct``     parts of construction: compatibility, annotation, tasks, parameters
``retrieval``     relevance, propagation, selection, ledger
``systems``       memory architectures, one package or file each
``store``         memories on disk
``memory``        build, ask, save, merge, answer
``evaluate``      measures over many questions, sweeps, comparisons
``view``          the description of a view: scene, link, colours, captions
``figures``       charts; ``frontend`` the canvas and lists that run in the browser
``export``        views as files for other programs and people
``plugins``       parts that other installed packages bring
``public``        the names below, which the package itself imports when one is asked for
``ui``            the Streamlit app; ``cli`` the command line; ``notebook`` ``segviz.show``
================  ================================================================
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segviz.public import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A public name, or ``__all__``; imported only now, since the command that starts the app and
    the server's first answer need none of them."""
    own = name.startswith("__") and name != "__all__"
    if own or (name != "evaluate" and find_spec(f"segviz.{name}")):
        raise AttributeError(f"module 'segviz' has no attribute {name!r}")
    public = import_module("segviz.public")
    if name not in public.__dict__:
        raise AttributeError(f"module 'segviz' has no attribute {name!r}")
    value = globals()[name] = getattr(public, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})


class _Package(ModuleType):
    """This package, in which ``evaluate`` is the function and not the package of that name, which
    the import system would put here."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name == "evaluate" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
