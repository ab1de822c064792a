// Where the parts of a page meet that Streamlit mounts one by one, in no order.

const KEY = Symbol.for("segviz");

/** @returns {Hub} */
export const hub = () => /** @type {any} */ (globalThis)[KEY] ??=
  { waiting: new Set(), mount: null, version: "" };
