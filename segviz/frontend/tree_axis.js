// tree_axis.js: sessions along the time axis and the labels that fit. Pure functions.

/** Runs of equal session along the units. */
export function sessionRuns(unitSession) {
  const runs = [];
  for (let unit = 0; unit < unitSession.length; unit++) {
    const last = runs[runs.length - 1];
    if (last && last.session === unitSession[unit]) last.stop = unit + 1;
    else runs.push({ session: unitSession[unit], start: unit, stop: unit + 1 });
  }
  return runs;
}

/** Which labels can be written without touching: those that fit their own band; where few
 *  do, also others that keep `gap` pixels from what is already there. Items: {x, w, text}
 *  with the band's pixel place; gives [{item, x}] with x the label's centre. */
export function placeLabels(items, measure, width, gap = 8) {
  const sized = items.map((item) => ({ item, size: measure(item.text) }))
    .filter(({ item }) => item.text);
  const fits = sized.filter(({ item, size }) => size + 4 <= item.w);
  const crowded = fits.length < sized.length / 2;
  const chosen = [];
  let edge = -Infinity;
  for (const { item, size } of crowded ? sized : fits) {
    const centre = Math.min(Math.max(item.x + item.w / 2, size / 2), width - size / 2);
    if (centre - size / 2 < edge || size > width) continue;
    chosen.push({ item, x: centre });
    edge = centre + size / 2 + (crowded ? gap : 0);
  }
  return chosen;
}
