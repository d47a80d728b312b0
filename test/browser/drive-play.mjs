// Opens the page of lameduck play and does with it what a reader does: node drive-play.mjs CHROMIUM DIST SHOTS UPDATE. One line of JSON a
// check. The page is served from below a path, as static hosts do it, by a server that writes down what it was asked for.
import { chromium } from "playwright-core";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { deflateRawSync } from "node:zlib";
import { byKeyboard } from "./keys.mjs";
import { accessible, comes, looksAsBefore, painted, same, say } from "./tools.mjs";

const [executablePath, dist, shots, update] = process.argv.slice(2);
const name = "play";
const own = ["", "index.html", "play.css", "play.js", "worker.js", "wasm_exec.js", "lameduck.wasm.gz", "start.json", "LICENSES.txt"];
const types = { html: "text/html", js: "text/javascript", css: "text/css", txt: "text/plain", json: "application/json", gz: "application/gzip" };

// The goals are a second until the first paint, and 150 ms from a knob to its timeline. How loaded a machine is decides nothing: forty
// times that is a page that does not answer, and the figures are printed.
const goals = { paint: 1000, knob: 150 };
const slack = 40;

// endless is a simulator that is asked for a run and never answers; gone one that ends.
const nothing = `do: "", refused: "", errors: [], warnings: []`;
const stand = (run) => `globalThis.Go = class { importObject = {}; run() {
  globalThis.lameduckAnswer = (text) => { const a = JSON.parse(text);
    if (a.do === "look") return JSON.stringify({ ${nothing}, cases: [], knobs: [], choices: {}, inForce: {} });
    ${run} };
  return new Promise(() => {}); } };`;
const stands = {
  endless: { "wasm_exec.js": stand("for (;;);"), "lameduck.wasm.gz": Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]) },
  gone: { "wasm_exec.js": stand("throw new Error('out of memory');"), "lameduck.wasm.gz": Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]) },
  missing: { "lameduck.wasm.gz": null },
};

const start = JSON.stringify({ version: "v0.0.0", name: "", manifest: "" });

// serve serves the files, those of a stand-in below its name.
function serve() {
  const server = createServer((q, r) => {
    const [, where, file] = /^\/a\/sub-path\/(\w+)\/([\w.-]*)$/.exec(new URL(q.url, "http://x").pathname) ?? [];
    let body = null;
    if (where && own.includes(file)) {
      const other = file === "start.json" ? start : stands[where]?.[file];
      body = other === undefined ? readFileSync(`${dist}/${file || "index.html"}`) : other;
    }
    r.writeHead(body === null ? 404 : 200, { "Content-Type": types[(file || "index.html").split(".").at(-1)] ?? "text/plain" });
    r.end(body ?? "");
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done({ url: `http://127.0.0.1:${server.address().port}/a/sub-path/`, close: () => server.close() })));
}

let browser, site;

