// tree_boxes.js: what is painted of a row, and what lies under a place in it. Pure functions.

/** First index of sorted ids whose interval ends after x. */
function firstEndingAfter(ids, stop, x) {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stop[ids[middle]] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** What is painted for a view: boxes by row, left to right, x and width in pixels from
 *  the plot's edge. Nodes narrower than a pixel share one box per pixel column, and the
 *  heaviest of them wins, so that a single hit among thousands stays visible. */
export function visibleBoxes(tree, view, width, weight) {
  const scale = width / (view.x1 - view.x0);
  const { start, stop } = tree;
  const id = [];
  const x = [];
  const w = [];
  const first = [0];
  let inView = 0;
  for (const ids of tree.rows) {
    let column = -1; // pixel column of the last box, if that box is an aggregate
    for (let i = firstEndingAfter(ids, stop, view.x0); i < ids.length; i++) {
      const node = ids[i];
      if (start[node] >= view.x1) break;
      inView++;
      const from = Math.max(0, (start[node] - view.x0) * scale);
      const to = Math.min(width, (stop[node] - view.x0) * scale);
      if ((stop[node] - start[node]) * scale >= 1) {
        id.push(node);
        x.push(from);
        w.push(to - from);
        column = -1;
      } else if (Math.floor(from) !== column) {
        column = Math.floor(from);
        id.push(node);
        x.push(column);
        w.push(1);
      } else if (weight && weight[node] > weight[id[id.length - 1]]) {
        id[id.length - 1] = node;
      }
    }
    first.push(id.length);
  }
  return { id, x, w, first, inView };
}

/** Box of a row nearest to x, at most `slack` pixels away; -1 if none. */
export function boxAt(boxes, row, x, slack = 2) {
  let low = boxes.first[row];
  let high = boxes.first[row + 1];
  const end = high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes.x[middle] + boxes.w[middle] > x) high = middle;
    else low = middle + 1;
  }
  let best = -1;
  let nearest = slack;
  for (let i = Math.max(boxes.first[row], low - 1); i <= Math.min(end - 1, low); i++) {
    const away = Math.max(boxes.x[i] - x, x - boxes.x[i] - boxes.w[i], 0);
    if (away <= nearest) {
      // ties go to the right box, which is the one that contains x
      best = boxes.id[i];
      nearest = away;
    }
  }
  return best;
}
