// What is said about a node, and the tooltip that says it.

import { element, make } from "../shared/dom.js";
import { cutText, isolateText, levelsText, spanText } from "../shared/text.js";
import { multiple } from "./answer.js";
import { rowRect } from "./boxes.js";
import { goldClass, measureOf } from "./shades.js";

const TIP_LENGTH = 280;

/** [class, text] of the lines about a node.
 * @param {Scene} scene
 * @param {number} node
 * @returns {TipLine[]} */
export function nodeLines(scene, node) {
  const { data, tree } = scene;
  const [start, stop] = [tree.start[node], tree.stop[node]];
  const first = scene.runs[scene.runOf[start]]?.session ?? -1;
  const last = scene.runs[scene.runOf[stop - 1]]?.session ?? -1;
  /** @param {number} session */
  const title = (session) => isolateText(data.session_titles[session] ?? "");
  const sessions = first === last ? title(first) : `${title(first)} – ${title(last)}`;
  const id = `node ${data.origin[node] ?? node}`;
  const named = data.names[node] ? `${isolateText(data.names[node])} · ` : "";
  const levels = levelsText(tree.level[node], tree.top[node]);
  /** @type {TipLine[]} */
  const lines = [
    ["head", `${named}${levels} · ${spanText(start, stop)}`],
    ["meta", `${sessions} · ${id}`],
  ];
  if (data.mode === "scores" && data.initial.length) {
    /** @param {Ids} ids */
    const rank = (ids) => (ids.includes(node) ? ` (rank ${ids.indexOf(node) + 1})` : "");
    const [before, after] = data.score_names;
    lines.push(["meta", `${before} ${multiple(scene, data.initial[node])} an even share${rank(data.top_initial)}`]);
    if (data.final.length) {
      lines.push(["meta", `${after} ${multiple(scene, data.final[node])}${rank(data.top_final)}`]);
    }
  }
  if (data.revised.includes(node)) lines.push(["meta", "rewritten in this step"]);
  const candidates = data.mode === "grow" ? data.candidates.filter((c) => c.node === node) : [];
  for (const { numbers, label, level, taken } of candidates) {
    const judged = [numbers, isolateText(label)].filter(Boolean).join(" ");
    const where = candidates.length > 1 ? ` on level ${level}` : "";
    lines.push(["meta", `candidate${where}: ${judged}${taken ? ", chosen" : ""}`]);
  }
  for (const { name } of data.measures.filter((one) => scene.shades.includes(one.name))) {
    const value = measureOf(data, name, node);
    if (!Number.isNaN(value)) lines.push(["meta", `${name} ${value.toFixed(2)}`]);
  }
  if (data.own[node] >= 0) lines.push(["meta", isolateText(data.own_names[data.own[node]])]);
  if (data.gold.includes(node)) lines.push(["meta", `gold evidence${goldFate(scene, node)}`]);
  const text = data.labels[node];
  if (text) lines.push(["text", `\u2068${cutText(text, TIP_LENGTH)}\u2069`]);
  return lines;
}

/** What became of a gold leaf, where that is what colours show.
 * @param {Scene} scene
 * @param {number} node */
const goldFate = (scene, node) =>
  (scene.shades.includes("gold") ? `, ${goldClass(scene, scene.shades.length - 1, node)}` : "");

/** @param {State} s
 * @param {number} node
 * @param {number} x
 * @param {number} y */
export function showNode(s, node, x, y) {
  s.attention.tipNode = node;
  s.attention.tipAt = [x, y];
  showTip(s, nodeLines(s.scene, node), x, y);
}

/** @param {State} s */
export function hideTip(s) {
  s.attention.tipNode = null;
  s.elements.tip.hidden = true;
}

/** Beside the point (x, y) of the stage, inside the component, and below or above the row of the
 *  node that is told of: its neighbours stay to be seen. What the search has found is marked.
 * @param {State} s
 * @param {TipLine[]} lines
 * @param {number} x
 * @param {number} y */
export function showTip(s, lines, x, y) {
  const { elements, search: { query }, attention: { tipNode }, sight: { geom } } = s;
  const { tip } = elements;
  tip.replaceChildren();
  for (const [kind, text] of lines) {
    const line = element("div", kind, tip);
    line.dir = "auto";
    const at = kind === "text" && query ? text.toLowerCase().indexOf(query) : -1;
    if (at < 0) line.textContent = text;
    else {
      const end = at + query.length;
      line.append(text.slice(0, at), make("mark", "heard", text.slice(at, end)), text.slice(end));
    }
  }
  tip.hidden = false;
  const { offsetWidth: w, offsetHeight: h } = tip;
  const { clientWidth, clientHeight } = elements.root;
  const row = tipNode === null ? null
    : rowRect(s, Number(geom.halves > 1 && y > geom.axisTop), tipNode);
  const { offsetTop } = elements.stage;
  const [top, bottom] = row ? [row.y, row.y + row.h] : [y - 8, y + 8];
  const left = x + 14 + w > clientWidth ? x - 14 - w : x + 14;
  const below = offsetTop + bottom + 6;
  const place = below + h > clientHeight ? offsetTop + top - 6 - h : below;
  tip.style.left = `${Math.max(4, Math.min(left, clientWidth - w - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(place, clientHeight - h - 4))}px`;
}
