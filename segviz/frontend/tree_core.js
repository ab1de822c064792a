// tree_core.js: the part of the tree view that knows no DOM. Pure functions only, so that
// node can test them. payload.javascript() puts this file in front of tree.js.
//
// Words: a *row* is one lane of one level (a level has several lanes only where spans of
// its nodes overlap); a *view* {x0, x1} is the visible range of units; a *picture* is
// "grow", "scores" or "change"; a *half* is one of its icicles (two mirrored ones in
// "scores", one in the others).

// --- message -------------------------------------------------------------------------

const SCORES = new Set(["initial", "final"]); // float64; everything else is int32

/** The payload of payload.pack(): JSON values plus one typed array per column. */
export function unpack(message) {
  const bytes = message.slice(); // a fresh buffer: typed arrays need aligned offsets
  const headLength = new DataView(bytes.buffer).getUint32(0, true);
  const payload = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headLength)));
  for (const [name, [offset, length]] of Object.entries(payload.columns)) {
    const Column = SCORES.has(name) ? Float64Array : Int32Array;
    const start = 4 + headLength + offset;
    payload[name] = new Column(bytes.buffer, start, length / Column.BYTES_PER_ELEMENT);
  }
  return payload;
}

// --- tree ----------------------------------------------------------------------------

/** Lanes for intervals sorted by start: first fit, so lane 0 holds most of them. */
export function assignLanes(ids, start, stop) {
  const ends = [];
  const lanes = new Int32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    let lane = 0;
    while (lane < ends.length && ends[lane] > start[ids[i]]) lane++;
    ends[lane] = stop[ids[i]];
    lanes[i] = lane;
  }
  return { lanes, count: Math.max(1, ends.length) };
}

/** Rows, lanes and neighbours of the active nodes (level >= 0). */
export function buildTree({ level, start, stop, parent, edges, levels_total }) {
  const byLevel = Array.from({ length: levels_total }, () => []);
  let active = 0;
  let newest = 0;
  for (let id = 0; id < level.length; id++) {
    if (level[id] < 0) continue;
    active++;
    newest = Math.max(newest, stop[id]);
    byLevel[level[id]].push(id);
  }
  const rows = []; // ids of one lane, by start
  const firstRow = []; // level -> its first row
  const laneCount = [];
  const rowOf = new Int32Array(level.length).fill(-1);
  for (const ids of byLevel) {
    ids.sort((a, b) => start[a] - start[b] || stop[b] - stop[a] || a - b);
    const { lanes, count } = assignLanes(ids, start, stop);
    firstRow.push(rows.length);
    laneCount.push(count);
    for (let lane = 0; lane < count; lane++) rows.push([]);
    for (let i = 0; i < ids.length; i++) {
      rowOf[ids[i]] = firstRow[firstRow.length - 1] + lanes[i];
      rows[rowOf[ids[i]]].push(ids[i]);
    }
  }
  const parents = new Map(); // child -> its parents; edges come only if some have several
  const children = new Map();
  const link = (p, c) => {
    if (p < 0) return;
    if (!parents.has(c)) parents.set(c, []);
    if (!children.has(p)) children.set(p, []);
    parents.get(c).push(p);
    children.get(p).push(c);
  };
  if (edges.length) for (let i = 0; i < edges.length; i += 2) link(edges[i], edges[i + 1]);
  else for (let id = 0; id < level.length; id++) link(parent[id], id);
  return { level, start, stop, byLevel, rows, firstRow, laneCount, rowOf, parents, children,
    active, newest };
}

/** All ancestors, each once, along every parent. */
export function ancestors(tree, node) {
  const found = new Set();
  const pending = [node];
  while (pending.length) {
    for (const p of tree.parents.get(pending.pop()) ?? []) {
      if (!found.has(p)) {
        found.add(p);
        pending.push(p);
      }
    }
  }
  found.delete(node);
  return [...found];
}

/** The node an arrow key leads to; the same node at the edge of the tree. */
export function neighbour(tree, node, key) {
  const leaves = tree.byLevel[0];
  if (key === "Home") return leaves[0] ?? node;
  if (key === "End") return leaves[leaves.length - 1] ?? node;
  if (key === "ArrowUp") return tree.parents.get(node)?.[0] ?? node;
  if (key === "ArrowDown") {
    const below = tree.children.get(node) ?? [];
    return below.reduce((a, b) => (tree.start[b] < tree.start[a] ? b : a), below[0] ?? node);
  }
  const row = tree.byLevel[tree.level[node]];
  const at = row.indexOf(node) + (key === "ArrowRight" ? 1 : -1);
  return row[at] ?? node;
}

// --- geometry ------------------------------------------------------------------------

const ROW_CAP = 46; // a three-level tree must not become a bar chart
const LEAF_WEIGHT = 1.26; // leaf rows reach 58

