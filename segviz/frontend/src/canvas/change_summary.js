// The verdict and the line of what changed, beside the controls that changed it; and holding a button (or the
// key B) to see the same question without propagation.

import { element, make, rewrite } from "../shared/dom.js";
import { askedWords, levelName, nameOf, scoreLacking, turnsOf } from "./answer.js";
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
    const [[tone, verdict], ...more] = parts;
    element("div", `verdict ${tone}`, changed, verdict);
    element("div", "parts", changed, ...more.map(([kind, text]) => make("span", kind,
      make("b", "", kind), make("span", "", text))));
    changed.title = changeWords(parts);
  });
}

/** Verdict and line as one text.
 * @param {TipLine[]} parts */
export const changeWords = ([[, verdict], ...parts]) =>
  [verdict, ...parts.map(([kind, text]) => `${kind} ${text}`)].join(" · ");

/** The verdict: what became of the gold turns, and how many nodes were replaced.
 * @type {(scene: Scene) => TipLine} */
function verdictOf({ data, answer }) {
  const { entered, after, moved, gold, was, is, held } = /** @type {Answer} */ (answer);
  const size = after.length;
  const moves = moved === 2 ? "2 swapped" : moved ? `${moved} in another place` : "same order";
  const replaced = entered.length ? `${entered.length} of ${size} replaced`
    : `same ${size} node${size === 1 ? "" : "s"}, ${moves}`;
  /** @type {(fates: Record<string, string[]>, turn: string) => number} */
  const worth = (fates, turn) => (fates.found.includes(turn) ? 2 : fates.covered.includes(turn) ? 1 : 0);
  const turns = Object.values(gold.after).flat();
  if (!turns.length) return ["same", replaced];
  const gains = turns.filter((turn) => worth(gold.after, turn) > worth(gold.before, turn));
  const drops = turns.filter((turn) => worth(gold.after, turn) < worth(gold.before, turn));
  /** ": rank 9 → 5" of the leaves that hold some turns, or of the wider nodes that quote them; ""
   *  where their level is not admitted.
   * @type {(some: string[], quoted?: boolean) => string} */
  const shifts = (some, quoted = false) => [...held.keys()]
    .filter((node) => quoted !== data.gold.includes(node) && was.get(node) && is.get(node)
      && turnsOf(data, node).some((turn) => some.includes(turn)))
    .sort((a, b) => (is.get(a) ?? 0) - (is.get(b) ?? 0)).slice(0, NAMED)
    .map((node, i) => `${i ? ", " : ": rank "}${was.get(node)} → ${is.get(node)}`).join("");
  /** @type {(some: string[], words: [string, string]) => string} */
  const told = (some, [whole, quoted]) => {
    const narrow = some.some((turn) => gold.after.found.includes(turn) || gold.before.found.includes(turn));
    const share = gold.asked > 1 ? ` ${some.length} of ${gold.asked}` : "";
    return `Gold ${narrow ? whole : quoted}${share}${shifts(some, !narrow)}`;
  };
  const { found, missed } = gold.after;
  /** @type {TipLine} */
  const [tone, words] = gains.length && drops.length
    ? ["same", `Gold: ${gains.length} won, ${drops.length} lost`]
    : gains.length ? ["better", told(gains, ["gained", "quoted by a wider node now"])]
      : drops.length ? ["worse", told(drops, ["lost", "no longer quoted"])]
        : found.length === gold.asked ? ["same", "All gold found, before and after"]
          : !missed.length ? ["same", "Gold found or quoted, before and after"]
            : ["same", `Gold ${found.length ? `${found.length} of ${gold.asked} found as before, missed` : "still missed"}${shifts(missed)}`];
  return [tone, `${words} · ${replaced}`];
}

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
  /** @type {TipLine[]} */
  const parts = [verdictOf(scene)];
  if (entered.length) parts.push(["in", named(entered)]);
  if (left.length) parts.push(["out", named(left)]);
  if (gold.asked) parts.push(["gold", goldWords(gold)]);
  const why = missedWords(data, answer);
  if (why) parts.push(["missed", why]);
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

/** Why the best of the missed gold leaves is not retrieved; "" where none is ranked.
 * @type {(data: Message, answer: Answer) => string} */
function missedWords(data, { after, gold, is }) {
  /** @param {number} node */
  const rank = (node) => is.get(node) ?? 0;
  const [leaf] = [...data.gold].sort((a, b) => rank(a) - rank(b))
    .filter((node) => rank(node) && turnsOf(data, node).some((turn) => gold.after.missed.includes(turn)));
  const ratio = data.final[after[after.length - 1]] / data.final[leaf];
  if (!(ratio > 1) || !Object.keys(data.matches).length) return "";
  return `${askedWords(data, leaf)}, needs ${scoreLacking(ratio)}`;
}

/** The button that shows the question without propagation for as long as it is held.
 * @type {Builder} */
export function buildHold(s, parent) {
  const button = element("button", { type: "button", className: "hold",
    title: "While you hold this button, or the key B, the page shows the answer without propagation" },
  parent, "Hold: no propagation");
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
