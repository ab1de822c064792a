// Tells Python when the page has turned from light to dark or back. Draws nothing.
//
// Streamlit changes its own colours without running the script, so what Python has coloured
// would keep the colours of the theme before.

import { reading } from "./shared/component.js";

const STATE = "segvizThemeWatch";

export default reading(mount);

/** @param {Mount<any>} component */
function mount({ data, parentElement, setTriggerValue }) {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app) return undefined;
  const s = (parentElement[STATE] ??= { told: data.theme });
  const look = () => {
    const theme = getComputedStyle(app).colorScheme;
    if (theme === s.told) return;
    s.told = theme; // once, whatever Python makes of it
    setTriggerValue("theme", theme);
  };
  const observer = new MutationObserver(look);
  observer.observe(app, { attributeFilter: ["class"] });
  return () => observer.disconnect();
}
