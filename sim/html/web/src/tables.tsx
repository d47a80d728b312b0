// The tables behind the pictures: the same numbers, for who reads them, sorts them, copies them.

import { useMemo, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Index, Timeline } from "./data";
import { passes, type Filter } from "./lanes";
import { phases, relative, seconds, states, uses } from "./words";

export interface Column<T> { name: string; text(x: T): string; order?(x: T): number | string; number?: boolean }

export function Table<T>({ name, columns, rows, cell, onPick, picked }: {
  name: string; columns: Column<T>[]; rows: T[]; cell?: (x: T, c: Column<T>) => ComponentChildren; onPick?: (x: T) => void; picked?: (x: T) => boolean;
}) {
  const [by, setBy] = useState<{ column: number; down: boolean } | null>(null);
  const sorted = useMemo(() => {
    if (!by) return rows;
    const c = columns[by.column]!;
    const key = c.order ?? c.text;
    return [...rows].sort((a, b) => {
      const x = key(a), y = key(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (by.down ? -1 : 1);
    });
  }, [rows, by, columns]);
  const text = () => [columns.map((c) => c.name), ...sorted.map((x) => columns.map((c) => c.text(x)))].map((line) => line.map((t) => t.replace(/\s+/g, " ")).join("\t")).join("\n");
  return (
    <div class="with-copy">
    <Copy text={text} what={`the table ${name.split(/[,.:]/)[0]}`} />
    <div class="scroll" tabIndex={0} role="region" aria-label={name}>
      <table>
        <caption>{name}</caption>
        <thead><tr>{columns.map((c, i) => (
          <th key={c.name} scope="col" aria-sort={by?.column === i ? (by.down ? "descending" : "ascending") : "none"} class={c.number ? "number" : ""}>
            <button type="button" onClick={() => setBy({ column: i, down: by?.column === i && !by.down })}>{c.name}<span aria-hidden="true">{by?.column === i ? (by.down ? " \u25be" : " \u25b4") : ""}</span></button>
          </th>))}</tr></thead>
        <tbody>{sorted.map((x, k) => (
          <tr key={k} class={picked?.(x) ? "picked" : ""} aria-current={picked?.(x) ? "true" : undefined}>
            {columns.map((c, i) => <td key={c.name} class={c.number ? "number" : ""}>{i === 0 && onPick ? <button type="button" class="link" onClick={() => onPick(x)}>{c.text(x)}</button> : cell ? cell(x, c) : c.text(x)}</td>)}
          </tr>))}</tbody>
      </table>
    </div>
    </div>
  );
}

// Copy is a button that copies a text, and says what became of that, also to who does not see it.
export function Copy({ text, what }: { text: () => string; what: string }) {
  const [said, setSaid] = useState("");
  const tell = (word: string) => {
    setSaid(word);
    setTimeout(() => setSaid(""), 4000);
  };
  const copy = () => {
    if (!navigator.clipboard) return tell("Select it, and copy by hand");
    navigator.clipboard.writeText(text()).then(() => tell("Copied"), () => tell("Select it, and copy by hand"));
  };
  return <><button type="button" class="copy" aria-label={`Copy ${what}`} onClick={copy}>{said || "Copy"}</button><span class="visually-hidden" role="status">{said}</span></>;
}

// mostPrinted is how many rows a table may have that is printed though nobody has opened it.
const mostPrinted = 60;

// Later is a table of so many rows. A long one is made when it is opened: a thousand rows cost nothing before, and are not printed.
export function Later({ summary, rows, children }: { summary: string; rows: number; children: () => ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const long = rows > mostPrinted;
  return <details class={long && !open ? "unprinted" : ""} onToggle={(e) => setOpen((e.currentTarget as HTMLDetailsElement).open)}><summary>{summary}</summary>{(open || (rows > 0 && !long)) && children()}</details>;
}

interface SpanRow { lane: string; what: string; from: number; to: number }

// lanesOf are all bars as rows.
function lanesOf(index: Index): SpanRow[] {
  const out: SpanRow[] = [];
  const t: Timeline = index.t;
  for (const p of t.pods) {
    for (const s of p.slices) for (const v of s.spans) out.push({ lane: `${p.called}: EndpointSlices of ${s.service}`, what: phases[v.is] ?? v.is, from: v.from, to: v.to });
    for (const v of p.phases) out.push({ lane: `${p.called}: its object`, what: phases[v.is] ?? v.is, from: v.from, to: v.to });
    for (const v of p.listens) out.push({ lane: `${p.called}: its process`, what: "accepts connections", from: v.from, to: v.to });
  }
  for (const n of t.nodes) {
    for (const w of n.ways) {
      for (const u of w.uses) {
        const pods = u.pods.map((p) => index.pod(p)).join(", ") + (u.more > 0 ? `${u.pods.length > 0 ? " and " : ""}${u.more} without a lane` : "");
        out.push({ lane: `${n.name}: rules for ${w.clients.map((c) => index.client(c)).join(", ")}`, what: `${uses[u.is] ?? u.is}${pods ? `: ${pods}` : ""}`, from: u.from, to: u.to });
      }
    }
    for (const v of n.health) out.push({ lane: `${n.name}: health check node port`, what: v.is, from: v.from, to: v.to });
    for (const v of n.waits) out.push({ lane: `${n.name}: kube-proxy`, what: "waits for minSyncPeriod", from: v.from, to: v.to });
    for (const v of n.syncs) out.push({ lane: `${n.name}: kube-proxy`, what: "sync", from: v.from, to: v.to });
  }
  for (const x of t.targets) for (const v of x.states) out.push({ lane: `${x.balancer}: ${x.name}`, what: states[v.is] ?? v.is, from: v.from, to: v.to });
  return out;
}

export function Tables({ index, filter, zero, selected, onSelect }: { index: Index; filter: Filter; zero: number; selected: number; onSelect: (i: number) => void }) {
  const failures = useMemo(() => index.t.failures.map((f, i) => ({ f, i })).filter((x) => passes(x.f, index, filter)), [index, filter]);
  const lanes = useMemo(() => lanesOf(index), [index]);
  const between = useMemo(() => index.t.bands.flatMap((b) => b.nodes.map((n) => ({ b, n }))), [index]);
  return (
    <div class="tables">
      <Later rows={failures.length} summary={`Lost requests as a table (${failures.length})`}>{() => (
        <Table name="Lost requests" rows={failures} picked={(x) => x.i === selected} onPick={(x) => onSelect(x.i)} columns={[
          { name: "Request", text: (x) => `${index.client(x.f.client)} ${x.f.number}`, order: (x) => x.f.client * 1e9 + x.f.number },
          { name: "Sent", text: (x) => relative(x.f.at, zero), order: (x) => x.f.at, number: true },
          { name: "Failed", text: (x) => relative(x.f.end, zero), order: (x) => x.f.end, number: true },
          { name: "Outcome", text: (x) => x.f.outcome }, { name: "Cause", text: (x) => x.f.cause }, { name: "Whose delay", text: (x) => x.f.actor },
          { name: "Without the action", text: (x) => (x.f.without ? "fails, too" : "") },
          { name: "Node", text: (x) => (x.f.node < 0 ? "" : index.node(x.f.node)) }, { name: "Pod", text: (x) => (x.f.pod < 0 ? "" : index.pod(x.f.pod)) },
        ]} />)}</Later>
      <Later rows={between.length} summary={`Bands as a table: when each node let go of each pod (${between.length})`}>{() => (
        <Table name="When each node let go of each pod that went" rows={between} columns={[
          { name: "Pod", text: (x) => index.pod(x.b.pod) }, { name: "Node", text: (x) => index.whose(x.b, x.n) },
          { name: "Deleted", text: (x) => (x.b.deleted === null ? "" : relative(x.b.deleted, zero)), order: (x) => x.b.deleted ?? 0, number: true },
          { name: "Closed", text: (x) => (x.b.from === null ? "" : relative(x.b.from, zero)), order: (x) => x.b.from ?? 0, number: true },
          { name: "Let go", text: (x) => (x.n.letGo === null ? "never" : relative(x.n.letGo, zero)), order: (x) => x.n.letGo ?? Infinity, number: true },
          { name: "Too late by", text: (x) => (x.b.from === null ? "" : x.n.gone ? "its machine is gone" : x.n.letGo === null ? "for ever" : x.n.letGo > x.b.from ? seconds(x.n.letGo - x.b.from) : `in time by ${seconds(x.b.from - x.n.letGo)}`), order: (x) => (x.n.letGo ?? Infinity) - (x.b.from ?? 0), number: true },
          { name: "Lost", text: (x) => String(x.n.lost), order: (x) => x.n.lost, number: true },
        ]} />)}</Later>
      <Later rows={index.t.events.length} summary={`Events as a table (${index.t.events.length})`}>{() => (
        <Table name="Events" rows={index.t.events} columns={[
          { name: "At", text: (e) => relative(e.at, zero), order: (e) => e.at, number: true }, { name: "What", text: (e) => e.what }, { name: "Kind", text: (e) => e.kind }, { name: "Object", text: (e) => e.object },
          { name: "Client", text: (e) => (e.client < 0 || index.t.clients.length < 2 ? "" : index.client(e.client)) },
          { name: "Line", text: (e) => (e.source ? `${e.source.file}:${e.source.line}` : "") },
        ]} />)}</Later>
      <Later rows={lanes.length} summary={`Lanes as a table: every bar of the picture (${lanes.length})`}>{() => (
        <Table name="Every bar of the picture" rows={lanes} columns={[
          { name: "Lane", text: (x) => x.lane }, { name: "What", text: (x) => x.what }, { name: "From", text: (x) => relative(x.from, zero), order: (x) => x.from, number: true },
          { name: "To", text: (x) => relative(x.to, zero), order: (x) => x.to, number: true }, { name: "For", text: (x) => seconds(x.to - x.from), order: (x) => x.to - x.from, number: true },
        ]} />)}</Later>
    </div>
  );
}
