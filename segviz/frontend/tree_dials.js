// tree_dials.js: the setting that the header sets. While a control moves, the browser
// computes scores and retrieval itself; once it rests, Python gets the setting and answers
// with its own scores, which then stand.
//
// Every change has a number. An answer with a smaller number than the last change is late:
// its tree and its question count, its setting and its scores do not.

import { edgePairs, propagator, topNodes } from "./tree_propagate.js";

const REST_MS = 200;
const OVERDUE_MS = 2000; // an answer that still does not know a change sent so long ago

export const createDials = () => ({
  setting: null, sequence: 0, answered: 0, sent: 0, timer: 0, sentAt: 0, stale: false, scores: null,
  apart: "",
});

/** Takes the setting of a new message, or keeps the browser's where that is newer. */
export function adopt(s) {
  const { data, dials } = s;
  dials.scores = null;
  dials.stale = false;
  if (!data.live) {
    dials.setting = null;
    return;
  }
  const { policy, alpha, horizon, drawing, sequence } = data.live;
  // A number below one that was answered: Python has begun anew and its word counts.
  const late = dials.setting && sequence < dials.sequence && sequence >= dials.answered;
  const awaited = dials.setting && sequence === dials.sequence && dials.answered < sequence;
  dials.answered = sequence;
  if (late) {
    recompute(s);
    const lost = !dials.timer && performance.now() - dials.sentAt > OVERDUE_MS;
    if (lost) dials.timer = setTimeout(() => report(s)); // a change of page can swallow one
    return;
  }
  dials.setting = { policy, alpha, horizon, drawing };
  dials.sequence = dials.sent = sequence;
  if (awaited) dials.apart = String(apart(finalScores(s), data.final));
}

/** A control has moved: show it at the next frame, report it when it rests. */
export function change(s, part) {
  const { dials } = s;
  dials.setting = { ...dials.setting, ...part };
  dials.sequence++;
  dials.stale = true;
  clearTimeout(dials.timer);
  dials.timer = setTimeout(() => report(s), REST_MS);
}

/** A key has been let go: reported at once, so that a single step is not kept waiting. While
 *  an answer is awaited the control must rest, as when it is dragged. */
export function keyLetGo(s) {
  if (s.dials.sent <= s.dials.answered) report(s);
}

/** Sends the setting, if it has not been sent. */
export function report(s) {
  const { dials } = s;
  if (!dials.timer) return;
  clearTimeout(dials.timer);
  dials.timer = 0;
  dials.sentAt = performance.now();
  dials.sent = dials.sequence;
  s.sendSetting({ ...dials.setting, sequence: dials.sequence });
}

/** Scores and retrieved nodes under the browser's own setting, in place of Python's. */
export function recompute(s) {
  const { data, dials } = s;
  dials.stale = false;
  data.final = finalScores(s);
  data.top_final = topNodes(data.final, data, data.live);
}

function finalScores({ data, dials }) {
  const { policy, alpha, horizon } = dials.setting;
  dials.scores ??= propagator(data.initial, { ...data, edges: edgePairs(data) });
  return dials.scores(policy, alpha, horizon);
}

/** Largest difference between the browser's scores and Python's. */
function apart(own, theirs) {
  let most = 0;
  for (let i = 0; i < own.length; i++) most = Math.max(most, Math.abs(own[i] - theirs[i]));
  return most;
}
