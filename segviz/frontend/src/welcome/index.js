// The first minute: what this is, and the doors into it. Once dismissed it stays away in this
// browser.

import { element } from "../shared/dom.js";

const STATE = "segvizWelcome";
const DISMISSED = "segviz-welcome-dismissed";

/** @param {Mount<{ what: string, doors: [name: string, label: string][] }>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  const s = (parentElement[STATE] ??= { root: element("div", "welcome", parentElement) });
  /** @type {HTMLElement} */
  const root = s.root;
  const host = /** @type {ShadowRoot} */ (root.getRootNode()).host;
  const place = /** @type {HTMLElement | null} */ (host?.closest('[class*="st-key-welcome"]'));
  const hide = () => {
    root.hidden = true;
    if (place) place.style.display = "none";
  };
  if (localStorage.getItem(DISMISSED)) hide();
  else if (data) {
    root.replaceChildren();
    const text = element("p", "", root);
    element("strong", "", text, "segviz");
    text.append(` ${data.what}`);
    const doors = element("div", "doors", root);
    for (const [name, label] of data.doors) {
      element("button", "", doors, label).onclick = () => setTriggerValue("door", name);
    }
    const close = element("button", "close", doors, "×");
    close.setAttribute("aria-label", "Dismiss the introduction");
    close.onclick = () => {
      localStorage.setItem(DISMISSED, "yes");
      hide();
    };
  }
}
