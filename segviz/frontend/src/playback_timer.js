// Ticks that keep a page playing. Draws nothing.
//
// The next tick is due only once Python has answered the last one, so a slow page is played
// slowly and never falls behind a queue of ticks.

import { ending, reading } from "./shared/component.js";

const STATE = "segvizPlaybackTimer";
const PATIENCE_MS = 4000;

export default reading(mount);

/** @param {Mount<any>} component */
function mount({ data, parentElement, setTriggerValue }) {
  const s = (parentElement[STATE] ??= { calls: 0, timer: 0, sent: -Infinity });
  clearTimeout(s.timer);
  if (data.milliseconds) {
    const tick = () => {
      s.sent = performance.now();
      setTriggerValue("tick", data.tick);
      // A run cut short may swallow an answer; Python ignores a tick it has had.
      s.timer = setTimeout(tick, PATIENCE_MS);
    };
    s.timer = setTimeout(tick, Math.max(0, data.milliseconds - (performance.now() - s.sent)));
  }
  return ending(s, () => clearTimeout(s.timer));
}
