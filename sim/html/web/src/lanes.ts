// What rows the picture has: the race of each pod that goes first, everything else after it.

import type { Band, Failure, Mark, NodeLane, PodLane, Span, TargetLane, Use } from "./data";
import { anywayOf, endsWithMachine, Index, lostOf, withoutServerOf, zeroOf } from "./data";
import { count, marks as markWords, nodeMarks, phases, relative, seconds, states, uses, withoutServer } from "./words";

// Look is how a bar is drawn; each look has a colour and a pattern or a shape of its own.
export type Look =
  | "ready" | "leaving" | "ending" | "unready" | "pending" | "starting" | "open" | "uses" | "late" | "early" | "fallback" | "nothing" | "sync" | "wait"
  | "healthy" | "failing" | "draining" | "unhealthy" | "past";

export interface Bar { from: number; to: number; look: Look; text: string; short?: string; hover: string; event: number } // short: where there is no room for the text
export interface Sign { at: number; shape: "tick" | "down" | "kill" | "probe-ok" | "probe-bad" | "let-go" | "action"; text: string; hover: string; event: number }
export interface Row {
  key: string;
  label: string;
  short?: string; // where there is no room for that
  group: string; // key of the group it folds with
  bars: Bar[];
  signs: Sign[];
  failures: number[];
  pods: number[];
  nodes: number[];
  workload: string;
  thin?: boolean;
  named?: boolean; // its label is a name: where it is too long, its end is of more use than its middle
  client?: number; // draw its rates
  folds?: Fold; // it stands for others, whose rows are under it
  under?: string; // the key of what has to be open for it to be seen
}
// Fold is what stands for others that are alike.
export interface Fold { key: string; title: string; open: boolean }
export interface Group { under?: string; key: string; title: string; summary: string; lost: number; rows: Row[]; open: boolean; pods: number[]; nodes: number[]; workload: string }

export interface Filter { workload: string; node: string; cause: string; actor: string }
export const everything: Filter = { workload: "", node: "", cause: "", actor: "" };

// narrowed says that not all is looked at.
function narrowed(f: Filter): boolean { return Object.values(f).some((v) => v !== ""); }

// ofAll says how many of the marked lost requests are looked at: what a filter leaves out has no other count.
function ofAll(x: Index, shown: number[], all: (f: Failure) => boolean): string {
  const caused = (i: number) => !x.t.failures[i]!.without && all(x.t.failures[i]!);
  const there = x.t.failures.filter((_, i) => caused(i)).length;
  return there === 0 ? "nothing lost" : `${shown.filter(caused).length} of ${count(there, "marked lost request")} shown`;
}

// passes says whether a failure is among those that are looked at.
export function passes(f: Failure, x: Index, filter: Filter): boolean {
  return !(f.without && (filter.cause || filter.actor)) && (!filter.cause || f.cause === filter.cause) && (!filter.actor || f.actor === filter.actor) &&
    (!filter.node || x.node(f.node) === filter.node) && (!filter.workload || f.pod < 0 || x.pods.get(f.pod)?.workload === filter.workload || !x.pods.has(f.pod));
}

const row = (r: Partial<Row> & { key: string; label: string; group: string }): Row =>
  ({ bars: [], signs: [], failures: [], pods: [], nodes: [], workload: "", ...r });

// groups are all rows of a timeline.
export function groups(x: Index, filter: Filter, about: number): Group[] {
  const t = x.t;
  const shown = t.failures.map((f, i) => (passes(f, x, filter) ? i : -1)).filter((i) => i >= 0);
  const out = [overall(x, shown, filter), ...races(x, shown, about, filter), ...balancers(x, shown), nodes(x, shown), arrivals(x), clients(x)].filter((g) => g.rows.length > 0 || g.key.startsWith("more-"));
  return fold(out.filter((g) => fits(g, filter)).map((g) => ({ ...g, rows: g.rows.filter((r) => !filter.node || r.nodes.length === 0 || r.nodes.some((n) => x.node(n) === filter.node)).map((r) => (filter.node ? alone(r) : r)) })), about);
}

