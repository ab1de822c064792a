"""Names of session-state entries and widgets: pages and parts meet by these, not by literals.

An upper-case name is one entry; a function names an entry that belongs to a memory, a system, a
conversation or a node, so that another one begins anew. Streamlit writes a widget's key onto the
page as the class ``st-key-…``, by which ``widgets.style``, browser tests and the frontend find it.
"""

from __future__ import annotations

# --- the app ---------------------------------------------------------------------------
PAGES = "pages"  # st.Page of each page, by its path
RETRY = "retry"
THEME = "theme"
WELCOME = "welcome"  # the introduction on the first page
OPEN_OWN = "open-own"  # whether the dialog of ways to open a conversation is wanted


def failure(way: str, number: int) -> str:
    """The button for a way on from something that failed."""
    return f"failure-{way}-{number}"


# --- the address: links and the views of session files ---------------------------------
ARRIVING = "arriving"  # the bookmark that is being followed
OPENED = "opened"  # the file whose own view has been taken up
PAGE_WANTED = "page-wanted"
LINK_PROBLEMS = "link-problems"
LINK_PROBLEMS_SHOWN = "link-problems-shown"
DISMISS_LINK = "dismiss-link"

# --- sidebar: which conversation -------------------------------------------------------
SOURCE = "source"
SAMPLE = "sample"
UPLOAD = "upload"
PATH = "path"
PASTE = "paste"
CONVERSATION = "conversation"  # position in the open file
LAST_OPENED = "last"
CORPORA = "corpora"
UPLOADS = "uploads"
REFUSAL = "refusal"
GET_LOCOMO = "get-locomo"
LOCOMO_FAULT = "locomo-fault"


def fetch_locomo(place: str) -> str:
    """Downloads LoCoMo; a button in several places."""
    return f"fetch-locomo-{place}"


def open_from(source: str) -> str:
    """Opens a conversation from a sample, an upload, a path or pasted text."""
    return f"open-{source}"


def date_order(file: str) -> str:
    """In which order dates of a file are read."""
    return f"dates-{file}"


def session_gap(file: str) -> str:
    """After how many silent hours a session of a file begins."""
    return f"gap-{file}"


def column(file: str, meaning: str) -> str:
    """Which column of a table holds what."""
    return f"column-{file}-{meaning}"


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


def growing(number: int) -> str:
    """A picture of a tree that is being built."""
    return f"growing-{number}"


def parameter(owner: str, name: str) -> str:
    """A parameter of a system or, below it, of a component: ``segment-tree.compatibility``."""
    return f"{owner}.{name}"


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


def model_field(name: str, preset: str) -> str:
    """A text field about a model server."""
    return f"model-{name}-{preset}"


def model_limit(name: str, preset: str) -> str:
    """A limit on requests to a model server."""
    return f"limit-{name}-{preset}"


def api_key(server: str) -> str:
    """The key of one server; it is never sent to another."""
    return f"api-key-{server}"


def model_price(server: str, model: str, side: str) -> str:
    """The price of a model's tokens, "in", "out" or "embedded"."""
    return f"price-{server}-{model}-{side}"


# --- what is looked at; ``ui.view_state`` reads and writes it ---------------------------
SELECTED = "selected"  # key of the memory and its selected node
PINS = "pins"
COLOUR = "colour"
LABELS = "labels"
GROW_VIEW = "grow-view"
ASK_VIEW = "ask-view"
ORIGIN = "origin"  # a question of the data set's, or one's own


def grow_step(memory: str) -> str:
    """The step of a memory shown on Grow."""
    return f"step-{memory}"


def own_question(memory: str) -> str:
    """One's own question to a memory."""
    return f"own-{memory}"


def question(source: str) -> str:
    """Position of the chosen question of a conversation, on Ask and Compare."""
    return f"question-{source}"


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


def method(system: str) -> str:
    """How memories of a system are asked: propagation or its own retrieval."""
    return f"method-{system}"


def levels(count: int) -> str:
    """Admissible levels of memories with so many levels."""
    return f"levels-{count}"


def asked_step(memory: str, question: int | None = None) -> str:
    """The step a memory is asked at; one of its own for a question that has a moment."""
    return f"asked-{memory}" if question is None else f"asked-{memory}-{question}"


# --- inspector: the selected node, pinned nodes ----------------------------------------
INSPECT = "inspect"
CLEAR_SELECTION = "clear-selection"
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


def list_page(what: str, about: str) -> str:
    """Which part of a long list is shown."""
    return f"page-{what}-{about}"


def show_pin(node: int) -> str:
    """Selects a pinned node."""
    return f"show-pin-{node}"


def pin_text(node: int) -> str:
    """Text of a pinned node."""
    return f"pin-text-{node}"


# --- operations on a finished memory ---------------------------------------------------
OPERATED = "operated"
OPERATIONS = "operations"
OPERATION = "operation"
OPERATE = "operate"
UNDO_OPERATION = "undo-operation"
JOIN = "join"
TAKE_IN = "take-in"


