// The card beside the node under the pointer: its title, its whole text in lines of readable width,
// its level, sessions and dates. It lies inside of the canvas, and not on the node.

import { element, isNews, make } from "../shared/dom.js";
import { lineBlocks, matchedPieces } from "../shared/lines.js";
import { isolateText, levelsText, spanText } from "../shared/text.js";
import { labelOf, nodeOf, textOf } from "./answer.js";
import { nodeRect } from "./boxes.js";
import { sessionsText } from "./readout.js";
import { onFrame } from "./scheduler.js";

const AWAY = 8; // pixels between the node and its card

/** @param {State} s
 * @param {HTMLElement} stage */
export function buildCard(s, stage) {
  onFrame(s.frames, showCard);
  return { root: element("div", { className: "card", hidden: true, ariaHidden: "true" }, stage),
    shown: /** @type {unknown[]} */ ([]) };
}

/** @param {State} s */
function showCard(s) {
  const { elements: { card, stage }, scene, scene: { data, tree }, attention: { under, half }, sight } = s;
  const at = [data, under, half, sight.view, sight.geom];
  if (!isNews(card.shown, at)) return;
  const rect = under === null || !data.labels.length ? null : nodeRect(s, half, under);
  card.root.hidden = !rect;
  if (!rect || under === null) return;
  const where = [levelsText(tree.level[under], tree.top[under]), sessionsText(scene, under),
    spanText(tree.start[under], tree.stop[under])].filter(Boolean).join(" · ");
  const pieces = matchedPieces(textOf(data, under), data.matches[nodeOf(data, under)]);
  const ended = data.ended[under];
  card.root.replaceChildren(make("bdi", "title", labelOf(data, under)),
    make("div", ended ? "text ended" : "text", ...lineBlocks(pieces)),
    ...ended ? [make("div", "meta", isolateText(ended))] : [], make("div", "meta", where));
  const { offsetWidth: w, offsetHeight: h } = card.root;
  const [x, y] = cardPlace(rect, { w, h }, { w: stage.clientWidth, h: stage.clientHeight });
  card.root.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}

/** Where a card of this size lies on a stage: right of its node, left of it, below or above it, by
 *  what there is room for, else at the foot.
 * @param {Rect} rect
 * @param {{ w: number, h: number }} card
 * @param {{ w: number, h: number }} stage
 * @returns {[x: number, y: number]} */
export function cardPlace(rect, card, stage) {
  const [right, below] = [rect.x + rect.w + AWAY, rect.y + rect.h + AWAY];
  const [left, above] = [rect.x - AWAY - card.w, rect.y - AWAY - card.h];
  const [most, lowest] = [Math.max(0, stage.w - card.w), Math.max(0, stage.h - card.h)];
  if (right <= most) return [right, Math.min(rect.y, lowest)];
  if (left >= 0) return [left, Math.min(rect.y, lowest)];
  const x = Math.min(Math.max(0, rect.x), most);
  return [x, below <= lowest ? below : above >= 0 ? above : lowest];
}
