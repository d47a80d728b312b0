// Where a new connection goes at one moment: client, load balancer, nodes, pods, and past the pods of an ingress controller those of the app.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isAt, lostAt, useAt, type Index, type NodeLane, type PodLane, type TargetLane } from "./data";
import { fit } from "./figure";
import { count, phases, relative, states } from "./words";

type Kind = "live" | "fallback" | "dead";
interface Box { key: string; name: string; word: string; look: string; changed: boolean; short?: string; x: number; y: number; w: number; shape: "client" | "lb" | "node" | "pod" }
interface Edge { from: string; to: string; kind: Kind; words: string; again?: boolean } // again: who sends may try another pod

const most = 9; // boxes in one column

export function Paths({ index, client, now, zero }: { index: Index; client: number; now: number; zero: number }) {
  const box = useRef<HTMLDivElement>(null);
  const [narrow, setNarrow] = useState(false);
  useLayoutEffect(() => {
    const e = box.current;
    if (!e) return;
    const o = new ResizeObserver(() => setNarrow(e.clientWidth > 0 && e.clientWidth < 520));
    o.observe(e);
    return () => o.disconnect();
  }, []);
  const { boxes, edges, left, height } = picture(index, client, now);
  if (narrow) tighten(boxes);
  const find = (key: string) => boxes.find((b) => b.key === key);
  const drawn = edges.filter((e) => find(e.from) && find(e.to));
  const words = drawn.map((e) => e.words);
  if (edges.length > drawn.length) words.push(`${count(edges.length - drawn.length, "more way")}, not drawn`);
  const isDead = (e: Edge) => e.kind === "dead";
  return (
    <div class={narrow ? "paths narrow" : "paths"} ref={box}>
      <div class="picture" tabIndex={0} role="group" aria-label="Picture of the ways"><svg viewBox={`0 0 ${narrow ? 384 : 760} ${height}`} role="img" aria-label={`Where new connections go at ${relative(now, zero)}: ${words.join("; ")}`}>
        <defs>
          <marker id="arrow" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0 0 L8 4 L0 8 Z" class="arrow" /></marker>
          <marker id="arrow-open" markerWidth="9" markerHeight="9" refX="8" refY="4.5" orient="auto"><path d="M1 1 L8 4.5 L1 8" class="arrow-open" /></marker>
          <marker id="cross" markerWidth="11" markerHeight="11" refX="8" refY="5.5" orient="auto" markerUnits="userSpaceOnUse"><path d="M1 1 L10 10 M10 1 L1 10" class="cross" /></marker>
        </defs>
        {drawn.map((e) => {
          const a = find(e.from), b = find(e.to);
          if (!a || !b) return null;
          const x0 = a.x + a.w, y0 = a.y + 18, x1 = b.x - 2, y1 = b.y + 18, mid = (x1 - x0) / 2;
          return <path key={`${e.from} ${e.to}`} class={`edge ${e.kind}`} d={`M${x0} ${y0} C${x0 + mid} ${y0} ${x1 - mid} ${y1} ${x1} ${y1}`} marker-end={`url(#${e.kind === "live" ? "arrow" : e.kind === "fallback" ? "arrow-open" : "cross"})`}><title>{e.words}</title></path>;
        })}
        {boxes.map((b) => <BoxShape key={b.key} box={b} narrow={narrow} />)}
      </svg></div>
      <p class="key"><svg width="34" height="10" aria-hidden="true"><path class="edge live" d="M1 5 L33 5" /></svg> live <svg width="34" height="10" aria-hidden="true"><path class="edge fallback" d="M1 5 L33 5" /></svg> fallback: terminating, no pod is ready <svg width="34" height="12" aria-hidden="true"><path class="edge dead" d="M1 6 L24 6" /><path class="cross" d="M24 1 L33 11 M33 1 L24 11" /></svg> dead: requests are lost. Thick frame: changed in the last 100 ms.{left && ` ${left}`}</p>
      <p>{deadWords(edges.filter(isDead), drawn.filter(isDead).length, relative(now, zero))}</p>
    </div>
  );
}

