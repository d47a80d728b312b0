// Prints, for each question of a JSON list in standard input, the command line that the page of lameduck play shows for its name and flags:
// node command.mjs WEB. WEB has the sources of the page and esbuild.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const web = resolve(process.argv[2]);
const { buildSync } = createRequire(`${web}/`)("esbuild");
const built = buildSync({ entryPoints: [`${web}/src/play/command.ts`], bundle: true, format: "esm", write: false });
const { command } = await import(`data:text/javascript,${encodeURIComponent(built.outputFiles[0].text)}`);
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((q) => command(q.name, q.flags))));
