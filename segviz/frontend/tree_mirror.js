// tree_mirror.js: what the canvas shows, as data attributes of the component's root, for
// tests.

import { labelChoice } from "./tree_labels.js";

export function mirror(s) {
  const { data, geom, goal, search } = s;
  const drawn = s.boxes[0].id.length;
  const { inView } = s.boxes[0];
  s.count.textContent = drawn < inView ? `showing ${drawn} of ${inView} nodes` : "";
  Object.assign(s.root.dataset, {
    nodes: drawn,
    total: s.tree.active,
    mode: data.mode,
    selected: s.selected ?? "",
    focus: s.focus ?? "",
    hover: s.hover ?? "",
    linked: s.linked.leaves,
    step: data.step ?? "",
    scale: `${goal.x0},${goal.x1}`, // where a slide ends
    back: s.history.views.length,
    query: search.query,
    hits: search.hits.length,
    hit: search.hits[search.at] ?? "",
    plot: `${geom.left},${geom.width},${geom.axisTop},${geom.axisHeight}`,
    painted: ++s.painted,
    picture: s.picture,
    colour: s.shades.join(),
    labels: labelChoice(s),
    alone: s.alone ? `${s.alone.kind}:${s.alone.key}` : "",
    policy: s.dials.setting?.policy ?? "",
    alpha: s.dials.setting?.alpha ?? "",
    horizon: s.dials.setting?.horizon ?? "",
    settled: s.dials.sequence <= s.dials.answered, // Python's own scores are shown
    apart: s.dials.apart,
    top: data.top_final,
  });
  s.over.style.cursor = s.drag?.moved ? "grabbing" : s.hover !== null ? "pointer" : "default";
}