// alone is a row by itself: where one node is asked for, it is not folded.
function alone({ folds, under, ...r }: Row): Row { return r; }

// mostRaces is how many pods that go have a head of their own at first.
const mostRaces = 20;

// races are those of the pods that go, in the order of going. Those that are alike are under the one that stands for them, but for the pod that
// times count from: that one is always seen. Of very many the ones that lost least are under a head of their own.
function races(x: Index, shown: number[], about: number, filter: Filter): Group[] {
  const like = (b: Band) => (filter.node || b.pod === about ? -1 : x.pods.get(b.pod)?.like ?? -1);
  const heads = x.t.bands.filter((b) => !x.t.bands.some((o) => o.pod === like(b)));
  const seen = new Set([...heads].sort((a, b) => Number(b.pod === about) - Number(a.pod === about) || b.lost - a.lost).slice(0, mostRaces));
  const out: Group[] = [], rest: Group[] = [];
  for (const b of heads) {
    const list = seen.has(b) ? out : rest;
    const under = seen.has(b) ? {} : { under: "more-pods" };
    list.push({ ...race(x, b, shown, filter), ...under });
    const others = x.t.bands.filter((o) => o !== b && like(o) === b.pod);
    if (others.length === 0) continue;
    const key = `more-like-${b.pod}`;
    list.push({ ...more(key, `${count(others.length, "more pod")} like ${x.pod(b.pod)}`, others.length === 1 ? "went through the same, at moments of its own" : "went through the same, at moments of their own"), ...under });
    list.push(...others.map((o) => ({ ...race(x, o, shown, filter), under: key })));
  }
  if (rest.length === 0) return out;
  const lost = rest.reduce((n, g) => n + g.lost, 0);
  return [...out, more("more-pods", `${count(rest.filter((g) => !g.key.startsWith("more-")).length, "more pod")} that go`, lost > 0 ? `${count(lost, "request")} lost` : "nothing lost", lost), ...rest];
}

function more(key: string, title: string, summary: string, lost = 0): Group {
  return { key, title, summary, lost, rows: [], open: false, pods: [], nodes: [], workload: "" };
}

// opened are the groups and rows that are seen, by what was opened and shut.
export function opened(list: Group[], is: (key: string) => boolean | undefined): Group[] {
  const open = new Set<string>();
  const out: Group[] = [];
  for (const g of list) {
    if (g.under && !open.has(g.under)) continue;
    const own = is(g.key) ?? g.open;
    if (own) open.add(g.key);
    const folds = new Set<string>();
    const rows = g.rows.map((r) => {
      if (!r.folds) return r;
      const wide = is(r.folds.key) ?? r.folds.open;
      if (wide) folds.add(r.folds.key);
      return { ...r, folds: { ...r.folds, open: wide } };
    }).filter((r) => !r.under || folds.has(r.under));
    out.push({ ...g, open: own, rows });
  }
  return out;
}

function fits(g: Group, filter: Filter): boolean { return !filter.workload || !g.workload || g.workload === filter.workload; }

// fold opens what matters first, and no more than 40 rows: of the pods that went the one that times count from.
function fold(list: Group[], about: number): Group[] {
  let room = 40;
  const order = [...list].sort((a, b) => weight(b, about) - weight(a, about));
  for (const g of order) {
    const rows = g.rows.filter((r) => !r.under).length;
    if (g.under || g.key.startsWith("more-")) continue;
    if (rows <= room && (!g.key.startsWith("pod") || about < 0 || g.pods.includes(about))) {
      g.open = true;
      room -= rows;
    } else g.open = false;
  }
  return list;
}
function weight(g: Group, about: number): number {
  if (g.key === "all") return 1e12;
  if (g.key.startsWith("pod")) return 1 + g.lost + (g.pods.includes(about) ? 1e6 : 0);
  if (g.key.startsWith("lb")) return 0.7;
  return g.key === "clients" ? 0.8 : g.key === "nodes" ? 0.3 : 0.2;
}

