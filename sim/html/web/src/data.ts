// What the page is made of: the JSON of `lameduck sim -o json --timeline`, with what the text report says of it.

export interface Range { min: number; median: number; max: number }
export interface Source { file: string; line: number }
export interface Span { from: number; to: number; is: string }
export interface Mark { at: number; kind: string; ok: boolean; event: number }
export interface Event { number: number; at: number; kind: string; what: string; object: string; pod: number; node: number; client: number; source: Source | null }
export interface PodLane {
  id: number; name: string; called: string; workload: string; node: string; deleted: number | null; gone: number | null;
  phases: Span[]; slices: { service: string; spans: Span[] }[]; listens: Span[]; marks: Mark[]; alike: number; like: number;
}
export interface Use { from: number; to: number; is: string; pods: number[]; more: number; event: number }
export interface Way { clients: number[]; uses: Use[] }
export interface NodeLane {
  index: number; name: string; lost: number; ways: Way[]; health: Span[]; syncs: Span[]; waits: Span[]; marks: Mark[]; alike: number; like: number;
}
export interface TargetLane { balancer: string; proxy: number; clients: number[]; pod: number; node: number; name: string; states: Span[]; gets: Span[] }
// DryLane is when a load balancer had no target for new connections of clients.
export interface DryLane { balancer: string; proxy: number; clients: number[]; spans: Span[] }
export interface ClientLane {
  name: string; service: string; external: boolean; nodes: string[]; healthyOnly: boolean; rate: string; bucket: number; exact: boolean;
  total: number[]; slow: number[]; rescued: number[]; failed: number[]; requests: number; lost: number;
  withoutServer: number; // seconds, the mean over its sessions
}
export interface NodeBand { node: number; proxy: number; name: string; clients?: number[]; letGo: number | null; gone: boolean; fallback: boolean; lost: number; event: number; alike: number; like: number }
export interface Band {
  pod: number; deleted: number | null; told: number | null; from: number | null; to: number | null; last: string; lost: number;
  nodes: NodeBand[]; more: number;
}
export interface Failure {
  client: number; number: number; at: number; end: number; outcome: string; cause: string; actor: string; elsewhere: boolean;
  node: number; pod: number; proxy: number; attempts: number; told: number; what: string; zero: number; story: number[]; blamed: number[]; own: number; without: boolean; like: number;
}
export interface Lost { cause: string; actor: string; elsewhere: boolean; client: number; count: number; without: number }
export interface Timeline {
  seed: number; end: number; zero: { at: number; what: string; pod: number };
  events: Event[]; pods: PodLane[]; nodes: NodeLane[]; targets: TargetLane[]; dry: DryLane[]; clients: ClientLane[]; bands: Band[]; failures: Failure[];
  lost: Lost[]; leftOut: string[];
}
export interface Case {
  id: string; action: string; workload: string; traffic: string; verdict: string; reason: string; lostSeconds: Range; requestsLost: Range;
  longestOutageSeconds: Range; withoutServer: boolean; runs: { total: number; withLoss: number; lossBound95: number | null }; worstSeed: number; source: string;
  headline: boolean; timeline?: Timeline; unmet: string[];
  clients: { name: string; rate: string; lostSeconds: Range }[];
  families?: Family[];
  lostRequest?: Told | null;
}
// Told is the lost request whose story the text report tells.
export interface Told { seed: number; client: string; number: number }
// Family is a case behind one of the load balancers that it might be.
export interface Family {
  preset: string; name: string; verdict: string; lostSeconds: Range; longestOutageSeconds: Range; runs: { total: number; withLoss: number; lossBound95: number | null };
  worstSeed: number; fix: Fix | null; shown: boolean; // shown: the figures of the case and its timeline are those behind this one
}
export interface Edit { file: string; line: number; path: string; from: string; to: string; yaml: string[] }
export interface Fix {
  workload: string; title: string; edits: Edit[]; least: string; destructive: { is: boolean; why: string }; cost: { rolloutSeconds: number; other: string };
  cases: FixedCase[]; families?: string[];
}
// FixedCase is a case with a change. Stuck are the runs that did not come to their end.
export interface FixedCase {
  id: string; before: Range; after: Range; runs: number; withLoss: number; stuckBefore: number; stuck: number; confirm: { runs: number; withLoss: number; stuck: number };
  timeline?: Timeline;
}
export interface Alternative { case: string; value: string; verdict: string; lostSeconds: Range; effect: string; runs: number; withLoss: number }
export interface Assumption {
  id: string; what: string; value: string; range: string; basis: string; source: string; cases: string[]; effect: string | null;
  alternatives: Alternative[]; settle: string;
}
// behindOf is the load balancer that the figures and the timeline of a case are of, where it might be several; "" for others.
export function behindOf(c: Case): string { return c.families?.find((f) => f.shown)?.name ?? ""; }
export interface Result {
  version: string; seed: number; cases: Case[]; fixes: Fix[]; noHelp: { workload: string; title: string; why: string }[];
  assumptions: Assumption[]; notModelled: { id: string; what: string; object: string; direction: string }[];
  requests: { total: number; failed: number };
}
// Page is all that is in the page.
export interface Page {
  result: Result;
  order: number[]; // of result.cases, the worst first
  titles: string[]; // of result.cases
  replay: string;
  notes: string[]; // what was left out for want of room
}

