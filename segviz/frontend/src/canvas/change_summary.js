// The verdict, above the controls that changed it; and holding a button (or the key B) to see the same
// question without propagation.

import { element, isNews, rewrite } from "../shared/dom.js";
import { NAMED, verdictOf } from "../shared/verdict.js";
import { askedWords, levelName, nameOf, scoreLacking, turnsOf } from "./answer.js";
import { onFrame, onScores, schedule, showScores } from "./scheduler.js";
import { hold } from "./settings.js";

/** @type {Builder} */
export function buildChanged(s, parent) {
  s.elements.changed = element("div", "changed", parent);
  onScores(s.frames, showChanged);
  /** @type {unknown[]} */
  const known = [];
  onFrame(s.frames, () => {
    const verdict = /** @type {HTMLElement | null} */ (s.elements.changed.querySelector(".verdict"));
    if (verdict && isNews(known, [verdict, verdict.clientWidth])) fit(verdict);
  });
}

/** @param {State} s */
function showChanged({ elements: { changed }, scene }) {
  changed.hidden = !scene.answer;
  if (!scene.answer) return;
  const parts = changeParts(scene);
  rewrite(changed, parts, () => {
    const [[tone, verdict]] = parts;
    element("div", `verdict ${tone}`, changed, verdict);
    changed.title = changeWords(parts);
  });
}

/** Sizes of a verdict: in lines of its room, then in lower ones. */
const [SIZES, LOW] = [[22, 18], [15, 13]];

/** As large as has room.
 * @param {HTMLElement} verdict */
function fit(verdict) {
  for (const size of [...SIZES, ...LOW]) {
    verdict.classList.toggle("long", LOW.includes(size));
    verdict.style.fontSize = `${size}px`;
    if (verdict.scrollWidth <= verdict.clientWidth && verdict.scrollHeight <= verdict.clientHeight) return;
  }
}

/** Verdict and line as one text.
 * @param {TipLine[]} parts */
export const changeWords = ([[, verdict], ...parts]) =>
  [verdict, ...parts.map(([kind, text]) => `${kind} ${text}`)].join(" · ");

/** [kind, words] of all that changed: the verdict; what entered and left; gold; levels.
 * @type {(scene: Scene) => TipLine[]} */
export function changeParts(scene) {
  const { data } = scene;
  const answer = /** @type {Answer} */ (scene.answer);
  const { entered, left, was, is, gold, levels } = answer;
  /** @param {number[]} nodes */
  const named = (nodes) => {
    const goldFirst = [...nodes].sort((a, b) => Number(answer.held.has(b)) - Number(answer.held.has(a)));
    const words = goldFirst.slice(0, NAMED)
      .map((node) => `“${nameOf(data, node)}” ${was.get(node)}→${is.get(node)}`);
    if (nodes.length > NAMED) words.push(`${nodes.length - NAMED} more`);
    return words.join(", ");
  };
  const called = (/** @type {number} */ node) =>
    `“${nameOf(data, node)}” on ${levelName(data, data.level[node])}`;
  const missed = bestMissed(data, answer);
  const lacks = missed ? askedWords(data, missed.leaf) : "";
  /** @type {TipLine[]} */
  const parts = [verdictOf(answer, data.gold, called, lacks, "as others received more")];
  if (entered.length) parts.push(["enters", named(entered)]);
  if (left.length) parts.push(["leaves", named(left)]);
  if (gold.asked) parts.push(["gold", goldWords(gold)]);
  if (missed) parts.push(["missed", `${lacks}, needs its ${scoreLacking(missed.ratio)}`]);
  const changes = levels.before.map((count, level) => [level, count, levels.after[level]])
    .filter(([, from, to]) => from !== to)
    .map(([level, from, to]) => `${levelName(data, level)} ${from}→${to}`);
  if (entered.length || left.length) parts.push(["levels", changes.join(", ") || "as before"]);
  return parts;
}

/** @param {Answer["gold"]} gold */
function goldWords({ before, after, asked }) {
  const wide = after.quoted.length ? `, ${after.quoted.length} quoted by a wider node` : "";
  const stated = after.answered.length ? `, ${after.answered.length} answered by a node above` : "";
  return `${before.found.length}/${asked} → ${after.found.length}/${asked}${wide}${stated}`;
}

/** The best of the missed gold leaves and how many times too low its score is; null where none is
 *  ranked or words do not count.
 * @type {(data: Message, answer: Answer) => { leaf: number, ratio: number } | null} */
function bestMissed(data, { after, gold, is }) {
  /** @param {number} node */
  const rank = (node) => is.get(node) ?? 0;
  const [leaf] = [...data.gold].sort((a, b) => rank(a) - rank(b))
    .filter((node) => rank(node) && turnsOf(data, node).some((turn) => gold.after.missed.includes(turn)));
  const ratio = data.final[after[after.length - 1]] / data.final[leaf];
  return ratio > 1 && Object.keys(data.matches).length ? { leaf, ratio } : null;
}

/** The button that shows the question without propagation for as long as it is held.
 * @type {Builder} */
export function buildHold(s, parent) {
  const button = element("button", { type: "button", className: "hold",
    title: "While you hold this button, or the key B, the page shows the answer without propagation" },
  parent, "Hold: without");
  button.addEventListener("pointerdown", () => holdNone(s, true));
  for (const end of ["pointerup", "pointerleave", "pointercancel", "blur", "keyup"]) {
    button.addEventListener(end, () => holdNone(s, false));
  }
  button.addEventListener("keydown", (event) => {
    if (event.key === " " || event.key === "Enter") holdNone(s, true);
  });
  s.elements.hold = button;
}

/** @type {(s: State, held: boolean) => void} */
export function holdNone(s, held) {
  if (!s.settings.setting || !hold(s, held)) return;
  s.elements.hold.ariaPressed = String(held);
  showScores(s);
  schedule(s, true);
}
