// Becomes the code of the page's parts (part.js), which comes once: a script and a style sheet for
// each kind of them.

import { element } from "./shared/dom.js";
import { hub } from "./shared/hub.js";
import { unpack } from "./shared/message.js";

/** @param {Mount<Uint8Array>} mount */
export default function ({ data, setTriggerValue }) {
  const here = hub();
  /** @type {{ version: string, codes: Record<string, [script: string, css: string]> | null }} */
  const { version, codes } = unpack(data);
  if (here.version === version) return;
  if (!codes) {
    setTriggerValue("missing", version);
    return;
  }
  here.version = version;
  Promise.all(Object.entries(codes).map(async ([name, [script, css]]) => {
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const module = await import(url).finally(() => URL.revokeObjectURL(url));
    return /** @type {[string, any]} */ ([name, { mount: module.part ?? module.default, css }]);
  })).then((found) => {
    const kinds = Object.fromEntries(found);
    here.mount = (component) => {
      const { parentElement } = component;
      const data = { ...unpack(component.data), bytes: component.data.length };
      const { mount, css } = kinds[data.kind ?? "canvas"];
      if (css && !parentElement.querySelector("style.segviz-style")) {
        element("style", "segviz-style", parentElement).textContent = css;
      }
      return mount({ ...component, data });
    };
    for (const run of [...here.waiting]) run();
  });
}