// overall is what was done, and all that was lost.
function overall(x: Index, shown: number[], filter: Filter): Group {
  const actions = x.t.events.filter((e) => ["action", "resumed", "cordoned", "drained", "node-gone", "node-back", "node-ready", "deadline", "no-history", "joined"].includes(e.kind));
  const rows = [row({
    key: "actions", label: "what is done", group: "all",
    signs: actions.map((e) => ({ at: e.at, shape: "action", text: e.what, hover: e.what, event: e.number })),
  })];
  x.t.clients.forEach((c, i) => {
    const own = shown.filter((k) => x.t.failures[k]?.client === i);
    const caused = own.filter((k) => !x.t.failures[k]!.without), anyway = own.filter((k) => x.t.failures[k]!.without);
    if (caused.length > 0) rows.push(row({ key: `lost-${i}`, label: `lost: ${c.name}`, short: c.name, group: "all", failures: caused }));
    if (anyway.length > 0) rows.push(row({ key: `anyway-${i}`, label: `fails anyway: ${c.name}`, short: `anyway: ${c.name}`, group: "all", failures: anyway }));
  });
  const lost = lostOf(x.t), anyway = anywayOf(x.t);
  const nobody = x.t.clients.length === 0 ? "no client is simulated" : "nothing lost";
  const also = anyway > 0 ? `; ${anyway.toLocaleString("en")} more fail without the action, too` : "";
  const dark = withoutServerOf(x.t);
  const what = dark > 0 ? `${withoutServer(dark)}, ${lost > 0 ? count(lost, "request") : "no request"} lost` : lost ? `${count(lost, "request")} lost` : nobody;
  const summary = narrowed(filter) ? ofAll(x, shown, () => true) : what + also;
  return { key: "all", title: "The whole run", summary, lost, rows, open: true, pods: [], nodes: [], workload: "" };
}

// race is what is between the API and the nodes, for a pod that goes.
function race(x: Index, b: Band, shown: number[], filter: Filter): Group {
  const p = x.pods.get(b.pod);
  const key = `pod-${b.pod}`;
  const name = x.pod(b.pod);
  const zero = zeroOf(x.t, b.pod).at;
  const machine = endsWithMachine(x.t, b);
  const rows: Row[] = [];
  const base = { group: key, pods: [b.pod], workload: p?.workload ?? "" };
  for (const s of p?.slices ?? []) {
    rows.push(row({
      ...base, key: `${key}-api-${s.service}`, label: (p?.slices.length ?? 0) > 1 ? `API: ${s.service}` : "API says",
      bars: s.spans.map((v) => ({ from: v.from, to: v.to, look: lookOf(v.is), text: phases[v.is] ?? v.is, hover: `EndpointSlices of ${s.service} say: ${name} is ${phases[v.is] ?? v.is}`, event: 0 }))
        .concat(past(s.spans[s.spans.length - 1]?.to ?? null, x.t.end, "not listed any more", `EndpointSlices of ${s.service} do not list ${name} any more`)),
      signs: (p?.marks ?? []).filter((m) => m.kind === "deleted").map(signOf),
    }));
  }
  rows.push(row({
    ...base, key: `${key}-pod`, label: "the pod",
    bars: beginning(p).concat((p?.listens ?? []).map((v) => ({ from: v.from, to: v.to, look: "open" as Look, text: "accepts connections", hover: `${name} accepts connections`, event: 0 })))
      .concat(closedBar(b, p?.gone ?? null, x.t.end, name, machine), past(p?.gone ?? null, x.t.end, "gone", `${name} is gone`)),
    signs: (p?.marks ?? []).filter((m) => m.kind !== "deleted" && m.kind !== "created" && !(machine && m.kind === "closed")).map(signOf),
  }));
  for (const n of b.nodes.filter((o) => o.like < 0)) {
    const own = letGo(x, b, n, shown, base, key, zero, narrowed(filter));
    rows.push(n.alike > 0 ? { ...own, label: `${n.alike + 1} nodes alike`, folds: { key: `${own.key}-alike`, title: `${n.alike + 1} nodes alike, the last to let go: ${n.name}`, open: false } } : own);
    if (n.alike > 0) for (const o of b.nodes.filter((y) => y.like === n.node)) rows.push({ ...letGo(x, b, o, shown, base, key, zero, narrowed(filter)), under: `${own.key}-alike` });
  }
  const none = forsaken(x, b);
  const own = narrowed(filter) ? ofAll(x, shown, (f) => f.pod === b.pod) : `${count(b.lost, "request")} lost`;
  const summary = b.lost > 0 ? `${own}${bandWords(b, machine)}` : x.t.clients.length === 0 ? "no client is simulated" : none ? `${none} lets go of it, and has no pod to send to then` : `nothing lost${bandWords(b, machine)}`;
  return {
    key, title: `${name}${p?.node && !name.endsWith(` on ${p.node}`) ? ` on ${p.node}` : ""}${machine ? " ends with its machine" : b.deleted === null ? "" : " goes"}`, summary, lost: b.lost, rows, open: false, pods: [b.pod],
    nodes: b.nodes.map((n) => n.node), workload: p?.workload ?? "",
  };
}

