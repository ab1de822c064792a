// The upper canvas: what is marked, selected, hovered, found and gold.
//
// A mark must leave the fill of its box visible, and stays in the row of its node, so that rows
// are read as the histogram counts them. A box wide enough gets an outline inside; a narrow one has
// a sign of its own shape at its outer edge, so that state is never told by colour alone: a bar and
// triangle for chosen, a plus for new, a bracket for the frontier, a dot for found. Of a node over
// several rows the outline is around all, a sign in the row it begins at.

import { nodeRect, rowRect } from "./boxes.js";
import { bar, bracket, diamond, dot, isNarrow, outline, plus, strike, triangle } from "./glyphs.js";
import { drawLineage } from "./lineage.js";
import { drawFlow } from "./flow.js";
import { FADE_MS } from "./paint.js";
import { topOf } from "./node_color.js";
import { drawNumbers, drawRanks } from "./rank_marks.js";

/** @type {(s: State, ctx: Ctx) => void} */
export function drawOver(s, ctx) {
  const { scene: { theme, data, picture }, sight, attention, search, elements } = s;
  const { geom } = sight;
  const { selected, focus, hover } = attention;
  ctx.save();
  ctx.beginPath(); // marks may reach a little into the margins, not over the labels
  ctx.rect(geom.left - 6, 0, geom.width + 12, elements.stage.clientHeight);
  ctx.clip();
  ctx.textBaseline = "middle";
  if (picture === "grow") drawGrowMarks(s, ctx);
  else drawRanks(s, ctx);
  const current = search.hits[search.at] ?? null;
  sight.diamonds = [];
  const focused = elements.over.matches(":focus") || (current !== null && current === focus);
  for (let half = 0; half < geom.halves; half++) {
    drawLineage(s, ctx, half);
    if (half === geom.halves - 1 && picture !== "grow") drawFlow(s, ctx, half);
    /** @type {(node: number, width: number, given?: Parameters<typeof outline>[5]) => void} */
    const around = (node, width, given) =>
      outline(theme, ctx, nodeRect(s, half, node), theme.text, width, given);
    for (const node of Object.keys(data.ended).map(Number)) { // words on a box are struck themselves
      const rect = sight.labels[half].some((label) => label.node === node) ? null : nodeRect(s, half, node);
      if (rect) strike(theme, ctx, rect);
    }
    // Inside the outline of a retrieved node, so that both are seen.
    const top = picture === "grow" ? null : topOf(s.scene, half);
    if (selected !== null) around(selected, 2, { inset: top?.includes(selected) ? 3 : 0 });
    if (focus !== null && focused) around(focus, 1.5, { inset: 2, dash: [2, 2] });
    if (hover !== null) around(hover, 1, { halo: false });
    drawLinked(s, ctx, half);
    drawHits(s, ctx, half, current);
    for (const leaf of data.gold) {
      const rect = rowRect(s, half, leaf);
      if (!rect) continue;
      const x = rect.x + rect.w / 2;
      if (half && geom.halves === 2) continue;
      const y = geom.halves === 2 ? geom.axisTop + 5 : rect.y + Math.min(7, rect.h / 2);
      diamond(theme, ctx, x, y);
      sight.diamonds.push({ node: leaf, x, y });
    }
  }
  if (picture !== "grow") drawNumbers(s, ctx);
  ctx.restore();
}

/** Where a mark of a node goes, by the width of its outline.
 * @type {(s: State, half: number, node: number, width: number) => Rect | null} */
function markRect(s, half, node, width) {
  const rect = rowRect(s, half, node);
  return rect && !isNarrow(rect, width) ? nodeRect(s, half, node) : rect;
}

/** What another view points at: its leaf in a band of its own, what lies above it dotted.
 * @type {Painter} */
