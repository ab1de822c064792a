// Where units lie on the axis: in their order, or by clock, with waits between them. Pure functions.
//
// Both axes are as long as there are units. The *view* and all horizontal places are on the axis;
// spans of nodes and runs of sessions count units.

/** The edges of the units by clock; null for the axis by order.
 * @type {(waits: ArrayLike<number>) => Axis | null} */
export function clockAxis(waits) {
  if (!waits.length) return null;
  let waited = 0;
  for (let unit = 0; unit < waits.length; unit++) waited += waits[unit];
  const width = 1 - waited / waits.length;
  const left = new Float64Array(waits.length);
  const right = new Float64Array(waits.length);
  let at = 0;
  for (let unit = 0; unit < waits.length; unit++) {
    left[unit] = at + waits[unit];
    at = right[unit] = left[unit] + width;
  }
  return { left, right };
}

/** The place at which a unit begins.
 * @type {(axis: Axis | null, unit: number) => number} */
export const leftOf = (axis, unit) => (axis ? axis.left[unit] ?? axis.left.length : unit);

/** The place at which the units before `stop` end.
 * @type {(axis: Axis | null, stop: number) => number} */
export const rightOf = (axis, stop) => (axis ? axis.right[stop - 1] ?? 0 : stop);

/** The number of units that lie before a place, those in the middle of it by their nearer edge.
 * @type {(axis: Axis | null, place: number, total: number) => number} */
export function unitsBefore(axis, place, total) {
  const unit = Math.min(Math.max(0, unitAt(axis, place)), total - 1);
  const middle = (leftOf(axis, unit) + rightOf(axis, unit + 1)) / 2;
  return place < middle ? unit : unit + 1;
}

/** The last unit that begins at or before a place; the first one before all.
 * @type {(axis: Axis | null, place: number) => number} */
export function unitAt(axis, place) {
  if (!axis) return Math.floor(place);
  let [low, high] = [0, axis.left.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (axis.left[middle] <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}
