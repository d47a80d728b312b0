// What the drivers of pages have in common.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { compare, pixels, sums } from "./compare.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
export const say = (page, check, ok, said) => process.stdout.write(`${JSON.stringify({ Page: page, Check: check, OK: Boolean(ok), Said: String(said) })}\n`);
export const same = (page, check, got, want) => say(page, check, JSON.stringify(got) === JSON.stringify(want), `got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);

// comes waits for what has to become so, however loaded the machine is, and says whether it did.
export async function comes(so, most = 10_000) {
  for (const until = Date.now() + most; Date.now() < until; await new Promise((r) => setTimeout(r, 20))) if (await so()) return true;
  return Boolean(await so());
}

// accessible has axe-core look at a page.
export async function accessible(p, page, scheme) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.evaluate(axe); // not a script element: the page's policy allows none
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  same(p.name, `axe finds nothing, ${scheme}`, found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 4).map((n) => n.target.join(" ")).join(", ")}`), []);
  await page.emulateMedia({ colorScheme: "light" });
}

// painted is when a page had something to look at. It is reported some time after it was so: later where a machine is loaded.
export function painted(most) {
  return new Promise((done) => {
    const seen = new PerformanceObserver((list) => {
      const [first] = list.getEntriesByName("first-contentful-paint");
      if (first) done(first.startTime);
    });
    seen.observe({ type: "paint", buffered: true });
    setTimeout(() => done(-1), most);
  });
}

// looksAsBefore compares a screenshot with how a page looked.
export function looksAsBefore(of, name, png, words, update) {
  const golden = new URL(`testdata/${name}`, import.meta.url);
  if (update) {
    mkdirSync(new URL("testdata/", import.meta.url), { recursive: true });
    writeFileSync(golden, png);
  }
  if (!existsSync(golden)) say(of, `looks as before at ${words}`, false, `no testdata/${name}: go test ./test/browser -update`);
  else {
    const d = compare(sums(pixels(readFileSync(golden))), sums(pixels(png)));
    say(of, `looks as before at ${words}`, d.alike, d.words);
  }
}
