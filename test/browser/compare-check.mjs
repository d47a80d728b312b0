// Holds the comparison of screenshots to what it promises, on those that are kept: node compare-check.mjs. One line of JSON a check.
import { readFileSync } from "node:fs";
import { compare, pixels, sums } from "./compare.mjs";
import { say } from "./tools.mjs";

// drawn is a picture made of another: each pixel is that of a place in it, null for paper.
function drawn(p, height, from) {
  const data = Buffer.alloc(p.width * height * 4);
  for (let y = 0; y < height; y++) for (let x = 0; x < p.width; x++) {
    const at = from(x, y);
    const source = at && at[0] >= 0 && at[0] < p.width && at[1] >= 0 && at[1] < p.height ? (at[1] * p.width + at[0]) * 4 : 0; // the corner is paper
    p.data.copy(data, (y * p.width + x) * 4, source, source + 4);
  }
  return { width: p.width, height, data };
}

const moved = (p, dx, dy) => drawn(p, p.height + dy, (x, y) => [x - dx, y - dy]);
const inside = (box, x, y) => x >= box.x && y >= box.y && x < box.x + box.w && y < box.y + box.h;
const without = (p, box) => drawn(p, p.height, (x, y) => (inside(box, x, y) ? null : [x, y]));
const shut = (p, from, high) => drawn(p, p.height - high, (x, y) => [x, y < from ? y : y + high]);

// faces are letters that are a little wider, line by line, as those of another face are.
const faces = (p) => drawn(p, p.height, (x, y) => [Math.round(x - ((x % 320) / 320) * ((Math.floor(y / 16) * 7) % 5)), y]);

// loud has each colour a little off.
function loud(p) {
  const data = Buffer.from(p.data);
  for (let i = 0; i < data.length; i++) if (i % 4 < 3) data[i] = Math.max(0, Math.min(255, data[i] + ((i * 31) % 17) - 8));
  return { ...p, data };
}

// other has the colours of a part changed for each other: green for red and so on.
function other(p, box) {
  const q = without(p, { x: 0, y: 0, w: 0, h: 0 });
  for (let y = box.y; y < box.y + box.h; y++) for (let x = box.x; x < box.x + box.w; x++) {
    const i = (y * p.width + x) * 4;
    [q.data[i], q.data[i + 1], q.data[i + 2]] = [p.data[i + 1], p.data[i + 2], p.data[i]];
  }
  return q;
}

// part is which part of the pixels of a box are so.
function part(p, box, is) {
  let n = 0;
  for (let y = box.y; y < box.y + box.h; y += 2) for (let x = box.x; x < box.x + box.w; x += 2) {
    const i = (y * p.width + x) * 4;
    if (is(p.data[i], p.data[i + 1], p.data[i + 2], Math.max(...[0, 1, 2].map((k) => Math.abs(p.data[i + k] - p.data[k]))))) n++;
  }
  return n / (box.w * box.h / 4);
}

// boxes are some of those of a size of which so much is so, all over a picture.
function boxes(p, w, h, most, is, least) {
  const out = [];
  for (let y = 40; y + h < p.height; y += 2) for (let x = 8 + (y * 7) % 40; x + w < p.width; x += w / 2) {
    const box = { x: Math.floor(x), y, w, h };
    if (part(p, box, is) >= least) {
      out.push(box);
      y += h;
      break;
    }
  }
  return out.filter((_, i) => i % Math.ceil(out.length / most) === 0);
}

const filled = (r, g, b, from) => from > 20;
const written = (r, g, b, from) => from > 70;
const coloured = (r, g, b) => Math.max(r, g, b) - Math.min(r, g, b) > 25;

for (const [name, high] of [["web-app-1280-light.png", 1700], ["play-1280-dark.png", 1000]]) {
  const all = pixels(readFileSync(new URL(`testdata/${name}`, import.meta.url)));
  const p = drawn(all, Math.min(high, all.height), (x, y) => [x, y]), then = sums(p);
  const compared = (q) => compare(then, sums(q));
  const alike = (what, q) => { const d = compared(q); say(name, `${what} is alike`, d.alike, d.words); };
  alike("itself", p);
  for (const [dx, dy] of [[3, 5], [-2, 1], [0, 7], [7, -6]]) alike(`what is ${dx} pixels to the right and ${dy} down`, moved(p, dx, dy));
  alike("another face", faces(p));
  alike("other shades", loud(p));
  const tell = (what, list, change) => {
    const unseen = list.filter((x) => compared(change(x)).alike);
    say(name, `tells ${what}`, list.length >= 2 && unseen.length === 0, `${unseen.length} of ${list.length} not told: ${JSON.stringify(unseen.slice(0, 3))}`);
  };
  tell("a bar of a lane that is gone", boxes(p, 200, 18, 6, filled, 0.8), (b) => without(p, b));
  tell("a panel that is gone", boxes(p, 300, 100, 4, written, 0.04), (b) => without(p, b));
  tell("a line of words that is gone", boxes(p, 130, 20, 6, written, 0.18), (b) => without(p, b));
  tell("what is new", boxes(p, 200, 60, 4, (r, g, b, from) => from < 3, 1), (b) => drawn(p, p.height, (x, y) => (inside(b, x, y) ? [x - b.x + 16, 20 + y - b.y] : [x, y])));
  tell("another colour", boxes(p, 120, 18, 4, coloured, 0.7), (b) => other(p, b));
  tell("a line that is taken out, with what is below it moved up", [0.2, 0.4, 0.6].map((of) => Math.round(p.height * of)), (y) => shut(p, y, 22));
}