// forsaken is the node that loses requests for want of any pod once it has let go of this one; "" where none does.
function forsaken(x: Index, b: Band): string {
  return b.nodes.find((n) => n.node >= 0 && n.letGo !== null && aloneAfter(x, n))?.name ?? "";
}
function aloneAfter(x: Index, n: Band["nodes"][number]): boolean {
  return x.t.failures.some((f) => f.pod < 0 && f.node === n.node && !f.without && f.end >= (n.letGo ?? Infinity));
}

function bandWords(b: Band, machine: boolean): string {
  if (b.from === null) return "";
  if (b.nodes.length === 0) return ": no node used it";
  if (b.to === null) return `: ${b.last} never lets go of it`;
  const d = b.to - b.from;
  return d > 0 ? `: ${b.last} lets go ${seconds(d)} after ${machine ? "that" : "it has closed"}` : `: ${b.last} lets go last, ${seconds(-d)} before it closes`;
}

// beginning is what a pod that comes in this run is before it accepts connections.
function beginning(p: PodLane | undefined): Bar[] {
  const until = p?.listens[0]?.from ?? Infinity;
  return (p?.phases ?? []).filter((s) => (s.is === "pending" || s.is === "starting") && s.from < until)
    .map((s) => ({ from: s.from, to: Math.min(s.to, until), look: lookOf(s.is), text: phases[s.is] ?? s.is, hover: `${p!.called}${p!.node ? ` on ${p!.node}` : ""}: ${phases[s.is] ?? s.is}`, event: 0 }));
}

// past is the time in which something is no more, up to the end of the run.
function past(from: number | null, end: number, text: string, hover: string): Bar[] {
  return from === null || from >= end ? [] : [{ from, to: end, look: "past", text, hover, event: 0 }];
}

function closedBar(b: Band, gone: number | null, end: number, name: string, machine: boolean): Bar[] {
  if (b.from === null) return [];
  if (machine) return [{ from: b.from, to: gone ?? end, look: "ending", text: "gone with its machine", hover: `${name} is gone with its machine, and the API still has it`, event: 0 }];
  return [{ from: b.from, to: gone ?? end, look: "ending", text: "closed: accepts no connections", hover: `${name} accepts no connections any more, and is not gone yet`, event: 0 }];
}

