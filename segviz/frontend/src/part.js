// What Streamlit mounts in place of a component, small enough to travel with every message: it
// waits for the code, which comes once (code.js), and hands all to it.

import { hub } from "./shared/hub.js";

/** @param {Mount<any>} component */
export default function (component) {
  const here = hub();
  /** @type {(() => void) | void} */
  let stop;
  const run = () => {
    here.waiting.delete(run);
    stop = here.mount?.(component);
  };
  if (here.mount) run();
  else here.waiting.add(run);
  return () => {
    here.waiting.delete(run);
    stop?.();
  };
}
