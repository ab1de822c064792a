// What Streamlit (components v2) calls, and how that ends.

import { unpack } from "./message.js";

/** The component that Streamlit calls with a message, made of one that takes what is in it.
 * @template T
 * @param {(component: Mount<any>) => T} mount
 * @returns {(component: Mount<Uint8Array>) => T} */
export const reading = (mount) => (component) =>
  mount({ ...component, data: unpack(component.data) });

/** Reports to Python, each with a number: how many there were, and which one Python answered last. */
export const createReports = () => ({ sequence: 0, answered: 0 });

/** Whether a message answers an earlier report than the last one.
 * @type {(reports: Reports, sequence: number) => boolean} */
export function isLate(reports, sequence) {
  // A number below one that was answered: Python has begun anew and its word counts.
  const late = sequence < reports.sequence && sequence >= reports.answered;
  reports.answered = sequence;
  if (!late) reports.sequence = sequence;
  return late;
}

/** Tells Python which node a person has selected; -1 stands for none.
 * @type {(s: Selecting, node: number | null) => void} */
export function tellSelected({ attention, tell }, node) {
  attention.selected = node;
  tell("selected", [node ?? -1, ++attention.clicks.sequence]);
}

/** Whether a message selects another node than the one before it, or is the first of its memory.
 *  Neither an echo nor the answer to an earlier click undoes a click.
 * @type {(s: Selecting, message: { selected: number | null, clicks?: number }, fresh: boolean) => boolean} */
export function isSelectionNews({ attention }, { selected, clicks = attention.clicks.sequence }, fresh) {
  if (isLate(attention.clicks, clicks) && !fresh) return false;
  const news = fresh || selected !== attention.sentByPython;
  attention.sentByPython = selected;
  return news;
}

/** What Streamlit runs at the end of a component. It may do so for an overtaken call after a later
 *  one: then nothing ends.
 * @type {(s: { calls: number }, end: () => void) => () => void} */
export function ending(s, end) {
  const call = ++s.calls;
  return () => {
    if (call === s.calls) end();
  };
}
