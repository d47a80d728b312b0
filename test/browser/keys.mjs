// What a page can do, by keyboard alone: every control is found in the DOM, reached by Tab with a focus that is seen, and used.
import { comes, same, say } from "./tools.mjs";

// inPage are the functions that run in the page.
const inPage = () => {
  const shown = (e) => e.getClientRects().length > 0 && e.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  const roots = (root) => [root, ...[...root.querySelectorAll("*")].filter((e) => e.shadowRoot).flatMap((e) => roots(e.shadowRoot))];
  const active = (root = document) => (root.activeElement?.shadowRoot?.activeElement ? active(root.activeElement.shadowRoot) : root.activeElement);
  const text = (e) => (e?.textContent ?? "").replace(/\s+/g, " ").trim();
  const labelled = (e) => e.getAttribute("aria-label") ?? (e.id && text(e.getRootNode().querySelector(`label[for="${e.id}"]`))) ?? "";
  // The kind of a control decides by which key it is used; "" for what is none.
  const kind = (e) => {
    if (e.matches("[role=tab]")) return "tab";
    if (e.matches("button")) return e.closest("tbody") ? "row" : e.closest("thead") ? "sort" : e.closest("ol.story") ? "moment" : "button";
    if (e.matches("a[href]")) return "link";
    if (e.matches("select")) return "choice";
    if (e.matches("input[type=range]")) return "slider";
    if (e.matches("input[type=number]")) return "number";
    if (e.matches("input[type=file]")) return "file";
    if (e.matches("input, textarea")) return e.readOnly ? "field" : "input";
    if (e.matches("summary")) return "fold";
    if (e.matches("[contenteditable=true]")) return "editor";
    if (e.matches(".stage")) return "picture";
    if (e.tabIndex === 0) return "region";
    return e.matches("[role=button], [role=link], [role=checkbox], [role=switch], [onclick], label[for]:not(label)") ? "unknown" : "";
  };
  // A name is that of the control, without the figures of this run.
  const named = (e) => {
    const what = kind(e);
    if (what === "row" || what === "sort") return `${what} of ${text(e.closest("table").caption).replace(/[,:(].*/, "")}`;
    if (what === "moment") return "moment of a story";
    if (what === "choice" || what === "slider" || what === "number") {
      const label = e.closest("label");
      return `${what} ${labelled(e) || text(label?.firstChild)}`.replace(/[,:].*/, "").trim();
    }
    if (what === "picture") return "picture";
    if (e.classList.contains("opener")) return "button of a group of lanes";
    if (what === "link" && e.closest(".lesson ol")) return "link to a lesson";
    return `${what} ${labelled(e) || text(e)}`.replace(/[,:(].*/, "").replace(/\d[\d.]*/g, "N").trim();
  };
  const all = () => roots(document).flatMap((r) => [...r.querySelectorAll("*")]).filter((e) => kind(e) !== "" && (shown(e) || kind(e) === "file"));
  // What only a mouse uses begins where the pointer changes its shape.
  const mouseOnly = () => {
    const pointer = (e) => ["pointer", "crosshair", "ew-resize", "grab", "move"].includes(getComputedStyle(e).cursor);
    const begins = [...document.querySelectorAll("body *")].filter((e) => pointer(e) && getComputedStyle(e).cursor !== getComputedStyle(e.parentElement).cursor && shown(e));
    return [...new Set(begins.filter((e) => !e.closest("a, button, summary, select, label, input")).map((e) => (e.getAttribute("class") ?? e.tagName).split(" ")[0]))].sort();
  };
  const outlined = (e) => {
    const seen = (x) => { const s = getComputedStyle(x); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0; };
    return seen(e) || (e.closest(".cm-editor") !== null && seen(e.closest(".cm-editor")));
  };
  // What a reader would notice: the text and marks of the page, the values of its controls, and how far things are scrolled.
  const state = () => {
    const controls = roots(document).flatMap((r) => [...r.querySelectorAll("input, select, textarea, details, .scroll, pre, figure, .cm-scroller")]).map((e) => `${e.value ?? ""}${e.open ?? ""}${e.scrollTop}${e.scrollLeft}`);
    const clone = roots(document).map((r) => (r === document ? document.body.outerHTML : r.innerHTML)).join("");
    return `${scrollX} ${scrollY} ${controls.join()} ${clone}`;
  };
  globalThis.keysOfPage = { all, kind, named, active, outlined, mouseOnly, state, reached: new Set(), unseen: new Set(), list: [] };
};

// Instead of a mouse there is another control for the same.
const instead = { drop: "picture", lanes: "slider Moment", overview: "picture", window: "picture", side: "picture", head: "button of a group of lanes", folds: "button of a group of lanes" };

const most = 3000; // presses of Tab

// reach goes through the page by Tab, and opens what is folded. It returns the names of the controls that are there, and what was not reached.
async function reach(page) {
  await page.evaluate(inPage);
  await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); const s = getSelection(); s.removeAllRanges(); });
  const first = await page.evaluate(() => { document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex"); return true; });
  let folded = 0;
  for (let i = 0; first && i < most; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const k = globalThis.keysOfPage, e = k.active();
      if (!e || e === document.body || k.reached.has(e)) return { over: true };
      k.reached.add(e);
      return { seen: k.outlined(e), fold: e.matches("summary") && !e.parentElement.open };
    });
    if (at.over) break;
    if (!at.seen && !await comes(() => page.evaluate(() => globalThis.keysOfPage.outlined(globalThis.keysOfPage.active())), 1000)) { // the editor outlines itself a moment later
      await page.evaluate(() => { const k = globalThis.keysOfPage; k.unseen.add(k.named(k.active())); });
    }
    if (at.fold) {
      await page.keyboard.press("Enter");
      await comes(() => page.evaluate(() => globalThis.keysOfPage.active().parentElement.childElementCount > 1), 3000); // what is made when it is opened
      folded++;
    }
  }
  return { folded, ...await page.evaluate(() => {
    const k = globalThis.keysOfPage;
    const names = new Map();
    k.list = k.all().filter((e) => k.kind(e) !== "file" && !e.disabled);
    for (const e of k.list) if (!names.has(k.named(e))) names.set(k.named(e), e);
    k.first = [...names];
    const roving = (e) => e.matches("[role=tab]") && e.tabIndex < 0; // by arrows, from the one that is chosen
    return { names: [...names.keys()], unreached: [...new Set(k.list.filter((e) => !k.reached.has(e) && !roving(e)).map(k.named))], unseen: [...k.unseen], mouseOnly: k.mouseOnly() };
  }) };
}

