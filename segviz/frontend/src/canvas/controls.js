// The header's controls in "scores" (policy, α, H, drawing). Native elements, so that keyboard
// and screen readers work.

import { element } from "../shared/dom.js";
import { buildSelect, showSelect } from "./colour_menu.js";
import { onScores } from "./frame.js";
import { keyLetGo } from "./settings.js";

const FORMULA = "final = Σ αᵏ s⁽ᵏ⁾ / Σ αᵏ, with s⁽ᵏ⁾ = W s⁽ᵏ⁻¹⁾ for k = 1 … H";
/** @type {Record<string, string>} */
const MEANING = {
  alpha: `Decay α: the weight of each further hop. ${FORMULA}. 0 switches propagation off.`,
  horizon: `Hops H: how many edges a score may travel. ${FORMULA}. 0 is collapsed retrieval.`,
  mirrored: "Initial scores above the axis, propagated below",
  change: "Propagated − initial score of every node",
};

/** The controls; `act` gets the changed part of the setting, `rest` is called when nothing
 *  more is to come: after a choice, or when a slider is let go.
 * @param {State} s
 * @param {HTMLElement} parent
 * @param {(part: Partial<LiveSetting>) => void} act
 * @param {() => void} rest */
export function buildControls(s, parent, act, rest) {
  const root = element("div", "controls", parent);
  root.hidden = true;
  // Keys pressed here are not Streamlit's shortcuts.
  root.addEventListener("keydown", (event) => event.stopPropagation());
  const policy = buildSelect(root, "", "policy", (chosen) => {
    act({ policy: chosen });
    rest();
  });
  /** @param {string} name
   * @param {string} text
   * @param {string} label */
  const range = (name, text, label) => {
    const around = element("label", "", root);
    around.title = MEANING[name];
    element("span", "", around, text);
    const input = Object.assign(element("input", name, around), { type: "range", min: "0" });
    input.setAttribute("aria-label", label);
    input.addEventListener("input", () => act({ [name]: Number(input.value) }));
    input.addEventListener("pointerup", rest);
    input.addEventListener("keyup", () => keyLetGo(s));
    return { label: around, input, value: element("output", name, around) };
  };
  const alpha = range("alpha", "α", "Decay alpha");
  const horizon = range("horizon", "H", "Hops H");
  /** @type {Record<string, HTMLInputElement>} */
  const drawing = {};
  const group = element("div", "drawing", root);
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-label", "Drawing");
  for (const [name, text] of [["mirrored", "Mirrored"], ["change", "Change"]]) {
    const label = element("label", "", group);
    label.title = MEANING[name];
    const input = element("input", "", label);
    Object.assign(input, { type: "radio", name: "drawing", value: name });
    element("span", "", label, text);
    input.addEventListener("change", () => {
      act({ drawing: name });
      rest();
    });
    drawing[name] = input;
  }
  onScores(s.frames, showControls);
  s.elements.controls = { root, policy, alpha, horizon, drawing };
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

/** @param {RangeControl} rangeControl
 * @param {number} number
 * @param {number} max
 * @param {number} step
 * @param {string} text
 * @param {string} policy */
function showRange({ input, value }, number, max, step, text, policy) {
  input.max = String(max);
  input.step = String(step);
  if (Number(input.value) !== number) input.value = String(number);
  input.disabled = policy === "none";
  input.setAttribute("aria-valuetext", text);
  if (value.textContent !== text) value.textContent = text;
}
