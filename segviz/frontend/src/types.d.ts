// The nouns of the front end. Ambient: every script knows them.

// --- what Streamlit calls ----------------------------------------------------------------

/** A component (v2): called on every change of its data, with the same parent. */
interface Mount<Data> {
  data: Data;
  parentElement: Holder;
  setTriggerValue: (name: string, value: unknown) => void;
  setStateValue?: (name: string, value: unknown) => void;
}

/** What a tab knows of its address. */
interface Address {
  /** The session of the server that writes it. */
  visit: string;
  /** Number of the last address written. */
  written: number;
  /** How often Back or Forward has led elsewhere on a page. */
  went: number;
  page: string;
  search: string;
  index: number;
  tell: (at: number) => void;
}

/** Units [start, stop) of the conversation. */
type Span = [start: number, stop: number];
type Ids = number[] | Int32Array;
/** Where a component keeps its state between calls. */
type Holder = (HTMLElement | ShadowRoot) & { [state: string]: any };
type Timer = ReturnType<typeof setTimeout> | 0;
type Ctx = CanvasRenderingContext2D;

// --- what Python sends to the canvas (payload.py) ------------------------------------------

interface Look {
  colour: string;
  labels: string;
  /** "clock", or "" for the axis by order. */
  axis: string;
}

/** What the header sets. */
interface LiveSetting {
  policy: string;
  alpha: number;
  horizon: number;
  drawing: string;
}

/** The setting behind Python's scores, and what else decides what is retrieved (look.py). */
interface Live extends LiveSetting, Retrieval {
  sequence: number;
  alpha_max: number;
  alpha_step: number;
  horizon_max: number;
}

interface Retrieval {
  k: number;
  levels: number[] | null;
  budget: number | null;
  deduplicate: boolean;
}

/** A node that a step was compared with, and how it fared. Of a same-text chain two levels may
 *  have been. */
interface Candidate {
  node: number;
  taken: boolean;
  level: number;
  label: string;
  score: number | null;
  threshold: number | null;
  numbers: string; // both, as they are shown
}

/** A column of scores, or none. */
type Weights = Float64Array | Float32Array;

interface Columns {
  level: Int32Array;
  start: Int32Array;
  stop: Int32Array;
  parent: Int32Array;
  edges: Int32Array;
  /** Highest level of a node's same-text chain. */
  top: Int32Array;
  tokens: Int32Array;
  unit_session: Int32Array;
  /** Place in `days` of every unit; -1 for none. */
  unit_day: Int32Array;
  /** Room before every unit by clock, in widths of a unit; empty without times. */
  waits: Float32Array;
  initial: Float32Array;
  /** Python's, or the browser's own while a control moves. */
  final: Weights;
  origin: Int32Array;
  top_initial: Int32Array;
  top_final: Int32Array;
  /** Ranks of these where repeated texts are skipped; else they are places in the list. */
  places_initial: Int32Array;
  places_final: Ids;
  /** The first node with a node's text, and pairs of such: a node, an ancestor that quotes it. */
  same_text: Int32Array;
  quoted: Int32Array;
  gold: Int32Array;
  /** 1 for the leaves of units that the memory does not hold; empty where it holds all. */
  ghost: Int32Array;
}

/** A number in 0 to 1 of every node, which nodes can be coloured by. */
interface Measure {
  name: string;
  meaning: string;
  unit: string;
}

