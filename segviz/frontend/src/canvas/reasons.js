// Beside the α path: what the selected node's score is made of, hop by hop, and the nodes that were
// almost retrieved, missed gold first, with what each would need.

import { button, element, focusedBeside, sign } from "../shared/dom.js";
import { isolateText } from "../shared/text.js";
import { levelName, nameOf, turnsOf, wordsOf } from "./answer.js";
import { onFrame, schedule } from "./frame.js";
import { shownFlow } from "./flow.js";
import { reveal, select } from "./navigation.js";
import { needed } from "./path.js";
import { ranksOf, topNodes } from "./propagate.js";
import { isStill } from "./view.js";

const NEXT = 4; // nodes after the last that is retrieved
const GIVERS = 3; // nodes that are named of a hop
const [HOP_MS, GROW_MS] = [1100, 700];

/** @type {Builder} */
export function buildReasons(s, parent) {
  const root = element("section", "reasons", parent);
  const flow = element("div", "flow", root);
  const misses = element("div", "misses", root);
  s.flow = { incoming: null, policy: "", data: null, key: "", found: null, hop: 0, timer: 0, began: 0,
    missed: [],
    grown: (now) => {
      const share = s.flow.began ? Math.min(1, (now - s.flow.began) / GROW_MS) : 1;
      if (share < 1) schedule(s);
      return share;
    },
    elements: { root, flow, misses } };
  onFrame(s.frames, showReasons);
}

/** @param {State} s */
function showReasons(s) {
  const { settings: { setting, held }, flow: { elements: { root, flow, misses } } } = s;
  root.hidden = !setting;
  if (!setting || held) return;
  write(flow, flowKey(s), () => writeFlow(s, flow));
  const depends = [s.scene.answer, s.path.found, s.path.run, setting];
  if (depends.every((part, i) => part === s.flow.missed[i])) return;
  s.flow.missed = depends;
  const rows = missRows(s);
  write(misses, JSON.stringify(rows), () => writeMisses(s, misses, rows));
}

/** Writes a part anew where it would say something else; the keyboard keeps its place.
 * @param {HTMLElement} part
 * @param {string} said
 * @param {() => void} act */
function write(part, said, act) {
  if (part.dataset.said === said) return;
  part.dataset.said = said;
  const at = focusedBeside(part)?.dataset.at;
  part.replaceChildren();
  act();
  if (at) /** @type {HTMLElement | null} */ (part.querySelector(`[data-at="${at}"]`))?.focus();
}

// --- flow ----------------------------------------------------------------------------------

/** @param {State} s */
function flowKey(s) {
  const found = shownFlow(s);
  return found ? `${found.node} ${s.scene.data.selected} ${s.scene.data.ingredients} ${s.flow.key} ${s.flow.hop} ${Boolean(s.flow.timer)}` : "none";
}

/** @param {State} s
 * @param {HTMLElement} part */
function writeFlow(s, part) {
  const { scene: { data }, flow } = s;
  const found = shownFlow(s);
  if (!found) {
    element("p", "hint", part, "Select a node to see where its score comes from.");
    return;
  }
  /** @param {number} amount */
  const share = (amount) => (found.total > 0 ? `${((100 * amount) / found.total).toFixed(1)} %` : "0 %");
  element("div", "head", part, `Score of ${nameOf(data, found.node)}`);
  const row = element("div", "hops", part);
  element("span", "", row, `own ${share(found.own)}`);
  if (data.selected === found.node && data.ingredients.length) {
    const parts = data.ingredients.map(([name, part]) => `${name} ${share(part * found.own)}`);
    element("div", "ingredients", part, `Own: ${parts.join(", ")}`);
  }
  /** @param {string} text
   * @param {number} hop */
  const hopButton = (text, hop) => {
    const made = button("", row, text, () => showHop(s, hop));
    made.dataset.at = `hop${hop}`;
    made.setAttribute("aria-pressed", String(flow.hop === hop));
  };
  found.hops.forEach(({ amount }, i) => hopButton(`hop ${i + 1}: ${share(amount)}`, i + 1));
  if (found.hops.length > 1) {
    hopButton("all", 0);
    const [mark, label] = flow.timer ? ["❚❚", "Stop"] : ["▶", "Play hop by hop"];
    button("play", row, mark, () => (flow.timer ? stop(s) : playFrom(s, 1)), label)
      .dataset.at = "play";
  }
  const list = element("ul", "", part);
  found.hops.forEach(({ given }, i) => {
    if (flow.hop && flow.hop !== i + 1) return;
    for (const { source, amount } of given.slice(0, flow.hop ? 2 * GIVERS : GIVERS)) {
      const item = element("li", "", list);
      element("span", "share", item, share(amount));
      const from = source === found.node ? "itself, there and back" : nameOf(data, source);
      element("span", "", item, `hop ${i + 1}, ${levelName(data, data.level[source])}: `);
      element("bdi", "", item, from);
    }
  });
}

