// Builds ../dist from src: what package html embeds. The output is the same bytes on every machine.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const out = process.argv[2] ?? "../dist";
const libraries = ["preact", "d3-array", "d3-color", "d3-dispatch", "d3-drag", "d3-ease", "d3-format", "d3-interpolate", "d3-scale", "d3-selection",
  "d3-time", "d3-time-format", "d3-timer", "d3-transition", "d3-zoom", "internmap"];

const common = { bundle: true, minify: true, charset: "ascii", legalComments: "none", logLevel: "warning", metafile: true };
const script = await build({ ...common, entryPoints: ["src/main.tsx"], outfile: `${out}/report.js`, format: "iife", target: "es2022", jsx: "automatic", jsxImportSource: "preact" });
await build({ ...common, entryPoints: ["src/style.css"], outfile: `${out}/report.css`, target: ["chrome100", "firefox100", "safari16"] });

// The licences of what is in the script, and of nothing else.
const used = new Set(Object.keys(Object.values(script.metafile.outputs)[0].inputs).map((f) => /node_modules\/([^/]+)/.exec(f)?.[1]).filter(Boolean));
for (const name of used) if (!libraries.includes(name)) throw new Error(`${name} is a library that build.mjs does not know`);
const text = [...used].sort().map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync(`${out}/LICENSES.txt`, text.join("\n----\n\n"));