// letGo is one node's row of a race: it uses the pod until its rules let go of it.
function letGo(x: Index, b: Band, n: Band["nodes"][number], shown: number[], base: object, key: string, zero: number, part: boolean): Row {
  const until = n.letGo ?? x.t.end;
  const whose = x.whose(b, n);
  const closed = b.from ?? until;
  const isOwn = (f: Failure | undefined) => f?.pod === b.pod && f.node === n.node && (n.node >= 0 || f.proxy === n.proxy) && (!n.clients || n.clients.includes(f.client));
  const lost = n.lost === 0 ? "" : part ? ofAll(x, shown, isOwn) : `${count(n.lost, "request")} lost`;
  const after = n.letGo === null ? "" : n.gone ? `${relative(n.letGo, zero)}: its machine is gone` : `${relative(n.letGo, zero)}${n.letGo <= closed && !aloneAfter(x, n) ? ", in time" : ""}: ${n.node < 0 ? "sends no more" : "rules let go"}`;
  return row({
    ...base, key: `${key}-node-${n.node}-${whose}`, label: whose, short: whose.slice(whose === n.name ? 0 : n.name.length + 1), group: key, bars: sendBars(x, b, n, whose, lost), nodes: n.node < 0 ? [] : [n.node],
    signs: n.letGo === null ? [] : [{ at: n.letGo, shape: "let-go", text: after, hover: `${whose}: ${after}`, event: n.event }],
    failures: shown.filter((i) => isOwn(x.t.failures[i])),
  });
}

// sendBars are the times in which a pod that goes is sent to, each parted where it accepts nothing any more. What was lost then is said in the longest.
function sendBars(x: Index, b: Band, n: Band["nodes"][number], whose: string, words: string): Bar[] {
  const name = x.pod(b.pod), verb = n.node < 0 ? "sends to" : "rules lead to";
  const spans = sends(x, b, n);
  const closed = b.from ?? x.t.end;
  const late = (s: Sent) => s.to - Math.max(s.from, closed);
  const longest = Math.max(...spans.map(late));
  const pod = endsWithMachine(x.t, b) ? "a pod that is gone" : "a closed pod";
  return spans.flatMap((s) => {
    const bars: Bar[] = [], open = Math.min(s.to, closed);
    if (s.from < open) bars.push({ from: s.from, to: open, look: s.fallback ? "fallback" : "uses", text: s.fallback ? "falls back to it" : "uses it", hover: s.fallback ? `${whose} falls back to ${name}: no pod is ready` : `${whose} ${verb} ${name}`, event: 0 });
    if (late(s) <= 0) return bars;
    const lost = late(s) === longest ? words || "nobody asked" : "";
    bars.push({ from: Math.max(s.from, closed), to: s.to, look: n.lost > 0 ? "late" : "early", text: `sends to ${pod}${lost && `: ${lost}`}`, short: lost && words ? words.replace(/ (marked .*|requests? lost)$/, " lost") : "closed", hover: `${whose} still ${verb} ${name}, which accepts nothing: ${seconds(late(s))}${lost && `, ${lost}`}`, event: 0 });
    return bars;
  });
}

// Sent is a time in which a pod is sent to.
interface Sent { from: number; to: number; fallback: boolean }