// deadWords count the ways that lead to nobody. What an ingress controller sends on one may be tried again at another pod.
function deadWords(dead: Edge[], drawn: number, at: string): string {
  if (dead.length === 0) return `At ${at} no way is dead.`;
  const [are, them] = dead.length === 1 ? ["is", "it"] : ["are", "them"];
  const lost = dead.every((e) => e.again) ? `requests on ${them} are lost, unless they are tried again at another pod` : `new connections on ${them} are lost`;
  return `At ${at} ${count(dead.length, "way")} ${are} dead${drawn < dead.length ? `, ${drawn} of them drawn` : ""}: ${lost}.`;
}

// tighten puts the boxes where there is the width of a telephone: in columns side by side, for what is lost is lost in the last one.
function tighten(boxes: Box[]) {
  const columns = [...new Set(boxes.map((b) => b.x))].sort((a, b) => a - b);
  const five = columns.length > 4, gap = five ? 13 : columns.length > 3 ? 18 : 30;
  const room = 382 - gap * (columns.length - 1);
  const widths = columns.map((_, i) => room * (five ? [0.16, 0.19, 0.19, 0.22, 0.24][i]! : 1 / columns.length));
  for (const b of boxes) {
    const k = columns.indexOf(b.x);
    b.x = 1 + widths.slice(0, k).reduce((sum, w) => sum + w + gap, 0);
    b.w = widths[k]!;
    if (five && b.shape === "pod") b.short = b.name.replace(/ of \S+$/, ""); // of which workload it is its column says
  }
}

function BoxShape({ box: b, narrow }: { box: Box; narrow: boolean }) {
  const cut = b.shape === "pod" ? 16 : b.shape === "node" ? 2 : 8;
  return (
    <g class={`box ${b.look}${b.changed ? " changed" : ""}`}>
      <rect class="fill" x={b.x} y={b.y} width={b.w} height="36" rx={cut} />
      <rect class="edge" x={b.x} y={b.y} width={b.w} height="36" rx={cut} />
      <text x={b.x + b.w / 2} y={b.y + 15} text-anchor="middle">{fit(b.short ?? b.name, b.w - (narrow ? 6 : 12), narrow ? 6.3 : 7.4)}<title>{b.name}</title></text>
      <text class="word" x={b.x + b.w / 2} y={b.y + 29} text-anchor="middle">{fit(b.word, b.w - (narrow ? 6 : 10), narrow ? 5.2 : 5.9)}<title>{b.word}</title></text>
    </g>
  );
}