interface Message extends Columns {
  /** What those that the browser knows are called. */
  policies: Record<string, string>;
  identity: string;
  mode: "grow" | "scores";
  score_names: [string, string];
  step: number | null;
  nodes: number;
  total_units: number;
  levels_total: number;
  session_labels: string[];
  days: string[];
  /** How long the waits were that are drawn shorter, by unit. */
  shortened: Record<string, string>;
  session_titles: string[];
  session_colours: string[];
  ramps: Record<"light" | "dark", Record<"score" | "change" | "measure", string[]>>;
  level_colours: string[];
  level_share: number;
  gold_colours: Record<"light" | "dark", Record<string, string>>;
  measures: Measure[];
  /** A column for each of the measures. */
  [column: `measure:${string}`]: Float32Array;
  /** The gold turns of each gold leaf, how many were asked for, and how many of these come later
   *  than the memory. */
  gold_turns: Record<string, string[]>;
  gold_asked: number;
  gold_later: number;
  /** Of the gold turns of a node those for which it only states the answer. */
  gold_answers: Record<string, string[]>;
  /** Of the gold turns of a node, under a budget: how many tokens of its text quote the turn, and how
   *  many answer it. */
  gold_needs: Record<string, Record<string, [quoting: number, answering: number]>>;
  /** Tokens that are read; null where K nodes are. */
  budget: number | null;
  level_names: string[];
  /** Of texts of what is listed: what follows where the label is cut. */
  texts: Record<string, string>;
  /** Of the same: the words that match the question, with their cosine. */
  matches: Record<string, Record<string, number>>;
  /** Of the same: the words that are also of the question's known answer. */
  answering: Record<string, string[]>;
  /** Ranks before of nodes that entered, after of those that left; null as `words`. */
  ranks: Record<string, number> | null;
  /** Words of all that was retrieved; null where Python has not counted. */
  words: number | null;
  /** The shares of the ingredients in the own score of the node selected when Python answered. */
  ingredients: [string, number][];
  /** Without the tree, which another view draws. */
  bare: boolean;
  stage_height: number | null;
  /** Units that the memory knows, if a person can change that. */
  now: number | null;
  look: Look;
  /** One colour for each meaning. */
  meanings: Record<"light" | "dark", Record<"gold" | "enters" | "leaves" | "better" | "worse" | "chosen" | "control", string>>;
  frontier: number[];
  added: number[];
  differs: number[];
  /** Nodes that the store calls untrue: since when, and what replaced them. */
  ended: Record<string, string>;
  revised: number[];
  candidates: Candidate[];
  outcome: { text: string; level: number } | null;
  gutter: boolean;
  selected: number | null;
  /** The last click that was heard, where Python counts them. */
  clicks?: number;
  root_scale: boolean;
  legend: boolean;
  live: Live | null;
  labels: string[];
  names: string[];
  height?: string;
  summary: string;
  found?: Found | null;
  /** Python also finds the nodes most relevant to a query. */
  by_meaning?: boolean;
  axis_units?: number[];
}

/** Python's answer to a query (found.py). */
interface Found {
  /** "words" or "meaning". */
  by: string;
  query: string;
  nodes: number[];
  excerpts: Record<string, string>;
}

// --- parts of the canvas -------------------------------------------------------------------

/** The visible range of units. */
interface View {
  x0: number;
  x1: number;
}

type Tree = ReturnType<typeof import("./canvas/rows.js").buildTree>;
/** Edges of every unit on the axis by clock. */
interface Axis {
  left: Float64Array;
  right: Float64Array;
}
type Links = Map<number, number[]>;

/** "grow", "scores" (mirrored) or "change". */
type Picture = string;

type Geometry = ReturnType<typeof import("./canvas/geometry.js").geometry>;

/** A vertical place. */
interface Extent {
  y: number;
  h: number;
}
interface Rect extends Extent {
  x: number;
  w: number;
}

type Boxes = ReturnType<typeof import("./canvas/boxes.js").visibleBoxes>;

type Segment = [left: number, right: number, colour: string];

type Theme = ReturnType<typeof import("./canvas/theme.js").readTheme>;

/** One class of colours: a session, a level, a fate of gold, a step of a measure. */
interface ColourClass {
  key: number | string;
  name: string;
  title: string;
  colours: string[];
  pattern: string | null;
  count: number;
}
type ColourClasses = NonNullable<ReturnType<typeof import("./canvas/classes.js").colourClasses>>;
interface Isolated {
  kind: string;
  key: number | string;
}