// sends are the times in which a pod that goes is sent to, until it is let go of: more than one where rules came back to it. Where no lane says
// so it is one, from the beginning.
function sends(x: Index, b: Band, n: Band["nodes"][number]): Sent[] {
  const until = n.letGo ?? x.t.end;
  const gets = () => x.t.targets.filter((t) => t.pod === b.pod && t.proxy === n.proxy && (!n.clients || n.clients.some((c) => t.clients.includes(c)))).flatMap((t) => t.gets);
  const spans: Sent[] = n.node < 0 ? gets().map((g) => ({ from: g.from, to: g.to, fallback: false }))
    : (x.nodes.get(n.node)?.ways ?? []).flatMap((w) => w.uses).filter((u) => u.pods.includes(b.pod)).map((u) => ({ from: u.from, to: u.to, fallback: u.is === "fallback" }));
  if (!spans.some((s) => s.from < until)) return [{ from: 0, to: until, fallback: false }];
  const out: Sent[] = [];
  const cuts = [...new Set([...spans.flatMap((s) => [s.from, s.to]), until])].filter((t) => t <= until).sort((p, q) => p - q);
  for (let k = 0; k + 1 < cuts.length; k++) {
    const from = cuts[k]!, to = cuts[k + 1]!;
    const on = spans.filter((s) => s.from <= from && s.to >= to);
    if (on.length === 0) continue;
    const last = out[out.length - 1], fallback = on.every((s) => s.fallback);
    if (last && last.to === from && last.fallback === fallback) last.to = to;
    else out.push({ from, to, fallback });
  }
  return out;
}

export function lookOf(is: string): Look {
  const looks: Record<string, Look> = {
    ready: "ready", "not-ready": "unready", "terminating-serving": "leaving", "terminating-not-serving": "ending", pending: "pending", starting: "starting",
    healthy: "healthy", failing: "failing", draining: "draining", unhealthy: "unhealthy", initial: "pending", removed: "ending", "200": "healthy", "503": "unhealthy",
    fallback: "fallback", reject: "nothing", drop: "nothing", unknown: "pending",
  };
  return looks[is] ?? "pending";
}

function signOf(m: Mark): Sign {
  const probe = m.kind.endsWith("-probe");
  const ends: Record<string, [string, string]> = { volume: ["has its volume", "waits for its volume"], "readiness-gate": ["readiness gate opens", "readiness gate closes"] };
  const words = ends[m.kind]?.[m.ok ? 0 : 1] ?? `${markWords[m.kind] ?? m.kind}${probe ? (m.ok ? " succeeds" : " fails") : ""}`;
  const shape = probe ? (m.ok ? "probe-ok" : "probe-bad") : m.kind === "SIGKILL" || m.kind === "killed" || m.kind === "crash" ? "kill" : m.kind === "SIGTERM" ? "down" : "tick";
  return { at: m.at, shape, text: words, hover: words, event: m.event };
}

function balancers(x: Index, shown: number[]): Group[] {
  const out: Group[] = [];
  for (const t of x.t.targets) {
    const key = `lb-${t.balancer}-${t.proxy}-${t.clients.join(".")}`;
    let g = out.find((o) => o.key === key);
    if (!g) {
      const several = x.t.targets.some((o) => o.balancer === t.balancer && o.proxy === t.proxy && o.clients.join() !== t.clients.join());
      g = { key, title: `${t.balancer}: its targets${several ? ` for ${t.clients.map((c) => x.client(c)).join(", ")}` : ""}`, summary: "", lost: 0, rows: [], open: false, pods: [], nodes: [], workload: "" };
      out.push(g);
      g.rows.push(...dryRow(x, g.key, t, shown));
      if (g.rows.length > 0 && t.proxy < 0) g.lost = lostTo(x, t.clients);
    }
    g.rows.push(row({
      key: `${key}-${t.pod}-${t.node}`, label: t.name, named: true, group: key, pods: t.pod < 0 ? [] : [t.pod], nodes: t.node < 0 ? [] : [t.node],
      bars: t.states.flatMap((s) => stateBars(t, s)),
      signs: t.gets.filter((s) => s.to < x.t.end).map((s) => ({ at: s.to, shape: "let-go" as const, text: "", hover: `${t.balancer} sends no new connections to ${t.name}`, event: 0 })),
    }));
  }
  return out.map((g) => ({ ...g, summary: `${count(g.rows.filter((r) => !r.key.endsWith("-dry")).length, "target")}${g.lost > 0 ? `, and none to send to for some time: ${count(g.lost, "request")} lost` : ""}` }));
}

