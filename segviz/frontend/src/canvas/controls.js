// The header's controls in "scores": α, H and drawing, in an exported page the policy, too. Native elements, so that keyboard
// and screen readers work.

import { button, element, make } from "../shared/dom.js";
import { buildSelect, showSelect } from "./colour_menu.js";
import { onScores, schedule } from "./scheduler.js";
import { change, report } from "./settings.js";

const FORMULA = "final = Σ αᵏ s⁽ᵏ⁾ / Σ αᵏ, with s⁽ᵏ⁾ = W s⁽ᵏ⁻¹⁾ for k = 1 … H";
/** @type {Record<string, string>} */
const MEANING = {
  alpha: `Decay α: the weight of each further hop. ${FORMULA}. 0 switches propagation off.`,
  horizon: `Hops H: how many edges a score may travel. ${FORMULA}. With 0 nothing is propagated.`,
  change: "Draws the tree once, coloured by propagated − initial score, in place of the mirrored pair",
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
  const policy = buildSelect(root, "policy", "policy", (chosen) => {
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
  const alpha = range("alpha", "α", "Decay alpha");
  const horizon = range("horizon", "H", "Hops H");
  const drawing = button("drawing", root, "Change", () => {
    act({ drawing: s.settings.setting?.drawing === "change" ? "mirrored" : "change" });
    report(s);
  });
  drawing.title = MEANING.change;
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
  controls.drawing.ariaPressed = String(drawing === "change");
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
