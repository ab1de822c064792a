"""What runs in the browser, a small npm package, and what Python sends it.

``src/`` holds the sources (canvas, outline, lists, exported page, playback timer), ``test/``
their tests for node, ``dist/`` what esbuild makes of them, one ES module per part and the style
sheets, kept in the repository so that segviz installs without node; ``npm run build``, ``check``,
``lint`` and ``test`` are explained in ``package.json``. ``message`` lays out what travels,
``payload`` and ``outline`` say what that is for a Structure, ``search`` answers the canvas. Nothing
here imports Streamlit; the components are mounted by ``segviz.ui.widgets``.
"""

from importlib.resources import files


def script(name: str) -> str:
    """The ES module of a part; its default export mounts it."""
    return files(__name__).joinpath("dist", f"{name}.js").read_text(encoding="utf-8")


def stylesheet(name: str) -> str:
    """A style sheet; several parts may share one."""
    return files(__name__).joinpath("dist", f"{name}.css").read_text(encoding="utf-8")