async function open({ where = "page", fragment = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const heard = { console: [], requests: [], dialogs: [] };
  page.on("console", (m) => heard.console.push(m.text()));
  page.on("pageerror", (e) => heard.console.push(e.message));
  context.on("request", (r) => heard.requests.push(r.url()));
  page.on("dialog", (d) => { heard.dialogs.push(d.message()); void d.dismiss(); });
  await page.goto(`${site.url}${where}/${fragment}`);
  await page.waitForSelector(".play");
  return { page, context, heard };
}

const doing = (page) => page.locator(".progress").getAttribute("data-doing");
const settled = (page, word = "done") => comes(async () => (await doing(page)) === word, 120_000);
const fresh = async (page) => { await comes(async () => (await page.locator(".result").getAttribute("data-stale")) === "false" && ["waiting", "all", "done"].includes(await doing(page)), 60_000); };
const verdict = (page) => page.locator(".verdict-line .verdict").textContent();
const editor = (page) => page.locator(".editor .cm-content");
const manifest = async (page) => (await page.locator(".editor .cm-line").allTextContents()).join("\n");
const knob = (page, id) => page.locator(`[data-knob="${id}"]`);
const slider = (page, id) => knob(page, id).locator('input[type="range"]');

async function first() {
  const { page, context, heard } = await open();
  const paint = await page.evaluate(painted, goals.paint * slack);
  say(name, "is painted", paint > 0 && paint < goals.paint * slack, `${Math.round(paint)} ms, the goal is ${goals.paint} ms`);
  say(name, "simulates the example as soon as it is open", await settled(page), await page.locator(".progress").textContent());
  same(name, "the example drops", await verdict(page), "DROPS");
  say(name, "says what to do first", /Drag preStop/.test(await page.locator(".drag-first").textContent()), "no hint");
  say(name, "draws the lost requests", (await page.locator("svg.lanes g.drop").count()) > 5, "no marks");
  say(name, "tells how one was lost", (await page.locator("aside.side ol.story li").count()) > 3, "no story");
  for (const scheme of ["light", "dark"]) await accessible({ name }, page, scheme);
  await knobs(page);
  await choices(page);
  await parts(page);
  await typing(page);
  await files(page);
  await amiss(page);
  await share(page);
  same(name, "asks nobody but its own host, and for its own files alone", heard.requests.filter((u) => !own.some((f) => u === `${site.url}page/${f}`) && !u.startsWith(`blob:${new URL(site.url).origin}`) && u !== "data:,"), []);
  same(name, "says nothing on the console", heard.console, []);
  same(name, "runs nothing of its input", heard.dialogs, []);
  await context.close();
}

async function knobs(page) {
  await slider(page, "prestop").focus();
  await page.keyboard.press("ArrowRight");
  say(name, "an arrow turns a knob", await comes(async () => /seconds: 1\b/.test(await manifest(page))), await manifest(page));
  await fresh(page);
  for (let i = 0; i < 14; i++) await page.keyboard.press("ArrowRight");
  say(name, "the manifest has what a knob says", await comes(async () => /seconds: 15\b/.test(await manifest(page))), await manifest(page));
  say(name, "enough preStop, and nothing is lost", await comes(async () => (await verdict(page)) === "HOLDS", 60_000), await verdict(page));
  say(name, "says how many runs stand behind it", /lost nothing in \d+ of \d+ .*confidence at most \d+ %/.test(await page.locator(".verdict-line").textContent()), await page.locator(".verdict-line").textContent());
  say(name, "says what it was before", (await knob(page, "prestop").locator(".was").textContent()) === "was 0 s", "not said");
  await knob(page, "prestop").locator('input[type="number"]').fill("0");
  say(name, "a typed value turns a knob", await comes(async () => (await verdict(page)) === "DROPS", 60_000), await verdict(page));
  const box = await slider(page, "replicas").boundingBox();
  const before = await slider(page, "replicas").inputValue();
  await page.mouse.click(box.x + box.width * 0.45, box.y + box.height / 2);
  const dragged = await slider(page, "replicas").inputValue();
  say(name, "the mouse turns a knob", dragged !== before && await comes(async () => (await manifest(page)).includes(`replicas: ${dragged}`)), `${before} then ${dragged}`);
  await page.getByRole("button", { name: "Reset" }).click();
  say(name, "Reset restores the manifest", await comes(async () => /replicas: 3\b/.test(await manifest(page)) && !/preStop/.test((await manifest(page)).split("\n").slice(3).join("\n"))), await manifest(page));
  await fresh(page);
  await timed(page);
  await pictureFirst(page);
  await dragging(page);
  await page.getByRole("button", { name: "Reset" }).click();
  say(name, "all runs follow where nothing is changed", await settled(page), await page.locator(".progress").textContent());
}

// The controls of the page: what is none of these fails the test, until it is here and a key uses it.
const knobNames = ["preStop sleep", "grace period", "replicas", "minReadySeconds", "maxSurge", "maxUnavailable", "readiness period", "readiness failures", "minSyncPeriod", "start of the app"];
const controls = [
  "button Open a file", "button Download", "button Share by link", "field the link", "button Copy link", "button Copy command", "editor Manifest", "region scroll the manifest", "button Reset", "button was N s", "button To the knobs", "link their licences", "link those of the Go modules in the simulator",
  ...knobNames.flatMap((k) => [`slider ${k}`, `number ${k}`]), ...["What is done", "Cluster", "Load balancer", "Kubernetes version", "At SIGTERM the app"].map((c) => `choice ${c}`),
  "tab Timeline", "tab Why", "tab Cases", "tab Assumed", "tab As text",
  "choice Case", "button Lost band", "button Whole run", "button zoom in", "button zoom out", "button earlier", "button later", "button Previous lost", "button Next lost", "fold Filter", "choice Node", "choice Whose delay", "picture",
  "button of a group of lanes", "moment of a story", "button Close", "fold Where connections go at each moment", "button previous event", "button Play", "button next event", "choice Speed", "choice Client", "slider Moment", "region Picture of the ways",
  ...["Lost requests", "When each node let go of each pod that went", "Events", "Every bar of the picture"].flatMap((t) => [`region ${t}`, `sort of ${t}`, `button Copy the table ${t}`]), "row of Lost requests",
  "fold Lost requests as a table", "fold Bands as a table", "fold Events as a table", "fold Lanes as a table",
];

// keysOnly goes through the page by Tab, with a knob turned, a link made and a story told, and uses each control by keys.
async function keysOnly() {
  const { page, context } = await open({ viewport: { width: 700, height: 900 } }); // where the way to the knobs is, too
  page.on("filechooser", () => {});
  await settled(page);
  await slider(page, "prestop").focus();
  await page.keyboard.press("ArrowRight");
  await fresh(page);
  await settled(page);
  await page.getByRole("button", { name: "Share by link" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "the link" }).waitFor();
  await page.locator(".stage").focus();
  await page.keyboard.press("n");
  const file = (what) => async (p) => {
    const heard = p.waitForEvent(what, { timeout: 10_000 }).then(() => "", () => `no ${what}`);
    await p.keyboard.press("Enter");
    return heard;
  };
  const share = async (p) => {
    await p.evaluate(() => { history.replaceState(null, "", location.pathname); });
    await p.keyboard.press("Enter");
    return (await comes(() => p.evaluate(() => location.hash.length > 10))) ? "" : "no link";
  };
  const special = { "button Open a file": file("filechooser"), "button Download": file("download"), "button Share by link": share };
  await byKeyboard("play by keyboard", page, controls, special, /^(slider(?! Moment)|number|editor|button (Reset|was)|choice (What is done|Cluster|Load|Kubernetes|At SIGTERM))/);
  await context.close();
  const { page: other, context: its } = await open({ fragment: "#1." });
  await other.locator(".notice").getByRole("button", { name: "Close" }).focus();
  await other.keyboard.press("Enter");
  say(name, "a notice is closed by Enter", await comes(async () => (await other.locator(".notice").count()) === 0), "it is there");
  await its.close();
}

// timed is how long a change of a knob takes until its timeline is drawn, and until few runs say what is lost: the picture does not wait for that.
async function timed(page) {
  const drawn = [], said = [];
  for (const value of [4, 9, 6, 11, 3, 0, 7]) {
    const [picture, verdict] = await page.evaluate((v) => new Promise((done) => {
      const input = document.querySelector('[data-knob="prestop"] input[type="range"]'), result = document.querySelector(".result");
      const from = performance.now(), was = { ...result.dataset };
      let picture = 0;
      const painted = (then) => requestAnimationFrame(() => setTimeout(() => then(performance.now() - from), 0));
      const seen = new MutationObserver(() => {
        if (picture === 0 && result.dataset.drawn !== was.drawn) {
          picture = 1;
          painted((t) => { picture = t; });
        }
        if (result.dataset.answers === was.answers || result.dataset.stale !== "false") return;
        seen.disconnect();
        painted((t) => done([picture, t]));
      });
      seen.observe(result, { attributes: true });
      input.value = String(v);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }), value);
    drawn.push(picture);
    said.push(verdict);
    await page.waitForTimeout(30);
  }
  for (const list of [drawn, said]) list.sort((a, b) => a - b);
  say(name, "a knob has its timeline drawn at once", drawn[0] > 0 && drawn[3] < goals.knob * slack, `median ${Math.round(drawn[3])} ms, slowest ${Math.round(drawn[6])} ms, the goal is ${goals.knob} ms; what few runs say follows after ${Math.round(said[3])} ms`);
}

// pictureFirst turns a knob and looks at what the page does until its picture is on the screen, and then at whether it is as before, and at what somebody
// types at just that time.
async function pictureFirst(page) {
  await fresh(page);
  const [asked, worded] = await page.evaluate(() => new Promise((done) => {
    const input = document.querySelector('[data-knob="prestop"] input[type="range"]'), result = document.querySelector(".result");
    const editor = document.querySelector(".editor").shadowRoot.querySelector(".cm-content");
    const asked = [], was = result.dataset.drawn, post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (word, ...rest) {
      if (word.ask) asked.push(JSON.parse(word.ask).do);
      return post.call(this, word, ...rest);
    };
    new MutationObserver((_, seen) => {
      if (result.dataset.drawn === was) return;
      seen.disconnect();
      requestAnimationFrame(() => {
        Worker.prototype.postMessage = post;
        const now = [asked.join(), /seconds: 5\b/.test(editor.textContent)];
        editor.focus();
        getSelection().collapse(editor.querySelector(".cm-line"), 0);
        document.execCommand("insertText", false, "# typed now, ");
        done(now);
      });
    }).observe(result, { attributes: true });
    input.value = "5";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }));
  same(name, "asks for nothing but the picture until that is on the screen", asked, "draw");
  say(name, "draws the picture before the text", !worded, "the editor has the text already");
  await fresh(page);
  say(name, "what is typed meanwhile and the knob are both in the manifest", await comes(async () => { const text = await manifest(page); return text.includes("# typed now, ") && /seconds: 5\b/.test(text); }), await manifest(page));
  say(name, "all runs follow that", await settled(page), await page.locator(".progress").textContent());
  await knob(page, "prestop").locator('input[type="number"]').fill("5");
  await slider(page, "prestop").evaluate((e) => e.dispatchEvent(new Event("input", { bubbles: true })));
  say(name, "all runs follow a turn to where a knob was", await comes(async () => (await doing(page)) !== "done") && await settled(page), await page.locator(".progress").textContent());
}

// dragging turns a knob sixty times in a second: no frame may wait for the simulator, and the last value counts.
async function dragging(page) {
  const worst = await page.evaluate(async () => {
    const input = document.querySelector('[data-knob="prestop"] input[type="range"]');
    let worst = 0, last = performance.now();
    for (let i = 0; i <= 60; i++) {
      input.value = String(i % 2 === 0 ? i / 2 : 30 - i / 2);
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((r) => requestAnimationFrame(r));
      worst = Math.max(worst, performance.now() - last);
      last = performance.now();
    }
    return worst;
  });
  say(name, "never stands still while one drags", worst < 1500, `slowest frame ${Math.round(worst)} ms`);
  // The page may not have turned to the last value yet, and then nothing says that what it shows is of one before.
  const last = async () => /seconds: 30\b/.test(await manifest(page)) && (await slider(page, "prestop").inputValue()) === "30";
  await comes(last, 60_000);
  await fresh(page);
  say(name, "the last value of a drag counts", await last(), `${await slider(page, "prestop").inputValue()}\n${await manifest(page)}`);
}

async function choices(page) {
  const command = page.locator(".command code");
  for (const flag of await page.locator(".choices select").evaluateAll((l) => l.map((s) => s.name))) {
    const select = page.locator(`.choices select[name="${flag}"]`);
    await select.focus();
    await page.keyboard.press("ArrowDown");
    const value = await select.inputValue();
    say(name, `--${flag} can be chosen`, value !== "" && (await command.textContent()).includes(`--${flag} ${value}`), await command.textContent());
    await fresh(page);
    await select.selectOption("");
  }
  await page.locator('.choices select[name="action"]').selectOption("drain");
  await fresh(page);
  await settled(page);
  say(name, "what is done is what was chosen", /drain/.test(await page.locator("#timeline .figures h3").first().textContent()) && !/rolling/.test(await page.locator("#timeline .figures h3").first().textContent()), await page.locator("#timeline .figures h3").first().textContent());
  await page.getByRole("button", { name: "Reset" }).click();
  await settled(page);
}

async function parts(page) {
  await page.getByRole("tab", { name: "Timeline" }).focus();
  const seen = [];
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press("ArrowRight");
    seen.push([await page.locator('[role="tab"][aria-selected="true"]').textContent(), (await page.locator("#panel").textContent()).length > 20]);
    if (seen.at(-1)[0] === "As text") say(name, "has the report as text", /^DROPS/.test(await page.locator("#panel pre").textContent()), (await page.locator("#panel pre").textContent()).slice(0, 60));
    if (seen.at(-1)[0] === "Why, and what helps") say(name, "says what helps", /What to do.*Nothing lost in/.test(await page.locator("#panel").textContent()), await page.locator("#panel").textContent());
  }
  same(name, "tabs go by arrow", seen, ["Why, and what helps", "Cases", "Assumed", "As text", "Timeline"].map((t) => [t, true]));
  const drop = page.locator("svg.lanes g.drop").nth(3);
  await drop.scrollIntoViewIfNeeded();
  await drop.locator(".hit").click({ force: true });
  say(name, "a cross tells its story", /Lost request \d+ of \d+/.test(await page.locator("aside.side h3").textContent()), await page.locator("aside.side").textContent());
  await page.keyboard.press("Escape");
}

