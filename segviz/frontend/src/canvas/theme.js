// The colours and patterns of the present theme, as the canvas needs them.

import { contextOf, make } from "../shared/dom.js";
import { luminance, mix, rampTable } from "./colour.js";

/** Theme variables as plain "#rrggbb", by way of a canvas that parses any CSS colour.
 * @param {State} s */
export function readTheme(s) {
  const { scene, elements } = s;
  const style = getComputedStyle(elements.root);
  const parser = contextOf(elements.base);
  /** @type {(name: string, fallback: string) => string} */
  const colour = (name, fallback) => {
    parser.fillStyle = fallback;
    parser.fillStyle = style.getPropertyValue(name).trim() || fallback;
    return parser.fillStyle.startsWith("#") ? parser.fillStyle : fallback;
  };
  const background = colour("--st-background-color", "#ffffff");
  const dark = luminance(background) < 0.2;
  const text = colour("--st-text-color", dark ? "#fafafa" : "#31333f");
  const mode = dark ? "dark" : "light";
  const meanings = scene.data.meanings[mode];
  const { score: ramp, change, measure } = scene.data.ramps[mode];
  scene.tints.clear();
  s.frames.fitted.clear();
  return {
    background, text, ...meanings, ramp, change, family: style.fontFamily,
    font: `${style.fontSize} ${style.fontFamily}`,
    table: rampTable(ramp),
    changeTable: rampTable(change),
    measureTable: rampTable(measure),
    levels: scene.data.level_colours.map((full) => mix(full, background, scene.data.level_share)),
    gold: scene.data.gold_colours[mode], // of each state
    patterns: /** @type {Record<string, CanvasPattern>} */ (Object.fromEntries(
      Object.entries(PATTERN_LINES).map(([name, lines]) => [name, pattern(parser, background, lines)]))),
    band: mix(text, background, 0.07),
    line: mix(text, background, 0.25),
    muted: mix(text, background, 0.72),
    faint: mix(text, background, 0.36),
    unknown: mix(text, background, 0.3),
  };
}

export const TILE = 6; // pixels, across and down
export const PATTERN_WIDTH = 1.3;

/** Lines [x0, y0, x1, y1] of each pattern's tile.
 * @type {Record<string, TileLine[]>} */
export const PATTERN_LINES = {
  hatch: [[0, TILE, TILE, 0]],
  cross: [[0, TILE, TILE, 0], [0, 0, TILE, TILE]],
  dots: [[1, 1.5, 3, 1.5]],
};

/** The lines of a tile in the page's colour: on a fill they show as strongly as
 *  the fill does.
 * @type {(ctx: Ctx, colour: string, lines: TileLine[]) => CanvasPattern} */
function pattern(ctx, colour, lines) {
  const tile = make("canvas", { width: TILE, height: TILE });
  const pen = contextOf(tile);
  pen.strokeStyle = colour;
  pen.lineWidth = PATTERN_WIDTH;
  pen.beginPath();
  for (const [x0, y0, x1, y1] of lines) {
    const [dx, dy] = [Math.sign(x1 - x0), Math.sign(y1 - y0)];
    const reach = dy ? 1 : 0; // diagonals run over the edge, also from the tiles beside it
    for (const shift of dy ? [-TILE, 0, TILE] : [0]) {
      pen.moveTo(x0 + shift - reach * dx, y0 - reach * dy);
      pen.lineTo(x1 + shift + reach * dx, y1 + reach * dy);
    }
  }
  pen.stroke();
  return /** @type {CanvasPattern} */ (ctx.createPattern(tile, "repeat"));
}
