// The tree, its sessions and days on the axis that a person has chosen.

import { tellLook } from "./colour_menu.js";
import { clockAxis, leftOf, rightOf, unitAt, unitsBefore } from "./axis.js";
import { buildTree, sessionRuns } from "./rows.js";
import { schedule } from "./scheduler.js";
import { clampView } from "./view.js";

/** Lays everything out for the present message.
 * @param {State} s */
export function layOut({ scene }) {
  const { data } = scene;
  scene.axis = scene.look.axis ? clockAxis(data.waits) : null;
  scene.tree = buildTree(data, scene.axis);
  scene.runs = sessionRuns(data.unit_session, scene.axis);
  scene.days = sessionRuns(data.unit_day, scene.axis);
  scene.runOf = new Int32Array(data.total_units);
  scene.runs.forEach((run, i) => scene.runOf.fill(i, run.start, run.stop));
}

/** Draws time by order, or by clock; the same units stay in view.
 * @param {State} s */
export function switchClock(s) {
  const { scene, sight } = s;
  const { x0, x1 } = sight.view;
  const whole = x1 - x0 >= scene.data.total_units;
  const [first, stop] = [unitAt(scene.axis, x0), unitsBefore(scene.axis, x1, scene.data.total_units)];
  scene.look.axis = scene.look.axis ? "" : "clock";
  tellLook(s);
  layOut(s);
  if (!whole) {
    sight.view = clampView(leftOf(scene.axis, first), rightOf(scene.axis, stop), scene.data.total_units);
  }
  schedule(s, true);
}
