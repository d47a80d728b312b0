// What the drivers of pages have in common.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

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

// looksAsBefore compares a screenshot with how a page looked: a few pixels may differ, because fonts do between machines.
export async function looksAsBefore(page, of, name, png, words, update) {
  const golden = new URL(`testdata/${name}`, import.meta.url);
  if (update) {
    mkdirSync(new URL("testdata/", import.meta.url), { recursive: true });
    writeFileSync(golden, png);
  }
  if (!existsSync(golden)) say(of, `looks as before at ${words}`, false, `no testdata/${name}: go test ./test/browser -update`);
  else {
    const d = await differ(page, readFileSync(golden), png);
    say(of, `looks as before at ${words}`, d.part < 0.08, `${(d.part * 100).toFixed(2)} % of blocks differ; ${d.words}`);
  }
}

// differ is which part of two pictures is not alike, in blocks of 8 pixels whose mean colours differ by more than a tenth.
async function differ(page, a, b) {
  const blank = await page.context().newPage();
  await blank.goto("about:blank");
  const out = await blank.evaluate(async ([x, y]) => {
    const load = async (data) => {
      const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: "image/png" }));
      const canvas = new OffscreenCanvas(Math.ceil(bitmap.width / 8), Math.ceil(bitmap.height / 8));
      const g = canvas.getContext("2d");
      g.imageSmoothingQuality = "high";
      g.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
      return { w: bitmap.width, h: bitmap.height, data: g.getImageData(0, 0, canvas.width, canvas.height) };
    };
    const p = await load(x), q = await load(y);
    if (p.w !== q.w || Math.abs(p.h - q.h) > 0.06 * p.h) return { part: 1, words: `${p.w}x${p.h} then, ${q.w}x${q.h} now` };
    const rows = Math.min(p.data.height, q.data.height), cols = p.data.width;
    let n = 0;
    for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) {
      const i = (r * cols + c) * 4;
      if (Math.max(...[0, 1, 2].map((k) => Math.abs(p.data.data[i + k] - q.data.data[i + k]))) > 26) n++;
    }
    return { part: n / (rows * cols), words: `${p.w}x${p.h} then, ${q.w}x${q.h} now` };
  }, [a.toString("base64"), b.toString("base64")]);
  await blank.close();
  return out;
}
