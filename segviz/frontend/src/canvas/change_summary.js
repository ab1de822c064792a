// The line of what changed, beside the controls that changed it; and holding a button (or the
// key B) to see the same question without propagation.

import { element, make, rewrite } from "../shared/dom.js";
import { levelName, nameOf } from "./answer.js";
import { onScores, schedule, showScores } from "./scheduler.js";
import { hold } from "./settings.js";

const NAMED = 2; // nodes that are named of those that entered, and of those that left

/** @type {Builder} */
export function buildChanged(s, parent) {
  s.elements.changed = element("div", "changed", parent);
  onScores(s.frames, showChanged);
}

/** @param {State} s */
function showChanged({ elements: { changed }, scene }) {
  changed.hidden = !scene.answer;
  if (!scene.answer) return;
  const parts = changeParts(scene);
  rewrite(changed, parts, () => {
    changed.append(...parts.map(([kind, text]) => make("span", kind,
      kind === "same" ? "" : make("b", "", kind), make("span", "", text))));
    changed.title = changeWords(parts);
  });
}

/** The line as one text.
 * @param {TipLine[]} parts */
export const changeWords = (parts) =>
  parts.map(([kind, text]) => (kind === "same" ? text : `${kind} ${text}`)).join(" · ");

/** [kind, words] of the line: what entered and left, or that nothing did; gold; levels.
 * @type {(scene: Scene) => TipLine[]} */
export function changeParts(scene) {
  const { data } = scene;
  const answer = /** @type {Answer} */ (scene.answer);
  const { entered, left, was, is, gold, levels, after, moved } = answer;
  /** @param {number[]} nodes */
  const named = (nodes) => {
    const words = nodes.slice(0, NAMED)
      .map((node) => `“${nameOf(data, node)}” ${was.get(node)}→${is.get(node)}`);
    if (nodes.length > NAMED) words.push(`${nodes.length - NAMED} more`);
    return words.join(", ");
  };
  /** @type {TipLine[]} */
  const parts = [];
  if (entered.length) parts.push(["in", named(entered)]);
  if (left.length) parts.push(["out", named(left)]);
  if (!parts.length) {
    const moves = moved === 2 ? "2 swapped" : moved ? `${moved} in another place` : "same order";
    parts.push(["same", `same ${after.length} nodes, ${moves}`]);
  }
  if (gold.asked) parts.push(["gold", goldWords(gold)]);
  const changes = levels.before.map((count, level) => [level, count, levels.after[level]])
    .filter(([, from, to]) => from !== to)
    .map(([level, from, to]) => `${levelName(data, level)} ${from}→${to}`);
  if (entered.length || left.length) parts.push(["levels", changes.join(", ") || "as before"]);
  return parts;
}

/** @param {Answer["gold"]} gold */
function goldWords({ before, after, asked }) {
  const wide = after.covered.length ? `, ${after.covered.length} quoted by a wider node` : "";
  return `${before.found.length}/${asked} → ${after.found.length}/${asked}${wide}`;
}

/** The button that shows the question without propagation for as long as it is held.
 * @type {Builder} */
export function buildHold(s, parent) {
  const button = element("button", { type: "button", className: "hold",
    title: "Hold to compare with no propagation (B)" }, parent, "hold: no propagation");
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
