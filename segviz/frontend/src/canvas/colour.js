// Mixing colours and finding a score's place on a ramp. Pure functions.

/** "#rrggbb" as [r, g, b].
 * @param {string} hex */
function rgb(hex) {
  const value = parseInt(hex.slice(1, 7), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** `share` of colour a over colour b.
 * @type {(a: string, b: string, share: number) => string} */
export function mix(a, b, share) {
  const [from, to] = [rgb(b), rgb(a)];
  const channel = from.map((c, i) => Math.round(c + (to[i] - c) * share));
  return "#" + channel.map((c) => c.toString(16).padStart(2, "0")).join("");
}

/** WCAG relative luminance, 0 to 1.
 * @param {string} hex */
export function luminance(hex) {
  const [r, g, b] = rgb(hex).map((c) => {
    const v = c / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** 256 colours along the stops of a ramp.
 * @param {string[]} stops */
export function rampTable(stops) {
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(place));
    return mix(stops[k + 1], stops[k], place - k);
  });
}

/** Index into a ramp table, by a power of the share; 0 for what is not a positive number.
 * @type {(score: number, most: number, power?: number) => number} */
export function rampIndex(score, most, power = 1) {
  if (!(score > 0) || !(most > 0)) return 0;
  return Math.round(Math.min(1, score / most) ** power * 255);
}

/** Index of a signed change: 0 is a fall by 1, 127 (or 128) none, 255 a rise by it.
 * @param {number} change */
export function changeIndex(change) {
  const size = rampIndex(Math.abs(change), 1) / 2;
  return change < 0 ? Math.ceil(127 - size) : Math.floor(128 + size);
}

/** How much of its session's colour a level keeps: leaves all, the root the least.
 * @type {(level: number, levels: number) => number} */
export function levelStrength(level, levels) {
  return 1 - level * Math.min(0.15, 0.62 / Math.max(1, levels - 1));
}

/** Black or white, whichever is read better: at least 4.58 : 1 on any colour.
 * @param {string} colour */
export const inkOn = (colour) => (luminance(colour) > 0.179 ? "#000000" : "#ffffff");
