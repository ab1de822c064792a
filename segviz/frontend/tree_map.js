// tree_map.js: the whole conversation in one strip below the tree, with the visible part as a
// frame. The frame can be moved, pulled at its edges, or drawn anew beside it. All of it
// can also be done by keys on the tree, so the strip takes no focus.

import { cleared } from "./tree_canvas.js";
import { jumpTo, unitsOf } from "./tree_moves.js";
import { stripColour } from "./tree_shades.js";
import { draggedView, frameOf, gripAt, heaviestColumns } from "./tree_span.js";
import { columnWeights } from "./tree_weights.js";
import { element } from "./tree_words.js";

const HEIGHT = 24;
const STRIP = 5; // session colours above the scores
const FEW_UNITS = 60; // these all have room in the tree itself
const MOVED_PIXELS = 3;
const CURSORS = { from: "ew-resize", to: "ew-resize", move: "grab", draw: "crosshair" };

export function buildMap(s, parent) {
  const root = element("div", "map", parent);
  root.setAttribute("aria-hidden", "true");
  const canvas = element("canvas", "", root);
  const frame = element("div", "frame", root);
  s.map = { root, canvas, frame, drawn: [], drag: null, width: 0 };
  const on = (name, act) => root.addEventListener(name, (event) => {
    if (s.data && s.geom) act(s, event);
  });
  on("pointerdown", takeHold);
  on("pointermove", pull);
  on("pointerup", letGo);
  root.addEventListener("pointercancel", () => { s.map.drag = null; });
}

// --- painting ------------------------------------------------------------------------

/** Brings the strip to the present view; its picture is drawn only if that has changed. */
export function showMap(s) {
  const { map, geom, data } = s;
  map.root.hidden = !data.legend || (data.mode !== "grow" && data.total_units <= FEW_UNITS);
  if (map.root.hidden) return;
  const width = Math.round(geom.width);
  map.width = width;
  map.root.style.marginLeft = `${geom.left}px`;
  map.root.style.width = `${width}px`;
  const depends = [width, data, data.final, s.theme, s.picture, String(s.shades), s.most,
    s.search.hits];
  if (depends.some((part, i) => part !== map.drawn[i])) {
    map.drawn = depends;
    drawMap(s, cleared(map.canvas, width, HEIGHT), width);
  }
  const { x, w } = frameOf(s.view, unitsOf(s), width);
  map.frame.style.transform = `translateX(${x}px)`;
  map.frame.style.width = `${w}px`;
  map.frame.classList.toggle("whole", w >= width);
}

function drawMap(s, ctx, width) {
  const { data, theme, tree } = s;
  const scale = width / unitsOf(s);
  const grow = s.picture === "grow";
  for (const run of s.runs) {
    ctx.fillStyle = run.session < 0 ? theme.unknown : data.session_colours[run.session];
    const [x, right] = [Math.round(run.start * scale), Math.round(run.stop * scale)];
    ctx.fillRect(x, 0, right - x, grow ? HEIGHT : STRIP - 1);
  }
  if (grow) {
    ctx.globalAlpha = 0.72; // what has not been said yet
    ctx.fillStyle = theme.background;
    ctx.fillRect(tree.newest * scale, 0, width, HEIGHT);
    ctx.globalAlpha = 1;
  } else drawScores(s, ctx, width);
  ctx.fillStyle = theme.text;
  for (const node of s.search.hits) {
    const x = Math.round(((tree.start[node] + tree.stop[node]) / 2) * scale);
    ctx.fillRect(x - 1, 0, 2, 4);
  }
}

/** The highest score above each pixel column of leaves, and where the retrieved nodes are. */
function drawScores(s, ctx, width) {
  const { data, theme, tree } = s;
  const weight = columnWeights(s).at(-1);
  if (!weight.length) return;
  const total = unitsOf(s);
  const best = heaviestColumns(tree.byLevel[0], tree.start, tree.stop, weight, total, width);
  let from = 0;
  let colour = null;
  const flush = (x) => {
    if (colour) {
      ctx.fillStyle = colour;
      ctx.fillRect(from, STRIP, x - from, HEIGHT - STRIP);
    }
    from = x;
  };
  for (let x = 0; x < width; x++) {
    const here = best[x] < 0 ? null : stripColour(s, best[x]);
    if (here === colour) continue;
    flush(x);
    colour = here;
  }
  flush(width);
  for (const node of data.top_final) {
    const x = Math.round(((tree.start[node] + tree.stop[node]) / 2 / total) * width);
    ctx.fillStyle = theme.background;
    ctx.fillRect(x - 2, HEIGHT - 7, 4, 7);
    ctx.fillStyle = theme.accent;
    ctx.fillRect(x - 1, HEIGHT - 6, 2, 6);
  }
}

// --- pointer -------------------------------------------------------------------------

const placeOf = (s, { clientX }) => clientX - s.map.root.getBoundingClientRect().left;
const unitOf = (s, x) => (x / s.map.width) * unitsOf(s);
const gripOf = (s, x) => gripAt(x, frameOf(s.goal, unitsOf(s), s.map.width), s.map.width);

function takeHold(s, event) {
  if (event.button !== 0) return;
  event.preventDefault(); // no selection of text, and the keyboard stays where it is
  const x = placeOf(s, event);
  s.map.drag = { grip: gripOf(s, x), x, view: s.goal, moved: false };
  s.map.root.setPointerCapture(event.pointerId);
  s.history.kind = ""; // every drag can be taken back by itself
}

function pull(s, event) {
  const { drag, root } = s.map;
  const x = placeOf(s, event);
  if (!drag) {
    root.style.cursor = CURSORS[gripOf(s, x)];
    return;
  }
  if (!drag.moved && Math.abs(x - drag.x) < MOVED_PIXELS) return;
  drag.moved = true;
  if (drag.grip === "move") root.style.cursor = "grabbing";
  const [from, to] = [unitOf(s, drag.x), unitOf(s, x)];
  jumpTo(s, draggedView(drag.grip, drag.view, from, to, unitsOf(s)), "map", false);
}

/** A click beside the frame brings the frame there. */
function letGo(s, event) {
  const { drag } = s.map;
  s.map.drag = null;
  pull(s, event); // the cursor
  if (!drag || drag.moved || drag.grip !== "draw") return;
  const away = unitOf(s, drag.x) - (s.goal.x0 + s.goal.x1) / 2;
  jumpTo(s, draggedView("move", s.goal, 0, away, unitsOf(s)), "map");
}
