// The header's controls in "scores" (policy, α, H, drawing). Native elements, so that keyboard
// and screen readers work.

import { element, make } from "../shared/dom.js";
import { buildSelect, showSelect } from "./colour_menu.js";
import { onScores, schedule } from "./scheduler.js";
import { change, report } from "./settings.js";

const FORMULA = "final = Σ αᵏ s⁽ᵏ⁾ / Σ αᵏ, with s⁽ᵏ⁾ = W s⁽ᵏ⁻¹⁾ for k = 1 … H";
/** @type {Record<string, string>} */
const MEANING = {
  alpha: `Decay α: the weight of each further hop. ${FORMULA}. 0 switches propagation off.`,
  horizon: `Hops H: how many edges a score may travel. ${FORMULA}. With 0 nothing is propagated.`,
  mirrored: "Initial scores above the axis, propagated below",
  change: "Propagated − initial score of every node",
};

/** The controls. After a choice, or when a slider is let go, nothing more is to come: then Python
 *  is told.
 * @param {State} s
 * @param {HTMLElement} parent */
export function buildControls(s, parent) {
  const root = element("div", { className: "controls", hidden: true }, parent);
  /** @param {Partial<LiveSetting>} part */
  const act = (part) => {
    change(s, part);
    schedule(s, true);
  };
  const policy = buildSelect(root, "", "policy", (chosen) => {
    act({ policy: chosen });
    report(s);
  });
  /** @param {string} name
   * @param {string} text
   * @param {string} label */
  const range = (name, text, label) => {
    const around = element("label", { title: MEANING[name] }, root, make("span", "", text));
    const input = element("input",
      { className: name, type: "range", min: "0", ariaLabel: label }, around);
    input.addEventListener("input", () => act({ [name]: Number(input.value) }));
    input.addEventListener("pointerup", () => report(s));
    return { input, value: element("output", name, around) };
  };
  const alpha = range("alpha", "decay α", "Decay alpha");
  const horizon = range("horizon", "hops H", "Hops H");
  /** @type {Record<string, HTMLInputElement>} */
  const drawing = {};
  const group = element("div",
    { className: "drawing", role: "radiogroup", ariaLabel: "Drawing" }, root);
  for (const [name, text] of [["mirrored", "Mirrored"], ["change", "Change"]]) {
    const input = make("input", { type: "radio", name: "drawing", value: name });
    element("label", { title: MEANING[name] }, group, input, make("span", "", text));
    input.addEventListener("change", () => {
      act({ drawing: name });
      report(s);
    });
    drawing[name] = input;
  }
  onScores(s.frames, showControls);
  return { root, policy, alpha, horizon, drawing };
}

/** Brings the controls to the present setting, touching only what differs.
 * @param {State} s */
function showControls(s) {
  const { elements: { controls }, scene: { data }, settings } = s;
  controls.root.hidden = !settings.setting;
  if (!settings.setting) return;
  const { alpha_max, alpha_step, horizon_max } = /** @type {Live} */ (data.live);
  const { policies } = data;
  const { policy, alpha, horizon, drawing } = settings.setting;
  showSelect(controls.policy, Object.entries(policies).map(([name, meaning]) => [name, name, meaning]),
    policy, "Which way scores travel");
  showRange(controls.alpha, alpha, alpha_max, alpha_step, alpha.toFixed(2), policy);
  showRange(controls.horizon, horizon, Math.max(horizon, horizon_max), 1, String(horizon), policy);
  for (const [name, input] of Object.entries(controls.drawing)) input.checked = name === drawing;
}

/** @type {(control: Elements["controls"]["alpha"], number: number, max: number, step: number,
 *    text: string, policy: string) => void} */
function showRange({ input, value }, number, max, step, text, policy) {
  input.max = String(max);
  input.step = String(step);
  if (Number(input.value) !== number) input.value = String(number);
  input.disabled = policy === "none";
  input.setAttribute("aria-valuetext", text);
  if (value.textContent !== text) value.textContent = text;
}
