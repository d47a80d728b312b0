// Asks the module of lameduck play as a page does, outside of a browser: node ask.mjs DIST ASKS ANSWERS. Each line of the file ASKS is a question; ANSWERS has
// for each how long it took, in milliseconds, the answer, and a byte 0.
import { appendFileSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const [dist, asks, answers] = process.argv.slice(2);
(0, eval)(readFileSync(`${dist}/wasm_exec.js`, "utf8")); // it defines globalThis.Go
const go = new globalThis.Go();
const { instance } = await WebAssembly.instantiate(gunzipSync(readFileSync(`${dist}/lameduck.wasm.gz`)), go.importObject);
go.run(instance); // it never returns: it waits for questions
for (const line of readFileSync(asks, "utf8").split("\n").filter(Boolean)) {
  const from = performance.now();
  const answer = globalThis.lameduckAnswer(line);
  appendFileSync(answers, `${(performance.now() - from).toFixed(1)} ${answer}\0`);
}
process.exit(0);