// stateBars are a target's state: apart where it is sent to though it is not healthy, because none is.
function stateBars(t: TargetLane, s: Span): Bar[] {
  const open = t.gets.filter((g) => g.is === "fails open" && s.is !== "healthy" && g.from < s.to && g.to > s.from).map((g) => [Math.max(g.from, s.from), Math.min(g.to, s.to)] as const);
  const word = states[s.is] ?? s.is;
  const bar = (from: number, to: number, text: string): Bar => ({ from, to, look: lookOf(s.is), text, hover: `${t.balancer} holds ${t.name} to be: ${text}`, event: 0 });
  const out: Bar[] = [];
  let at = s.from;
  for (const [from, to] of open) {
    if (from > at) out.push(bar(at, from, word));
    out.push({ ...bar(from, to, `${word}, and sent to: none is healthy (fails open)`), short: "sent to: none is healthy" });
    at = to;
  }
  return at < s.to ? [...out, bar(at, s.to, word)] : out;
}

// lostTo is what the action cost clients for want of a target.
function lostTo(x: Index, clients: number[]): number {
  return x.t.lost.filter((l) => l.cause === "no-healthy-target" && clients.includes(l.client)).reduce((n, l) => n + l.count - l.without, 0);
}

// dryRow is when a load balancer had no target at all, and what was lost for that; none where it always had one.
function dryRow(x: Index, group: string, t: TargetLane, shown: number[]): Row[] {
  const dry = x.t.dry.find((d) => d.proxy === t.proxy && d.balancer === t.balancer && d.clients.join() === t.clients.join());
  if (!dry) return [];
  const failures = shown.filter((i) => { const f = x.t.failures[i]!; return f.pod < 0 && f.node < 0 && f.cause === "no-healthy-target" && f.proxy === t.proxy && t.clients.includes(f.client); });
  return [row({
    key: `${group}-dry`, label: "no target", group, failures,
    bars: dry.spans.map((s) => ({ from: s.from, to: s.to, look: "nothing" as Look, text: "no target to send to", short: "no target", hover: `${t.balancer} has no target to send new connections to`, event: 0 })),
  })];
}

// nodes are the rules in force of each node, and what its health port says.
function nodes(x: Index, shown: number[]): Group {
  const rows: Row[] = [];
  const first = x.t.nodes.filter((n) => n.like < 0);
  for (const n of [...first.filter((y) => y.lost > 0), ...first.filter((y) => y.lost === 0)]) {
    const own = nodeRows(x, n, shown);
    if (n.alike === 0 || own.length === 0) {
      rows.push(...own);
      continue;
    }
    const key = `node-${n.index}-alike`;
    rows.push({ ...own[0]!, label: `${n.alike + 1} nodes alike`, folds: { key, title: `${n.alike + 1} nodes whose rules did the same, ${n.name} last`, open: false } }, ...own.slice(1).map((r) => ({ ...r, under: key })));
    for (const o of x.t.nodes.filter((y) => y.like === n.index)) rows.push(...nodeRows(x, o, shown).map((r) => ({ ...r, under: key })));
  }
  return { key: "nodes", title: "What the rules of each node use", summary: count(x.t.nodes.length, "node"), lost: 0, rows, open: false, pods: [], nodes: [], workload: "" };
}

