// The canvas and the other views of the same memory point at the same units. Two canvases of one
// memory or of two builds of it show the same part and point at the node over the same units.
// A drawing in the order of branches (`axis_units`: the unit at each position) is translated.

import { ancestors } from "../shared/links.js";
import { holds, listenPointing, point } from "../shared/pointing.js";
import { readOut } from "./readout.js";
import { schedule } from "./scheduler.js";

const SHOWING = "segviz:showing";

/** Starts to listen; `s.unlink` ends it. `s.linked` holds the leaves that another view is on
 *  and what lies above them.
 * @param {State} s */
export function listenLinked(s) {
  const identity = () => s.scene.data?.identity;
  const quiet = listenPointing(s, identity, (spans, node) => {
    const same = node === null ? null : sameNode(s.scene, spans, node);
    s.attention.linkedUnits = same === null ? spans : [];
    s.attention.hover = same;
    readOut(s);
    relink(s);
    schedule(s);
  });
  /** @param {any} event */
  const hear = ({ detail }) => {
    if (detail.from === s || detail.about !== identity()) return;
    s.sight.view = detail.view;
    schedule(s, true);
  };
  document.addEventListener(SHOWING, hear);
  s.elements.unlink = () => {
    quiet();
    document.removeEventListener(SHOWING, hear);
  };
}

/** Shows the same part of the conversation in the other canvases of this memory.
 * @param {State} s */
export function shareView(s) {
  const detail = { from: s, about: s.scene.data.identity, view: s.sight.view };
  document.dispatchEvent(new CustomEvent(SHOWING, { detail }));
}

/** Finds the nodes anew, after the tree has changed.
 * @param {State} s */
export function relink({ scene, attention }) {
  attention.linked = linkedNodes(scene, attention.linkedUnits);
}

/** Tells the others which units lie below a node; null lets go.
 * @type {(s: State, node: number | null) => void} */
export function pointAt(s, node) {
  if (node === s.attention.pointed) return;
  s.attention.pointed = node;
  point(s, s.scene.data.identity, node === null ? [] : nodeUnits(s.scene, node), node);
}

/** The units of a node as [start, stop) pairs.
 * @type {(scene: Scene, node: number) => Span[]} */
function nodeUnits({ data, tree }, node) {
  const [start, stop] = [tree.start[node], tree.stop[node]];
  if (!data.axis_units) return [[start, stop]];
  const units = [...new Set(data.axis_units.slice(start, stop))].sort((a, b) => a - b);
  /** @type {Span[]} */
  const spans = [];
  for (const unit of units) {
    const last = spans[spans.length - 1];
    if (last && last[1] === unit) last[1]++;
    else spans.push([unit, unit + 1]);
  }
  return spans;
}

/** The node over exactly these units: the one of this id in another canvas of one tree, else, of
 *  another build, the lowest that there is.
 * @type {(scene: Scene, spans: Span[], node: number) => number | null} */
function sameNode(scene, spans, node) {
  const { data, tree } = scene;
  const wanted = String(spans);
  if (tree.level[node] >= 0 && String(nodeUnits(scene, node)) === wanted) return node;
  if (data.axis_units || spans.length !== 1) return null;
  const [[start, stop]] = spans;
  for (const row of tree.byLevel) {
    const same = row.find((each) => tree.start[each] === start && tree.stop[each] === stop);
    if (same !== undefined) return same;
  }
  return null;
}

/** The leaves over these units, and the nodes above them.
 * @type {(scene: Scene, spans: Span[]) => Attention["linked"]} */
function linkedNodes({ data, tree }, spans) {
  if (!spans.length) return { leaves: [], above: [] };
  const wanted = new Set();
  const leaves = tree.byLevel[0].filter((leaf) => {
    for (let place = tree.start[leaf]; place < tree.stop[leaf]; place++) {
      if (holds(spans, data.axis_units?.[place] ?? place)) return true;
    }
    return false;
  });
  for (const leaf of leaves) for (const node of ancestors(tree, leaf)) wanted.add(node);
  return { leaves, above: [...wanted] };
}