function drawLinked(s, ctx, half) {
  const { scene: { theme }, sight: { geom }, attention: { linked }, elements: { stage } } = s;
  const { text } = theme;
  for (const node of linked.above) {
    outline(theme, ctx, nodeRect(s, half, node), text, 1, { dash: [1, 2], halo: false });
  }
  for (const leaf of linked.leaves) {
    const rect = nodeRect(s, half, leaf);
    if (!rect) continue;
    const { axisTop, axisHeight } = geom;
    const [from, to] = half ? [axisTop + axisHeight, stage.clientHeight] : [0, axisTop];
    ctx.globalAlpha = 0.16;
    ctx.fillStyle = text;
    ctx.fillRect(rect.x - 1, from, Math.max(rect.w, 2) + 2, to - from);
    ctx.globalAlpha = 1;
    outline(theme, ctx, rect, text, 2, { dash: [3, 2] });
  }
}

const HIT_GAP = 6; // pixels between dots of one row

/** What the search has found, the hit one is at larger; before it what pinned ones have.
 * @type {(s: State, ctx: Ctx, half: number, current: number | null) => void} */
function drawHits(s, ctx, half, current) {
  const { theme, tree } = s.scene;
  const { hits, pins } = s.search;
  const layers = [...pins.map((pin) => ({ hits: pin.hits, ...pin.look })),
    { hits, sign: dot, colour: theme.text }];
  for (const layer of layers) {
    const last = new Map(); // row -> where its last sign is
    for (const node of [...layer.hits].sort((a, b) => tree.start[a] - tree.start[b])) {
      const rect = node === current ? null : rowRect(s, half, node);
      if (!rect) continue;
      const row = tree.rowOf[node];
      const x = rect.x + rect.w / 2;
      if (x - (last.get(row) ?? -Infinity) < HIT_GAP) continue;
      last.set(row, x);
      layer.sign(theme, ctx, rect, half, layer.colour);
    }
  }
  const rect = current === null ? null : rowRect(s, half, current);
  if (rect) dot(theme, ctx, rect, half, theme.text, 4);
}

/** @type {(s: State, ctx: Ctx) => void} */
function drawGrowMarks(s, ctx) {
  const { theme, data } = s.scene;
  const { enters, text } = theme;
  const taken = data.candidates.find((each) => each.taken)?.node;
  if (s.frames.fadeFrom) {
    const share = Math.max(0, 1 - (performance.now() - s.frames.fadeFrom) / FADE_MS);
    ctx.fillStyle = enters;
    ctx.globalAlpha = 0.45 * share;
    for (const node of data.added) {
      const box = nodeRect(s, 0, node);
      if (box) ctx.fillRect(box.x - 1, box.y, Math.max(box.w, 3), box.h - 1);
    }
    ctx.globalAlpha = 1;
  }
  const chosen = taken === undefined ? null : markRect(s, 0, taken, 3);
  if (chosen && !isNarrow(chosen, 3)) outline(theme, ctx, chosen, theme.chosen, 3);
  const added = new Set(data.added);
  const edge = new Set(data.frontier);
  for (const node of data.frontier) {
    const box = markRect(s, 0, node, 1.5);
    if (!box || node === taken) continue;
    if (!isNarrow(box, 1.5)) outline(theme, ctx, box, text, 1.5);
    else if (box.h >= 14 || !added.has(node)) bracket(theme, ctx, box, 0, text);
  }
  // A node that is both on the frontier and new gets its second mark inside the first.
  for (const node of data.added) {
    const box = markRect(s, 0, node, 1.5);
    if (!box || node === taken) continue;
    const both = edge.has(node);
    if (isNarrow(box, 1.5)) {
      plus(theme, ctx, box, 0, enters, both && box.h >= 14 ? 5 : 0);
      continue;
    }
    const inset = both && box.h >= 12 ? 2.5 : 0;
    outline(theme, ctx, box, enters, 1.5, { inset, halo: !inset });
  }
  if (chosen && isNarrow(chosen, 3)) {
    bar(theme, ctx, chosen, 0, theme.chosen);
    triangle(theme, ctx, chosen, 0, theme.chosen);
  }
}
