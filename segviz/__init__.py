"""segviz: watch a conversation become a memory tree, ask it, see why evidence came back.

A package per stage, in the order of the data flow, and a base of modules that all may import
(``files``, ``handover``, ``version``, ``waiting``); README.md has the map. ``public`` has the names
below, which the package itself imports on first access.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from segviz.version import __version__ as __version__

if TYPE_CHECKING:
    from segviz.public import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Returns a public name, or ``__all__``.

    ``segviz.public`` is imported on first access: the command that starts the app, and the server's
    first answer, do not need it. A module of the package is left to the import system.
    """
    special = name.startswith("__") and name != "__all__"
    modules = {module.name for module in iter_modules(__path__)}  # noqa: F405 - of this package
    if not special and name not in modules:
        public = import_module("segviz.public")
        if name in vars(public):
            value = globals()[name] = getattr(public, name)
            return value
    raise AttributeError(f"module 'segviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