def argument(memory: str, operation: str, name: str, start: int) -> str:
    """An argument of an operation; another start value (a selected node) begins anew."""
    return f"argument-{memory}-{operation}-{name}-{start}"


# --- the Export menu -------------------------------------------------------------------
EXPORTS = "exports"
EXPORT_MENU = "export-menu"
EXPORT_SWEEP = "export-sweep"
EXPORT_SCALE = "export-scale"
EXPORT_DARK = "export-dark"
NODE_LINK_FILE = "node-link-file"


def export(part: str, ending: str) -> str:
    """Downloads one file."""
    return f"export-{part}-{ending}"


def attempt(download: str) -> str:
    """The attempt to make a picture that a download button stands for."""
    return f"{download}-attempt"


# --- parts of widgets, named after the widget ------------------------------------------
OUTLINE_WANTED = "outline-wanted"  # nodes whose texts the outline asks for


def query(canvas: str) -> str:
    """What was searched for in a canvas."""
    return f"{canvas}-query"


def whole(component: str) -> str:
    """Which of a list's long texts is shown in full."""
    return f"whole-{component}"


def caption(chart: str) -> str:
    """The sentence below a chart."""
    return f"told-{chart}"


def twin(chart: str) -> str:
    """The numbers of a chart as a table; a small button at the end of a line."""
    return f"twin-{chart}"


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


def go(icon: str) -> str:
    """A button that steps through the construction, by its icon."""
    return f"go-{icon}"


def structure_view(offered: list[str]) -> str:
    """Which of the offered structure views is shown."""
    return f"special-{len(offered)}-{offered[0]}"


def fading(memory: str) -> str:
    """Days after the last unit, for the forgetting curve."""
    return f"fading-{memory}"


def relations(memory: str) -> str:
    """The node whose relations are drawn."""
    return f"relations-{memory}"


def related(most: int) -> str:
    """How many nodes with relations are drawn."""
    return f"related-{most}"


# --- Ask -------------------------------------------------------------------------------
ASKING = "asking"
ASK_TREE = "ask-tree"
ASK_OUTLINE = "ask-outline"
ASK_TRANSCRIPT = "ask-transcript"
FATES = "fates"
FATE_ROWS = "fate-rows"
FATE_TABLE = "fate-table"
HOPS = "hops"
STAGES = "stages"
VISITED_CHART = "visited-chart"
ANSWER = "answer"
ANSWERS = "answers"
JUDGE = "judge"
GRADES = "grades"


def question_box(memory: str) -> str:
    """The box in which a question is typed or picked."""
    return f"question-box-{memory}"


def stage(number: int) -> str:
    """A stage of a system's own retrieval."""
    return f"stage-{number}"


def stage_all(number: int) -> str:
    """Whether all nodes of a stage are listed."""
    return f"stage-all-{number}"


def stage_nodes(number: int) -> str:
    """The list of a stage's nodes."""
    return f"stage-nodes-{number}"


# --- how Sweep and Compare measure ------------------------------------------------------
MEASURED_BY = "measured-by"
ADVERSARIAL = "adversarial"  # whether questions of category 5 count


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


PERMUTE = "permute"
PERMUTE_SYSTEMS = "permute-systems"
PERMUTE_SHARE = "permute-share"
PERMUTE_SEEDS = "permute-seeds"
RUN_PERMUTE = "run-permute"
CANCEL_PERMUTE = "cancel-permute"
PERMUTATIONS = "permutations"


def heatmap(policy: str) -> str:
    """A measure by α and H under a policy."""
    return f"heat-{policy}"


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
PUBLISHED = "published"
PUBLISHED_ROWS = "published-rows"


def compared_tree(system: str) -> str:
    """The small canvas of a system."""
    return f"compare-{system}"


def compared_evidence(system: str) -> str:
    """What a system retrieved for the question."""
    return f"evidence-{system}"


def beside_structures(first: int) -> str:
    """A row of structures; below each other on a narrow page."""
    return f"beside-structures-{first}"


def beside_evidence(first: int) -> str:
    """A row of lists of evidence; below each other on a narrow page."""
    return f"beside-evidence-{first}"


def departures(system: str) -> str:
    """Where a system departs from its source; a small button."""
    return f"twin-{system}"


def stages_of(system: str) -> str:
    """The stages of a system's own retrieval; a small button."""
    return f"twin-how-{system}"


# --- Guide -----------------------------------------------------------------------------
TOY_POLICY = "toy-policy"
TOY_ALPHA = "toy-alpha"
TOY_HORIZON = "toy-horizon"
TOY_TREE = "toy-tree"
TOY_MATRIX = "toy-matrix"
BESIDE_TOY = "beside-wide-toy"


def case(name: str) -> str:
    """A worked case."""
    return f"case-{name}"


def about(system: str) -> str:
    """A system in its own words."""
    return f"about-{system}"