// picture is what there is at a moment.
export function picture(index: Index, client: number, now: number) {
  const t = index.t;
  const c = t.clients[client];
  const boxes: Box[] = [];
  const edges: Edge[] = [];
  const recent = (at: number | null | undefined) => at !== null && at !== undefined && at <= now && now - at < 0.1;
  const targets = t.targets.filter((x) => x.proxy < 0 && x.clients.includes(client));
  boxes.push({ key: "client", name: c?.name ?? "client", word: c?.external ? "from outside" : "in the cluster", look: "who", changed: false, x: 4, y: 0, w: 130, shape: "client" });
  const nodes = t.nodes.filter((n) => n.ways.some((w) => w.clients.includes(client))).slice(0, most);
  const past = targets.some((x) => x.pod >= 0);
  const inside = t.targets.filter((x) => x.proxy >= 0 && x.clients.includes(client));
  const controllers = new Set(inside.map((x) => index.pods.get(x.proxy)?.workload));
  if (targets.length > 0) {
    boxes.push({ key: "lb", name: targets[0]!.balancer, word: `${targets.filter((x) => isAt(x.gets, now)).length} of ${targets.filter((x) => isAt(x.states, now) && isAt(x.states, now)!.is !== "removed").length} targets`, look: "who", changed: targets.some((x) => x.gets.some((s) => recent(s.from) || s.to < t.end && recent(s.to))), x: 170, y: 0, w: 130, shape: "lb" });
    const dry = t.dry.some((d) => d.proxy < 0 && d.clients.includes(client) && isAt(d.spans, now));
    edges.push({ from: "client", to: "lb", kind: dry ? "dead" : "live", words: `${c?.name} to ${targets[0]!.balancer}${dry ? ", which has no target to send to" : ""}` });
  }
  const source = targets.length > 0 ? "lb" : "client";
  if (!past) {
    for (const n of nodes) {
      const way = n.ways.find((w) => w.clients.includes(client));
      const use = useAt(way, now);
      const target = targets.find((x) => x.node === n.index);
      const gets = targets.length > 0 ? target && isAt(target.gets, now) : goesTo(index, client, n, now);
      const lost = lostAt(n, now);
      const own = lost && targets.length === 0 && !c?.external; // clients in the cluster are on the nodes, and go with them
      const word = lost ? (own ? "gone, with its clients" : "gone") : !gets ? (target && states[isAt(target.states, now)?.is ?? ""]) || "gets none of them" : { ready: isAt(n.health, now) ? "ready pods" : "uses ready pods", fallback: "falls back", reject: "refuses", drop: "drops", unknown: "no rules" }[use?.is ?? "unknown"] ?? "";
      const health = isAt(n.health, now)?.is;
      boxes.push({ key: `n${n.index}`, name: n.name, word: health ? `${word}, health ${health}` : word, look: lost || use?.is === "reject" || use?.is === "drop" ? "nothing" : use?.is === "fallback" ? "fallback" : "uses", changed: recent(use?.from) && (use?.from ?? 0) > 0, x: 340, y: 0, w: 150, shape: "node" });
      if (!gets || own) continue;
      const dead = lost || use?.is === "reject" || use?.is === "drop";
      edges.push({ from: source, to: `n${n.index}`, kind: dead ? "dead" : "live", words: `${source === "lb" ? targets[0]!.balancer : c?.name} to ${n.name}${dead ? `, which ${lost ? "is gone" : use?.is === "drop" ? "drops" : "refuses"}` : ""}` });
      for (const id of lost ? [] : use?.pods ?? []) {
        const kind: Kind = !accepts(index, id, now) ? "dead" : use?.is === "fallback" ? "fallback" : "live";
        edges.push({ from: `n${n.index}`, to: `p${id}`, kind, words: `${n.name} to ${index.pod(id)}${kind === "dead" ? ", which accepts nothing" : kind === "fallback" ? ", terminating" : ""}` });
      }
    }
  } else {
    for (const x of targets) {
      if (!isAt(x.gets, now)) continue;
      const kind: Kind = accepts(index, x.pod, now) ? "live" : "dead";
      edges.push({ from: "lb", to: `p${x.pod}`, kind, words: `${x.balancer} to ${x.name}${kind === "dead" ? ", which accepts nothing" : ""}` });
    }
  }
  sendOn(index, inside, client, now, edges);
  const led = new Set(edges.map((e) => e.to)); // also to pods that are gone
  const there = t.pods.filter((p) => alive(p, now) || led.has(`p${p.id}`));
  const proxies = there.filter((p) => controllers.has(p.workload)), servers = there.filter((p) => !controllers.has(p.workload));
  const pods = [...proxies.slice(0, most + 3), ...servers.slice(0, most + 3)];
  for (const p of pods) {
    const is = isAt(p.phases, now)?.is ?? "gone";
    const open = accepts(index, p.id, now);
    boxes.push({ key: `p${p.id}`, name: p.called, word: podWord(p, is, open, now), look: open ? (is === "ready" ? "ready" : is === "terminating-serving" ? "leaving" : "unready") : is === "pending" || is === "starting" ? "pending" : "closed", changed: p.phases.some((s) => recent(s.from) && s.from > 0) || p.listens.some((s) => recent(s.from) && s.from > 0 || s.to < t.end && recent(s.to)), x: controllers.has(p.workload) ? 450 : 560, y: 0, w: 190, shape: "pod" });
  }
  if (controllers.size > 0) share(boxes);
  const height = spread(boxes);
  const hidden = [t.nodes.length > nodes.length && !past ? count(t.nodes.length - nodes.length, "more node") : "", there.length > pods.length ? "more pods" : ""].filter(Boolean).join(" and ");
  return { boxes, edges, left: hidden && `Not drawn: ${hidden}.`, height };
}