/** [kind, words, sign] of a mark in the legend. */
type Mark = [kind: string, words: string, sign?: string];
type TipLine = [kind: string, text: string];
/** A colour or label that may be on offer. */
type Offer = [choice: string, name: string, meaning: string, offered?: boolean];

/** Where descendants of a node lie in one row. */
interface Run {
  row: number;
  level: number;
  start: number;
  stop: number;
}

type Settings = ReturnType<typeof import("./canvas/settings.js").createSettings>;
/** What policies need of a tree. */
type Edged = Pick<Columns, "edges" | "level" | "start">;
type Propagator = (policy: string, alpha: number, horizon: number) => Weights;

type Search = ReturnType<typeof import("./canvas/search.js").createSearch>;

// --- the state of the canvas, by its parts ---------------------------------------------------

interface State {
  scene: Scene;
  sight: Sight;
  attention: Attention;
  search: Search;
  settings: Settings;
  frames: Frames;
  path: ReturnType<typeof import("./canvas/path_chart.js").buildPath>;
  flow: ReturnType<typeof import("./canvas/explanation.js").buildReasons>;
  elements: Elements;
  calls: number;
  /** Tells Python that something of this name has become this. */
  tell: Mount<unknown>["setTriggerValue"];
}

/** What Python sent, what it is coloured by, and what follows from both. */
interface Scene {
  data: Message;
  tree: Tree;
  axis: Axis | null;
  runs: ReturnType<typeof import("./canvas/rows.js").sessionRuns>;
  days: ReturnType<typeof import("./canvas/rows.js").sessionRuns>;
  /** Which run a unit is in. */
  runOf: Int32Array;
  marks: Float32Array;
  theme: Theme;
  picture: Picture;
  look: ReturnType<typeof import("./canvas/colour_menu.js").createLook>;
  isolated: Isolated | null;
  /** The shade of each half. */
  shades: string[];
  /** The highest score. */
  most: number;
  /** Colours of sessions by level and session. */
  tints: Map<number, string>;
  answer: Answer | null;
}

type Answer = ReturnType<typeof import("./canvas/answer.js").answerOf>;
/** The gold turns by what became of them. */
type Fates = Record<"found" | "quoted" | "answered" | "missed", string[]>;
/** Of an answer what its verdict says. */
type Judged = Pick<Answer, "entered" | "left" | "after" | "moved" | "gold" | "was" | "is" | "held">;

/** Ranks and retrieved nodes at every value of α or H (path.js). */
interface Path {
  over: "alpha" | "horizon";
  values: number[];
  tops: Int32Array[];
  nodes: number[];
  ranks: Int32Array[];
}

/** A rank that is written on the tree (rank_marks.js), and where. */
interface RankMark {
  node: number;
  rank: number;
  inside: boolean;
  kind: "gold" | "enters" | "leaves" | "same" | "alone";
}
interface PlacedMark {
  mark: RankMark;
  rect: Rect;
  x: number;
  y: number;
  /** It has no number. */
  dot: boolean;
}

type Incoming = ReturnType<typeof import("./canvas/flow.js").incomingOf>;
type Flow = ReturnType<typeof import("./canvas/flow.js").flowOf>;

/** What part of it is seen, and where it lies on the canvas. */
interface Sight {
  view: View;
  geom: Geometry;
  boxes: Boxes[];
  candidates?: { node: number | null; y: number }[]; // the lines beside the tree
  written: Rect[]; // the words on the axis
  marks: Map<number, PlacedMark>[]; // of the retrieved nodes of each half
  diamonds: { node: number, x: number, y: number }[]; // of the gold leaves
  labels: Written[][]; // the words on the boxes of each half
  taller: boolean; // than the page gives
}

/** A text in lines, how many of its words stand there whole, and whether all do. */
interface Wrapped {
  lines: string[];
  words: number;
  whole: boolean;
}
interface Placed extends Wrapped {
  turned: boolean;
}
/** What is written on a box. */
interface Written {
  node: number;
  lines: string[];
  turned: boolean;
}

