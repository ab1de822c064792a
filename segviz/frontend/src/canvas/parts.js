// A canvas in parts, so that what stays is sent once: what no question or setting changes (its
// base), what no setting changes (the scores before they spread), and the rest. Python tells by a
// digest alone what it has sent before; what is not here any more is asked for.

/** @typedef {(component: Mount<any>, data: any) => () => void} Draw */

const KEPT = 64e6; // bytes of parts; Python keeps the same account (canvas.py)

/** Bases and scores of the page by digest, the last used last. @type {Map<string, any>} */
const bases = new Map();

/** Canvases whose base has not come yet, by its digest. @type {Map<string, Set<() => void>>} */
const early = new Map();

/** Mounts a part.
 * @type {(component: Mount<any>, draw: Draw) => () => void} */
export const mountPart = (component, draw) =>
  (component.data.digest ? keep(component) : drawn(component, draw));

/** @param {Mount<any>} component */
function keep({ data, setTriggerValue }) {
  const { digest, level } = data;
  const base = level ? data : bases.get(digest);
  if (!base) {
    setTriggerValue("missing", digest);
    return () => {};
  }
  hold(digest, base);
  for (const run of early.get(digest) ?? []) run();
  early.delete(digest);
  return () => {};
}

/** Keeps a part, and lets those go that were used longest ago.
 * @type {(digest: string, part: {bytes: number}) => void} */
function hold(digest, part) {
  bases.delete(digest);
  bases.set(digest, part);
  let total = [...bases.values()].reduce((sum, each) => sum + each.bytes, 0);
  for (const [old, { bytes }] of bases) {
    if (total <= KEPT || old === digest) break;
    bases.delete(old);
    total -= bytes;
  }
}

/** @type {(component: Mount<any>, draw: Draw) => () => void} */
function drawn(component, draw) {
  const values = component.data;
  const { first, initial } = values;
  const scores = initial ? { initial, bytes: initial.byteLength } : bases.get(first);
  if (first && !scores) {
    component.setTriggerValue("missing", first);
    return () => {};
  }
  if (first) hold(first, scores);
  /** @type {(() => void) | undefined} */
  let stop;
  const run = () => {
    stop = draw(component, { ...bases.get(values.base), ...scores, ...values });
    if (values.replaces !== values.base) bases.delete(values.replaces); // of a tree that grows
  };
  if (bases.has(values.base)) run();
  else early.set(values.base, (early.get(values.base) ?? new Set()).add(run));
  return () => {
    early.get(values.base)?.delete(run);
    stop?.();
  };
}
