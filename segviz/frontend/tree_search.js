// tree_search.js: finding text in nodes. Pure functions.
//
// The browser searches the texts it was sent, which may be cut or absent; where Python can
// be asked, its answer over the full texts takes the place of this one.

export const createSearch = () => ({
  query: "", hits: [], total: 0, at: -1, timer: 0, asked: "", excerpts: {},
  waits: false, walks: false,
});

export const normalised = (query) => query.trim().toLowerCase();

/** Active nodes whose text holds the query in any case, in reading order: by start, the
 *  narrower first. */
export function findText(query, labels, { level, start, stop }) {
  const wanted = normalised(query);
  const hits = [];
  if (!wanted) return hits;
  for (let id = 0; id < labels.length; id++) {
    if (level[id] >= 0 && labels[id].toLowerCase().includes(wanted)) hits.push(id);
  }
  return hits.sort((a, b) => start[a] - start[b] || stop[a] - stop[b] || a - b);
}

/** Place of the hit after `at`, or before it; -1 stands before the first. Round and round. */
export function nextHit(at, count, back) {
  if (!count) return -1;
  if (at < 0) return back ? count - 1 : 0;
  return (at + (back ? -1 : 1) + count) % count;
}

/** The hit to begin with: the first one in view, or the first of all. */
export function firstHit(hits, { start, stop }, view) {
  const seen = hits.findIndex((id) => start[id] >= view.x0 && stop[id] <= view.x1);
  return Math.max(0, seen);
}

/** How many characters of each text the browser holds; Infinity if none is cut. */
export function searchedLength(labels) {
  let most = 0;
  for (const label of labels) {
    if (label.endsWith("…")) most = Math.max(most, label.length - 1);
  }
  return most || Infinity;
}

/** What the search says: "3 of 17", "17 found", "none". */
export function hitWords({ query, hits, at, total }) {
  if (!normalised(query)) return "";
  if (!hits.length) return "none";
  const all = total > hits.length ? `${hits.length} (${total} found)` : `${hits.length}`;
  return at < 0 ? `${total} found` : `${at + 1} of ${all}`;
}
