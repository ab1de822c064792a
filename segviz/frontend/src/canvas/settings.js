// The setting that the header sets. While a control moves, the browser
// computes scores and retrieval itself; once it rests, Python gets the setting and answers
// with its own scores and what it retrieves, which take their place.
//
// Of an answer to an earlier change than the last one the tree and the question count, the setting and
// the scores do not.

import { createReports, isLate } from "../shared/component.js";
import { edgePairs } from "../shared/links.js";
import { propagator, ranksOf, topNodes } from "./propagate.js";

const REST_MS = 200;

export const createSettings = () => ({
  setting: /** @type {LiveSetting | null} */ (null),
  ...createReports(), stale: false,
  timer: /** @type {Timer} */ (0),
  scores: /** @type {Propagator | null} */ (null),
  /** What was shown before "no propagation" was held. */
  held: /** @type {Pick<Columns, "final" | "top_final" | "places_final"> | null} */ (null),
});

/** Takes the setting of a new message, or keeps the browser's where that is newer.
 * @param {State} s */
export function adoptSetting(s) {
  const { scene: { data }, settings } = s;
  const held = Boolean(settings.held); // the button is still pressed
  settings.scores = null;
  settings.stale = false;
  settings.held = null;
  settings.setting = data.live && settings.setting;
  if (!data.live) return;
  const { policy, alpha, horizon, drawing, sequence } = data.live;
  if (isLate(settings, sequence) && settings.setting) recompute(s);
  else settings.setting = { policy, alpha, horizon, drawing };
  hold(s, held);
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
  const held = Boolean(settings.held);
  settings.stale = false;
  settings.held = null;
  settings.scores ??= propagator(data.initial, { ...data, edges: edgePairs(data) });
  data.final = settings.scores(policy, alpha, horizon);
  data.words = data.ranks = null; // Python has not counted these
  const live = /** @type {Live} */ (data.live);
  data.top_final = topNodes(data.final, data, live);
  data.places_final = live.deduplicate ? ranksOf([...data.top_final], data.final, data) : [];
  hold(s, held);
}

/** Shows the question without propagation, or again as it was. Did that change anything?
 * @type {(s: State, held: boolean) => boolean} */
export function hold({ scene: { data }, settings }, held) {
  if (held === Boolean(settings.held)) return false;
  const { final, top_final, places_final, initial, top_initial, places_initial } = data;
  if (held) {
    settings.held = { final, top_final, places_final };
    Object.assign(data, { final: initial, top_final: top_initial, places_final: places_initial });
  } else if (settings.held) {
    Object.assign(data, settings.held);
    settings.held = null;
  }
  return true;
}
