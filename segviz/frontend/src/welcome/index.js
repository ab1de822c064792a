// The first minute: what this is, and the doors into it. Once dismissed it stays away in this
// browser.

import { element, make } from "../shared/dom.js";
import { reading } from "../shared/component.js";

const STATE = "segvizWelcome";
const DISMISSED = "segviz-welcome-dismissed";

export default reading(mount);

/** @param {Mount<{ what: string, doors: [name: string, label: string][] }>} component */
function mount({ data, parentElement, setTriggerValue }) {
  const s = (parentElement[STATE] ??= { root: element("div", "welcome", parentElement) });
  /** @type {HTMLElement} */
  const root = s.root;
  const host = /** @type {ShadowRoot} */ (root.getRootNode()).host;
  const place = /** @type {HTMLElement | null} */ (host?.closest('[class*="st-key-welcome"]'));
  const hide = () => {
    root.hidden = true;
    if (place) place.style.display = "none";
  };
  const store = storage();
  if (store?.getItem(DISMISSED)) hide();
  else {
    root.replaceChildren(make("p", "", make("strong", "", "segviz"), ` ${data.what}`));
    const onclick = () => {
      store?.setItem(DISMISSED, "yes");
      hide();
    };
    element("div", "doors", root, ...data.doors.map(([name, label]) =>
      make("button", { onclick: () => setTriggerValue("door", name) }, label)),
    make("button", { className: "close", ariaLabel: "Dismiss the introduction", onclick }, "×"));
  }
}

/** In the frame of another site a browser may refuse to store anything. */
function storage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
