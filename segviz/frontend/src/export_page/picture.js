// The canvas as one SVG picture, with what the page around it says: the question, the setting,
// what colours and marks mean. The painters are those of the canvas, on a recording context.

import { eachBox, boxEdges } from "../canvas/boxes.js";
import { changeParts, changeWords } from "../canvas/change_summary.js";
import { colourClasses } from "../canvas/classes.js";
import { layOut } from "../canvas/scheduler.js";
import { outline } from "../canvas/glyphs.js";
import { fittingText } from "../canvas/labels.js";
import { countText, drawMark, markEntries, scaleOf, SWATCH } from "../canvas/legend.js";
import { drawOver } from "../canvas/outlines.js";
import { drawBase } from "../canvas/paint.js";
import { PATTERN_LINES, PATTERN_WIDTH, TILE } from "../canvas/theme.js";
import { nodeLines } from "../canvas/readout.js";
import { contextOf } from "../shared/dom.js";
import { isolateText } from "../shared/text.js";
import { Recorder, tag } from "./recorder.js";

const [EDGE, LINE] = [16, 20];

/** The picture of what the canvas shows, in its present colours: of `width` × `height` pixels,
 *  of which the canvas has those between head and foot. `titles` gives every node its texts.
 * @type {(state: State, words: PictureWords,
 *    titles?: ((node: number) => string) | null) => string} */
export function pictureOf(state, words, titles = null) {
  const { width, height, head, foot } = words;
  const canvasHeight = height - head - foot;
  const { sight, attention, frames } = state;
  const paper = /** @type {any} */ ({ over: { matches: () => false },
    stage: { clientWidth: width, clientHeight: canvasHeight } });
  /** @type {State} */
  const s = { ...state, elements: paper,
    sight: { ...sight, labels: [] },
    attention: { ...attention, hover: null, linked: { leaves: [], above: [] } },
    frames: { ...frames, fadeFrom: 0, fitted: new Map() } };
  layOut(s, width, canvasHeight);
  const { theme } = s.scene;
  const recorder = new Recorder(contextOf(document.createElement("canvas")), tiles(theme));
  const ctx = /** @type {Ctx} */ (/** @type {unknown} */ (recorder));
  ctx.fillStyle = theme.background;
  ctx.fillRect(0, 0, width, height);
  ctx.textBaseline = "middle";
  drawHead(s, ctx, words);
  ctx.save();
  ctx.translate(0, head);
  drawBase(s, ctx);
  drawOver(s, ctx);
  if (titles) nodeTitles(s, recorder, titles);
  ctx.restore();
  ctx.textBaseline = "middle";
  drawLegend(s, ctx, words);
  const said = [tag("title", {}, words.heading), tag("desc", {}, words.about)];
  return recorder.svg(width, height, theme.family, said.join(""));
}

/** @type {(theme: Theme) => Map<unknown, Tile>} */
const tiles = ({ patterns, background }) => new Map(Object.entries(patterns).map(
  ([name, pattern]) => [pattern,
    { size: TILE, width: PATTERN_WIDTH, colour: background, lines: PATTERN_LINES[name] }]));

/** An unseen box over every node that is drawn, with its words for the pointer.
 * @type {(s: State, recorder: Recorder, titles: (node: number) => string) => void} */
function nodeTitles(s, recorder, titles) {
  const { sight } = s;
  for (let half = 0; half < sight.geom.halves; half++) {
    eachBox(s, half, (i, { y, h: height }) => {
      const box = sight.boxes[half].id[i];
      const [x, right] = boxEdges(sight, half, i);
      const lines = nodeLines(s.scene, box).filter(([kind]) => kind !== "text")
        .map(([, text]) => text);
      const words = [...lines, titles(box)].filter(Boolean).join("\n");
      const rect = tag("rect",
        { x, y, width: right - x, height, fill: "none", "pointer-events": "all" });
      recorder.parts.push(`<g data-node="${s.scene.data.origin[box] ?? box}">`
        + `${tag("title", {}, words.replace(/[\u2068\u2069]/g, ""))}${rect}</g>`);
    });
  }
}

// --- head --------------------------------------------------------------------------------

