// Writes the address that Python hands it, and tells Python where Back or Forward has led. Draws
// nothing.
//
// Streamlit gives a new entry of the history to all that Python writes. Here another page,
// conversation or question is a new entry, and everything else changes the entry it stands in.

import { reading } from "./shared/component.js";

const STATE = "segvizAddress";
const FILE = ["sample", "path", "upload"];
const PLACE = [...FILE, "conversation", "question", "text"];

export default reading(mount);

/** @param {Mount<any>} component */
function mount({ data, setStateValue }) {
  const holder = /** @type {any} */ (document.body);
  /** @type {Address} */
  const s = (holder[STATE] ??= begin());
  if (!data.link) {
    s.tell = (at) => setStateValue?.("went", { at, search: location.search });
    return;
  }
  // A server that was started again knows only the address the page was opened with.
  if (s.visit && s.visit !== data.visit) turn(s);
  if (s.visit !== data.visit) [s.visit, s.written] = [data.visit, 0];
  // What was written earlier, or before Python knew of Back, no longer holds.
  if (data.number <= s.written || data.went !== s.went) return;
  s.written = data.number;
  write(s, new URLSearchParams(data.link), data.kept);
}

/** @returns {Address} */
function begin() {
  /** @type {Address} */
  const s = { visit: "", written: 0, went: 0, page: "", search: "", index: place(), tell: () => {} };
  // Streamlit listens, too; before it asks for the page, Python is to know.
  addEventListener("popstate", () => moved(s), true);
  return s;
}

/** @param {Address} s */
function moved(s) {
  s.index = place();
  if (location.pathname === s.page && location.search !== s.search) turn(s);
}

/** @param {Address} s */
function turn(s) {
  s.went += 1;
  s.search = location.search;
  s.tell(s.went);
}

/** @param {Address} s @param {URLSearchParams} link @param {string[]} kept */
function write(s, link, kept) {
  const before = new URLSearchParams(s.search);
  const pushes = s.page === location.pathname && PLACE.some((n) => before.get(n) !== link.get(n));
  for (const [name, value] of new URLSearchParams(location.search))
    if (kept.includes(name)) link.append(name, value);
  const search = `?${link}`;
  if (search !== location.search) history[pushes ? "pushState" : "replaceState"]({}, "", search);
  [s.page, s.search, s.index] = [location.pathname, search, place()];
}

/** Which entry of the tab this is. */
const place = () => /** @type {any} */ (globalThis).navigation?.currentEntry?.index ?? 0;
