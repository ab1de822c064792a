"""Browser parts, a small npm package, and the messages Python sends to them.

``src/`` holds the sources (canvas, outline, lists, exported page, playback timer), ``test/`` their
tests for node. ``dist/`` is the output of esbuild, an ES module per part and the style sheets; it
is in the repository so that segviz installs without node. ``package.json`` explains
``npm run build``, ``check``, ``lint`` and ``test``. ``message`` defines the encoding, ``payload``
and ``outline`` the content for a Structure, ``search`` answers the canvas. Nothing here imports
Streamlit; ``segviz.ui.widgets`` mounts the components.
"""

from importlib.resources import files


def script(name: str) -> str:
    """Returns the ES module of a part; its default export mounts it."""
    return files(__name__).joinpath("dist", f"{name}.js").read_text(encoding="utf-8")


def stylesheet(name: str) -> str:
    """Returns a style sheet; several parts may share one."""
    return files(__name__).joinpath("dist", f"{name}.css").read_text(encoding="utf-8")