/** Distance from the axis and height of each level's band, in whole pixels. */
export function stackRows(laneCount, available, cap = ROW_CAP) {
  const weights = laneCount.map(
    (lanes, level) => (1 + 0.45 * (Math.min(lanes, 9) - 1)) * (level ? 1 : LEAF_WEIGHT));
  const total = weights.reduce((a, b) => a + b, 0);
  const unit = Math.min(cap, Math.max(0, available) / total);
  const offset = [];
  const height = [];
  let sum = 0;
  for (const weight of weights) {
    offset.push(Math.round(sum));
    sum += weight * unit;
    height.push(Math.round(sum) - offset[offset.length - 1]);
  }
  return { offset, height, total: Math.round(sum) };
}

/** Where everything lies. A function of size, picture and rows alone: selecting a node or
 *  changing a score moves nothing. Height that capped rows leave over stays below the axis
 *  in "grow", so that the tree keeps close to its legend, and outside of both halves in
 *  "scores". "change" keeps the horizontal places of "scores" and takes the height of both
 *  its halves. */
export function geometry(width, height, picture, gutter, laneCount) {
  const scores = picture === "scores";
  const grow = picture === "grow";
  const left = grow ? 34 : 50;
  const right = gutter && grow && width > 420 ? 184 : 10;
  const axisHeight = scores ? 46 : 36;
  const top = right > 100 ? 20 : 8;
  const middle = Math.round((height - axisHeight) / 2);
  const available = (scores ? middle : height - axisHeight) - top;
  const rows = stackRows(laneCount, available, picture === "change" ? 2 * ROW_CAP : ROW_CAP);
  const axisTop = scores ? middle : top + rows.total;
  return {
    left,
    right,
    width: Math.max(20, width - left - right),
    top,
    axisTop,
    axisHeight,
    halves: scores ? 2 : 1,
    rows,
  };
}

/** Vertical place {y, h} of a level, or of one lane of it. Lanes grow away from the axis. */
export function rowBox(geom, half, level, lane = 0, lanes = 1) {
  const { offset, height } = geom.rows;
  const near = offset[level] + (height[level] * lane) / lanes;
  const h = height[level] / lanes;
  const y = half ? geom.axisTop + geom.axisHeight + near : geom.axisTop - near - h;
  return { y, h };
}

/** Half, level and row under a vertical position; null on the axis or outside. */
export function rowAt(geom, tree, y) {
  const half = y >= geom.axisTop + geom.axisHeight ? 1 : 0;
  const distance = half ? y - geom.axisTop - geom.axisHeight : geom.axisTop - y;
  if (distance < 0 || half >= geom.halves) return null;
  for (let level = 0; level < geom.rows.height.length; level++) {
    const within = distance - geom.rows.offset[level];
    if (within < 0 || within >= geom.rows.height[level]) continue;
    const lanes = tree.laneCount[level];
    const lane = Math.min(lanes - 1, Math.floor((within / geom.rows.height[level]) * lanes));
    return { half, level, row: tree.firstRow[level] + lane };
  }
  return null;
}

// --- boxes ---------------------------------------------------------------------------

/** First index of sorted ids whose interval ends after x. */
function firstEndingAfter(ids, stop, x) {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stop[ids[middle]] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** What is painted for a view: boxes by row, left to right, x and width in pixels from
 *  the plot's edge. Nodes narrower than a pixel share one box per pixel column, and the
 *  heaviest of them wins, so that a single hit among thousands stays visible. */
export function visibleBoxes(tree, view, width, weight) {
  const scale = width / (view.x1 - view.x0);
  const { start, stop } = tree;
  const id = [];
  const x = [];
  const w = [];
  const first = [0];
  let inView = 0;
  for (const ids of tree.rows) {
    let column = -1; // pixel column of the last box, if that box is an aggregate
    for (let i = firstEndingAfter(ids, stop, view.x0); i < ids.length; i++) {
      const node = ids[i];
      if (start[node] >= view.x1) break;
      inView++;
      const from = Math.max(0, (start[node] - view.x0) * scale);
      const to = Math.min(width, (stop[node] - view.x0) * scale);
      if ((stop[node] - start[node]) * scale >= 1) {
        id.push(node);
        x.push(from);
        w.push(to - from);
        column = -1;
      } else if (Math.floor(from) !== column) {
        column = Math.floor(from);
        id.push(node);
        x.push(column);
        w.push(1);
      } else if (weight && weight[node] > weight[id[id.length - 1]]) {
        id[id.length - 1] = node;
      }
    }
    first.push(id.length);
  }
  return { id, x, w, first, inView };
}

/** Box of a row nearest to x, at most `slack` pixels away; -1 if none. */
export function boxAt(boxes, row, x, slack = 2) {
  let low = boxes.first[row];
  let high = boxes.first[row + 1];
  const end = high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes.x[middle] + boxes.w[middle] > x) high = middle;
    else low = middle + 1;
  }
  let best = -1;
  let nearest = slack;
  for (let i = Math.max(boxes.first[row], low - 1); i <= Math.min(end - 1, low); i++) {
    const away = Math.max(boxes.x[i] - x, x - boxes.x[i] - boxes.w[i], 0);
    if (away <= nearest) {
      // ties go to the right box, which is the one that contains x
      best = boxes.id[i];
      nearest = away;
    }
  }
  return best;
}

// --- view ----------------------------------------------------------------------------

