// What the pointer or the keyboard is on in one view, told to the others of the
// same memory on the page. Nothing of it goes to Python.
//
// A view tells units of the conversation as [start, stop) pairs; none means that it has
// let go. A canvas tells its node, too, for another canvas of the same tree. `about` names the
// memory, so that two of them beside each other do not mix.

const POINTING = "segviz:pointing";

/** Tells the other views of the memory `about` that `view` is on these units.
 * @type {(view: unknown, about: string, spans: Span[], node?: number | null) => void} */
export function point(view, about, spans, node = null) {
  document.dispatchEvent(new CustomEvent(POINTING, { detail: { view, about, spans, node } }));
}

/** Calls `act(spans, node)` for what other views of the memory `about()` are on; returns what
 *  ends that.
 * @type {(view: unknown, about: () => string,
 *    act: (spans: Span[], node: number | null) => void) => () => void} */
export function listenPointing(view, about, act) {
  /** @param {any} event */
  const hear = ({ detail }) => {
    if (detail.view !== view && detail.about === about()) act(detail.spans, detail.node);
  };
  document.addEventListener(POINTING, hear);
  return () => document.removeEventListener(POINTING, hear);
}

/** Whether a unit lies in one of these spans.
 * @type {(spans: Span[], unit: number) => boolean} */
export const holds = (spans, unit) => spans.some(([start, stop]) => start <= unit && unit < stop);
