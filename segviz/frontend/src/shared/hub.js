// Where the parts of a page meet that Streamlit mounts one by one, in no order.

const KEY = Symbol.for("segviz");

/** @returns {Hub} */
export const hub = () => /** @type {any} */ (globalThis)[KEY] ??=
  { waiting: new Set(), mount: null, version: "" };

/** What Streamlit runs at the end of a component. It may do so for an overtaken call after a later
 *  one: then nothing ends.
 * @type {(s: { calls: number }, end: () => void) => () => void} */
export function ending(s, end) {
  const call = ++s.calls;
  return () => {
    if (call === s.calls) end();
  };
}