/** @type {(s: State, ctx: Ctx, words: PictureWords) => void} */
function drawHead(s, ctx, { width, heading, setting }) {
  const { scene: { theme }, sight: { boxes: [{ shown, inView }] } } = s;
  /** @type {(text: string, y: number, size: number, room: number) => void} */
  const write = (text, y, size, room) => {
    ctx.font = `${size > 12 ? "600 " : ""}${size}px ${theme.family}`;
    ctx.fillStyle = size > 12 ? theme.text : theme.muted;
    ctx.fillText(fittingText(ctx, text, room), EDGE, y);
  };
  ctx.textAlign = "left";
  write(heading, 21, 16, width - 2 * EDGE - 180);
  setting.forEach((line, i) => write(line, 43 + 17 * i, 12, width - 2 * EDGE));
  if (shown === inView) return;
  ctx.textAlign = "right";
  ctx.fillText(countText(s.scene, shown, inView), width - EDGE, 21);
}

// --- legend ------------------------------------------------------------------------------

/** Colours first, then marks, in lines from left to right.
 * @type {(s: State, ctx: Ctx, words: PictureWords) => void} */
function drawLegend(s, ctx, { width, height, foot, note }) {
  const { scene, attention: { selected } } = s;
  const { data, theme } = scene;
  let [x, y] = [EDGE, height - foot + 16];
  /** A sign so wide, drawn by `draw` at its place, and its name.
   * @type {(wide: number, text: string, draw?: (x: number, y: number) => void,
   *    before?: string) => void} */
  const item = (wide, text, draw, before = "") => {
    ctx.font = theme.font;
    const lead = before && isolateText(before);
    const words = fittingText(ctx, text, width - 2 * EDGE - (wide ? wide + 6 : 0));
    const skip = lead ? ctx.measureText(lead).width + 6 : 0;
    const room = skip + (wide ? wide + 6 : 0) + ctx.measureText(words).width;
    if (x > EDGE && x + room > width - EDGE) [x, y] = [EDGE, y + LINE];
    draw?.(x + skip, y);
    ctx.font = theme.font;
    ctx.textAlign = "left";
    ctx.fillStyle = theme.muted;
    if (lead) ctx.fillText(lead, x, y);
    ctx.fillText(words, x + room - ctx.measureText(words).width, y);
    x += room + 16;
  };
  for (const [wide, text, draw, before] of colourItems(scene, ctx)) item(wide, text, draw, before);
  for (const [kind, text, sign] of markEntries(scene)) {
    item(sign ? 28 : SWATCH, text, (at, middle) => drawMark(theme, ctx, kind, sign, at, middle));
  }
  if (selected !== null) {
    item(SWATCH, `selected: node ${data.origin[selected] ?? selected}`, (at, middle) =>
      outline(theme, ctx, swatch(at, middle), theme.text, 2));
  }
  if (scene.answer) {
    item(0, changeWords(changeParts(scene)).replace(/[\u2068\u2069]/g, ""));
  }
  if (note) item(0, note);
}

/** @type {(x: number, y: number) => Rect} */
const swatch = (x, y) => ({ x, y: y - 6, w: SWATCH + 1, h: 12 });

/** What colours mean: [width, words after, painter, words before].
 * @param {Scene} scene
 * @param {Ctx} ctx
 * @returns {[number, string, (x: number, y: number) => void, string?][]} */
function colourItems(scene, ctx) {
  /** Colours side by side, so wide each.
   * @type {(colours: string[], wide: number,
   *    pattern?: string | null) => (x: number, y: number) => void} */
  const row = (colours, wide, pattern = null) => (x, y) => colours.forEach((colour, i) => {
    for (const fill of [colour, pattern && scene.theme.patterns[pattern]]) {
      if (!fill) continue;
      ctx.fillStyle = fill;
      ctx.fillRect(x + i * wide, y - 5, wide, 10);
    }
  });
  const classes = colourClasses(scene);
  if (!classes) {
    const { words, ramp } = scaleOf(scene);
    return [[8 * ramp.length, words, row(ramp, 8)]];
  }
  const { items, ramped } = classes;
  if (ramped) {
    const wide = 186 / items.length;
    const colours = items.map((item) => item.colours[0]);
    return [[186, items[items.length - 1].name, row(colours, wide), items[0].name]];
  }
  return items.map(({ colours, pattern, name, count }) =>
    [SWATCH, `${name} ${count}`, row(colours, SWATCH / colours.length, pattern)]);
}
