"""Keys of session-state entries and widgets that several modules use.

A function formats the key of an entry that belongs to a memory, a system or a file, so that each
has its own entry. Streamlit writes a widget's key into the page as the class ``st-key-…``;
``widgets.style``, browser tests and the frontend select by it.
"""

from __future__ import annotations

PAGES = "pages"  # st.Page of each page, by its path
PAGE_OPEN = "page-open"  # path of the page that is shown
PAGE_WANTED = "page-wanted"  # path of the page to switch to after this run

# --- sidebar: which conversation, and how its memory is built --------------------------
SOURCE = "source"
SAMPLE = "sample"
MEMORY_PANEL = "memory-panel"  # what the sidebar folds into one line
DROPPED = "dropped"  # the upload zone that covers the page
PATH = "path"
HELD = "held"  # the shown state of a watched conversation
FOLLOWING = "following"  # True while Grow shows its newest state
FOLLOW = "follow"
LOOK_BACK = "look-back"
UNIT = "unit"
TEXTS = "texts"
SYSTEM = "system"
MEMORIES = "memories"
BUILDING = "building"  # key of the memory that is being built
PAUSED = "paused"
# a parameter of a system or, below it, of a component: ``segment-tree.compatibility``
parameter = "{}.{}".format

# --- sidebar: models and what they cost ------------------------------------------------
MODEL_SERVER = "preset"
MODELS_PANEL = "models-panel"
OPEN_MODELS = "open-models"
TEXT_REPLIES = "text-replies"  # texts written elsewhere, by conversation and unit rule
TEXT_UPLOAD = "text-upload"
MODELS_UNUSED = "models-unused"  # slot for the note that nothing uses the model
SERVER_REPORT = "server-report"  # result of the last test of a server, by address and model
CACHE_SURE = "cache-sure"
USAGE = "accounts"  # calls and tokens of every model
SPENDING_PLACE = "spending-place"

# --- the view and the question ---------------------------------------------------------
PLAYING = "playing"  # key of the memory that is being played
SPEED = "speed"
RESCUED = "rescued"  # conversation and question that Ask chose itself
SETTINGS = "settings"  # system, memory and retrieval settings
COMPARED_BY = "compared-by"  # relevance and K with which Compare asked a question last
BESIDE = "second"  # scoring, step or build of the second tree
BUILDS = "builds"  # what a second tree may show, by the units of the memory
drawn = "drawn-{}".format  # drawing and number of the last change in a canvas's header
ANSWER = "ask-answer"  # the part of Ask that reruns alone
SWEEP_CELL = "sweep-cell"  # the clicked setting
