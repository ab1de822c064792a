"""segviz: watch a conversation become a memory tree, ask it, see why evidence came back.

A package per stage, in the order of the data flow:

================  ================================================================ ``files``
opens regular files, writes whole files ``conversation``  turns, sessions, questions; the units of
the leaves ``loaders``       files of many formats to conversations ``tree``          the history of
a build, the structure replayed from it, its invariants ``embedding``     text to vectors, offline
by default ``llm``           real models over the OpenAI API ``construct``     parts of
construction: compatibility, annotation, tasks, parameters ``retrieval``     relevance, propagation,
selection, ledger ``systems``       memory architectures, one package or file each ``store``
memories on disk ``memory``        build, ask, save, answer ``evaluation``    measures over many
questions, sweeps, comparisons ``view``          the description of a view: scene, link, colours,
captions ``figures``       charts; ``frontend`` the canvas and lists that run in the browser
``export``        views as files for other programs and people ``plugins``       components of other
installed packages ``public``        the names below, which the package itself imports on first
access ``ui``            the Streamlit app; ``cli`` the command line; ``notebook`` ``segviz.show``
================  ================================================================
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segviz.public import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Returns a public name, or ``__all__``.

    ``segviz.public`` is imported on first access: the command that starts the app, and the server's
    first answer, do not need it. A module of the package is left to the import system.
    """
    special = name.startswith("__") and name != "__all__"
    modules = {found.name for found in iter_modules(__path__)}  # noqa: F405 - of this package
    if not special and name not in modules:
        public = import_module("segviz.public")
        if name in vars(public):
            value = globals()[name] = getattr(public, name)
            return value
    raise AttributeError(f"module 'segviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
