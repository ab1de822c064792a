"""Names of session-state entries and widgets: pages and parts meet by these, not by literals.

An upper-case name is one entry; a function names an entry that belongs to a memory, a system, a
conversation or a node, so that another one begins anew. Streamlit writes a widget's key onto the
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
RETRY = "retry"
THEME = "theme"
CANVAS_CODE = "canvas-code"
SENT = "sent"  # bytes of the parts of canvases that the page has, by name, the last used last
WELCOME = "welcome"  # the introduction on the first page
OPEN_OWN = "open-own"  # whether the dialog of ways to open a conversation is wanted
failure = _of("failure-{}-{}")  # the button for a way on from something that failed


# --- the address: links and the views of session files ---------------------------------
ARRIVING = "arriving"  # the bookmark that is being followed
OPENED = "opened"  # the file whose own view has been taken up
PAGE_WANTED = "page-wanted"
STORY = "story"  # its stops, and the one that is shown
STORY_BAR = "story-bar"
LINK_PROBLEMS = "link-problems"
LINK_PROBLEMS_SHOWN = "link-problems-shown"
DISMISS_LINK = "dismiss-link"
story_button = _of("story-{}")  # goes through a story, adds to it, or ends it


# --- sidebar: which conversation -------------------------------------------------------
SOURCE = "source"
SAMPLE = "sample"
UPLOAD = "upload"
PATH = "path"
PASTE = "paste"
HELD = "held"  # what is shown of a watched conversation
FOLLOWING = "following"  # whether Grow shows what is newest of it
FOLLOW = "follow"
LOOK_BACK = "look-back"
CONVERSATION = "conversation"  # position in the open file
LAST_OPENED = "last"
CORPORA = "corpora"
UPLOADS = "uploads"
REFUSAL = "refusal"
GET_LOCOMO = "get-locomo"
LOCOMO_FAULT = "locomo-fault"
fetch_locomo = _of("fetch-locomo-{}")  # downloads LoCoMo; a button in several places
open_from = _of("open-{}")  # opens a conversation from a sample, an upload, a path or pasted text
date_order = _of("dates-{}")  # in which order dates of a file are read
session_gap = _of("gap-{}")  # after how many silent hours a session of a file begins
columns = _of("columns-{}")  # what the columns of a file were said to hold
column = _of("column-{}-{}")  # which column of a table holds what


OWN_LABELS = "own-labels"  # of a file beside a conversation
own_file = _of("own-{}-{}")  # the file of labels, or vectors, beside a conversation
own_column = _of("own-column-{}")  # which of its columns
OWN_SLICES = "own-slices"
OWN = "own"


# --- sidebar: how its memory is built --------------------------------------------------
UNIT = "unit"
SYSTEM = "system"
BUILT_AS = "built-as"  # how, in a line that opens
TYPED = "typed"  # turns typed after each conversation
CONTINUED = "continued"  # the conversation with them
MEMORIES = "memories"
BUILD = "build"
BUILDING = "building"  # key of the memory that is being built
APPROVED = "approved"  # orders a build with calls was agreed to for
CANCEL = "cancel"
PAUSED = "paused"
WAIVE = "waive"
ESTIMATES = "estimates"  # seconds that builds take
growing = _of("growing-{}")  # a picture of a tree that is being built
# a parameter of a system or, below it, of a component: ``segment-tree.compatibility``
parameter = _of("{}.{}")


# --- sidebar: models and what they cost ------------------------------------------------
MODELS_PANEL = "models-panel"
OPEN_MODELS = "open-models"
PRESET = "preset"
EMBEDS = "embeds"
CLIENTS = "clients"
CACHE_SURE = "cache-sure"
CACHE_CLEAR = "cache-clear"
USAGE = "accounts"  # what every model was asked
PRICES = "prices"
SPENDING_PLACE = "spending-place"
model_field = _of("model-{}-{}")  # a text field about a model server
model_limit = _of("limit-{}-{}")  # a limit on requests to a model server
api_key = _of("api-key-{}")  # the key of one server; it is never sent to another
model_price = _of("price-{}-{}-{}")  # the price of a model's tokens, "in", "out" or "embedded"


# --- what is looked at; ``ui.view_state`` reads and writes it ---------------------------
SELECTED = "selected"  # key of the memory and its selected node
PINS = "pins"
COLOUR = "colour"
LABELS = "labels"
GROW_VIEW = "grow-view"
ASK_VIEW = "ask-view"
ORIGIN = "origin"  # a question of the data set's, or one's own
grow_step = _of("step-{}")  # the step of a memory shown on Grow
own_question = _of("own-{}")  # one's own question to a memory
# position of the chosen question of a conversation, on Ask and Compare
question = _of("question-{}")


# --- how a question is asked; ``ui.settings`` reads and writes it as one record ---------
POLICY = "policy"
ALPHA = "alpha"
HORIZON = "horizon"
RELEVANCE = "relevance"  # None: the usual one
RELEVANCE_SHOWN = "relevance-shown"  # the one in force, in its select box
SCORING = "scoring"  # the row of presets and relevance
SCORING_PRESET = "scoring-preset"
LAST_CUSTOM = "last-custom"  # the last setting that was no preset
K = "k"
LITERAL = "literal"
BY_BUDGET = "by-budget"
BUDGET = "budget"
DRAWN = "drawn"  # drawing and number of the last change in the canvas's header
method = _of("method-{}")  # how memories of a system are asked: propagation or its own retrieval
levels = _of("levels-{}")  # admissible levels of memories with so many levels


def asked_step(memory: str, question: int | None = None) -> str:
    """The step a memory is asked at; one of its own for a question that has a moment."""
    return f"asked-{memory}" if question is None else f"asked-{memory}-{question}"


# --- inspector: the selected node, pinned nodes ----------------------------------------
INSPECT = "inspect"
CLEAR_SELECTION = "clear-selection"
COPY = "copy"
NODE_TEXT = "node-text"
NODE_FACTS = "node-facts"
NODE_LINEAGE = "node-kin"
NODE_NEAREST = "node-nearest"
NODE_HISTORY = "node-history"
NEAREST_SCOPE = "nearest-scope"
VERSIONS = "versions"
LATER_STEP = "later-step"
PIN = "pin"
PINS_PANEL = "pins-panel"
PINS_VIEW = "pins-view"
PINS_WORDS = "pins-words"
PINS_DIFF = "pins-diff"
CLEAR_PINS = "clear-pins"
list_page = _of("page-{}-{}")  # which part of a long list is shown
show_pin = _of("show-pin-{}")  # selects a pinned node
pin_text = _of("pin-text-{}")  # text of a pinned node


# --- operations on a finished memory ---------------------------------------------------
OPERATED = "operated"
OPERATIONS = "operations"
OPERATION = "operation"
OPERATE = "operate"
UNDO_OPERATION = "undo-operation"
# an argument of an operation; another start value (a selected node) begins anew
argument = _of("argument-{}-{}-{}-{}")


# --- the Export menu -------------------------------------------------------------------
EXPORTS = "exports"
EXPORT_MENU = "export-menu"
EXPORT_SWEEP = "export-sweep"
EXPORT_SCALE = "export-scale"
EXPORT_DARK = "export-dark"
NODE_LINK_FILE = "node-link-file"
export = _of("export-{}-{}")  # downloads one file
attempt = _of("{}-attempt")  # the attempt to make a picture that a download button stands for


# --- parts of widgets, named after the widget ------------------------------------------
OUTLINE_WANTED = "outline-wanted"  # nodes whose texts the outline asks for
base_of = _of("base-of-{}")  # what a canvas holds whatever is asked
former_base = _of("{}-former-base")  # the one before, of a canvas whose tree grows
query = _of("{}-query")  # what was searched for in a canvas
whole = _of("whole-{}")  # which of a list's long texts is shown in full
caption = _of("told-{}")  # the sentence below a chart
twin = _of("twin-{}")  # the numbers of a chart as a table; a small button at the end of a line


# --- Grow ------------------------------------------------------------------------------
TRANSPORT = "transport"
PLAY = "play"
PLAYING = "playing"  # key of the memory that is being played
PLAYBACK_TIMER = "playback_timer"
SPEED = "speed"
JUMP = "jump"
TYPING = "typing"
TYPE_TURN = "type-turn"
GROW_TREE = "grow-tree"
GROW_OUTLINE = "grow-outline"
GROW_TRANSCRIPT = "grow-transcript"
GROW_DIFF = "grow-diff"
BESIDE_CANDIDATE = "beside-candidate"
SHAPE_PANEL = "shape-panel"
COST_CHART = "cost-chart"
STRUCTURE_VIEWS = "special-panel"
WINDOWS_CHART = "windows-chart"
FORGETTING_CHART = "forgetting-chart"
FAMILIES_CHART = "families-chart"
GROUPS_CHART = "groups-chart"
CHANGES_CHART = "changes-chart"


def compared_text(new: bool) -> str:
    """Text of the new unit or of a candidate, beside the other."""
    return f"compared-text-{'new' if new else 'candidate'}"


go = _of("go-{}")  # a button that steps through the construction, by its icon


def structure_view(offered: list[str]) -> str:
    """Which of the offered structure views is shown."""
    return f"special-{len(offered)}-{offered[0]}"


fading = _of("fading-{}")  # days after the last unit, for the forgetting curve
relations = _of("relations-{}")  # the node whose relations are drawn
related = _of("related-{}")  # how many nodes with relations are drawn


# --- Ask -------------------------------------------------------------------------------
ASKING = "asking"
ASK_TREE = "ask-tree"
ASK_OUTLINE = "ask-outline"
ASK_TRANSCRIPT = "ask-transcript"
ASK_AS_ON_GROW = "ask-as-on-grow"
FATES = "fates"
FATE_ROWS = "fate-rows"
FATE_TABLE = "fate-table"
HOPS = "hops"
HOPS_CHART = "hops-chart"
STAGES = "stages"
VISITED_CHART = "visited-chart"
ANSWER = "answer"
ANSWERS = "answers"
JUDGE = "judge"
GRADES = "grades"
asked_before = _of("asked-before-{}")  # one's own questions to a memory, newest first
question_box = _of("question-box-{}")  # the box in which a question is typed or picked
stage = _of("stage-{}")  # a stage of a system's own retrieval
stage_all = _of("stage-all-{}")  # whether all nodes of a stage are listed
stage_nodes = _of("stage-nodes-{}")  # the list of a stage's nodes


# --- how Sweep and Compare measure ------------------------------------------------------
SLICE_MAKING = "slice-making"
SLICE_CATEGORY = "slice-category"
SLICE_SESSION = "slice-session"
SLICE_FATE = "slice-fate"
SLICE_WORDS = "slice-words"
SLICE_NAME = "slice-name"
SLICE_KEEP = "slice-keep"
SLICE_REMOVE = "slice-remove"
MEASURED_BY = "measured-by"
ADVERSARIAL = "adversarial"  # whether questions of category 5 count
# named slices of a conversation's questions, and the name of the one in force
slices = _of("slices-{}")
slice_chosen = _of("slice-{}")  # the choice of a slice
slice_rows = _of("slice-rows-{}")  # the questions a slice is made from
atlas_side = _of("{}-{}-{}")  # what of an atlas is compared, "A" or "B"; another focus begins anew


# --- Sweep -----------------------------------------------------------------------------
SWEEP_POLICIES = "sweep-policies"
SWEEP_RELEVANCE = "sweep-relevance"
SWEEP_K = "sweep-k"
RUN_SWEEP = "run-sweep"
CANCEL_SWEEP = "cancel-sweep"
SWEEP_WANTED = "sweep-wanted"
SWEEPS = "sweeps"
SWEEP_CELLS = "sweep-cells"  # measured settings of a sweep that was cut short
SWEEP_CELL = "sweep-cell"  # the clicked setting
JUDGED = "judged"  # sweeps by a measure
LEVELS_POLICY = "levels-policy"
LEVEL_BARS = "level-bars"
CATEGORIES = "categories"
SWEEP_ATLAS = "sweep-atlas"
AS_ON_ASK = "as-on-ask"  # measured with the setting of Ask
TRAFFIC = "traffic"  # what passed through the nodes under a setting
TRAFFIC_PANEL = "traffic-panel"
TRAFFIC_TABLE = "traffic-table"
TRAFFIC_TREE = "traffic-tree"
OPEN_ASK = "open-ask"
SWEPT_OVER = "swept-over"  # propagation or construction
VARIED_SYSTEM = "varied-system"
RUN_VARIED = "run-varied"
CANCEL_VARIED = "cancel-varied"
VARIED = "varied"
VARIED_CHART = "varied-chart"


def varied_parameter(system: str) -> str:
    """The choice of a parameter of a system."""
    return f"varied-parameter-{system}"


def varied_values(system: str, parameter: str) -> str:
    """The values a parameter takes."""
    return f"varied-values-{system}-{parameter}"


heatmap = _of("heat-{}")  # a measure by α and H under a policy


# --- Compare ---------------------------------------------------------------------------
COMPARED_SYSTEMS = "compared-systems"
COMPARE_RELEVANCE = "compare-relevance"
COMPARE_K = "compare-k"
COMPARE_BUDGET = "compare-budget"
BUILD_COMPARED = "build-compared"
COMPARED = "compared"
COMPARE_TURNS = "compare-turns"  # key of the conversation and the selected turns
OVERLAP = "overlap"
ALL_TURNS = "all-turns"
COMPARE_ATLAS = "compare-atlas"
MEASURE = "measure"
STANDINGS = "standings"  # comparisons by a measure
STANDING_PLOT = "standing-plot"
COMPARISONS = "comparisons"
compared_tree = _of("compare-{}")  # the small canvas of a system
compared_evidence = _of("evidence-{}")  # what a system retrieved for the question
# a row of structures; below each other on a narrow page
beside_structures = _of("beside-structures-{}")
# a row of lists of evidence; below each other on a narrow page
beside_evidence = _of("beside-evidence-{}")
departures = _of("twin-{}")  # where a system departs from its source; a small button
stages_of = _of("twin-how-{}")  # the stages of a system's own retrieval; a small button


# --- Guide -----------------------------------------------------------------------------
TOY_POLICY = "toy-policy"
TOY_ALPHA = "toy-alpha"
TOY_HORIZON = "toy-horizon"
TOY_TREE = "toy-tree"
BESIDE_TOY = "beside-wide-toy"
case = _of("case-{}")  # a worked case
about = _of("about-{}")  # a system in its own words
