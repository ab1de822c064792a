// The setting that the header sets. While a control moves, the browser
// computes scores and retrieval itself; once it rests, Python gets the setting and answers
// with its own scores and what it retrieves, which take their place.
//
// Every change has a number. An answer with a smaller number than the last change is late:
// its tree and its question count, its setting and its scores do not.

import { edgePairs } from "../shared/links.js";
import { propagator, topNodes } from "./propagate.js";

const REST_MS = 200;

export const createSettings = () => ({
  setting: /** @type {LiveSetting | null} */ (null),
  sequence: 0, answered: 0, stale: false,
  timer: /** @type {Timer} */ (0),
  scores: /** @type {Propagator | null} */ (null),
  /** What was shown before "no propagation" was held. */
  held: /** @type {{ final: Weights, top: Int32Array } | null} */ (null),
});

/** Takes the setting of a new message, or keeps the browser's where that is newer.
 * @param {State} s */
export function adoptSetting(s) {
  const { scene: { data }, settings } = s;
  settings.scores = null;
  settings.stale = false;
  settings.held = null;
  settings.setting = data.live && settings.setting;
  if (!data.live) return;
  const { policy, alpha, horizon, drawing, sequence } = data.live;
  // A number below one that was answered: Python has begun anew and its word counts.
  const late = settings.setting && sequence < settings.sequence && sequence >= settings.answered;
  settings.answered = sequence;
  if (late) return recompute(s);
  settings.setting = { policy, alpha, horizon, drawing };
  settings.sequence = sequence;
}

/** A control has moved: show it at the next frame, report it when it rests.
 * @type {(s: State, part: Partial<LiveSetting>) => void} */
export function change(s, part) {
  const { settings } = s;
  settings.setting = { .../** @type {LiveSetting} */ (settings.setting), ...part };
  settings.sequence++;
  settings.stale = true;
  clearTimeout(settings.timer);
  settings.timer = setTimeout(() => report(s), REST_MS);
}

/** Sends the setting, if it has not been sent.
 * @param {State} s */
export function report(s) {
  const { settings } = s;
  if (!settings.timer) return;
  clearTimeout(settings.timer);
  settings.timer = 0;
  s.tell("setting", { ...settings.setting, sequence: settings.sequence });
}

/** Scores and retrieved nodes under the browser's own setting, in place of Python's.
 * @param {State} s */
export function recompute(s) {
  const { scene: { data }, settings } = s;
  const { policy, alpha, horizon } = /** @type {LiveSetting} */ (settings.setting);
  settings.stale = false;
  settings.held = null;
  settings.scores ??= propagator(data.initial, { ...data, edges: edgePairs(data) });
  data.final = settings.scores(policy, alpha, horizon);
  data.words = data.ranks = null; // Python has not counted these
  data.top_final = topNodes(data.final, data, /** @type {Live} */ (data.live));
}

/** Shows the question without propagation, or again as it was. Did that change anything?
 * @type {(s: State, held: boolean) => boolean} */
export function hold({ scene: { data }, settings }, held) {
  if (held === Boolean(settings.held)) return false;
  if (held) {
    settings.held = { final: data.final, top: data.top_final };
    [data.final, data.top_final] = [data.initial, data.top_initial];
  } else if (settings.held) {
    [data.final, data.top_final] = [settings.held.final, settings.held.top];
    settings.held = null;
  }
  return true;
}
