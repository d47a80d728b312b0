// Compares two screenshots of a page as somebody would who knows it: letters may stand some pixels elsewhere, because fonts do between
// machines, but nothing may be missing, be new, or have another colour.
import { PNG } from "pngjs";

// What is compared are the mean colours of squares so many pixels wide, in which letters are grey and lines are whole; one each few pixels.
const wide = 8, step = 4;
const tile = { w: 160, h: 24 }; // what is looked for as a whole: a lane is as high, a legend as wide
const astray = 8; // how far a tile may be from its place
const letters = [0, -2, 2]; // and, along the line, each square from where the tile is
const inkOf = 14, alike = 18; // of 255: what is told from paper, and what is told from each other
const least = 24; // squares with ink in a tile that is looked at
const mostMissing = 0.3; // of them
const enough = 25; // tiles that differ: more need not be counted

// pixels reads a PNG.
export function pixels(png) {
  const { width, height, data } = PNG.sync.read(png);
  return { width, height, data };
}

// sums are those of each colour of all pixels above and to the left: of any square, the mean is four of them.
export function sums({ width, height, data }) {
  const w = width + 1, sum = [0, 1, 2].map(() => new Float64Array(w * (height + 1)));
  for (let y = 0; y < height; y++) for (let k = 0; k < 3; k++) {
    let row = 0;
    for (let x = 0; x < width; x++) {
      row += data[(y * width + x) * 4 + k];
      sum[k][(y + 1) * w + x + 1] = sum[k][y * w + x + 1] + row;
    }
  }
  return { width, height, sum, paper: commonest(data) };
}

// commonest is the colour of the paper.
function commonest(data) {
  const count = new Map();
  for (let i = 0; i < data.length; i += 4 * 37) {
    const key = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
    count.set(key, (count.get(key) ?? 0) + 1);
  }
  const [best] = [...count].reduce((a, b) => (b[1] > a[1] ? b : a));
  return [best >> 16, (best >> 8) & 255, best & 255];
}

// mean is that of the square at a place; what is outside of the picture is paper.
function mean(p, x, y, k) {
  const left = Math.max(0, x), top = Math.max(0, y), right = Math.min(p.width, x + wide), bottom = Math.min(p.height, y + wide);
  if (left >= right || top >= bottom) return p.paper[k];
  const s = p.sum[k], w = p.width + 1, area = (right - left) * (bottom - top);
  const inside = s[bottom * w + right] - s[top * w + right] - s[bottom * w + left] + s[top * w + left];
  return (inside + p.paper[k] * (wide * wide - area)) / (wide * wide);
}

const has = (p, x, y, colour) => Math.abs(colour[0] - mean(p, x, y, 0)) <= alike && Math.abs(colour[1] - mean(p, x, y, 1)) <= alike && Math.abs(colour[2] - mean(p, x, y, 2)) <= alike;

// inked are, of a tile, its squares that are not paper.
function inked(p, left, top) {
  const out = [];
  for (let y = top; y < Math.min(p.height, top + tile.h); y += step) for (let x = left; x < Math.min(p.width, left + tile.w); x += step) {
    const colour = [0, 1, 2].map((k) => mean(p, x, y, k));
    if (Math.max(...colour.map((c, k) => Math.abs(c - p.paper[k]))) > inkOf) out.push({ x, y, colour });
  }
  return out;
}

// offsets are the places that are tried, the nearest first.
const offsets = [];
for (let dy = -astray; dy <= astray; dy++) for (let dx = -astray; dx <= astray; dx++) offsets.push([dx, dy]);
offsets.sort(([a, b], [c, d]) => a * a + b * b - c * c - d * d);

// missing is which part of the ink of a tile of a is not in b, wherever near its place b has it best.
function missing(a, b, left, top) {
  const ink = inked(a, left, top);
  if (ink.length < least) return 0;
  let best = 1;
  for (const [dx, dy] of offsets) {
    let n = 0;
    for (const { x, y, colour } of ink) {
      if (!letters.some((l) => has(b, x + dx + l, y + dy, colour)) && ++n >= best * ink.length) break;
    }
    best = Math.min(best, n / ink.length);
    if (best < mostMissing / 3) break;
  }
  return best;
}

// compare says of the sums of two pictures whether these look alike, and where they differ.
export function compare(a, b) {
  const size = `${a.width}x${a.height} then, ${b.width}x${b.height} now`, differ = [];
  if (a.width !== b.width) return { alike: false, words: size };
  let most = 0;
  for (const [from, to, what] of [[a, b, "gone"], [b, a, "new"]]) {
    for (let y = 0; y < from.height; y += tile.h / 2) for (let x = 0; x < from.width; x += tile.w / 2) {
      const part = missing(from, to, x, y);
      most = Math.max(most, part);
      if (part > mostMissing && differ.push(`${Math.round(part * 100)} % is ${what} at ${x},${y}`) >= enough) return { alike: false, words: `${differ.slice(0, 5).join(", ")} and many more; ${size}` };
    }
  }
  return { alike: differ.length === 0, words: differ.length === 0 ? `at most ${Math.round(most * 100)} % of ${tile.w}x${tile.h} pixels differ; ${size}` : `${differ.slice(0, 5).join(", ")}: of ${tile.w}x${tile.h} pixels, in ${differ.length} places; ${size}` };
}
