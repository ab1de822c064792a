// A 2D context that writes SVG instead of painting: the methods and properties that the
// painters of the canvas use, no others. Texts stay texts, in the fonts of the reader.

/** What `save` keeps.
 * @type {(keyof Recorder)[]} */
const KEPT = ["fillStyle", "strokeStyle", "lineWidth", "lineJoin", "globalAlpha", "font",
  "textAlign", "textBaseline", "dash", "groups"];
/** @type {Record<string, string>} */
const ANCHOR = { center: "middle", right: "end", end: "end" };
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

// What XML 1.0 cannot hold, not even escaped.
// eslint-disable-next-line no-control-regex -- it is these that are taken out
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
/** @type {Record<string, string>} */
const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Foreign text as the text or an attribute of an element.
 * @param {string} text */
export const escaped = (text) =>
  text.replace(ILLEGAL, "\ufffd").replace(/[&<>"]/g, (sign) => ESCAPED[sign]);

/** Two decimals: a hundredth of a pixel.
 * @param {number} value */
const short = (value) => String(Math.round(value * 100) / 100 || 0);

/** An element; of its attributes those that are undefined are left out.
 * @type {(name: string, attributes: Record<string, string | number | undefined>,
 *    text?: string) => string} */
export function tag(name, attributes, text) {
  const given = Object.entries(attributes).map(([key, value]) => (value === undefined ? ""
    : ` ${key}="${typeof value === "number" ? short(value) : escaped(value)}"`)).join("");
  return text === undefined ? `<${name}${given}/>` : `<${name}${given}>${escaped(text)}</${name}>`;
}

/** `measuring` is a context of the browser, which knows how wide a text is; `patterns` tells
 *  for each pattern the lines of its tile. */
export class Recorder {
  /** @type {unknown} */
  fillStyle = "#000000";
  strokeStyle = "#000000";
  lineWidth = 1;
  lineJoin = "miter";
  globalAlpha = 1;
  font = "10px sans-serif";
  textAlign = "start";
  textBaseline = "alphabetic";
  /** @type {number[]} */
  dash = [];
  /** How many groups end at the next `restore`. */
  groups = 0;

  /** @param {Ctx} measuring
   * @param {Map<unknown, Tile>} [patterns] */
  constructor(measuring, patterns = new Map()) {
    this.measuring = measuring;
    this.patterns = patterns;
    /** @type {string[]} */
    this.parts = [];
    /** @type {Record<string, unknown>[]} */
    this.kept = [];
    this.path = "";
    this.clips = 0;
    /** Ids of patterns. @type {Map<Tile, string>} */
    this.tiles = new Map();
  }

  save() {
    this.kept.push(Object.fromEntries(KEPT.map((name) => [name, this[name]])));
    this.groups = 0;
  }

  restore() {
    const before = this.kept.pop();
    if (!before) return;
    this.parts.push("</g>".repeat(this.groups));
    Object.assign(this, before);
  }

  /** A group that lasts until `restore`.
   * @param {Record<string, string>} attributes */
  group(attributes) {
    this.parts.push(tag("g", attributes).replace(/\/>$/, ">"));
    this.groups++;
  }

  /** @type {Ctx["translate"]} */
  translate(x, y) {
    this.group({ transform: `translate(${short(x)} ${short(y)})` });
  }

  /** @type {Ctx["rotate"]} */
  rotate(angle) {
    this.group({ transform: `rotate(${short((angle * 180) / Math.PI)})` });
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }

  // --- paths ---------------------------------------------------------------------------

  beginPath() {
    this.path = "";
  }

  /** @type {Ctx["moveTo"]} */
  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  /** @type {Ctx["lineTo"]} */
  lineTo(x, y) {
    this.path += `L${short(x)} ${short(y)}`;
  }

  /** @param {number[]} ends Two control points and the end. */
  bezierCurveTo(...ends) {
    this.path += `C${ends.map(short).join(" ")}`;
  }

  closePath() {
    this.path += "Z";
  }

  /** @type {Ctx["rect"]} */
  rect(x, y, w, h) {
    this.path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}Z`;
  }

  /** A whole circle.
   * @type {(x: number, y: number, r: number) => void} */
  arc(x, y, r) {
    const half = `a${short(r)} ${short(r)} 0 1 1 `;
    this.path += `M${short(x - r)} ${short(y)}${half}${short(2 * r)} 0${half}${short(-2 * r)} 0Z`;
  }

  clip() {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}">${tag("path", { d: this.path })}</clipPath>`);
    this.group({ "clip-path": `url(#${id})` });
  }

  fill() {
    this.parts.push(tag("path", { d: this.path, ...this.filled() }));
  }

  stroke() {
    this.parts.push(tag("path", { d: this.path, fill: "none", ...this.stroked() }));
  }

  /** @type {Ctx["fillRect"]} */
  fillRect(x, y, w, h) {
    this.parts.push(tag("rect", { x, y, width: w, height: h, ...this.filled() }));
  }

  /** @type {Ctx["strokeRect"]} */
  strokeRect(x, y, w, h) {
    this.parts.push(tag("rect",
      { x, y, width: w, height: h, fill: "none", ...this.stroked() }));
  }

  filled() {
    return { fill: this.paint(), "fill-opacity": this.opacity() };
  }

  /** The colour, or a pattern, which is there from its first use. */
  paint() {
    const tile = this.patterns.get(this.fillStyle);
    if (!tile) return String(this.fillStyle);
    const id = this.tiles.get(tile) ?? `tile${this.tiles.size + 1}`;
    if (!this.tiles.has(tile)) this.parts.push(patternOf(tile, id));
    this.tiles.set(tile, id);
    return `url(#${id})`;
  }

  stroked() {
    return {
      stroke: this.strokeStyle, "stroke-opacity": this.opacity(), "stroke-width": this.lineWidth,
      "stroke-dasharray": this.dash.length ? this.dash.map(short).join(" ") : undefined,
      "stroke-linejoin": this.lineJoin === "miter" ? undefined : this.lineJoin,
    };
  }

  opacity() {
    return this.globalAlpha < 1 ? this.globalAlpha : undefined;
  }

  // --- texts ---------------------------------------------------------------------------

  /** @param {string} text */
  measureText(text) {
    this.measuring.font = this.font;
    return this.measuring.measureText(text);
  }

  /** The marks that isolate a direction become an attribute: not every font hides them.
   * @type {Ctx["fillText"]} */
  fillText(text, x, y) {
    const [, weight, size] = /^(\d+ )?([\d.]+)px/.exec(this.font) ?? [];
    const words = text.replace(/[\u2068\u2069]/g, "");
    this.parts.push(tag("text", {
      x, y: y + this.drop(), "font-size": size, "font-weight": weight?.trim(),
      "text-anchor": ANCHOR[this.textAlign],
      "unicode-bidi": RIGHT_TO_LEFT.test(words) ? "plaintext" : undefined, ...this.filled(),
    }, words));
  }

  /** How far below its place the letters of a text stand. */
  drop() {
    if (this.textBaseline === "alphabetic") return 0;
    const [own, plain] = [this.textBaseline, "alphabetic"].map((baseline) => {
      this.measuring.textBaseline = /** @type {CanvasTextBaseline} */ (baseline);
      return this.measureText("x").fontBoundingBoxAscent;
    });
    return plain - own;
  }

  /** The document; `family` is the font of all texts, `head` what stands before the picture.
   * @param {number} width
   * @param {number} height
   * @param {string} family
   * @param {string} head */
  svg(width, height, family, head) {
    const root = tag("svg", {
      xmlns: "http://www.w3.org/2000/svg", role: "img", width, height,
      viewBox: `0 0 ${width} ${height}`, "font-family": family, "xml:space": "preserve",
    }).replace(/\/>$/, ">");
    return `${root}${head}${this.parts.join("\n")}</svg>\n`;
  }
}

/** A pattern of tiles; what crosses an edge is drawn from both sides.
 * @type {(tile: Tile, id: string) => string} */
function patternOf({ size, width, colour, lines }, id) {
  const d = lines.flatMap(([x0, y0, x1, y1]) => [-size, 0, size].map((shift) =>
    `M${short(x0 + shift)} ${short(y0)}L${short(x1 + shift)} ${short(y1)}`)).join("");
  const path = tag("path", { d, fill: "none", stroke: colour, "stroke-width": width });
  return `<pattern id="${id}" width="${size}" height="${size}" patternUnits="userSpaceOnUse">`
    + `${path}</pattern>`;
}
