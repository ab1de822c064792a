// Elements with literal text, and canvases at the resolution of the screen.

/** A new element: its class, or its properties, and what is inside: elements, and literal text,
 *  so that foreign text never becomes markup. What is empty or undefined is left out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string | Partial<HTMLElementTagNameMap[K]>} [given]
 * @param {...(Node | string | undefined)} inside
 * @returns {HTMLElementTagNameMap[K]} */
export function make(tag, given = {}, ...inside) {
  const made = document.createElement(tag);
  if (typeof given !== "string") Object.assign(made, given);
  else if (given) made.className = given;
  made.append(.../** @type {Node[]} */ (inside.filter(Boolean)));
  return made;
}

/** A new element, appended to its parent.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string | Partial<HTMLElementTagNameMap[K]>} given
 * @param {ParentNode} parent
 * @param {...(Node | string | undefined)} inside */
export function element(tag, given, parent, ...inside) {
  const made = make(tag, given, ...inside);
  parent.append(made);
  return made;
}

/** A new button; `label`, if any, is its tooltip and what screen readers say.
 * @type {(className: string, parent: ParentNode, text: string, act: () => void,
 *    label?: string) => HTMLButtonElement} */
export function button(className, parent, text, act, label) {
  const made = element("button", { type: "button" }, parent, text);
  if (className) made.className = className;
  made.addEventListener("click", act);
  return label ? labelled(made, label) : made;
}

/** An element whose label is its tooltip and what screen readers say of it.
 * @template {HTMLElement} E
 * @param {E} made
 * @param {string} label */
const labelled = (made, label) => Object.assign(made, { title: label, ariaLabel: label });

/** A sign that stands for `label`.
 * @type {(className: string, parent: ParentNode, text: string, label: string) => HTMLElement} */
export const sign = (className, parent, text, label) =>
  labelled(element("span", { className, role: "img" }, parent, text), label);

/** Writes what is inside an element anew where it would say something else; the keyboard keeps its
 *  place, which a data attribute names.
 * @type {(part: HTMLElement, said: unknown, act: () => void, place?: string) => void} */
export function rewrite(part, said, act, place = "at") {
  const words = JSON.stringify(said);
  if (part.dataset.said === words) return;
  part.dataset.said = words;
  const focused = focusedBeside(part)?.dataset[place];
  part.replaceChildren();
  act();
  if (focused !== undefined) among(part, place, focused)?.focus();
}

/** The element below another one that a data attribute names so.
 * @type {(part: HTMLElement, name: string, value: string) => HTMLElement | null} */
export const among = (part, name, value) => /** @type {HTMLElement | null} */ (
  part.querySelector(`[data-${name}="${CSS.escape(value)}"]`));

/** Whether anything that a picture depends on is another than when this was last asked.
 * @type {(known: unknown[], now: unknown[]) => boolean} */
export const isNews = (known, now) => now.some((part, i) => part !== known[i])
  && Boolean(Object.assign(known, now));

/** A function that computes anew only where an argument is another than the last time.
 * @template {unknown[]} A
 * @template T
 * @param {(...given: A) => T} compute
 * @returns {(...given: A) => T} */
export function lastly(compute) {
  /** @type {unknown[]} */
  const known = [];
  /** @type {T} */
  let found;
  return (...given) => {
    if (isNews(known, given) || !known.length) found = compute(...given);
    return found;
  };
}

/** What has the keyboard in the tree of elements that this one is in.
 * @param {Node} element */
export function focusedBeside(element) {
  const { activeElement } = /** @type {ShadowRoot} */ (element.getRootNode());
  return /** @type {HTMLElement | null} */ (activeElement);
}

/** @param {HTMLCanvasElement} canvas */
export const contextOf = (canvas) => /** @type {Ctx} */ (canvas.getContext("2d"));

/** How much the page enlarges an element (CSS zoom), 1 where it does not or the browser cannot say.
 * @type {(element: any) => number} */
export const zoomOf = ({ currentCSSZoom }) => currentCSSZoom ?? 1;

/** Where in an element the pointer is, in the element's own pixels.
 * @type {(event: MouseEvent) => { x: number, y: number }} */
export function placeIn({ currentTarget, offsetX, offsetY }) {
  const zoom = zoomOf(currentTarget);
  return { x: offsetX / zoom, y: offsetY / zoom };
}

/** The context of a canvas of so many CSS pixels, empty and scaled to them.
 * @type {(canvas: HTMLCanvasElement, width: number, height: number) => Ctx} */
export function cleared(canvas, width, height) {
  const ratio = (devicePixelRatio || 1) * zoomOf(canvas);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const ctx = contextOf(canvas);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return ctx;
}
