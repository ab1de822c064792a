"""Names of session-state entries and widgets that more than one place uses.

A name that one place uses stands there. An upper-case name is one entry; a function names an entry
that belongs to a memory, a system, a conversation or a node, so that another one begins anew.
Streamlit writes a widget's key onto the
page as the class ``st-key-…``, by which ``widgets.style``, browser tests and the frontend find it.
"""

from __future__ import annotations

from collections.abc import Callable


def _of(pattern: str) -> Callable[..., str]:
    """The names of one kind, with what they belong to in the places of the pattern."""

    def name(*parts: object) -> str:
        return pattern.format(*parts)

    return name


# --- the app ---------------------------------------------------------------------------
PAGES = "pages"  # st.Page of each page, by its path
SENT = "sent"  # bytes of the parts of canvases that the page has, by name, the last used last
OPEN_OWN = "open-own"  # whether the dialog of ways to open a conversation is wanted
failure = _of("failure-{}-{}")  # the button for a way on from something that failed

# --- the address: links and the views of session files ---------------------------------
ARRIVING = "arriving"  # the bookmark that is being followed
OPENED = "opened"  # the file whose own view has been taken up
PAGE_WANTED = "page-wanted"
TOUR = "tour-shown"  # key of a memory, stops at views of it, and the number of the one shown
LINK_PROBLEMS = "link-problems"

# --- sidebar: which conversation -------------------------------------------------------
SOURCE = "source"
SAMPLE = "sample"
PATH = "path"
HELD = "held"  # what is shown of a watched conversation
FOLLOWING = "following"  # whether Grow shows what is newest of it
FOLLOW = "follow"
LOOK_BACK = "look-back"
CONVERSATION = "conversation"  # position in the open file
LAST_OPENED = "last"
CORPORA = "corpora"
LOCOMO_FAULT = "locomo-fault"
date_order = _of("dates-{}")  # in which order dates of a file are read
session_gap = _of("gap-{}")  # after how many silent hours a session of a file begins
columns = _of("columns-{}")  # what the columns of a file were said to hold
column = _of("column-{}-{}")  # which column of a table holds what

OWN_LABELS = "own-labels"  # of a file beside a conversation
own_column = _of("own-column-{}")  # which of its columns
OWN = "own"

# --- sidebar: how its memory is built --------------------------------------------------
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
CACHE_SURE = "cache-sure"
USAGE = "accounts"  # what every model was asked
PRICES = "prices"
SPENDING_PLACE = "spending-place"

# --- what is looked at and asked -------------------------------------------------------
SELECTED = "selected"  # key of the memory and its selected node
LOOK = "look"  # colours and labels of trees
VIEW = "view"  # the drawing on Grow and Ask
grow_step = _of("step-{}")  # the step of a memory shown on Grow
# position of the data set's question that is asked of a conversation, and one's own question
question = _of("question-{}")
RESCUED = "rescued"  # conversation and question that Ask has opened on, where nobody chose it
SETTINGS = "settings"  # how a question is asked, and of which system and memory that was said
LAST_CUSTOM = "last-custom"  # the last setting that was no preset
DRAWN = "drawn"  # drawing and number of the last change in the canvas's header


# --- inspector: the selected node, pinned nodes ----------------------------------------
LATER_STEP = "later-step"

# --- the Export menu -------------------------------------------------------------------
EXPORT_SCALE = "export-scale"
EXPORT_DARK = "export-dark"

# --- parts of widgets, named after the widget ------------------------------------------
OUTLINE_WANTED = "outline-wanted"  # nodes whose texts the outline asks for
former_base = _of("{}-former-base")  # the one before, of a canvas whose tree grows
whole = _of("whole-{}")  # which of a list's long texts is shown in full

# --- Grow ------------------------------------------------------------------------------
PLAYING = "playing"  # key of the memory that is being played
SPEED = "speed"
GROW_TRANSCRIPT = "grow-transcript"

# --- Ask -------------------------------------------------------------------------------
ASK_TRANSCRIPT = "ask-transcript"
ANSWER = "ask-answer"  # the parts of Ask that are drawn again by themselves
ASKING = "ask-question"
FATE_TABLE = "fate-table"
ANSWERS = "answers"
GRADES = "grades"

# --- Sweep -----------------------------------------------------------------------------
SWEEP_WANTED = "sweep-wanted"
SWEEPS = "sweeps"
SWEEP_CELL = "sweep-cell"  # the clicked setting
TRAFFIC_TABLE = "traffic-table"
VARIED = "varied"

heatmap = _of("heat-{}")  # a measure by α and H under a policy

# --- Compare ---------------------------------------------------------------------------
COMPARED = "compared"
compare_turns = _of("compare-turns-{}")  # positions of the selected turns of a conversation
COMPARISONS = "comparisons"
