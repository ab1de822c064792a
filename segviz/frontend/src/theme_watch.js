// Tells Python when the page has turned from light to dark or back. It is on every page, so it also
// listens for the keys of presenting and for files that are dragged over the page. Draws nothing.
//
// Streamlit changes its own colours without running the script, so what Python has coloured
// would keep the colours of the theme before.

import { ending, reading } from "./shared/component.js";
import { listenDragging } from "./shared/dragging.js";
import { listenPresenting } from "./shared/presenting.js";

const STATE = "segvizThemeWatch";

export default reading(mount);

/** @param {Mount<any>} component */
function mount({ data, parentElement, setTriggerValue }) {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app) return undefined;
  const s = (parentElement[STATE] ??= { told: data.theme, calls: 0, deaf: [listenPresenting(), listenDragging()] });
  s.observer?.disconnect();
  // Popovers are drawn beside the app, in the body.
  const themed = () => (document.body.style.colorScheme = getComputedStyle(app).colorScheme);
  themed();
  s.observer = new MutationObserver(() => {
    const theme = themed();
    if (theme === s.told) return;
    s.told = theme; // once, whatever Python makes of it
    setTriggerValue("theme", theme);
  });
  s.observer.observe(app, { attributeFilter: ["class"] });
  return ending(s, () => {
    s.observer.disconnect();
    for (const end of s.deaf) end();
    delete parentElement[STATE];
  });
}
