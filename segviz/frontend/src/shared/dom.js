// Elements with literal text, and canvases at the resolution of the screen.

/** A new element with a class and literal text: foreign text never becomes markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[K]} */
export function make(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** A new element with a class and literal text, appended to its parent.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} className
 * @param {ParentNode} parent
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[K]} */
export function element(tag, className, parent, text) {
  const made = make(tag, className, text);
  parent.append(made);
  return made;
}

/** A new button with literal text; `label`, if any, is its tooltip and what screen readers say.
 * @param {string} className
 * @param {ParentNode} parent
 * @param {string} text
 * @param {() => void} act
 * @param {string} [label] */
export function button(className, parent, text, act, label) {
  const made = element("button", className, parent, text);
  made.type = "button";
  made.addEventListener("click", act);
  return label ? labelled(made, label) : made;
}

/** An element whose label is its tooltip and what screen readers say of it.
 * @template {HTMLElement} E
 * @param {E} made
 * @param {string} label */
export function labelled(made, label) {
  made.title = label;
  made.setAttribute("aria-label", label);
  return made;
}

/** A sign that stands for `label`.
 * @param {string} className
 * @param {ParentNode} parent
 * @param {string} text
 * @param {string} label */
export const sign = (className, parent, text, label) =>
  labelled(element("span", className, parent, text), label).setAttribute("role", "img");

/** What has the keyboard in the tree of elements that this one is in.
 * @param {Node} element */
export function focusedBeside(element) {
  const { activeElement } = /** @type {ShadowRoot} */ (element.getRootNode());
  return /** @type {HTMLElement | null} */ (activeElement);
}

/** @param {HTMLCanvasElement} canvas */
export const contextOf = (canvas) => /** @type {Ctx} */ (canvas.getContext("2d"));

/** The context of a canvas of so many CSS pixels, empty and scaled to them.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height */
export function cleared(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const ctx = contextOf(canvas);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return ctx;
}