function nodeRows(x: Index, n: NodeLane, shown: number[]): Row[] {
  const rows: Row[] = [];
  n.ways.forEach((w, i) => {
    const whose = n.ways.length > 1 ? ` (${w.clients.map((c) => x.client(c)).join(", ")})` : "";
    rows.push(row({
      key: `node-${n.index}-${i}`, label: `${n.name} rules${whose}`, group: "nodes", nodes: [n.index], bars: w.uses.map((u) => useBar(x, n.name, u)),
      failures: i > 0 ? [] : shown.filter((k) => { const f = x.t.failures[k]; return f?.node === n.index && f.pod < 0; }),
      signs: n.marks.map((m) => ({ at: m.at, shape: "tick" as const, text: nodeMarks[m.kind] ?? m.kind, hover: `${n.name}: ${nodeMarks[m.kind] ?? m.kind}`, event: m.event })),
    }));
  });
  if (n.health.length > 0) {
    rows.push(row({
      key: `health-${n.index}`, label: `${n.name} health port`, group: "nodes", nodes: [n.index], thin: true,
      bars: n.health.map((s) => ({ from: s.from, to: s.to, look: lookOf(s.is), text: s.is, hover: `health check node port of ${n.name}: ${s.is}`, event: 0 })),
    }));
  }
  if (n.syncs.length + n.waits.length > 0) {
    rows.push(row({
      key: `sync-${n.index}`, label: `${n.name} syncs`, group: "nodes", nodes: [n.index], thin: true,
      bars: n.waits.map((s) => ({ from: s.from, to: s.to, look: "wait" as Look, text: "waits for minSyncPeriod", hover: `kube-proxy of ${n.name} has news, and waits for minSyncPeriod`, event: 0 }))
        .concat(n.syncs.map((s) => ({ from: s.from, to: s.to, look: "sync" as Look, text: "sync", hover: `kube-proxy of ${n.name} writes rules: a sync`, event: 0 }))),
    }));
  }
  return rows;
}

function useBar(x: Index, node: string, u: Use): Bar {
  const names = u.pods.slice(0, 8).map((p) => x.pod(p));
  const more = u.pods.length - names.length + u.more;
  const list = names.join(", ") + (more > 0 ? ` and ${more} more` : "");
  return { from: u.from, to: u.to, look: u.is === "ready" ? "uses" : lookOf(u.is), text: u.is === "ready" ? list : `${uses[u.is] ?? u.is}${list ? `: ${list}` : ""}`, hover: `rules of ${node}: ${uses[u.is] ?? u.is}${list ? `: ${list}` : ""}`, event: u.event };
}

// arrivals are the pods that came and stayed.
function arrivals(x: Index): Group {
  const stay = x.t.pods.filter((p) => !x.t.bands.some((b) => b.pod === p.id));
  const rows: Row[] = [];
  for (const p of stay.filter((y) => y.like < 0)) {
    const key = `new-${p.id}-alike`;
    rows.push(p.alike === 0 ? podRow(p) : { ...podRow(p), label: `${p.alike + 1} pods alike`, folds: { key, title: `${p.alike + 1} pods that went through the same, such as ${p.called}`, open: false } });
    if (p.alike > 0) rows.push(...stay.filter((o) => o.like === p.id).map((o) => ({ ...podRow(o), under: key })));
  }
  return { key: "new", title: "Pods that stay", summary: count(stay.length, "pod"), lost: 0, rows, open: false, pods: [], nodes: [], workload: "" };
}

function podRow(p: PodLane): Row {
  return row({
    key: `new-${p.id}`, label: p.called, named: true, group: "new", pods: [p.id], workload: p.workload,
    bars: p.phases.map((s) => ({ from: s.from, to: s.to, look: lookOf(s.is), text: phases[s.is] ?? s.is, hover: `${p.called}${p.node ? ` on ${p.node}` : ""}: ${phases[s.is] ?? s.is}`, event: 0 })),
    signs: p.marks.filter((m) => m.kind !== "created").map(signOf),
  });
}

function clients(x: Index): Group {
  const rows = x.t.clients.map((c, i) => row({ key: `client-${i}`, label: c.name, group: "clients", client: i }));
  return { key: "clients", title: "Clients: requests over time", summary: x.t.clients.map((c) => (c.rate ? `${c.name} ${c.rate}/s` : c.name)).join(", ") + (lostOf(x.t) > 0 ? "; hatched: lost" : "") + (x.t.clients.some((c) => [...c.slow, ...c.rescued].some((n) => n > 0)) ? "; amber: late, or at a second try" : ""), lost: 0, rows, open: false, pods: [], nodes: [], workload: "" };
}