/** @param {State} s
 * @param {number} hop */
function showHop(s, hop) {
  stop(s);
  Object.assign(s.flow, { hop, began: isStill() ? 0 : performance.now() });
  schedule(s);
}

/** @param {State} s
 * @param {number} hop */
function playFrom(s, hop) {
  const last = shownFlow(s)?.hops.length ?? 0;
  showHop(s, hop > last ? 0 : hop);
  if (hop <= last) s.flow.timer = setTimeout(() => playFrom(s, hop + 1), HOP_MS);
}

/** @param {State} s */
function stop(s) {
  clearTimeout(s.flow.timer);
  s.flow.timer = 0;
  schedule(s);
}

// --- near misses ------------------------------------------------------------------------------

/** Gold leaves that were missed, best first, then the next nodes: rank, words, what it would need.
 * @param {State} s
 * @returns {MissRow[]} */
export function missRows({ scene, settings: { setting }, path }) {
  const { data } = scene;
  const answer = /** @type {Answer | null} */ (scene.answer);
  if (!answer?.after.length || !setting || !data.final.length) return [];
  const last = data.final[answer.after[answer.after.length - 1]];
  const missed = new Set(answer.gold.after.missed);
  const gold = [...data.gold].filter((leaf) => turnsOf(data, leaf).some((turn) => missed.has(turn)));
  const retrieval = { .../** @type {Live} */ (data.live), k: answer.after.length + NEXT, budget: null };
  const next = Array.from(topNodes(data.final, data, retrieval))
    .filter((node) => !answer.after.includes(node) && !gold.includes(node));
  const nodes = [...gold, ...next];
  const ranks = ranksOf(nodes, data.final, data);
  const found = path?.found && !path.run ? path.found : null;
  const now = path && setting[path.over];
  return nodes.map((node, i) => {
    const ratio = last / data.final[node];
    const moved = found && now !== undefined ? needed(found, node, now) : "";
    return { node, rank: ranks[i], gold: gold.includes(node) ? turnsOf(data, node) : [],
      level: levelName(data, data.level[node]), words: wordsOf(data, node, 12),
      needs: moved || (!ranks[i] ? "its level admitted" : Number.isFinite(ratio)
        ? `score ×${ratio.toFixed(ratio < 1.095 ? 2 : 1)}` : "a score") };
  }).sort((a, b) => Number(!a.gold.length) - Number(!b.gold.length) || a.rank - b.rank);
}

/** @param {State} s
 * @param {HTMLElement} part
 * @param {MissRow[]} rows */
function writeMisses(s, part, rows) {
  element("div", "head", part, "Nearly retrieved, and what it would take");
  const list = element("ol", "", part);
  for (const { node, rank, gold, level, words, needs } of rows) {
    const item = element("li", "", list);
    const line = button("entry", item, "", () => {
      select(s, node);
      reveal(s, node);
    });
    line.dataset.at = `miss${node}`;
    element("span", "rank", line, String(rank || "–"));
    element("span", "needs", line, needs);
    element("span", "level", line, level);
    if (gold.length) {
      sign("gold missed", line, "◇", `missed gold ${isolateText(gold.join(", "))}`);
    }
    element("bdi", "words", line, words);
  }
}
