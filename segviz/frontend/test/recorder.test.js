import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import { escaped, Recorder } from "../src/export_page/recorder.js";

const measuring = {
  font: "", textBaseline: "",
  measureText(text) {
    const size = parseFloat(/([\d.]+)px/.exec(this.font)[1]);
    const ascent = this.textBaseline === "middle" ? 0.6 * size : 0.9 * size;
    return { width: text.length * size, fontBoundingBoxAscent: ascent };
  },
};

const tile = { size: 6, width: 1.3, colour: "#ffffff", lines: [[0, 6, 6, 0]] };

/** A recorder and what it has written.
 * @param {(ctx: Recorder) => void} draw
 * @param {Map<unknown, unknown>} [patterns] */
function written(draw, patterns) {
  const ctx = new Recorder(measuring, patterns);
  draw(ctx);
  return ctx.parts.join("");
}

test("it knows every method and property of a context that the painters use", () => {
  const source = new URL("../src/", import.meta.url);
  const files = readdirSync(source, { recursive: true }).filter((name) => name.endsWith(".js"));
  const used = new Set(files.filter((name) => !/recorder|theme|dom/.test(name)).flatMap((name) =>
    [...readFileSync(new URL(name, source), "utf8").matchAll(/\bctx\.(\w+)/g)].map(([, one]) => one)));
  const recorder = new Recorder(measuring);
  assert.ok(used.has("bezierCurveTo") && used.has("fillText"));
  assert.deepEqual([...used].filter((name) => !(name in recorder)), []);
});

test("rectangles and paths keep their place and paint", () => {
  assert.equal(written((ctx) => {
    ctx.fillStyle = "#112233";
    ctx.globalAlpha = 0.5;
    ctx.fillRect(1, 2.345, 3, 4);
  }), '<rect x="1" y="2.35" width="3" height="4" fill="#112233" fill-opacity="0.5"/>');
  assert.equal(written((ctx) => {
    ctx.setLineDash([3, 2]);
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(0, 0);
    ctx.lineTo(4, 5);
    ctx.closePath();
    ctx.stroke();
  }), '<path d="M0 0L4 5Z" fill="none" stroke="#000000" stroke-width="1.5" '
    + 'stroke-dasharray="3 2"/>');
});

test("save and restore keep the state and close their groups", () => {
  assert.equal(written((ctx) => {
    ctx.fillStyle = "#112233";
    ctx.save();
    ctx.translate(3, 1);
    ctx.fillStyle = "#445566";
    ctx.fillRect(0, 0, 1, 1);
    ctx.restore();
    ctx.fillRect(0, 0, 1, 1);
  }), '<g transform="translate(3 1)"><rect x="0" y="0" width="1" height="1" fill="#445566"/></g>'
    + '<rect x="0" y="0" width="1" height="1" fill="#112233"/>');
});

test("a text keeps its words, its size and the height it is painted at", () => {
  const [text] = [written((ctx) => {
    ctx.font = "600 10px sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText("\u2068a <b> & \"c\"\u2069", 5, 20);
  })];
  assert.equal(text, '<text x="5" y="23" font-size="10" font-weight="600" text-anchor="middle" '
    + 'fill="#000000">a &lt;b&gt; &amp; &quot;c&quot;</text>');
  assert.match(written((ctx) => ctx.fillText("שלום", 0, 0)), /unicode-bidi="plaintext"/);
});

test("what XML cannot hold is replaced", () => {
  assert.equal(escaped("a\u0000\u001b\ud800b\uffff👩\t\n"), "a\ufffd\ufffd\ufffdb\ufffd👩\t\n");
});

test("a clip holds until restore", () => {
  assert.equal(written((ctx) => {
    ctx.save();
    ctx.beginPath();
    ctx.rect(1, 2, 3, 4);
    ctx.clip();
    ctx.fillRect(0, 0, 9, 9);
    ctx.restore();
  }), '<clipPath id="clip1"><path d="M1 2h3v4h-3Z"/></clipPath><g clip-path="url(#clip1)">'
    + '<rect x="0" y="0" width="9" height="9" fill="#000000"/></g>');
});

test("a pattern is defined once, its lines drawn over the edges of its tile", () => {
  const key = {};
  const svg = written((ctx) => {
    ctx.fillStyle = key;
    ctx.fillRect(0, 0, 12, 6);
    ctx.fillRect(20, 0, 12, 6);
  }, new Map([[key, tile]]));
  assert.match(svg, /^<pattern id="tile1" .*M-6 6L0 0M0 6L6 0M6 6L12 0.*<\/pattern>/);
  assert.equal(svg.match(/<pattern/g).length, 1);
  assert.equal(svg.match(/fill="url\(#tile1\)"/g).length, 2);
});
