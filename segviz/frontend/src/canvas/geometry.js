// Where rows, axis and margins lie. Pure functions.
//
// A *picture* is "grow", "scores" or "change"; a *half* is one of its icicles (two mirrored
// ones in "scores", one in the others).

const ROW_CAP = 90; // a three-level tree must not become a bar chart
const CHAPTERS = 15; // pixels of the labels of sessions on the axis
const WIDEST = [0.5, 0.75]; // of the two highest of more than three rows, which have few and wide boxes
const MIRRORED = [0.3, 0.7]; // the same of two halves, where each has less room
const LEAVES = 0.34; // of the lowest row of a half: it has no room for titles, the next ones turn theirs
const ROOMY = 32; // pixels a row, of which half hold a line of text

/** Distance from the axis and height of each level's band, in whole pixels.
 * @param {number[]} laneCount
 * @param {number} available
 * @param {number} cap
 * @param {boolean} mirrored */
function stackRows(laneCount, available, cap, mirrored) {
  const high = laneCount.length - 1;
  const roomy = available / laneCount.length >= ROOMY;
  const highest = high > 2 && roomy ? mirrored ? MIRRORED : WIDEST : [];
  const lowest = mirrored && roomy && high > 1 ? LEAVES : 1;
  const weights = laneCount.map((lanes, level) =>
    (1 + 0.45 * (Math.min(lanes, 9) - 1)) * (highest[high - level] ?? (level ? 1 : lowest)));
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
 *  in "grow", so that the tree keeps close to its legend, or above it where there is none, as
 *  canvases side by side have their axes on one line; in "scores" it stays outside of both
 *  halves. "change" keeps the horizontal places of "scores" and takes the height of both its
 *  halves.
 * @param {number} width
 * @param {number} height
 * @param {Picture} picture
 * @param {boolean} gutter
 * @param {number[]} laneCount
 * @param {{ legend?: boolean, taller?: boolean }} [frame] */
export function geometry(width, height, picture, gutter, laneCount, { legend = true, taller = false } = {}) {
  const scores = picture === "scores";
  const grow = picture === "grow";
  const left = grow ? 34 : 40;
  const wide = width > 420;
  const gutterWidth = gutter && wide ? Math.min(260, Math.max(184, width / 5)) : 10;
  const histogram = wide ? 76 : 70;
  const right = grow ? gutterWidth : legend ? histogram : 10;
  const axisHeight = (scores ? 33 : 36) + (legend && !scores ? CHAPTERS : 0);
  const top = right > 150 ? 20 : 8;
  const middle = Math.round((height - axisHeight) / 2);
  const available = (scores ? middle : height - axisHeight) - top;
  const rows = stackRows(laneCount, available, ROW_CAP * (picture === "change" || taller ? 2 : 1), scores);
  const axisTop = scores ? middle : legend ? top + rows.total : height - axisHeight;
  return { left, right, width: Math.max(20, width - left - right), top, axisTop, axisHeight,
    halves: scores ? 2 : 1, rows };
}

/** Vertical place {y, h} of what is so far from the axis and so high: rows grow away from it.
 * @type {(geom: Geometry, half: number, near: number, h: number) => Extent} */
const place = ({ axisTop, axisHeight }, half, near, h) =>
  ({ y: half ? axisTop + axisHeight + near : axisTop - near - h, h });

/** Vertical place {y, h} of a level, or of one lane of it.
 * @type {(geom: Geometry, half: number, level: number, lane?: number, lanes?: number) => Extent} */
export function rowBox(geom, half, level, lane = 0, lanes = 1) {
  const { offset, height } = geom.rows;
  return place(geom, half, offset[level] + (height[level] * lane) / lanes, height[level] / lanes);
}

/** Vertical place {y, h} of several levels as one.
 * @type {(geom: Geometry, half: number, level: number, top: number) => Extent} */
export function levelsBox(geom, half, level, top) {
  const { offset, height } = geom.rows;
  return place(geom, half, offset[level], offset[top] + height[top] - offset[level]);
}

/** Vertical place {y, h} of all levels.
 * @type {(geom: Geometry, half: number) => Extent} */
export const halfBox = (geom, half) => place(geom, half, 0, geom.rows.total);

/** Half, level and row under a vertical position; null on the axis or outside.
 * @param {Geometry} geom
 * @param {Tree} tree
 * @param {number} y */
export function rowAt(geom, tree, y) {
  const half = y >= geom.axisTop + geom.axisHeight ? 1 : 0;
  const distance = half ? y - geom.axisTop - geom.axisHeight : geom.axisTop - y;
  if (distance < 0 || half >= geom.halves) return null;
  const { offset, height } = geom.rows;
  const level = height.findIndex((h, i) => distance >= offset[i] && distance - offset[i] < h);
  if (level < 0) return null;
  const lanes = tree.laneCount[level];
  const lane = Math.floor(((distance - offset[level]) / height[level]) * lanes);
  return { half, level, row: tree.firstRow[level] + Math.min(lanes - 1, lane) };
}

/** Centres moved as little as needed to lie `size` apart between top and bottom: those that would
 *  lie on each other stand around their mean.
 * @type {(centres: number[], size: number, top: number, bottom: number) => number[]} */
export function spread(centres, size, top, bottom) {
  const order = centres.map((_, i) => i).sort((a, b) => centres[a] - centres[b] || a - b);
  /** @type {{ members: number[], first: number }[]} */
  const groups = [];
  for (const i of order) {
    let members = [i];
    for (;;) {
      const mean = members.reduce((sum, member) => sum + centres[member], 0) / members.length;
      const reach = (members.length - 1) * size;
      const first = Math.max(top + size / 2, Math.min(bottom - size / 2 - reach, mean - reach / 2));
      const last = groups[groups.length - 1];
      if (!last || last.first + last.members.length * size <= first) {
        groups.push({ members, first });
        break;
      }
      members = [...last.members, ...members];
      groups.pop();
    }
  }
  const placed = new Array(centres.length);
  for (const { members, first } of groups) {
    members.forEach((member, i) => { placed[member] = first + i * size; });
  }
  return placed;
}