type Reports = ReturnType<typeof import("./shared/component.js").createReports>;
interface Selecting {
  attention: Pick<Attention, "selected" | "sentByPython" | "clicks">;
  tell: Mount<unknown>["setTriggerValue"];
}

/** What a person is at, here and in other views of the same memory. */
interface Attention {
  selected: number | null;
  sentByPython: number | null;
  clicks: Reports;
  focus: number | null;
  hover: number | null;
  /** Of the node under the pointer on this canvas: itself, and its half. */
  under: number | null;
  half: number;
  /** The node whose path is shown. */
  trail: number | null;
  /** What a search has found of a text that is not here whole. */
  excerpt: { node: number; text: string } | null;
  drag: { x: number; view: View; moved: boolean; now: boolean; id: number } | null;
  dragged: boolean;
  /** Units up to which the "now" line is being moved; is the pointer on it? */
  now: number | null;
  onNow: boolean;
  pointed: number | null;
  linkedUnits: Span[];
  linked: { leaves: number[]; above: number[] };
}

type Frames = ReturnType<typeof import("./canvas/scheduler.js").createFrames>;

/** Builds the elements of a widget, once, and registers what keeps them up to date. */
type Builder = (s: State, parent: HTMLElement) => void;
/** Paints something of one half of the picture. */
type Painter = (s: State, ctx: Ctx, half: number) => void;

/** Draws a sign of a colour at a box, in one half of the picture. */
type Sign<More extends unknown[] = []> =
  (theme: Theme, ctx: Ctx, rect: Rect, half: number, colour: string, ...more: More) => void;

/** A line of a pattern's tile. */
type TileLine = [x0: number, y0: number, x1: number, y1: number];
interface Tile {
  size: number;
  width: number;
  colour: string;
  lines: TileLine[];
}

/** What stands around the canvas in a picture, and the pixels of all and of both ends. */
interface PictureWords {
  width: number;
  height: number;
  head: number;
  foot: number;
  heading: string;
  setting: string[];
  about: string;
  note: string;
  film: [columns: number, rows: number];
}

type SelectControl = ReturnType<typeof import("./canvas/colour_menu.js").buildSelect>;

/** The elements. */
interface Elements {
  parent: Mount<unknown>["parentElement"];
  root: HTMLElement;
  stage: HTMLElement;
  base: HTMLCanvasElement;
  over: HTMLCanvasElement;
  read: HTMLElement;
  card: ReturnType<typeof import("./canvas/card.js").buildCard>;
  mirror: HTMLElement;
  live: HTMLElement;
  changed: HTMLElement;
  hold: HTMLButtonElement;
  evidence: ReturnType<typeof import("./canvas/evidence.js").buildEvidence>;
  help: HTMLElement;
  legend: HTMLElement;
  count: HTMLElement;
  tools: ReturnType<typeof import("./canvas/toolbar.js").buildTools>;
  pins: HTMLElement;
  find: ReturnType<typeof import("./canvas/search.js").buildFind>;
  controls: ReturnType<typeof import("./canvas/controls.js").buildControls>;
  bar: HTMLElement;
  lookControls: ReturnType<typeof import("./canvas/colour_menu.js").buildColourMenu>;
  overview: ReturnType<typeof import("./canvas/overview.js").buildOverview>;
  observer: ResizeObserver;
  unlink: () => void;
  unslash: () => void;
}

// --- outline -----------------------------------------------------------------------------

interface OutlineMessage extends Message {
  /** What kinds of nodes are called, and which of them each goes by. */
  kinds: string[];
  kind_of: Int32Array;
  rank_initial: Int32Array;
  rank_final: Int32Array;
  title: string;
}

type Forest = ReturnType<typeof import("./outline/rows.js").buildForest>;

/** What is open: keys of places, and how many of a long list are shown. */
interface Open {
  opened: Set<string>;
  limits: Map<string, number>;
}

