// Presenting: P hides sidebar and controls and enlarges the rest (the rules are in style.py), arrow
// keys walk the tour, Esc ends it. Nothing of it goes to Python.

const TYPED = "textarea, select, [contenteditable], input:not([type=range], [type=radio], [type=checkbox])";
/** @type {Record<string, string>} */
const STEPS = { ArrowLeft: "Back", ArrowRight: "Next" };

/** Listens to the keyboard of the page; returns what ends that.
 * @returns {() => void} */
export function listenPresenting() {
  const { dataset } = document.documentElement;
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    const [at] = /** @type {Element[]} */ (event.composedPath());
    if (event.ctrlKey || event.metaKey || event.altKey || at.matches?.(TYPED)) return;
    const presenting = dataset.segvizPresenting !== undefined;
    /** @type {HTMLElement | null} */
    const step = STEPS[event.key] ? document.querySelector(`.st-key-tour-${STEPS[event.key]} button`) : null;
    if (event.key === "p" || event.key === "P") {
      if (presenting) delete dataset.segvizPresenting;
      else dataset.segvizPresenting = "";
    } else if (presenting && event.key === "Escape") delete dataset.segvizPresenting;
    else if (presenting && step && !at.matches?.("canvas, input")) step.click();
    else return;
    event.preventDefault();
    event.stopPropagation(); // Esc ends this alone
  };
  document.addEventListener("keydown", press, true);
  return () => document.removeEventListener("keydown", press, true);
}
