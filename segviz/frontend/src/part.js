// What Streamlit mounts in place of a canvas, small enough to travel with every message: it takes
// the code, which comes once (canvas/parts.js), and hands all else to it.

import { hub } from "./shared/hub.js";
import { unpack } from "./shared/message.js";

/** @param {Mount<Uint8Array>} component */
export default function (component) {
  const here = hub();
  const values = component.data && unpack(component.data);
  if (values && "version" in values) return load(component, values);
  /** @type {(() => void) | undefined} */
  let stop;
  const run = () => {
    here.waiting.delete(run);
    if (values) stop = here.mount?.(component, values);
  };
  if (here.mount) run();
  else here.waiting.add(run);
  return () => {
    here.waiting.delete(run);
    stop?.();
  };
}

/** @param {Mount<Uint8Array>} component
 * @param {{version: string, code?: string, css?: string}} values */
function load({ setTriggerValue }, { version, code, css }) {
  const here = hub();
  if (here.version === version) return undefined;
  if (!code) {
    setTriggerValue("missing", version);
    return undefined;
  }
  here.version = version;
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  import(url).then((module) => module.default({ data: { css } })).finally(() => URL.revokeObjectURL(url));
  return undefined;
}
