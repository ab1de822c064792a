// Beside the α path: what the selected node's score is made of, hop by hop, and the nodes that were
// almost retrieved, missed gold first, with what each would need.

import { button, element, isNews, make, rewrite, sign } from "../shared/dom.js";
import { isolateText } from "../shared/text.js";
import { askedWords, labelOf, levelName, nameOf, scoreLacking, turnsOf, wordsOf } from "./answer.js";
import { onFrame, schedule } from "./scheduler.js";
import { shownFlow, shownHop } from "./flow.js";
import { reveal, select } from "./navigation.js";
import { needed } from "./path.js";
import { ranksOf, topNodes } from "./propagate.js";
import { isStill } from "./view.js";

const NEXT = 4; // nodes after the last that is retrieved
const GIVERS = 3; // nodes that are named of a hop
const [HOP_MS, GROW_MS] = [1100, 700];

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildReasons(s, parent) {
  const root = element("section", "reasons", parent);
  onFrame(s.frames, showReasons);
  const flow = element("div", "flow", root);
  const misses = make("div");
  const fold = element("details", "misses", root, make("summary", "head", "Near misses, and the α or score they need"), misses);
  fold.ontoggle = () => schedule(s);
  return { root, flow, fold, misses,
    hop: 0, // whose ribbons are shown, 0 for all
    timer: /** @type {Timer} */ (0), began: 0, missed: /** @type {unknown[]} */ ([]),
    /** How far the ribbons have grown, 0 to 1.
     * @param {number} now */
    grown(now) {
      const share = this.began ? Math.min(1, (now - this.began) / GROW_MS) : 1;
      if (share < 1) schedule(s);
      return share;
    } };
}

/** @param {State} s */
function showReasons(s) {
  const { settings: { setting, held }, flow: { root, flow, fold, misses, missed } } = s;
  root.hidden = !setting;
  if (!setting || held) return;
  const { scene: { data }, attention: { selected } } = s;
  rewrite(flow, [selected, data.selected, data.ingredients, setting, s.flow.hop, Boolean(s.flow.timer), shownFlow(s)?.own],
    () => writeFlow(s, flow));
  // Ranking them is a pass over all nodes, which a folded list does not need.
  if (!fold.open || !isNews(missed, [s.scene.answer, s.path.found, s.path.run, setting])) return;
  const rows = missRows(s);
  rewrite(misses, rows, () => writeMisses(s, misses, rows));
}

// --- flow ----------------------------------------------------------------------------------

/** @type {(s: State, part: HTMLElement) => void} */
function writeFlow(s, part) {
  const { scene: { data }, flow } = s;
  const found = shownFlow(s);
  if (!found) {
    return;
  }
  /** @param {number} amount */
  const share = (amount) => (found.total > 0 ? `${((100 * amount) / found.total).toFixed(1)} %` : "0 %");
  element("div", "head", part, `Score of ${nameOf(data, found.node)}`);
  element("p", "hint", part, "Parts of the propagated score: own, the node's relevance to the question; "
    + "hop n, what reached it over n edges.");
  const row = element("div", "hops", part, make("span", "", `own ${share(found.own)}`));
  if (data.selected === found.node && data.ingredients.length) {
    const terms = data.ingredients.slice(1).map(([name, one]) =>
      `${name} ${one < 0 ? "−" : "+"}${share(Math.abs(one) * found.own)}`);
    element("div", "ingredients", part, `own, against an average leaf: ${terms.join(", ")}`);
  }
  const shown = shownHop(s, found);
  /** @type {(text: string, hop: number) => void} */
  const hopButton = (text, hop) => {
    const made = button("", row, text, () => showHop(s, hop));
    made.dataset.at = `hop${hop}`;
    made.ariaPressed = String(shown === hop);
  };
  found.hops.forEach(({ amount }, i) => hopButton(`hop ${i + 1}: ${share(amount)}`, i + 1));
  if (found.hops.length > 1) {
    hopButton("all", 0);
    const [mark, label] = flow.timer ? ["❚❚", "Stop"] : ["▶", "Play hop by hop"];
    const act = () => (flow.timer ? showHop(s, flow.hop) : playFrom(s, 1));
    button("play", row, mark, act, label).dataset.at = "play";
  }
  const list = element("ul", "", part);
  found.hops.forEach(({ given }, i) => {
    if (shown && shown !== i + 1) return;
    for (const { source, amount } of given.slice(0, shown ? 2 * GIVERS : GIVERS)) {
      const from = source === found.node ? "itself, there and back" : nameOf(data, source);
      element("li", "", list, make("span", "share", share(amount)),
        make("span", "", `hop ${i + 1}, ${levelName(data, data.level[source])}: `),
        make("bdi", "", from));
    }
  });
}

/** Shows the ribbons of one hop, or of all, and stops what plays.
 * @type {(s: State, hop: number) => void} */
function showHop(s, hop) {
  clearTimeout(s.flow.timer);
  Object.assign(s.flow, { hop, timer: 0, began: isStill() ? 0 : performance.now() });
  schedule(s);
}

/** @type {(s: State, hop: number) => void} */
function playFrom(s, hop) {
  const last = shownFlow(s)?.hops.length ?? 0;
  showHop(s, hop > last ? 0 : hop);
  if (hop <= last) s.flow.timer = setTimeout(() => playFrom(s, hop + 1), HOP_MS);
}

// --- near misses ------------------------------------------------------------------------------

/** Gold leaves that were missed, best first, then the next nodes: rank, words, what it would need.
 * @param {State} s */
function missRows({ scene, settings: { setting }, path }) {
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
      level: levelName(data, data.level[node]), words: [labelOf(data, node), wordsOf(data, node, 40)].filter(Boolean).join(" · "),
      needs: moved || (!ranks[i] ? "its level admitted" : retrieval.deduplicate && ratio <= 1 ? "text is in"
        : scoreLacking(ratio)) };
  }).sort((a, b) => Number(!a.gold.length) - Number(!b.gold.length) || a.rank - b.rank);
}

/** @type {(s: State, part: HTMLElement, rows: ReturnType<typeof missRows>) => void} */
function writeMisses(s, part, rows) {
  const list = element("ol", "", part);
  for (const { node, rank, gold, level, words, needs } of rows) {
    const item = element("li", "", list);
    const line = button("entry", item, "", () => {
      select(s, node);
      reveal(s, node);
    });
    line.dataset.at = `miss${node}`;
    line.append(make("span", "rank", String(rank || "–")), make("span", "needs", needs),
      make("span", "level", level));
    if (gold.length) {
      sign("gold missed", line, "◇", `missed gold ${isolateText(gold.join(", "))}`);
    }
    if (gold.length && Object.keys(s.scene.data.matches).length) {
      element("span", "level", line, askedWords(s.scene.data, node));
    }
    element("bdi", "words", line, words);
  }
}
