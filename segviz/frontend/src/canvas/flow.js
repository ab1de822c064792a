// Flow: what a node's score is made of, as ribbons from those that gave it. The twin of
// segviz.retrieval.explain, and its drawing.

import { lastly } from "../shared/dom.js";
import { edgePairs } from "../shared/links.js";
import { nodeRect } from "./boxes.js";
import { shares, TRANSITIONS } from "./propagate.js";

const RIBBONS = 24; // of a hop; what lies below is too thin to be seen
const THICKEST = 26; // pixels of a ribbon that is all of the score

/** What reaches every node: the parts of W_P by target.
 * @param {Edged} tree
 * @param {string} policy */
export function incomingOf(tree, policy) {
  const { source, target, share } = shares(TRANSITIONS[policy](tree), tree.level.length);
  const first = new Int32Array(tree.level.length + 1);
  for (const node of target) first[node + 1]++;
  for (let i = 0; i < tree.level.length; i++) first[i + 1] += first[i];
  const place = first.slice();
  const from = new Int32Array(source.length);
  const part = new Float64Array(source.length);
  target.forEach((node, i) => {
    const at = place[node]++;
    from[at] = source[i];
    part[at] = share[i];
  });
  return { first, from, part };
}

/** What a node's propagated score is made of: its own part, and by hop what each node gave.
 *  A hop is walked back from the node: what of a unit at each place would reach it.
 * @param {Incoming} incoming
 * @param {Weights} initial
 * @param {LiveSetting} setting
 * @param {number} node */
export function flowOf({ first, from, part }, initial, { policy, alpha, horizon }, node) {
  const spread = policy !== "none" && alpha > 0;
  let sum = 1;
  for (let k = 1; spread && k <= horizon; k++) sum += alpha ** k;
  const own = initial[node] / sum;
  const hops = [];
  let reach = new Map([[node, 1]]);
  let total = own;
  for (let k = 1; spread && k <= horizon; k++) {
    /** @type {Map<number, number>} */
    const next = new Map();
    for (const [target, weight] of reach) {
      for (let i = first[target]; i < first[target + 1]; i++) {
        next.set(from[i], (next.get(from[i]) ?? 0) + weight * part[i]);
      }
    }
    reach = next;
    const given = [...reach].map(([source, weight]) =>
      ({ source, amount: (weight * initial[source] * alpha ** k) / sum }))
      .filter(({ amount }) => amount > 0)
      .sort((a, b) => b.amount - a.amount || a.source - b.source);
    const amount = given.reduce((all, one) => all + one.amount, 0);
    total += amount;
    hops.push({ amount, given });
  }
  return { node, own, total, hops };
}

const incoming = lastly((/** @type {Message} */ data, /** @type {string} */ policy) =>
  incomingOf({ ...data, edges: edgePairs(data) }, policy));
const flowTo = lastly((/** @type {Message} */ data, /** @type {LiveSetting} */ setting,
  /** @type {number} */ node) => flowOf(incoming(data, setting.policy), data.initial, setting, node));

/** The flow of the selected node under the present setting.
 * @type {(s: State) => Flow | null} */
export function shownFlow({ scene: { data }, settings: { setting, held }, attention: { selected } }) {
  return setting && !held && selected !== null ? flowTo(data, setting, selected) : null;
}

/** The hop that is shown; 0, for all, if there are no longer so many.
 * @type {(s: State, found: Flow) => number} */
export const shownHop = ({ flow }, { hops }) => (flow.hop > hops.length ? 0 : flow.hop);

/** Ribbons from the contributors of the hop that is shown (0: all) to the selected node. They grow
 *  from where they come.
 * @type {Painter} */
export function drawFlow(s, ctx, half) {
  const found = shownFlow(s);
  if (!found || !(found.total > 0)) return;
  const { scene: { theme }, flow } = s;
  const goal = nodeRect(s, half, found.node);
  if (!goal) return;
  const grown = flow.grown(performance.now());
  const shown = shownHop(s, found);
  found.hops.forEach(({ given }, hop) => {
    if (shown && shown !== hop + 1) return;
    for (const { source, amount } of given.slice(0, RIBBONS)) {
      const rect = source === found.node ? null : nodeRect(s, half, source);
      if (!rect) continue;
      ctx.lineWidth = Math.max(1, (amount / found.total) * THICKEST);
      ctx.strokeStyle = hop % 2 ? theme.text : theme.control;
      ctx.globalAlpha = 0.55;
      ribbon(ctx, rect, goal, grown);
    }
  });
  ctx.globalAlpha = 1;
}

/** @type {(ctx: Ctx, from: Rect, to: Rect, share: number) => void} */
function ribbon(ctx, from, to, share) {
  const [x0, y0] = [from.x + from.w / 2, from.y + from.h / 2];
  const [x1, y1] = [to.x + to.w / 2, to.y + to.h / 2];
  const lift = Math.abs(y1 - y0) < 4 ? Math.min(60, 12 + Math.abs(x1 - x0) / 6) : 0;
  const middle = (y0 + y1) / 2 - lift;
  const length = Math.hypot(x1 - x0, y1 - y0) + 2 * lift + 20;
  ctx.setLineDash(share < 1 ? [length * share, length] : []);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0, middle, x1, middle, x1, y1);
  ctx.stroke();
  ctx.setLineDash([]);
}
