// The imports between modules: no circles, and folders that do not know each other.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

const names = readdirSync(join(ROOT, "src"), { recursive: true })
  .filter((name) => name.endsWith(".js")).map((name) => `src/${name}`);

const { metafile } = await build({ entryPoints: names, absWorkingDir: ROOT, bundle: true,
  format: "esm", outdir: "unused", write: false, metafile: true, logLevel: "silent" });
const imports = (name) => metafile.inputs[name].imports.map(({ path }) => path);

test("no module imports itself by way of others", () => {
  const done = new Set();
  const walk = (name, path) => {
    assert.ok(!path.includes(name), [...path, name].join(" imports "));
    if (done.has(name)) return;
    for (const next of imports(name)) walk(next, [...path, name]);
    done.add(name);
  };
  for (const name of names) walk(name, []);
});

test("the canvas does not know the outline, nor the lists either of them", () => {
  const folder = (name) => name.split("/")[1];
  for (const name of names) {
    for (const next of imports(name)) {
      const allowed = ["shared", folder(name), ...(folder(name) === "export_page" ? ["canvas"] : [])];
      assert.ok(allowed.includes(folder(next)), `${name} imports ${next}`);
    }
  }
});
