// The choice of colour, label and axis, the first two by selects in the tool row. The picture
// changes at once; Python is told, so that links and the next page carry the choice.

import { element, make } from "../shared/dom.js";
import { onScores, schedule, showScores } from "./scheduler.js";
import { labelChoice, labelsFor } from "./labels.js";
import { colourChoice, coloursFor } from "./node_color.js";

export const createLook = () => ({ colour: "", labels: "", axis: "",
  told: /** @type {string | null} */ (null), sent: /** @type {string[]} */ ([]) });

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildColourMenu(s, parent) {
  const { scene } = s;
  const root = element("div", "look", parent);
  /** @param {"colour" | "labels"} part
   * @param {string} text */
  const select = (part, text) => buildSelect(root, part, text, (chosen) => {
    scene.look[part] = chosen;
    if (part === "colour" && scene.isolated?.kind !== "session") scene.isolated = null;
    tellLook(s);
    showScores(s);
    schedule(s, true);
  });
  onScores(s.frames, showColourMenu);
  return { root, colour: select("colour", "Colour"), labels: select("labels", "Labels") };
}

/** @param {Look} look */
const word = ({ colour, labels, axis }) => `${colour}/${labels}/${axis}`;

/** @param {State} s */
export function tellLook(s) {
  const { scene } = s;
  const { colour, labels, axis } = scene.look;
  scene.look.sent.push(word(scene.look));
  s.tell("look", { colour, labels, axis });
}

/** Takes Python's word where it is news; an echo of what was chosen here is none, and must
 *  not undo what was chosen since.
 * @param {State} s */
export function adoptLook(s) {
  const { look, data } = s.scene;
  const said = word(data.look);
  if (said !== look.told) {
    look.told = said;
    const at = look.sent.indexOf(said);
    if (at < 0) Object.assign(look, data.look, { sent: [] });
    else look.sent.splice(0, at + 1);
  } else if (said === word(look)) look.sent = [];
}

/** @param {State} s */
function showColourMenu(s) {
  const { scene } = s;
  const { root, colour, labels } = s.elements.lookControls;
  root.hidden = !scene.data.legend;
  showSelect(colour, coloursFor(scene.data), colourChoice(scene), "Nodes are coloured by");
  showSelect(labels, labelsFor(scene.data), labelChoice(scene), "Written on nodes");
}

/** A select and its label.
 * @param {HTMLElement} parent
 * @param {string} className
 * @param {string} text
 * @param {(chosen: string) => void} act */
export function buildSelect(parent, className, text, act) {
  const label = element("label", "", parent, make("span", "", text));
  const select = element("select", className, label);
  select.addEventListener("change", () => act(select.value));
  return { label, select };
}

/** Brings a select to what is on offer and chosen, touching only what differs.
 * @type {(control: SelectControl, offered: Offer[], chosen: string, what: string) => void} */
export function showSelect({ label, select }, offered, chosen, what) {
  const options = offered.map(([choice, name]) => `${choice}=${name}`).join();
  if (select.dataset.options !== options) {
    select.dataset.options = options;
    select.replaceChildren(...offered.map(([value, name]) => make("option", { value }, name)));
  }
  if (select.value !== chosen) select.value = chosen;
  label.title = `${what}: ${offered.find(([choice]) => choice === chosen)?.[2]}`;
}
