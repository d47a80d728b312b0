// Builds what packages embed: the report in ../dist, and the page of lameduck play in ../../play/dist. The output is the same bytes on
// every machine. node build.mjs [REPORT [PLAY]]
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const report = process.argv[2] ?? "../dist", play = process.argv[3] ?? "../../play/dist";
const libraries = ["preact", "d3-array", "d3-color", "d3-dispatch", "d3-drag", "d3-ease", "d3-format", "d3-interpolate", "d3-scale", "d3-selection",
  "d3-time", "d3-time-format", "d3-timer", "d3-transition", "d3-zoom", "internmap", "@codemirror/autocomplete", "@codemirror/commands", "@codemirror/lang-yaml",
  "@codemirror/language", "@codemirror/lint", "@codemirror/state", "@codemirror/view", "@lezer/common", "@lezer/highlight", "@lezer/lr", "@lezer/yaml",
  "@marijn/find-cluster-break", "crelt", "style-mod", "w3c-keyname"];

const common = { bundle: true, minify: true, charset: "ascii", legalComments: "none", logLevel: "warning", metafile: true };
const code = { ...common, format: "iife", target: "es2022", jsx: "automatic", jsxImportSource: "preact", loader: { ".yaml": "text" } };
const script = (from, outfile) => build({ ...code, entryPoints: [from], outfile });
const style = (from, outfile) => build({ ...common, entryPoints: [from], outfile, target: ["chrome100", "firefox100", "safari16"] });

// licences are those of what is in a script, and of nothing else.
function licences(built, outfile) {
  const used = new Set(Object.keys(Object.values(built.metafile.outputs)[0].inputs).map((f) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(f)?.[1]).filter(Boolean));
  for (const name of used) if (!libraries.includes(name)) throw new Error(`${name} is a library that build.mjs does not know`);
  const text = [...used].sort().map((name) => {
    const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
    return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
  });
  writeFileSync(outfile, text.join("\n----\n\n"));
}

mkdirSync(play, { recursive: true });
licences(await script("src/main.tsx", `${report}/report.js`), `${report}/LICENSES.txt`);
await style("src/style.css", `${report}/report.css`);
licences(await script("src/play/main.tsx", `${play}/play.js`), `${play}/LICENSES.txt`);
await script("src/play/worker.ts", `${play}/worker.js`);
await style("src/play/play.css", `${play}/play.css`);
copyFileSync("src/play/index.html", `${play}/index.html`);