// sendOn has the ways from the pods of an ingress controller that are sent to on to those of the app.
function sendOn(index: Index, inside: TargetLane[], client: number, now: number, edges: Edge[]) {
  const dry = (x: TargetLane) => index.t.dry.some((d) => d.proxy === x.proxy && d.clients.includes(client) && isAt(d.spans, now));
  const reached = new Set(edges.filter((e) => e.kind !== "dead").map((e) => e.to));
  for (const e of edges) {
    const x = inside.find((y) => `p${y.proxy}` === e.to);
    if (!x || e.kind === "dead" || !dry(x)) continue;
    e.kind = "dead";
    e.words += ", which has no pod to send to";
  }
  for (const x of inside) {
    if (!reached.has(`p${x.proxy}`) || !isAt(x.gets, now) || dry(x)) continue;
    const kind: Kind = accepts(index, x.pod, now) ? "live" : "dead";
    edges.push({ from: `p${x.proxy}`, to: `p${x.pod}`, kind, words: `${x.balancer} to ${x.name}${kind === "dead" ? ", which accepts nothing" : ""}`, again: true });
  }
}

// share gives five columns the width of four.
function share(boxes: Box[]) {
  const columns = [...new Set(boxes.map((b) => b.x))].sort((a, b) => a - b);
  const widths = columns.map((x) => (x < 340 ? 104 : x < 450 ? 116 : 156));
  const gap = (752 - widths.reduce((a, b) => a + b, 0)) / Math.max(1, columns.length - 1);
  for (const b of boxes) {
    const k = columns.indexOf(b.x);
    b.w = widths[k]!;
    b.x = 4 + widths.slice(0, k).reduce((a, w) => a + w + gap, 0);
  }
}

// podWord is what a pod is, and what the API says of one that accepts nothing.
function podWord(p: PodLane, is: string, open: boolean, now: number): string {
  const words = phases[is] ?? is;
  if (open || is === "pending" || is === "starting" || is === "gone") return words;
  if (p.marks.some((m) => m.kind === "node-gone" && m.at <= now)) return `gone, the API says ${words}`;
  return is === "ready" ? `closed, the API says ${words}` : `closed, ${words}`;
}

// goesTo says whether a client without a load balancer connects to a node, or runs there.
function goesTo(index: Index, client: number, n: NodeLane, now: number): boolean {
  const c = index.t.clients[client];
  if (!c) return true;
  const own = (x: NodeLane) => c.nodes.length === 0 || c.nodes.includes(x.name);
  const well = (x: NodeLane) => isAt(x.health, now)?.is !== "503";
  return own(n) && (!c.healthyOnly || well(n) || !index.t.nodes.some((x) => own(x) && well(x)));
}

function alive(p: { phases: { from: number; to: number }[] }, now: number): boolean {
  const first = p.phases[0], last = p.phases[p.phases.length - 1];
  return first !== undefined && last !== undefined && first.from <= now && now <= last.to;
}
function accepts(index: Index, pod: number, now: number): boolean {
  const p = index.pods.get(pod);
  return p === undefined || p.listens.some((s) => s.from <= now && now < s.to);
}

// spread gives each column its boxes from top to bottom.
function spread(boxes: Box[]): number {
  const columns = new Map<number, Box[]>();
  for (const b of boxes) columns.set(b.x, [...(columns.get(b.x) ?? []), b]);
  const rows = Math.max(...[...columns.values()].map((c) => c.length));
  const height = rows * 46 + 4;
  for (const column of columns.values()) column.forEach((b, i) => { b.y = ((i + 0.5) * height) / column.length - 18; });
  return height;
}
