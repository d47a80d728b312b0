// The pictures of cases: the newest of each, and of what manifest it is.

import type { Case, Timeline } from "../data";
import type { Flags, Ran } from "./contract";

export interface Picture { timeline: Timeline | null; manifest: string; flags: Flags }
export type Pictures = ReadonlyMap<string, Picture>;

const most = 12; // cases that are drawn, as in a record

// drawable are the cases of an answer that can be drawn, the worst first: places in its record.
export function drawable(ran: Ran): number[] { return ran.order.filter((i) => (ran.record.cases[i]?.runs.total ?? 0) > 0).slice(0, most); }

// shownOf is the case that is looked at: the one that somebody chose, else the worst.
export function shownOf(ran: Ran | null, wanted: string): Case | null {
  if (!ran) return null;
  const cases = drawable(ran).map((i) => ran.record.cases[i]!);
  return cases.find((c) => c.id === wanted) ?? cases[0] ?? null;
}

// familyOf is the load balancer behind which a case loses most, of those that it might have: its figures are those of that one.
export function familyOf(c: Case): string {
  let worst = c.families?.[0];
  for (const f of c.families ?? []) if (f.lostSeconds.median > worst!.lostSeconds.median) worst = f;
  return worst?.preset ?? "";
}

// ofRecord are the pictures of an answer, and those of before of its cases that it has no picture of.
export function ofRecord(ran: Ran, before: Pictures, manifest: string, flags: Flags): Pictures {
  const out = new Map<string, Picture>();
  for (const c of ran.record.cases) {
    const was = before.get(c.id);
    if (c.timeline) out.set(c.id, { timeline: c.timeline, manifest, flags });
    else if (was) out.set(c.id, was);
  }
  return out;
}