const SMALLEST_VIEW = 3;

/** A view inside [0, total] of at least three units (or all of them). */
export function clampView(x0, x1, total) {
  const span = Math.min(total, Math.max(Math.min(SMALLEST_VIEW, total), x1 - x0));
  const from = Math.min(Math.max(0, (x0 + x1 - span) / 2), total - span);
  return { x0: from, x1: from + span };
}

/** Zoom so that the unit `anchor` keeps its place on the screen. */
export function zoomView(view, factor, anchor, total) {
  const span = Math.min(total, Math.max(SMALLEST_VIEW, (view.x1 - view.x0) / factor));
  const share = (anchor - view.x0) / (view.x1 - view.x0);
  const x0 = anchor - share * span;
  return clampView(x0, x0 + span, total);
}

// --- axis ----------------------------------------------------------------------------

/** Runs of equal session along the units. */
export function sessionRuns(unitSession) {
  const runs = [];
  for (let unit = 0; unit < unitSession.length; unit++) {
    const last = runs[runs.length - 1];
    if (last && last.session === unitSession[unit]) last.stop = unit + 1;
    else runs.push({ session: unitSession[unit], start: unit, stop: unit + 1 });
  }
  return runs;
}

/** Which labels can be written without touching: those that fit their own band; where few
 *  do, also others that keep `gap` pixels from what is already there. Items: {x, w, text}
 *  with the band's pixel place; gives [{item, x}] with x the label's centre. */
export function placeLabels(items, measure, width, gap = 8) {
  const sized = items.map((item) => ({ item, size: measure(item.text) }))
    .filter(({ item }) => item.text);
  const fits = sized.filter(({ item, size }) => size + 4 <= item.w);
  const crowded = fits.length < sized.length / 2;
  const chosen = [];
  let edge = -Infinity;
  for (const { item, size } of crowded ? sized : fits) {
    const centre = Math.min(Math.max(item.x + item.w / 2, size / 2), width - size / 2);
    if (centre - size / 2 < edge || size > width) continue;
    chosen.push({ item, x: centre });
    edge = centre + size / 2 + (crowded ? gap : 0);
  }
  return chosen;
}

/** Centres moved as little as needed to lie `size` apart between top and bottom. */
export function spread(centres, size, top, bottom) {
  const order = centres.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y || a.i - b.i);
  const placed = new Array(centres.length);
  let edge = top;
  for (const entry of order) {
    entry.y = Math.max(entry.y, edge + size / 2);
    edge = entry.y + size / 2;
  }
  let limit = bottom;
  for (const entry of order.reverse()) {
    entry.y = Math.min(entry.y, limit - size / 2);
    limit = entry.y - size / 2;
    placed[entry.i] = entry.y;
  }
  return placed;
}

// --- candidates ----------------------------------------------------------------------

const BAR_FROM = -0.25; // a fixed scale: bars of different steps can be compared
const BAR_TO = 1;

/** Place of a similarity on a candidate's bar, 0 to 1; what lies outside ends at the edge. */
export function barShare(value) {
  return (Math.min(BAR_TO, Math.max(BAR_FROM, value)) - BAR_FROM) / (BAR_TO - BAR_FROM);
}

/** What the column of candidates shows: numbers against a threshold, numbers, or labels. */
export function gutterTitle(candidates) {
  if (candidates.some((c) => c.threshold !== null)) return "similarity ≥ needed";
  if (candidates.some((c) => c.score !== null)) return "similarity";
  return candidates.some((c) => c.label) ? "label · ✓ taken" : "";
}

// --- colour --------------------------------------------------------------------------

/** "#rrggbb" as [r, g, b]. */
export function rgb(hex) {
  const value = parseInt(hex.slice(1, 7), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** `share` of colour a over colour b. */
export function mix(a, b, share) {
  const [from, to] = [rgb(b), rgb(a)];
  const channel = from.map((c, i) => Math.round(c + (to[i] - c) * share));
  return "#" + channel.map((c) => c.toString(16).padStart(2, "0")).join("");
}

/** WCAG relative luminance, 0 to 1. */
export function luminance(hex) {
  const [r, g, b] = rgb(hex).map((c) => {
    const v = c / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** 256 colours along the stops of a ramp. */
export function rampTable(stops) {
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(place));
    return mix(stops[k + 1], stops[k], place - k);
  });
}

/** Index into a ramp table; 0 for what is not a positive number. */
export function rampIndex(score, most, root) {
  if (!(score > 0) || !(most > 0)) return 0;
  const share = Math.min(1, score / most);
  return Math.round((root ? share ** 0.25 : share) * 255);
}

/** Index of a signed change: 0 is a fall by `most`, 127 (or 128) none, 255 a rise by it. */
export function changeIndex(change, most, root) {
  const size = rampIndex(Math.abs(change), most, root) / 2;
  return change < 0 ? Math.ceil(127 - size) : Math.floor(128 + size);
}

/** How much of its session's colour a level keeps: leaves all, the root the least. */
export function levelStrength(level, levels) {
  return 1 - level * Math.min(0.15, 0.62 / Math.max(1, levels - 1));
}
