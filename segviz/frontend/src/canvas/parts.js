// A canvas in parts, so that what stays is sent once: the code with its style sheet, what no
// question or setting changes (its base), and the rest. Python tells by a digest alone what it has
// sent before; what is not here any more is asked for.

import { element } from "../shared/dom.js";
import { hub } from "../shared/hub.js";

/** @typedef {(component: Mount<any>, data: any) => () => void} Draw */

const KEPT = 64e6; // bytes of bases; Python keeps the same account (canvas.py)

/** The bases of the page by digest, the last used last. @type {Map<string, any>} */
const bases = new Map();

/** Canvases whose base has not come yet, by its digest. @type {Map<string, Set<() => void>>} */
const early = new Map();

/** Become the code of this page.
 * @param {string} css
 * @param {Draw} draw */
export function serve(css, draw) {
  const here = hub();
  here.mount = (component, values) =>
    values.digest ? keep(component, values) : drawn(component, values, css, draw);
  for (const run of [...here.waiting]) run();
}

/** @param {Mount<any>} component
 * @param {any} values */
function keep({ data, setTriggerValue }, values) {
  const { digest, level } = values;
  const base = level ? { ...values, bytes: data.length } : bases.get(digest);
  if (!base) {
    setTriggerValue("missing", digest);
    return () => {};
  }
  bases.delete(digest);
  bases.set(digest, base);
  let total = [...bases.values()].reduce((sum, each) => sum + each.bytes, 0);
  for (const [old, { bytes }] of bases) {
    if (total <= KEPT || old === digest) break;
    bases.delete(old);
    total -= bytes;
  }
  for (const run of early.get(digest) ?? []) run();
  early.delete(digest);
  return () => {};
}

/** @param {Mount<any>} component
 * @param {any} values
 * @param {string} css
 * @param {Draw} draw */
function drawn(component, values, css, draw) {
  const parent = component.parentElement;
  /** @type {(() => void) | undefined} */
  let stop;
  const run = () => {
    if (!parent.querySelector("style.segviz-style")) {
      element("style", "segviz-style", parent).textContent = css;
    }
    stop = draw(component, { ...bases.get(values.base), ...values });
    if (values.replaces !== values.base) bases.delete(values.replaces); // of a tree that grows
  };
  if (bases.has(values.base)) run();
  else early.set(values.base, (early.get(values.base) ?? new Set()).add(run));
  return () => {
    early.get(values.base)?.delete(run);
    stop?.();
  };
}
