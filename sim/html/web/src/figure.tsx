// The picture of one run: rows over one axis of time. Zoom changes the scale of time only.

import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomTransform } from "d3-zoom";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Index } from "./data";
import type { Bar, Group, Row, Sign } from "./lanes";
import { count, relative, seconds, short } from "./words";

export type View = [number, number];
export interface Hover { x: number; y: number; lines: string[] }
export interface FigureProps {
  id: string;
  title: string;
  index: Index;
  groups: Group[];
  view: View;
  end: number;
  zero: number;
  zeroWhat: string;
  now: number;
  selected: number; // of failures, -1 for none
  lit: Map<number, number>; // of the selected one: events, and their place in its story
  onView(v: View): void;
  onNow(t: number, pin: boolean): void;
  onSelect(i: number): void;
  onToggle(key: string): void;
  onHover(h: Hover | null): void;
}

const column = 7; // pixels: failures closer than that are one mark

interface Placed { row?: Row; group: Group; y: number; height: number; barY: number; barH: number; lines: string[] }

const headLine = 16, mostHeadLines = 3;

// headLines are the words of a head in as many lines as they need, and no more than there may be.
function headLines(g: Group, width: number): string[] {
  const room = Math.floor((width - 30) / 7);
  const lines: string[] = [""];
  for (const word of `${g.title}: ${g.summary}`.split(" ")) {
    const last = lines[lines.length - 1]!;
    if (last === "" || last.length + 1 + word.length <= room || lines.length === mostHeadLines) lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((l) => fit(l, width - 30, 7));
}

// place stacks groups and their rows.
function place(list: Group[], width: number): { rows: Placed[]; height: number } {
  const rows: Placed[] = [];
  let y = 4;
  for (const group of list) {
    const lines = headLines(group, width), height = 10 + headLine * lines.length;
    rows.push({ group, y, height, barY: y, barH: height, lines });
    y += height;
    if (!group.open) continue;
    for (const row of group.rows) {
      const strip = row.failures.length > 0 || row.signs.some((s) => s.shape !== "let-go") ? 14 : 0;
      const bar = row.client !== undefined ? 40 : row.thin ? 13 : row.bars.length === 0 ? 4 : 18;
      rows.push({ row, group, y, height: strip + bar + 4, barY: y + strip + 1, barH: bar, lines: [] });
      y += strip + bar + 4;
    }
    y += 4;
  }
  return { rows, height: y };
}

export function Figure(p: FigureProps) {
  const box = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(960);
  useLayoutEffect(() => {
    const e = box.current;
    if (!e) return;
    const measure = () => setWidth(Math.max(280, e.clientWidth));
    measure();
    const o = new ResizeObserver(measure);
    o.observe(e);
    return () => o.disconnect();
  }, []);
  const label = width < 560 ? 112 : 168;
  const right = width - 8;
  const base = useMemo(() => scaleLinear().domain([0, p.end]).range([label, right]), [p.end, label, right]);
  const scale = useMemo(() => scaleLinear().domain(p.view).range([label, right]), [p.view, label, right]);
  const stack = useMemo(() => place(p.groups, width), [p.groups, width]);
  useZoom(svg, base, p.view, p.onView, label, right, stack.height);

  const timeAt = (e: PointerEvent | MouseEvent): number => {
    const r = svg.current!.getBoundingClientRect();
    return Math.min(p.end, Math.max(0, scale.invert(((e.clientX - r.left) / r.width) * width)));
  };
  const height = stack.height + 44 + (stack.height > 700 ? 26 : 0); // of a long picture the axis is below it, too
  // What is drawn of the run is gone through again only where it has changed, and not as the mouse moves.
  const latest = useRef(p);
  latest.current = p;
  const rows = useMemo(() => {
    const inner: Omit<Inner, "placed"> = {
      ...p, scale, label, right, onHover: (h) => latest.current.onHover(h), onSelect: (i) => latest.current.onSelect(i), onToggle: (key) => latest.current.onToggle(key),
    };
    return {
      lanes: stack.rows.map((r) => (r.row ? <Lane key={r.row.key} {...inner} placed={r} row={r.row} /> : <Head key={r.group.key} {...inner} placed={r} width={width} />)),
      openers: stack.rows.map((r) => <Opener key={r.row?.key ?? r.group.key} {...inner} placed={r} width={width} />),
    };
  }, [p.id, p.index, p.view, p.zero, p.selected, p.lit, stack, scale, label, right, width]);
  const whole = useMemo(() => <Overview {...p} width={width} label={label} right={right} onView={(v) => latest.current.onView(v)} />, [p.index, p.view, p.end, p.zero, width, label, right]);
  const axis = useMemo(() => <Axis scale={scale} zero={p.zero} y={32} height={height} what={p.zeroWhat} label={label} right={right} />, [scale, p.zero, height, p.zeroWhat, label, right]);
  return (
    <div class="figure" ref={box}>
      {whole}
      <div class="stack">
      <svg ref={svg} class={`lanes${p.selected >= 0 ? " focus" : ""}`} viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img"
        aria-label={`${p.title}: ${p.groups.map((g) => `${g.title}, ${g.summary}`).join("; ")}. The tables below have the same as text.`}
        onPointerMove={(e) => p.onNow(timeAt(e as unknown as PointerEvent), false)} onPointerLeave={() => p.onHover(null)}
        onClick={(e) => p.onNow(timeAt(e as unknown as MouseEvent), true)}>
        <Patterns id={p.id} />
        <clipPath id={`plot-${p.id}`}><rect x={label} y="0" width={right - label} height={height} /></clipPath>
        {axis}
        <g transform="translate(0 40)">{rows.lanes}</g>
        {stack.height > 700 && <Axis scale={scale} zero={p.zero} y={height - 16} height={height - 30} what="" label={label} right={right} />}
        <CrossHair scale={scale} now={p.now} zero={p.zero} height={stack.height + 44} right={right} label={label} />
      </svg>
      {rows.openers}
      </div>
    </div>
  );
}

type Scale = ReturnType<typeof scaleLinear<number, number>>;

const notch = Math.log2(1.25); // what one notch of a wheel zooms by at most: as much as the key does

// wheelDelta is by how much a wheel zooms. What says that Ctrl is held is a pinch, too, of which there are many small ones: a notch of a
// wheel with Ctrl would be as much as all of them.
function wheelDelta(e: WheelEvent): number {
  const by = -e.deltaY * (e.deltaMode === 1 ? 0.05 : e.deltaMode ? 1 : 0.002) * (e.ctrlKey ? 10 : 1);
  return Math.max(-notch, Math.min(notch, by));
}

// useZoom has wheel, pinch and drag change the view; a wheel alone scrolls the page unless what the picture is in has the focus, as after a click.
function useZoom(ref: { current: SVGSVGElement | null }, base: Scale, view: View, onView: (v: View) => void, left: number, right: number, height: number) {
  const latest = useRef({ onView, base, mine: [NaN, NaN] as View, told: false });
  latest.current.onView = onView;
  latest.current.base = base;
  const behaviour = useMemo(() => zoom<SVGSVGElement, unknown>(), []);
  useEffect(() => {
    const e = ref.current;
    if (!e) return;
    const stage = e.closest(".stage");
    behaviour.wheelDelta(wheelDelta).scaleExtent([1, 1e5]).extent([[left, 0], [right, height]]).translateExtent([[left, 0], [right, height]])
      .filter((ev: MouseEvent & WheelEvent) => (ev.type === "wheel" ? ev.ctrlKey || ev.metaKey || (stage?.contains(document.activeElement) ?? false) : !ev.button && ev.type !== "dblclick"))
      .on("zoom", (ev: D3ZoomEvent<SVGSVGElement, unknown>) => {
        if (!ev.sourceEvent || latest.current.told) return; // while one drags, what is told has that for its source, too
        const v = ev.transform.rescaleX(latest.current.base).domain() as View;
        latest.current.mine = v;
        latest.current.onView(v);
      });
    select(e).call(behaviour).on("dblclick.zoom", null);
    return () => { select(e).on(".zoom", null); };
  }, [behaviour, left, right, height]);
  useEffect(() => {
    const e = ref.current;
    const [from, to] = latest.current.mine, hair = (view[1] - view[0]) * 1e-6; // a view is put into its bounds, which rounds it
    if (!e || Math.abs(from - view[0]) < hair && Math.abs(to - view[1]) < hair) return;
    latest.current.told = true;
    select(e).call(behaviour.transform, transformOf(base, view));
    latest.current.told = false;
    latest.current.mine = view;
  }, [view, base]);
}

function transformOf(base: Scale, [from, to]: View): ZoomTransform {
  const [d0, d1] = base.domain() as View;
  const [r0] = base.range() as View;
  const k = (d1 - d0) / Math.max(1e-6, to - from);
  return zoomIdentity.translate(r0 - k * base(from), 0).scale(k);
}

function Axis({ scale, zero, y, height, what, label, right }: { scale: Scale; zero: number; y: number; height: number; what: string; label: number; right: number }) {
  const shifted = scaleLinear().domain(scale.domain().map((v) => v - zero)).range(scale.range());
  const ticks = shifted.ticks(Math.max(3, Math.floor((right - label) / 95)));
  const step = (ticks[1] ?? 1) - (ticks[0] ?? 0);
  const digits = Math.max(0, Math.min(4, Math.ceil(-Math.log10(step) - 1e-9)));
  const at = scale(zero);
  return (
    <g class="axis">
      {ticks.map((t) => (
        <g key={t}>
          <line x1={shifted(t)} x2={shifted(t)} y1={y + 4} y2={height} />
          {Math.abs(shifted(t) - at) > 1 && !(shifted(t) > right - 24 && shifted(step) - shifted(0) < 66) && <text x={Math.min(shifted(t), right - 2)} y={y - 2} text-anchor={shifted(t) > right - 24 ? "end" : "middle"}>{`${t < 0 ? "\u2212" : "+"}${Math.abs(t).toFixed(digits)} s`}</text>}
        </g>
      ))}
      {what && (at < label || at > right) && <text class="away" x={at < label ? label : right} y={y - 19} text-anchor={at < label ? "start" : "end"}>{at < label ? `\u25c2 0 s: ${what}` : `0 s: ${what} \u25b8`}</text>}
      {at >= label && at <= right && (
        <g class="zero">
          <line x1={at} x2={at} y1={y} y2={height} />
          <text x={at} y={what ? y - 19 : y - 2} text-anchor={at > right - 120 ? "end" : at < label + 60 ? "start" : "middle"}>{what ? `0 s: ${what}` : "0 s"}</text>
        </g>
      )}
    </g>
  );
}

function CrossHair({ scale, now, zero, height, right, label }: { scale: Scale; now: number; zero: number; height: number; right: number; label: number }) {
  const x = scale(now);
  if (!(x >= label && x <= right)) return null;
  return (
    <g class="now" aria-hidden="true">
      <line x1={x} x2={x} y1={36} y2={height} />
      <text x={Math.min(right - 4, x + 4)} y={height - 4} text-anchor={x > right - 70 ? "end" : "start"}>{relative(now, zero)}</text>
    </g>
  );
}

type Inner = FigureProps & { scale: Scale; label: number; right: number; placed: Placed };

function Head({ placed, width, onToggle }: Inner & { width: number }) {
  const g = placed.group;
  return (
    <g class={`head${g.lost > 0 ? " loses" : ""}`} onClick={(e) => { e.stopPropagation(); onToggle(g.key); }}>
      <rect x="0" y={placed.y + 2} width={width} height={placed.height - 4} />
      <path class="fold" d={g.open ? "M4 9 L12 9 L8 16 Z" : "M5 7 L12 12 L5 17 Z"} transform={`translate(0 ${placed.y})`} />
      <text x="18" y={placed.y + 17}>{placed.lines.map((l, i) => <tspan key={i} x="18" dy={i === 0 ? 0 : headLine}>{l}</tspan>)}<title>{`${g.title}: ${g.summary}`}</title></text>
    </g>
  );
}

// Opener is what opens and shuts a group, or lanes that are alike, for who has no mouse: it is where the mouse finds the picture.
function Opener({ placed, width, label, onToggle }: Inner & { width: number }) {
  const { row, group } = placed;
  if (row && !row.folds) return null;
  const [key, open, words] = row?.folds ? [row.folds.key, row.folds.open, row.folds.title] : [group.key, group.open, `${group.title}: ${group.summary}`];
  return <button type="button" class="opener" aria-expanded={open} aria-label={words} style={{ top: `${placed.y + 41}px`, height: `${Math.max(24, row ? 24 : placed.height - 2)}px`, width: `${row ? label : width}px` }} onClick={() => onToggle(key)} />;
}

function Lane(p: Inner & { row: Row }) {
  const { row, placed, scale, label, right } = p;
  const [from, to] = p.view;
  const bars = row.bars.filter((b) => b.to >= from && b.from <= to);
  const gone = away(row, p, right - label - 8);
  const seen = signs(row.signs.filter((s) => s.at >= from && s.at <= to), scale, right);
  return (
    <g class="lane">
      {row.folds && <g class="folds" onClick={(e) => { e.stopPropagation(); p.onToggle(row.folds!.key); }}>
        <rect x="0" y={placed.y} width={label - 2} height={placed.height} />
        <path class="fold" d={row.folds.open ? "M4 -3 L12 -3 L8 4 Z" : "M5 -5 L12 0 L5 5 Z"} transform={`translate(0 ${placed.barY + 9})`} />
        <title>{row.folds.title}</title>
      </g>}
      <text class={`label${row.folds ? " many" : ""}`} x={label - 6} y={labelY(placed)} text-anchor="end">{named(row, label)}<title>{row.folds?.title ?? row.label}</title></text>
      {gone && <text class="away" x={gone.before ? label + 4 : right - 4} y={labelY(placed)} text-anchor={gone.before ? "start" : "end"}>{gone.words}</text>}
      <line class="floor" x1={label} x2={right} y1={placed.barY + placed.barH} y2={placed.barY + placed.barH} />
      <g clip-path={`url(#plot-${p.id})`}>
        {bars.map((b, i) => <BarShape key={i} {...p} bar={b} />)}
        {row.client !== undefined && <Rates {...p} client={row.client} />}
        {seen.map((s, i) => <SignShape key={i} {...p} sign={s} />)}
        {seen.map((s, i) => s.label && <SignWord key={i} {...p} sign={s} />)}
        {drops(row.failures, p).map((d) => <Drop key={d.first} {...p} drop={d} />)}
      </g>
    </g>
  );
}

// away says of a row that has nothing in view where it has: a row without anything says nothing.
function away(row: Row, { view: [from, to], zero, index }: Inner, width: number): { before: boolean; words: string } | null {
  const moments = row.signs.map((m) => [m.at, m.at] as const).concat(row.failures.map((i) => [index.marks[i]!, index.marks[i]!] as const));
  const spans = [...row.bars.map((b) => [b.from, b.to] as const), ...moments, ...(row.client === undefined ? [] : [[from, to] as const])];
  if (spans.length === 0 || spans.some(([a, b]) => b >= from && a <= to)) return null;
  const next = Math.min(...spans.map(([a]) => a).filter((a) => a > to)), last = Math.max(...spans.map(([, b]) => b).filter((b) => b < from));
  const what = fit(row.signs.find((s) => s.shape === "action" && s.at === (Number.isFinite(next) ? next : last))?.text ?? "", width - 90, letter);
  if (Number.isFinite(next)) return { before: false, words: `${what ? `${what}: ` : "from "}${relative(next, zero)}${what ? "" : " on"} \u25b8` };
  return { before: true, words: `\u25c2 ${what ? `${what}: ` : "until "}${relative(last, zero)}` };
}

function BarShape({ bar, placed, scale, label, right, id, lit, onHover, zero }: Inner & { bar: Bar }) {
  const x0 = Math.max(label - 2, scale(bar.from));
  const x1 = Math.min(right + 2, scale(bar.to));
  const w = Math.max(1.5, x1 - x0);
  const seen = Math.max(label, x0);
  const text = placed.barH >= 13 ? barWords(bar, Math.min(right, x1) - seen - 8) : "";
  const step = lit.get(bar.event);
  return (
    <g class={`bar ${bar.look}${step !== undefined ? " lit" : ""}`}
      onPointerMove={(e) => onHover({ x: (e as unknown as PointerEvent).clientX, y: (e as unknown as PointerEvent).clientY, lines: [bar.hover, `${relative(bar.from, zero)} to ${relative(bar.to, zero)}: ${seconds(bar.to - bar.from)}`] })}
      onPointerLeave={() => onHover(null)}>
      <rect class="fill" x={x0} y={placed.barY} width={w} height={placed.barH} />
      <rect class="pattern" x={x0} y={placed.barY} width={w} height={placed.barH} fill={`url(#${bar.look}-${id})`} />
      <rect class="edge" x={x0} y={placed.barY} width={w} height={placed.barH} />
      {text && <text x={seen + 4} y={placed.barY + placed.barH / 2 + 4}><tspan class="halo">{text}</tspan></text>}
    </g>
  );
}

// barWords are a bar's words: the short ones where there is no room for all.
function barWords(bar: Bar, width: number): string {
  const each = bar.look === "late" ? 6.5 : 5.9; // which is bold
  const cut = fit(bar.text, width, each);
  return cut === bar.text || !bar.short ? cut : fit(bar.short, width, each);
}

// labelY is where a row's name stands: beside its bars, and where it has none beside its marks.
function labelY(placed: Placed): number {
  return placed.row?.bars.length === 0 && placed.row.client === undefined ? placed.y + 11 : placed.barY + Math.min(placed.barH, 18) / 2 + 4;
}

// named is a row's name, or its short one where there is no room.
function named(row: Row, label: number): string {
  const room = label - (row.folds ? 22 : 8), each = 6;
  const name = row.short && (label < 168 || row.label.length > room / each) ? row.short : row.label;
  return row.named ? fitMiddle(name, room, each) : fit(name, room, each);
}

const letter = 6.3; // pixels of a letter in a wide face

interface PlacedSign extends Sign { label: string; x: number }

// signs puts those that are at one place together, with a word where there is room for it.
function signs(list: Sign[], scale: Scale, right: number): PlacedSign[] {
  const out: PlacedSign[] = [];
  for (const s of [...list].sort((a, b) => a.at - b.at)) {
    const x = scale(s.at);
    const last = out[out.length - 1];
    const word = s.shape === "let-go" || s.shape === "action" ? s.text : short[Object.keys(short).find((k) => s.text.startsWith(k)) ?? ""] ?? (s.text.startsWith("accepts no") ? "closed" : s.text);
    if (last && x - last.x < 5) {
      last.label = last.label ? `${last.label}, ${word}` : word;
      last.hover = `${last.hover}; ${s.hover}`;
      if (s.shape === "kill" || s.shape === "down") last.shape = s.shape;
      if (last.event === 0) last.event = s.event;
    } else out.push({ ...s, label: word, x });
  }
  let free = 0; // where the next word may begin: the first of two that are close has its word
  for (const s of out) {
    s.label = s.x < free ? "" : worded(s, right - s.x - 8);
    if (s.label) free = s.x + 12 + s.label.length * letter;
  }
  return out;
}

// worded is the word of a sign where there is so much room. Of a time with words the words are cut, and never the time.
function worded(s: PlacedSign, width: number): string {
  const time = s.shape === "let-go" ? s.label.split(/[,:]/)[0]! : "";
  const cut = fit(s.label, width, letter);
  return cut === s.label || !time ? cut : fit(time, width, letter) === time ? time : "";
}

function SignShape({ sign, placed, lit, onHover, zero }: Inner & { sign: PlacedSign }) {
  const step = lit.get(sign.event);
  const bottom = placed.barY + placed.barH;
  const letGo = sign.shape === "let-go";
  const top = letGo ? placed.barY - 1 : placed.y + 2;
  const shapes: Record<Sign["shape"], string> = {
    tick: "M0 0 L0 8", down: "M-4 0 L4 0 L0 7 Z", kill: "M-4 0 L4 8 M4 0 L-4 8", "probe-ok": "M-3 4 L0 7 L4 0", "probe-bad": "M-3 1 L3 7 M3 1 L-3 7 M-5 -1 L5 -1 L5 9 L-5 9 Z",
    "let-go": "M0 0", action: "M0 0 L6 4 L0 8 Z",
  };
  return (
    <g class={`sign ${sign.shape}${step !== undefined ? " lit" : ""}`}
      onPointerMove={(e) => onHover({ x: (e as unknown as PointerEvent).clientX, y: (e as unknown as PointerEvent).clientY, lines: [sign.hover, relative(sign.at, zero)] })} onPointerLeave={() => onHover(null)}>
      <line x1={sign.x} x2={sign.x} y1={top} y2={bottom + 1} />
      {!letGo && <path d={shapes[sign.shape]} transform={`translate(${sign.x} ${top})`} />}
      {letGo && <path class="bracket" d={`M-5 0 L0 0 L0 ${placed.barH + 2} L-5 ${placed.barH + 2}`} transform={`translate(${sign.x} ${top})`} />}
      {step !== undefined && <g class="step" transform={`translate(${sign.x} ${bottom - 7})`}><circle r="7" /><text text-anchor="middle" y="3.5">{step}</text></g>}
    </g>
  );
}

// SignWord is the word of a sign. It is drawn after all signs: the next one is never written over it.
function SignWord({ sign, placed }: Inner & { sign: PlacedSign }) {
  return <g class="sign"><text x={sign.x + 6} y={sign.shape === "let-go" ? placed.barY + placed.barH / 2 + 4 : placed.y + 11}>{sign.label}</text></g>;
}

interface DropMark { x: number; first: number; list: number[]; without: boolean }

// drops are marks of lost requests, one for each column of pixels.
function drops(list: number[], p: Inner): DropMark[] {
  const out: DropMark[] = [];
  const [from, to] = p.view;
  const marks = p.index.marks;
  for (const i of [...list].sort((a, b) => marks[a]! - marks[b]!)) {
    const f = p.index.t.failures[i], at = marks[i]!;
    if (!f || at < from || at > to) continue;
    const x = p.scale(at);
    const last = out[out.length - 1];
    if (last && x - last.x < column && last.without === f.without) last.list.push(i);
    else out.push({ x, first: i, list: [i], without: f.without });
  }
  return out;
}

function Drop({ drop, placed, index, zero, selected, onSelect, onHover }: Inner & { drop: DropMark }) {
  const f = index.t.failures[drop.first]!, at = index.marks[drop.first]!;
  const on = drop.list.includes(selected);
  const y = placed.y + 7;
  const size = Math.min(5, 3 + drop.list.length * 0.5);
  const lines = () => [`${count(drop.list.length, "request")} ${drop.without ? "that fails without the action, too," : "lost"} at ${relative(at, zero)}`, ...(f.end - f.at > 0.5 ? [at > f.at ? `sent at ${relative(f.at, zero)}, failed then` : `sent then, failed at ${relative(f.end, zero)}`] : []), f.what || `${f.outcome}: ${f.cause}, ${f.actor}`, "Click: how it came about"];
  const next = drop.list[(drop.list.indexOf(selected) + 1) % drop.list.length]!;
  return (
    <g class={`drop${on ? " on" : ""}${drop.without ? " without" : ""}`} data-failure={drop.list.join(" ")} onClick={(e) => { e.stopPropagation(); onSelect(next); }}
      onPointerMove={(e) => onHover({ x: (e as unknown as PointerEvent).clientX, y: (e as unknown as PointerEvent).clientY, lines: lines() })} onPointerLeave={() => onHover(null)}>
      <rect class="hit" x={drop.x - 5} y={y - 7} width="10" height="15" />
      {on && <circle cx={drop.x} cy={y} r="7" />}
      {drop.without ? <circle class="hollow" cx={drop.x} cy={y} r={Math.min(4, size)} /> : <path d={`M${-size} ${-size} L${size} ${size} M${size} ${-size} L${-size} ${size}`} transform={`translate(${drop.x} ${y})`} />}
    </g>
  );
}

// mostRates is how many bars the requests of a client have at most.
const mostRates = 400;

// Rates are the requests of a client over time: answered, slow, failed, one upon the other. Each kind is one path, for there are hundreds of bars.
function Rates({ client, index, placed, view, scale, onHover, zero, id, label, right }: Inner & { client: number }) {
  const c = index.t.clients[client]!;
  const first = Math.max(0, Math.floor(view[0] / c.bucket)), last = Math.min(c.total.length - 1, Math.ceil(view[1] / c.bucket));
  const wide = Math.max(1, Math.ceil((last - first + 1) / mostRates));
  const drawn = useMemo(() => rates(c, first, last, wide, placed, scale), [c, first, last, wide, placed, scale]);
  const words = (x: number): string[] => {
    const k = first + Math.floor((scale.invert(x) - first * c.bucket) / (wide * c.bucket)) * wide;
    const [total, failed, slow] = sums(c, Math.max(first, k), wide);
    return [`${c.name}: ${count(total, "request")}, ${failed} failed, ${slow} slow or rescued`, `${relative(k * c.bucket, zero)}, in ${seconds(wide * c.bucket)}`];
  };
  return (
    <g class="rates" onPointerMove={(e) => { const at = e as unknown as PointerEvent; onHover({ x: at.clientX, y: at.clientY, lines: words(inPicture(at)) }); }} onPointerLeave={() => onHover(null)}>
      <rect class="hit" x={label} y={placed.barY} width={right - label} height={placed.barH} />
      <path class="ok" d={drawn.ok} /><path class="slow" d={drawn.slow} /><path class="lost" d={drawn.lost} />
      {drawn.lost && <path d={drawn.lost} fill={`url(#late-${id})`} />}
    </g>
  );
}

type Client = Index["t"]["clients"][number];

// sums are the requests from a bucket on: all, failed, slow.
function sums(c: Client, from: number, wide: number): [number, number, number] {
  let total = 0, failed = 0, slow = 0;
  for (let k = from; k < from + wide; k++) {
    total += c.total[k] ?? 0;
    failed += c.failed[k] ?? 0;
    slow += (c.slow[k] ?? 0) + (c.rescued[k] ?? 0);
  }
  return [total, failed, slow];
}

function rates(c: Client, first: number, last: number, wide: number, placed: Placed, scale: Scale) {
  const out = { ok: "", slow: "", lost: "" };
  const most = wide * c.total.reduce((a, b) => Math.max(a, b), 1);
  const floor = placed.barY + placed.barH;
  const h = (n: number) => (placed.barH * n) / most;
  for (let k = first; k <= last; k += wide) {
    const [total, failed, slow] = sums(c, k, wide);
    if (total === 0) continue;
    const x = scale(k * c.bucket), w = Math.max(0.8, scale((k + wide) * c.bucket) - x - 0.4);
    const bar = (from: number, high: number) => (high > 0 ? `M${x.toFixed(1)} ${(floor - from).toFixed(1)}h${w.toFixed(1)}v${high.toFixed(1)}h${(-w).toFixed(1)}z` : "");
    out.ok += bar(h(total), h(total - failed - slow));
    out.slow += bar(h(failed + slow), h(slow));
    if (failed > 0) out.lost += bar(Math.max(3, h(failed)), Math.max(3, h(failed)));
  }
  return out;
}

// inPicture is where in the picture the mouse is.
function inPicture(e: PointerEvent): number {
  const svg = (e.currentTarget as SVGElement).ownerSVGElement!;
  const r = svg.getBoundingClientRect();
  return ((e.clientX - r.left) / r.width) * svg.viewBox.baseVal.width;
}

// Drag is what a pointer does on the overview: it moves the window, or one of its sides, or chooses a span where the window is not.
interface Drag { what: "move" | "from" | "to" | "choose"; at: number; view: View }

const grip = 5; // pixels: so near to a side of the window it is the side that is dragged

// grabbed is what a pointer takes hold of at a place. Where nearly all is in the window there is nothing to move: a span is chosen.
function grabbed(x: number, [x0, x1]: [number, number], width: number): Drag["what"] {
  if (x1 - x0 > 4 * grip && Math.abs(x - x0) <= grip) return "from";
  if (x1 - x0 > 4 * grip && Math.abs(x - x1) <= grip) return "to";
  return x > x0 && x < x1 && x1 - x0 < 0.95 * width ? "move" : "choose";
}

// dragged is the view after a drag.
function dragged(d: Drag, t: number, end: number): View {
  const [from, to] = d.view, size = to - from;
  if (d.what === "from") return [Math.min(t, to - 0.002), to];
  if (d.what === "to") return [from, Math.max(t, from + 0.002)];
  if (d.what === "choose") return [Math.min(d.at, t), Math.max(d.at, t)];
  const start = Math.min(end - size, Math.max(0, from + t - d.at));
  return [start, start + size];
}

// Overview is the whole run, with the part that is shown.
function Overview({ index, view, end, onView, width, label, right, zero }: FigureProps & { width: number; label: number; right: number }) {
  const scale = scaleLinear().domain([0, end]).range([label, right]).clamp(true);
  const drag = useRef<Drag | null>(null);
  const [chosen, setChosen] = useState<View | null>(null);
  const lost = new Map<number, number>();
  for (const [i, f] of index.t.failures.entries()) {
    if (f.without) continue;
    const x = Math.round(scale(index.marks[i]!) / 2) * 2;
    lost.set(x, (lost.get(x) ?? 0) + 1);
  }
  const most = Math.max(1, ...lost.values());
  const place = (e: PointerEvent) => {
    const r = (e.currentTarget as SVGElement).getBoundingClientRect();
    return ((e.clientX - r.left) / r.width) * width;
  };
  const shown = [scale(view[0]), Math.max(scale(view[0]) + 4, scale(view[1]))] as [number, number];
  const down = (e: PointerEvent) => {
    const x = place(e), t = scale.invert(x);
    drag.current = { what: grabbed(x, shown, right - label), at: t, view };
    (e.currentTarget as Element).setPointerCapture(e.pointerId);
  };
  const move = (e: PointerEvent) => {
    const d = drag.current;
    if (!d) return;
    const v = dragged(d, scale.invert(place(e)), end);
    if (d.what === "choose") setChosen(v);
    else onView(v);
  };
  const up = (e: PointerEvent) => {
    const d = drag.current;
    drag.current = null;
    setChosen(null);
    if (d?.what !== "choose") return;
    const x = place(e), size = Math.min(end, d.view[1] - d.view[0]);
    const far = Math.abs(x - scale(d.at)) > 3;
    const start = Math.min(end - size, Math.max(0, d.at - size / 2)); // a click brings the window there
    onView(far ? dragged(d, scale.invert(x), end) : [start, start + size]);
  };
  const bar = (look: string, [x0, x1]: [number, number]) => <rect class={look} x={x0} y="1.5" width={x1 - x0} height="27" />;
  return (
    <svg class="overview" viewBox={`0 0 ${width} 30`} width={width} height="30" aria-hidden="true"
      onPointerDown={(e) => down(e as unknown as PointerEvent)} onPointerMove={(e) => move(e as unknown as PointerEvent)}
      onPointerUp={(e) => up(e as unknown as PointerEvent)} onPointerCancel={() => { drag.current = null; setChosen(null); }}>
      <text class="label" x={label - 6} y="19" text-anchor="end">{label < 120 ? "whole run" : "the whole run"}</text>
      <rect class="back" x={label} y="3" width={right - label} height="24" />
      {index.t.bands.map((b) => b.deleted !== null && <line key={b.pod} class="went" x1={scale(b.deleted)} x2={scale(b.deleted)} y1="3" y2="27" />)}
      <line class="zero" x1={scale(zero)} x2={scale(zero)} y1="3" y2="27" />
      {[...lost].map(([x, n]) => <rect key={x} class="lost" x={x} y={27 - 4 - 18 * (n / most)} width="2.4" height={4 + 18 * (n / most)} />)}
      {bar("window", shown)}
      {shown[1] - shown[0] > 4 * grip && shown.map((x) => bar("side", [x - grip, x + grip]))}
      {chosen && bar("chosen", [scale(chosen[0]), scale(chosen[1])])}
    </svg>
  );
}

// Patterns are what bars have besides a colour: each look its own.
function Patterns({ id }: { id: string }) {
  const p = (look: string, size: number, path: string) => (
    <pattern key={look} id={`${look}-${id}`} width={size} height={size} patternUnits="userSpaceOnUse"><path class={`ink ${look}`} d={path} /></pattern>
  );
  return (
    <defs>
      {p("leaving", 8, "M0 8 L8 0")}
      {p("ending", 6, "M3 2.5 L3 3.5")}
      {p("unready", 6, "M0 3 L6 3")}
      {p("pending", 10, "M5 4 L5 6")}
      {p("starting", 8, "M0 0 L8 8")}
      {p("late", 7, "M0 7 L7 0 M0 0 L7 7")}
      {p("early", 12, "M0 12 L12 0 M0 0 L12 12")}
      {p("fallback", 9, "M0 4.5 L5 4.5")}
      {p("nothing", 5, "M0 5 L5 0 M0 0 L5 5")}
      {p("failing", 6, "M3 0 L3 6")}
      {p("unhealthy", 5, "M0 5 L5 0 M0 0 L5 5")}
      {p("draining", 8, "M0 8 L8 0")}
      {p("wait", 5, "M0 2.5 L3 2.5")}
    </defs>
  );
}

// fitMiddle cuts a name to a width and leaves its end, in which names that are long differ.
function fitMiddle(text: string, width: number, each: number): string {
  const room = Math.floor(width / each), end = Math.ceil((room - 1) * 0.6);
  return text.length <= room ? text : `${text.slice(0, room - 1 - end)}\u2026${text.slice(-end)}`;
}

// fit cuts words to a width.
export function fit(text: string, width: number, each: number): string {
  const room = Math.floor(width / each);
  if (text.length <= room) return text;
  return room < 4 ? "" : `${text.slice(0, room - 1)}\u2026`;
}
