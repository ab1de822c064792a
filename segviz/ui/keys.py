"""Names of session-state entries and widgets that several modules use.

A function names an entry that belongs to a memory, a system or a file, so that another one begins
anew. Streamlit writes a widget's key onto the page as the class ``st-key-…``, by which
``widgets.style``, browser tests and the frontend find it.
"""

from __future__ import annotations

from collections.abc import Callable


def _of(pattern: str) -> Callable[..., str]:
    """Returns a function that formats a key from its owners."""

    def name(*parts: object) -> str:
        return pattern.format(*parts)

    return name


PAGES = "pages"  # st.Page of each page, by its path
PAGE_WANTED = "page-wanted"  # path of the page that something but the navigation leads to

# --- sidebar: which conversation, and how its memory is built --------------------------
SOURCE = "source"
SAMPLE = "sample"
PATH = "path"
HELD = "held"  # what is shown of a watched conversation
FOLLOWING = "following"  # whether Grow shows what is newest of it
FOLLOW = "follow"
LOOK_BACK = "look-back"
OWN_LABELS = "own-labels"  # of a file beside a conversation
own_column = _of("own-column-{}")  # which of its columns
UNIT = "unit"
SYSTEM = "system"
MEMORIES = "memories"
BUILDING = "building"  # key of the memory that is being built
PAUSED = "paused"
# a parameter of a system or, below it, of a component: ``segment-tree.compatibility``
parameter = _of("{}.{}")

# --- sidebar: models and what they cost ------------------------------------------------
MODEL_SERVER = "preset"
MODELS_PANEL = "models-panel"
OPEN_MODELS = "open-models"
MODELS_UNUSED = "models-unused"  # where the panel says that nothing uses the model
SERVER_REPORT = "server-report"  # what the last test of a server found, by address and model
CACHE_SURE = "cache-sure"
USAGE = "accounts"  # what every model was asked
PRICES = "prices"
SPENDING_PLACE = "spending-place"

# --- what is looked at and asked -------------------------------------------------------
grow_step = _of("step-{}")  # the step of a memory shown on Grow
PLAYING = "playing"  # key of the memory that is being played
SPEED = "speed"
RESCUED = "rescued"  # conversation and question that Ask has opened on, where nobody chose it
SETTINGS = "settings"  # how a question is asked, and of which system and memory that was said
DRAWN = "drawn"  # drawing and number of the last change in the canvas's header
ANSWER = "ask-answer"  # the part of Ask that is drawn again by itself
SWEEP_CELL = "sweep-cell"  # the clicked setting
