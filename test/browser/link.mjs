// Prints what the page of lameduck play makes of a fragment in standard input: node link.mjs WEB. WEB has the sources of the page and esbuild.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const web = resolve(process.argv[2]);
const { buildSync } = createRequire(`${web}/`)("esbuild");
const built = buildSync({ entryPoints: [`${web}/src/play/link.ts`], bundle: true, format: "esm", write: false });
const { unpacked } = await import(`data:text/javascript,${encodeURIComponent(built.outputFiles[0].text)}`);
process.stdout.write(JSON.stringify(await unpacked(readFileSync(0, "utf8"))));