async function typing(page) {
  const good = await manifest(page);
  await page.locator(".editor .cm-line", { hasText: "replicas: 3" }).click();
  await page.keyboard.press("End");
  await page.keyboard.type("x");
  const fault = page.locator(".faults li").first();
  say(name, "an error stands at its line", await comes(async () => /^line 8 /.test(await fault.textContent({ timeout: 500 }).catch(() => ""))), await fault.textContent({ timeout: 500 }).catch(() => "no error"));
  say(name, "an error is marked in the editor", await comes(async () => (await page.locator(".editor .cm-lint-marker-error").count()) === 1), "no mark");
  same(name, "what is broken is not run", await doing(page), "faulty");
  await accessible({ name: `${name} with an error` }, page, "light");
  await fault.getByRole("button").focus();
  await page.keyboard.press("Enter");
  same(name, "an error leads to its line", await page.locator(".editor .cm-activeLine").textContent(), "  replicas: 3x");
  await page.keyboard.press("End");
  await page.keyboard.press("Backspace");
  say(name, "a mended manifest is run", await comes(async () => (await page.locator(".faults").count()) === 0 && (await doing(page)) !== "faulty"), await doing(page));
  same(name, "the text is as before", await manifest(page), good);
  await fresh(page);
}

// amiss: what cannot be judged, and what is too large, says so in a sentence, and where to look.
async function amiss(page) {
  const load = (file, text) => page.locator('input[type="file"]').setInputFiles({ name: file, mimeType: "application/yaml", buffer: Buffer.from(text) });
  await load("apart.yaml", (await example()).replace("selector: {app: web}", "selector: {app: wep}"));
  say(name, "a Service that selects nothing is named", await comes(async () => /line 30 warning: .*selects no workload/.test(await page.locator(".faults.warnings").textContent({ timeout: 500 }).catch(() => "")), 60_000), await page.locator(".manifest").textContent());
  await settled(page);
  say(name, "nothing to judge says why", /no workload behind a Service.*warnings below the editor/.test(await page.locator(".verdict-line").textContent()), await page.locator(".verdict-line").textContent());
  same(name, "of nothing, nothing is shown", [await page.getByRole("tab").count(), await page.locator(".progress").textContent()], [0, ""]);
  await accessible({ name: `${name} with nothing to judge` }, page, "light");
  await load("typed.yaml", (await example()).replace("kind: Service", "kind: Servce"));
  say(name, "a kind with a slip is named", await comes(async () => /did you mean Service/.test((await page.locator(".faults").allTextContents()).join(" ")), 60_000), await page.locator(".manifest").textContent());
  await load("good.yaml", await example());
  await settled(page);
  await load("broken.yaml", (await example()).replace("replicas: 3", "replicas: three"));
  say(name, "what is shown beside another file's error says what it is of", await comes(async () => /The result below is of good.yaml/.test(await page.locator(".progress").textContent())), await page.locator(".progress").textContent());
  const list = await page.locator(".faults").first().boundingBox();
  say(name, "errors are in view", list !== null && list.y + list.height <= page.viewportSize().height, JSON.stringify(list));
  await page.locator(".editor").evaluate((e) => {
    const data = new DataTransfer(), content = e.shadowRoot.querySelector(".cm-content");
    data.setData("text/plain", "# a\n".repeat(800_000));
    content.focus();
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  say(name, "a paste that is too large is refused in a sentence", await comes(async () => /more than 1 MB/.test(await page.locator(".progress").textContent())), await page.locator(".progress").textContent());
  await page.getByRole("button", { name: "Share by link" }).click();
  say(name, "no link is made of it", await comes(async () => /does not read one as large/.test(await page.locator(".notice").textContent({ timeout: 500 }).catch(() => ""))), "no word");
}

// backAndForward find what was at each address, with what was changed there.
async function backAndForward() {
  const { page, context } = await open();
  await settled(page);
  const go = (replicas, file) => example().then((text) => page.evaluate((to) => { location.hash = to; }, fragmentOf({ name: file, manifest: text.replace("replicas: 3", `replicas: ${replicas}`), flags: {}, view: {} })));
  const shows = (file, replicas) => comes(async () => (await page.locator("#manifest-h").textContent()) === file && (await manifest(page)).includes(`replicas: ${replicas}`));
  await go(2, "two.yaml");
  await shows("two.yaml", 2);
  await fresh(page);
  await knob(page, "replicas").locator('input[type="number"]').fill("5");
  await comes(async () => /replicas: 5/.test(await manifest(page)));
  await go(4, "four.yaml");
  await shows("four.yaml", 4);
  await page.goBack();
  say(name, "Back has what was changed there", await shows("two.yaml", 5), await manifest(page));
  await page.goBack();
  say(name, "Back has what was there at first", await shows("web-app.yaml", 3), await manifest(page));
  await page.goForward();
  say(name, "Forward has what was there", await shows("two.yaml", 5), await manifest(page));
  await context.close();
}

// notStarted: a page whose simulator cannot be started says why, and what to do.
async function notStarted() {
  const context = await browser.newContext();
  const page = await context.newPage();
  const words = () => page.locator("#app main").innerText();
  await page.goto(new URL(`${dist}/index.html`, `file://${process.cwd()}/`).href);
  say(name, "opened from disk it says what to do", await comes(async () => /opened from disk.*Run lameduck play/.test(await words())), await words());
  await page.route("**/play.js", (r) => r.abort());
  await page.goto(`${site.url}page/`);
  say(name, "without its script it says so", await comes(async () => /script play.js could not be loaded/.test(await words()), 30_000), await words());
  await context.close();
  const off = await browser.newContext({ javaScriptEnabled: false });
  const plain = await off.newPage();
  await plain.goto(`${site.url}page/`);
  say(name, "with scripts off it says so, and no more", await comes(async () => (await plain.locator("#app main").innerText()).trim() === "The simulator is a script, and scripts are off in this browser."), await plain.locator("#app main").innerText());
  await off.close();
}

async function files(page) {
  const input = page.locator('input[type="file"]');
  await input.setInputFiles({ name: "mine.yaml", mimeType: "application/yaml", buffer: Buffer.from((await manifest(page)).replace("replicas: 3", "replicas: 2")) });
  say(name, "a file can be opened", await comes(async () => /replicas: 2/.test(await manifest(page)) && (await page.locator("#manifest-h").textContent()) === "mine.yaml"), await page.locator("#manifest-h").textContent());
  await fresh(page);
  await page.locator(".manifest").evaluate((e) => {
    const data = new DataTransfer();
    data.items.add(new File(["# lameduck play {\"action\":[\"drain\"]}\n# dropped\n"], "dropped.yaml"));
    e.querySelector(".editor").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  say(name, "a file can be dropped, and has its choices", await comes(async () => (await manifest(page)).startsWith("# dropped") && /--action drain/.test(await page.locator(".command code").textContent())), await manifest(page));
  await input.setInputFiles({ name: "large.yaml", mimeType: "application/yaml", buffer: Buffer.alloc(1_200_000, "#") });
  say(name, "a file that is too large is not opened", await comes(async () => /more than 1 MB/.test(await page.locator(".notice").textContent({ timeout: 500 }).catch(() => ""))), "no word");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  same(name, "a file can be saved", [saved.suggestedFilename(), readFileSync(await saved.path(), "utf8")], ["dropped.yaml", "# lameduck play {\"action\":[\"drain\"]}\n# dropped\n"]);
}

async function share(page) {
  await page.goto(`${site.url}page/`);
  await page.reload();
  await settled(page);
  await page.locator('.choices select[name="action"]').selectOption("drain");
  await knob(page, "prestop").locator('input[type="number"]').fill("2");
  await comes(async () => /seconds: 2\b/.test(await manifest(page)));
  await settled(page);
  await page.locator(".stage").focus();
  await page.keyboard.press("Home");
  const window_ = () => page.locator("#timeline .overview .window").first().getAttribute("width");
  const [text, width] = [await manifest(page), await window_()];
  await page.getByRole("button", { name: "Share by link" }).click();
  const link = await page.getByRole("textbox", { name: "the link" }).inputValue();
  const { page: other, context, heard } = await open({ fragment: new URL(link).hash });
  await settled(other);
  same(name, "a link has manifest and choices", [await manifest(other), await other.locator(".command code").textContent()], [text, "lameduck sim -f web-app.yaml --action drain"]);
  same(name, "a link has the view", Math.round(await other.locator("#timeline .overview .window").first().getAttribute("width")), Math.round(width));
  same(name, "a link runs nothing else", [heard.console, heard.dialogs], [[], []]);
  await context.close();
  await page.getByRole("button", { name: "Copy command" }).click();
  let noise = "";
  for (let i = 0, x = 7; i < 60_000; i++) { x = (x * 48271) % 2147483647; noise += String.fromCharCode(97 + (x % 26)); }
  await page.locator('input[type="file"]').setInputFiles({ name: "long.yaml", mimeType: "application/yaml", buffer: Buffer.from(`# ${noise}\n`) });
  await comes(async () => (await page.locator("#manifest-h").textContent()) === "long.yaml");
  await page.getByRole("button", { name: "Share by link" }).click();
  say(name, "too long a link offers a file", await comes(async () => /Download the manifest instead/.test(await page.locator(".notice").textContent({ timeout: 500 }).catch(() => ""))), "no word");
}

const fragmentOf = (value) => `#1.${deflateRawSync(Buffer.from(typeof value === "string" ? value : JSON.stringify(value))).toString("base64url")}`;
const markup = `"><img src=x onerror=alert(1)></script><script>alert(1)</script>`;

async function hostile() {
  const good = { name: "a.yaml", manifest: "# a\n", flags: {}, view: {} };
  const refused = [
    ["of nothing", "#1."], ["of markup", `#${encodeURIComponent(markup)}`], ["of another version", "#99.AAAA"], ["that is cut", fragmentOf(good).slice(0, -6)], ["that is no pack", "#1.AAAAAAAA"],
    ["of 200 MB", `#1.${deflateRawSync(Buffer.alloc(200_000_000)).toString("base64url")}`], ["of no JSON", fragmentOf("{")], ["of a list", fragmentOf([])], ["without a manifest", fragmentOf({ ...good, manifest: 7 })],
    ["with too large a manifest", fragmentOf({ ...good, manifest: "#".repeat(1_000_001) })], ["with flags that are none", fragmentOf({ ...good, flags: [1] })], ["with a flag that is not the page's", fragmentOf({ ...good, flags: { [markup]: "x" } })],
    ["with a value that is none", fragmentOf({ ...good, flags: { lb: { a: 1 } } })],
  ];
  for (const [what, fragment] of refused) {
    const { page, context, heard } = await open({ fragment });
    const words = await page.locator(".notice").textContent({ timeout: 10_000 }).catch(() => "");
    say(name, `a link ${what} is refused in a sentence`, /^[A-Z].*\. /.test(words) && (await manifest(page)).includes("kind: Deployment"), words);
    same(name, `a link ${what} does nothing else`, [heard.console, heard.dialogs, await page.locator("img").count()], [[], [], 0]);
    await context.close();
  }
  const taken = [
    ["names of markup", { ...good, name: markup, manifest: `# ${markup}\nkind: ${markup}\n`, view: { case: markup, tab: markup, span: [markup, {}] } }, /./],
    ["flags of nonsense", { ...good, flags: { lb: markup, set: [markup] } }, /./],
    ["ten million replicas", { ...good, manifest: (await example()).replace("replicas: 3", "replicas: 10000000") }, /./],
  ];
  for (const [what, value, words] of taken) {
    const { page, context, heard } = await open({ fragment: fragmentOf(value) });
    await comes(async () => ["faulty", "failed", "done", "waiting"].includes(await doing(page)) || (await page.locator(".late-run").count()) > 0, 30_000);
    const said = await page.locator(".progress").textContent();
    say(name, `${what} in a link do no harm`, words.test(said) && heard.dialogs.length === 0 && (await page.locator("img").count()) === 0 && heard.console.length === 0, `${said} ${heard.console}`);
    await context.close();
  }
}

const example = async () => readFileSync(new URL("../../examples/web-app.yaml", import.meta.url), "utf8");

async function failing() {
  const { page, context } = await open({ where: "endless" });
  say(name, "a long run says so, and can be stopped", await comes(async () => (await page.locator(".late-run").count()) === 1, 60_000), await page.locator(".progress").textContent());
  await page.getByRole("button", { name: "Stop it" }).focus();
  await page.keyboard.press("Enter");
  say(name, "is stopped", await comes(async () => (await doing(page)) === "stopped"), await doing(page));
  await page.getByRole("button", { name: "Run again" }).focus();
  await page.keyboard.press("Enter");
  say(name, "can be begun again", await comes(async () => (await page.locator(".late-run").count()) === 1, 60_000), await page.locator(".progress").textContent());
  await context.close();
  const { page: cut, context: offline } = await open({ where: "missing" });
  await comes(async () => (await doing(cut)) === "failed", 30_000);
  await cut.route("**/lameduck.wasm.gz", (r) => r.fulfill({ path: `${dist}/lameduck.wasm.gz` }));
  await cut.getByRole("button", { name: "Run again" }).click();
  say(name, "what could not be loaded is loaded when it is asked for again", await settled(cut), await cut.locator(".progress").textContent());
  await offline.close();
  for (const [where, words] of [["gone", /stopped: out of memory/], ["missing", /lameduck.wasm.gz could not be loaded: 404/]]) {
    const { page: other, context: its } = await open({ where });
    say(name, `a simulator that is ${where} is a sentence`, await comes(async () => words.test(await other.locator(".progress").textContent()), 30_000), await other.locator(".progress").textContent());
    await its.close();
  }
}

// crash: preStop does nothing against it, and the command is longer than a telephone is wide.
async function crash() {
  const { page, context } = await open({ viewport: { width: 390, height: 900 } });
  await fresh(page);
  await page.locator('select[name="action"]').selectOption("crash");
  say(name, "does not advise preStop against a crash", await comes(async () => !/Drag preStop/.test(await page.locator(".drag-first").textContent())), await page.locator(".drag-first").textContent());
  await fresh(page);
  same(name, "a long command fits into 390 pixels", await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), 0);
  await page.locator("details.more > summary").click();
  const wider = () => page.evaluate(() => { const e = document.querySelector(".paths .picture"); return e.scrollWidth - e.clientWidth; });
  say(name, "the picture of the ways is seen whole in 390 pixels", await comes(async () => (await wider()) === 0), await wider());
  await context.close();
}

async function shot(width, scheme) {
  const { page, context } = await open({ viewport: { width, height: 900 }, colorScheme: scheme });
  await settled(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  say(name, `fits into ${width} pixels, ${scheme}`, overflow <= 0, `${overflow} pixels too wide`);
  if (width < 500) {
    const tops = await page.evaluate(() => [".verdict-line", "svg.lanes", ".knobs", ".editor"].map((s) => document.querySelector(s).getBoundingClientRect().top));
    say(name, `is one column at ${width}: verdict, timeline, knobs, editor, ${scheme}`, tops.every((t, i) => i === 0 || t > tops[i - 1]), tops);
  }
  const png = await page.screenshot({ fullPage: true, animations: "disabled" });
  mkdirSync(shots, { recursive: true });
  writeFileSync(`${shots}/${name}-${width}-${scheme}.png`, png);
  looksAsBefore(name, `${name}-${width}-${scheme}.png`, png, `${width}, ${scheme}`, update === "true");
  await context.close();
}

browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"] });
site = await serve();
try {
  await first();
  await hostile();
  await failing();
  await backAndForward();
  await keysOnly();
  await crash();
  await notStarted();
  for (const width of [1280, 390]) for (const scheme of ["light", "dark"]) await shot(width, scheme);
} finally {
  await browser.close();
  site.close();
}
