// What the pointer or the keyboard is on in one view, told to the others of the
// same memory on the page. Nothing of it goes to Python.
//
// A view tells units of the conversation as [start, stop) pairs; none means that it has
// let go. `about` names the memory, so that two of them beside each other do not mix.

const POINTING = "segviz:pointing";

/** Tells the other views of the memory `about` that `view` is on these units.
 * @type {(view: unknown, about: string, spans: Span[]) => void} */
export function point(view, about, spans) {
  document.dispatchEvent(new CustomEvent(POINTING, { detail: { view, about, spans } }));
}

/** Calls `act(spans)` for what other views of the memory `about()` are on; returns what
 *  ends that.
 * @type {(view: unknown, about: () => string, act: (spans: Span[]) => void) => () => void} */
export function listenPointing(view, about, act) {
  /** @param {any} event */
  const hear = ({ detail }) => {
    if (detail.view !== view && detail.about === about()) act(detail.spans);
  };
  document.addEventListener(POINTING, hear);
  return () => document.removeEventListener(POINTING, hear);
}

/** Whether a unit lies in one of these spans.
 * @type {(spans: Span[], unit: number) => boolean} */
export const holds = (spans, unit) => spans.some(([start, stop]) => start <= unit && unit < stop);
