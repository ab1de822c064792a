// What Streamlit (components v2) calls, and how that ends.

import { unpack } from "./message.js";

/** The component that Streamlit calls with a message, made of one that takes what is in it.
 * @template T
 * @param {(component: Mount<any>) => T} mount
 * @returns {(component: Mount<Uint8Array>) => T} */
export const reading = (mount) => (component) =>
  mount({ ...component, data: unpack(component.data) });

/** What Streamlit runs at the end of a component. It may do so for an overtaken call after a later
 *  one: then nothing ends.
 * @type {(s: { calls: number }, end: () => void) => () => void} */
export function ending(s, end) {
  const call = ++s.calls;
  return () => {
    if (call === s.calls) end();
  };
}
