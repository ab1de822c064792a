// Bundles every component into dist/: one ES module and one style sheet each, which Python
// reads as text. The same sources give the same bytes.

import { build } from "esbuild";

const SCRIPTS = {
  canvas: "src/canvas/index.js",
  outline: "src/outline/index.js",
  transcript: "src/lists/transcript.js",
  nodes: "src/lists/nodes.js",
  diff: "src/lists/diff.js",
  playback_timer: "src/playback_timer.js",
  theme_watch: "src/theme_watch.js",
  address: "src/address.js",
  welcome: "src/welcome/index.js",
  atlas: "src/atlas/index.js",
  export_page: "src/export_page/index.js",
};
const SHEETS = {
  canvas: "src/canvas/index.css",
  outline: "src/outline/outline.css",
  lists: "src/lists/lists.css",
  welcome: "src/welcome/welcome.css",
  atlas: "src/atlas/atlas.css",
  export_page: "src/export_page/page.css",
};
const BANNER = "/* segviz: bundled from segviz/frontend/src by npm run build */";

for (const entryPoints of [SCRIPTS, SHEETS]) {
  await build({
    entryPoints,
    outdir: process.argv[2] ?? "dist",
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    charset: "utf8",
    legalComments: "none",
    banner: { js: BANNER, css: BANNER },
  });
}
