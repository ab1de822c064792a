"""Shows a memory in a notebook: the exported offline page in a sandboxed frame, or a widget.

The widget needs the package anywidget (extra ``notebook``). Its script runs in the notebook's page,
so that Python hears of clicks; it draws on a canvas and sets foreign text as text alone.
"""

from __future__ import annotations

import base64
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from pathlib import Path
from typing import Any

from segviz import files
from segviz.export import View, view_of
from segviz.export.html import colours_of, html_page
from segviz.export.live import LiveView
from segviz.export.view import view_settings
from segviz.frontend import script, stylesheet
from segviz.frontend.message import pack
from segviz.memory import Memory
from segviz.view.coloring import read_selected, read_setting

_SANDBOX = "allow-scripts allow-downloads allow-modals"
"""Rights of the frame: run the page's script, save a PNG and print. Without allow-same-origin the
page reaches neither the notebook nor the data of the notebook's server."""


_DARK = (
    '[data-jp-theme-light="false"]',  # JupyterLab
    '[data-vscode-theme-kind*="dark"]',
    "html[theme=dark]",  # Colab
    ".dark",  # marimo
    ".quarto-dark",
)
"""Selectors of the elements that mark a dark notebook."""

_STYLE = (
    "<style>.segviz-frame{color-scheme:light}"
    f":is({','.join(_DARK)}) .segviz-frame{{color-scheme:dark}}</style>"
)
"""Theme of the frame: a page inside takes ``prefers-color-scheme`` from its frame."""


@dataclass(frozen=True, eq=False, repr=False)
class Shown:
    """View that a notebook draws when it is the value of a cell.

    ``html`` is the page, which also works as a file (``save``); ``height`` is in pixels.
    """

    view: View
    height: int = 720

    @cached_property
    def html(self) -> str:
        """Page of the view, one file that needs no network (``segviz.export.html``)."""
        return html_page(self.view)

    def save(self, path: str | Path) -> None:
        """Writes the page to a file; OSError if that is impossible."""
        files.write(path, self.html)

    def __repr__(self) -> str:
        memory, result = self.view.memory, self.view.result
        nodes = len(self.view.structure)
        asked = "" if result is None else f", asked {result.question!r:.80}"
        return f"Shown({memory.system} of {memory.conversation.id!r:.80}, {nodes} nodes{asked})"

    def _repr_html_(self) -> str:
        """Returns a sandboxed frame that contains the page, in the notebook's theme."""
        return (
            f'{_STYLE}<iframe class="segviz-frame" title="segviz" sandbox="{_SANDBOX}" '
            f'referrerpolicy="no-referrer" style="width:100%;height:{self.height}px;border:0" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """Returns the frame as HTML, and a line of text for notebooks that cannot draw it."""
        wanted = {"text/html", "text/plain"} if include is None else set(include)
        made = {"text/html": self._repr_html_, "text/plain": self.__repr__}
        return {kind: make() for kind, make in made.items() if kind in wanted - set(exclude or ())}


def show(
    memory: Memory,
    question: str | None = None,
    *,
    number: int | None = None,
    node: int | None = None,
    step: int | None = None,
    height: int = 720,
    **settings: Any,
) -> Shown:
    """Draws a memory, or its answer to a question, in a notebook.

    Nothing is loaded from a network. Markup in texts of the conversation is shown literally.

    Args:
        memory: the memory.
        question: any text; the text of a question of the conversation is drawn with its gold
            evidence. Without a question the tree is drawn.
        number: index of a question of the conversation, instead of ``question``.
        node: node to select.
        step: number of steps after which the memory is shown; None for all.
        height: height of the frame in pixels, at least 100.
        settings: settings of :func:`segviz.ask`.

    Returns:
        An object that the notebook draws.

    Raises:
        ValueError: a number or node is unknown, a setting is illegal, or there are settings without
            a question.
    """
    if isinstance(height, bool) or not isinstance(height, int) or height < 100:
        raise ValueError(f"height is {height!r}; it must be a whole number of at least 100 pixels")
    view = view_of(memory, question, number=number, node=node, step=step, **settings)
    return Shown(view, height)


def widget(
    memory: Memory,
    question: str | None = None,
    *,
    number: int | None = None,
    node: int | None = None,
    **settings: Any,
) -> Any:
    """Draws a memory, or its answer to a question, as a widget that Python can read.

    Args:
        memory: the memory.
        question: any text; None draws the tree alone.
        number: index of a question of the conversation, instead of ``question``.
        node: node to select.
        settings: settings of :func:`segviz.ask`; without a question ``step``, the number of steps
            after which the memory is shown, and ``literal``.

    Returns:
        A widget. ``widget.view`` is the :class:`segviz.export.live.LiveView` it shows: ``node`` is
        the selected node, ``settings`` the setting of policy, α and H, ``view.result`` the answer.

    Raises:
        ValueError: as in :func:`show`.
        ImportError: anywidget is not installed.
    """
    asked = question is not None or number is not None
    given = view_settings(memory, None, settings, asked)
    return _widget_class()(LiveView(memory, question, number, given, node))


# anywidget calls ``render``; the canvas is the script that the app and the exported page use.
_RENDER = """
import draw from "data:text/javascript;base64,CANVAS";

export default {
  render({ model, el }) {
    el.classList.add("segviz-widget");
    const host = document.createElement("div");
    host.style.height = model.get("height");
    const shadow = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(model.get("style"));
    shadow.adoptedStyleSheets = [sheet];
    el.append(host);
    const paint = () => {
      const { buffer, byteOffset, byteLength } = model.get("message");
      const data = new Uint8Array(buffer, byteOffset, byteLength);
      const setTriggerValue = (name, value) => model.send({ name, value });
      draw({ data, parentElement: shadow, setTriggerValue });
    };
    model.on("change:message", paint);
    paint();
  },
};
"""


@cache
def _widget_class() -> Any:
    """Returns the class of widgets; anywidget is imported on the first call."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise ImportError(
            "segviz.widget needs the package anywidget; install segviz with the extra 'notebook'"
        ) from None

    code = base64.b64encode(script("canvas").encode()).decode()
    dark = f":is({','.join(_DARK)}) .segviz-widget"

    class Widget(anywidget.AnyWidget):
        """Canvas of a view in a notebook; ``view`` follows clicks and sliders."""

        _esm = _RENDER.replace("CANVAS", code)
        _css = colours_of("light", ".segviz-widget") + colours_of("dark", dark)
        message = traitlets.Bytes().tag(sync=True)
        style = traitlets.Unicode(stylesheet("canvas")).tag(sync=True)
        height = traitlets.Unicode().tag(sync=True)
        view = traitlets.Any()
        _clicks = 0

        def __init__(self, view: LiveView) -> None:
            high = f"{view.height}px" if view.height else "auto"
            super().__init__(view=view, message=pack(view.payload), height=high)
            self.on_msg(lambda _, sent, __: self._hear(sent))

        def _hear(self, sent: Any) -> None:
            """Takes what the canvas sent, which may be anything, and draws the view after it."""
            name, value = (sent.get(one) for one in ("name", "value"))
            live = read_setting(value) if name == "setting" else None
            clicked = read_selected(value) if name == "selected" else None
            if clicked:
                self.view = self.view.selecting(clicked[0])
                self._clicks = clicked[1]
            elif live is not None:
                self.view = self.view.setting(live)
            else:
                return
            self.message = pack({**self.view.payload, "clicks": self._clicks})

    return Widget