interface NodeRow {
  more?: undefined;
  node: number;
  key: string;
  depth: number;
  position: number;
  size: number;
  branches: number;
  open: boolean;
}
/** A row that shows more of a long list. */
interface MoreRow {
  more: true;
  node?: undefined;
  open?: undefined;
  branches?: undefined;
  key: string;
  depth: number;
  shown: number;
  size: number;
}
type Row = NodeRow | MoreRow;

interface OutlineState extends Selecting {
  memory: Memory;
  list: Listed;
  wanting: { asked: string; timer: Timer };
  elements: { root: HTMLElement; bar: HTMLElement; tree: HTMLElement; shown: Record<string, HTMLElement> };
  calls: number;
}

/** What Python sent and what follows from it. */
interface Memory {
  data: OutlineMessage;
  forest: Forest;
  sets: Record<string, Set<number>>;
  /** How many of each set lie below a node. */
  below: Record<string, Map<number, number>>;
  most: number;
  /** How many nodes there are. */
  active: number;
}

/** The rows that are there. */
interface Listed {
  open: Open;
  rows: Row[];
  items: Map<string | null, HTMLElement>;
  /** The row that the Tab key comes to. */
  active: string | null;
}

// --- question atlas (atlas.py) -----------------------------------------------------------

/** A node of a question: index of its name, ranks before and after (0 for none), flags, gold turns,
 *  those that it only answers, and both as they are read before and after, where a budget cuts the text. */
type RankRow = [name: number, was: number, is: number, flags: number, turns: number[], answers: number[],
  cut?: ([turns: number[], answers: number[]] | null)[]];
interface Dot {
  place: number;
  text: string;
  group: number;
  /** Number of its gold turns. */
  asked: number;
  rows: RankRow[];
}
interface AtlasMessage {
  about: string;
  dots: Dot[];
  /** Of the nodes in the rows, with the names of their levels. */
  names: string[];
  levels: string[];
  groups: string[];
  /** What stands over the ranks before and after. */
  sides: [string, string];
}
interface AtlasState extends Record<"root" | "groups" | "question" | "verdict" | "ranks", HTMLElement> {
  data: AtlasMessage;
  /** Of the dots, and the place of the one whose change is shown. */
  buttons: HTMLButtonElement[];
  shown: number;
  /** Whether a click asks; the first tap on a touch screen only shows. */
  asks: boolean;
  ask: () => void;
}

// --- lists -------------------------------------------------------------------------------

/** A piece of text and its kind ("same", "gone", "new"). */
type Piece = [kind: string, text: string];

/** A text that may lack its end (cut) until its name is asked for. */
interface LongText {
  text: string;
  length?: number;
  name?: string;
  cut?: boolean;
}

/** A list with texts that open: an element that keeps its own state. */
interface OpenList extends HTMLElement {
  opened: Set<string>;
  whole: (name: string) => void;
}

interface NodeItem extends LongText {
  node?: number;
  head: string;
  note?: string;
  /** Words to mark, with their cosine. */
  matches?: Record<string, number> | null;
}
interface NodeListing extends OpenList {
  groups: { title: string; items: NodeItem[] }[];
  pick: (node: number) => void;
}

interface TurnItem extends LongText {
  id: string;
  speaker: string;
  caption?: string;
  marks?: string[];
  flag?: string;
  unit?: number;
}
interface SessionItem {
  heading: string;
  colour: string;
}
interface Transcript extends OpenList {
  rows: (TurnItem | SessionItem)[];
  lit: Span[];
  /** Where the list was before it moved to what another view points at. */
  away: number | null;
  /** Whether there are turns beyond its ends, and the pixels below the first turn while those
   *  before it are awaited. */
  more: Record<"before" | "after", boolean>;
  fromEnd: number | null;
  /** Where the list was put last by itself. */
  still: number;
  tell: (name: string, value: unknown) => void;
  calls: number;
  about: string;
  stop?: string;
  told?: string;
  silence: () => void;
}