// Before a control can be seen to do something, another key may be needed.
const before = { "moment of a story": "n", "button Close": "n", "button Lost band": "Home", "button The deletion": "Home", "button The beginning": "Home", "button Whole run": "End", "button earlier": "End", "button later": "End", "button zoom in": "End", "button zoom out": "End" };

// keys are those that use a kind of control.
const keys = {
  button: ["Enter"], row: ["Enter"], sort: ["Enter"], moment: ["Enter"], tab: ["ArrowRight"], link: ["Enter"], choice: ["ArrowDown", "ArrowUp"], slider: ["ArrowRight", "ArrowLeft"], number: ["ArrowUp", "ArrowDown"],
  fold: ["Enter"], field: ["Home"], picture: ["w", "n"], region: ["ArrowDown", "ArrowRight"], editor: ["End", "#"],
};

// use presses the key of the nth control that has a name of its own, and says whether something came of it.
async function use(page, name, special) {
  const what = name.split(" ")[0];
  if (before[name]) {
    await page.locator(".stage").focus();
    await page.keyboard.press(before[name]);
  }
  await page.evaluate((fold) => { if (!fold) for (const d of document.querySelectorAll("details:not([open])")) d.open = true; }, what === "fold"); // another control may have shut it
  const find = (n) => {
    const k = globalThis.keysOfPage;
    const e = k.all().find((x) => k.named(x) === n && !x.disabled && k.kind(x) !== "file");
    e?.focus();
    if (e?.matches("a[href]")) e.addEventListener("click", (c) => { c.preventDefault(); document.body.dataset.followed = e.getAttribute("href"); }, { once: true });
    return e !== undefined && k.active() === e && { scrolls: e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1 };
  };
  let focused = false;
  await comes(async () => { focused = await page.evaluate(find, name); return focused; }, 3000);
  if (!focused) return "it cannot have the focus";
  if (special) return special(page);
  if (what === "field") return (await page.evaluate(() => globalThis.keysOfPage.active().value.length > 0)) ? "" : "nothing to copy";
  if (what === "region" && !focused.scrolls) return ""; // all of it is in view
  const ofItself = ["choice", "slider", "number"].includes(what); // what follows is for other tests
  const now = () => page.evaluate((own) => (own ? globalThis.keysOfPage.active().value : globalThis.keysOfPage.state()), ofItself);
  const was = await now();
  for (const key of keys[what] ?? []) {
    await page.keyboard.press(key);
    if (!await comes(async () => (await now()) !== was, 3000)) continue;
    if (what === "fold") await page.keyboard.press(key); // what is in it has its turn
    if (what === "choice") await page.keyboard.press(key === "ArrowDown" ? "ArrowUp" : "ArrowDown"); // it is as it was
    if (what === "tab") await page.keyboard.press("ArrowLeft");
    return "";
  }
  return `${(keys[what] ?? ["no key"]).join(", ")} changes nothing`;
}

// byKeyboard holds a page to what its list says: these are its controls, no others, and each does something by a key. special are controls
// whose effect is not in the page: a function each that returns "" or what is amiss.
// last says which ones come last, because much follows from them.
export async function byKeyboard(of, page, want, special = {}, last = /^$/) {
  const found = await reach(page);
  same(of, "each control is known, and has its step by keyboard", found.names.toSorted(), want.toSorted());
  same(of, "Tab reaches each control", found.unreached, []);
  same(of, "the focus is seen at each control", found.unseen, []);
  same(of, "what the mouse uses has its control for keys", found.mouseOnly.filter((m) => !instead[m] || !found.names.includes(instead[m])), []);
  for (const name of [...found.names.filter((n) => !last.test(n)), ...found.names.filter((n) => last.test(n))]) {
    const amiss = await use(page, name, special[name]);
    say(of, `by keyboard alone: ${name}`, amiss === "", amiss || "used");
  }
}