export function read(): Page {
  const text = document.getElementById("data")?.textContent ?? "";
  return JSON.parse(text) as Page;
}

// Index finds what lanes and failures refer to.
export class Index {
  readonly events = new Map<number, Event>();
  readonly pods = new Map<number, PodLane>();
  readonly nodes = new Map<number, NodeLane>();
  readonly names = new Map<number, string>(); // of nodes, those without a lane too
  readonly moments: number[];
  readonly marks: number[]; // of the failures: when each is marked
  constructor(readonly t: Timeline) {
    this.marks = t.failures.map((f) => markOf(t, f));
    for (const e of t.events) this.events.set(e.number, e);
    for (const p of t.pods) this.pods.set(p.id, p);
    for (const n of t.nodes) {
      this.nodes.set(n.index, n);
      this.names.set(n.index, n.name);
    }
    for (const b of t.bands) for (const n of b.nodes) if (n.node >= 0) this.names.set(n.node, n.name);
    this.moments = [...new Set(t.events.map((e) => e.at))].sort((a, b) => a - b);
  }
  pod(id: number): string { return this.pods.get(id)?.called ?? (id < 0 ? "no pod" : `pod ${id}`); }
  node(index: number): string { return this.names.get(index) ?? (index < 0 ? "no node" : `node number ${index + 1}`); }
  client(i: number): string { return this.t.clients[i]?.name ?? `client ${i}`; }
  // whose is a node of a band by name, and a load balancer that is there more than once with its clients: it checks for each of them.
  whose(b: Band, n: NodeBand): string {
    const several = n.clients && b.nodes.some((o) => o !== n && o.name === n.name);
    return several ? `${n.name} for ${n.clients!.map((c) => this.client(c)).join(", ")}` : n.name;
  }
  // story are the lines of a failure's story, its own among them.
  story(f: Failure): { at: number; what: string; event: Event | null; blamed: boolean }[] {
    const told = f.like >= 0 ? this.t.failures[f.like] ?? f : f;
    const lines: { at: number; what: string; event: Event | null; blamed: boolean }[] = [];
    for (const number of told.story) {
      const e = this.events.get(number);
      if (e) lines.push({ at: e.at, what: e.what, event: e, blamed: told.blamed.includes(number) });
    }
    lines.splice(told.own, 0, { at: told.told, what: told.what || `request ${f.number}: ${f.outcome}`, event: null, blamed: false });
    return lines;
  }
}

// markOf is when a lost request is marked: at what it came from. That is when it was sent, and when it failed where its pod took connections
// when it was sent: what it came from happened while it waited.
export function markOf(t: Timeline, f: Failure): number {
  const b = f.pod < 0 ? undefined : t.bands.find((x) => x.pod === f.pod);
  return b?.from && b.from > f.at ? Math.max(f.at, f.told) : f.at;
}

// lostOf is how many requests the action cost: those that fail without it, too, are none of them.
export function lostOf(t: Timeline): number { return t.lost.reduce((n, l) => n + l.count - l.without, 0); }
export function anywayOf(t: Timeline): number { return t.lost.reduce((n, l) => n + l.without, 0); }

// withoutServerOf is how long the sessions of a run have no server, of the client for whom that is longest; 0 where what is lost are requests.
export function withoutServerOf(t: Timeline): number { return Math.max(0, ...t.clients.map((c) => c.withoutServer)); }

// lostAt says that a node's machine is gone at a moment.
export function lostAt(n: NodeLane | undefined, t: number): boolean {
  return n?.marks.reduce((gone, m) => (m.at > t ? gone : m.kind === "gone" || (gone && m.kind !== "back")), false) ?? false;
}

// endsWithMachine says that a pod ended with its machine, and was not told to stop before.
export function endsWithMachine(t: Timeline, b: Band): boolean {
  return b.from !== null && (b.deleted === null || b.from < b.deleted) && (t.pods.find((p) => p.id === b.pod)?.marks ?? []).some((m) => m.kind === "node-gone" && m.at === b.from);
}

// zeroOf is the moment that times count from for who looks at a pod: its deletion. Of one that ends before it is deleted, or is not deleted at all, it
// is what was done to its machine, or the moment at which it accepts nothing any more.
export function zeroOf(t: Timeline, about: number): { at: number; what: string } {
  const b = t.bands.find((x) => x.pod === about);
  if (!b) return t.zero;
  const called = t.pods.find((p) => p.id === about)?.called ?? `pod ${about}`;
  if (b.deleted !== null && (b.from === null || b.deleted <= b.from)) return { at: b.deleted, what: `${called} deleted` };
  if (b.from === null) return t.zero;
  const done = endsWithMachine(t, b) ? t.events.filter((e) => e.kind === "action" && e.at <= b.from!).pop() : undefined;
  return done ? { at: done.at, what: done.what } : { at: b.from, what: `${called} closed` };
}

// isAt is what is so at a moment.
export function isAt(spans: Span[], t: number): Span | undefined { return spans.find((s) => s.from <= t && t < s.to); }
export function useAt(way: Way | undefined, t: number): Use | undefined { return way?.uses.find((u) => u.from <= t && t < u.to); }
