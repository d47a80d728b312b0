// Times, numbers and words.

// seconds is a duration: "1.24 s", "12 ms".
export function seconds(s: number): string {
  const abs = Math.abs(s);
  if (abs === 0) return "0 s";
  if (abs < 0.0995) return `${trim((s * 1000).toFixed(abs < 0.00995 ? 1 : 0))} ms`;
  if (abs < 9.995) return `${trim(s.toFixed(2))} s`;
  return abs < 99.95 ? `${trim(s.toFixed(1))} s` : `${Math.round(s)} s`;
}
function trim(s: string): string { return s.includes(".") ? s.replace(/\.?0+$/, "") : s; }

// span is how much is lost, as the text of the report has it: "0.35 s", "2.2 min".
export function span(s: number): string {
  if (s === 0) return "nothing";
  if (s >= 100) return `${trim((Math.round(s / 6) / 10).toFixed(1))} min`;
  if (s < 0.01) return "<0.01 s";
  return `${trim(s.toFixed(s < 10 ? 2 : 1))} s`;
}

// withoutServer says how long sessions have no server.
export function withoutServer(s: number): string { return `sessions without a server for ${span(s)}`; }

// relative is a moment, counted from zero: "+1.240 s".
export function relative(at: number, zero: number): string {
  const d = at - zero;
  const digits = Math.abs(d) < 0.00005 ? "0.000" : Math.abs(d).toFixed(3);
  return `${d < -0.00005 ? "\u2212" : "+"}${digits} s`;
}
const english = new Intl.NumberFormat("en");
export function count(n: number, one: string, many = `${one}s`): string { return `${n < 1000 ? n : english.format(n)} ${n === 1 ? one : many}`; }

export const phases: Record<string, string> = {
  pending: "pending", starting: "starting", ready: "ready", "not-ready": "not ready", "terminating-serving": "terminating, serving",
  "terminating-not-serving": "terminating, not serving",
};
export const uses: Record<string, string> = {
  ready: "ready endpoints", fallback: "fallback: terminating endpoints", reject: "nothing: refuses", drop: "nothing: drops", unknown: "no such Service",
};
export const states: Record<string, string> = {
  initial: "initial checks", healthy: "healthy", failing: "failing, still used", unhealthy: "unhealthy", draining: "draining", removed: "removed",
};
export const nodeMarks: Record<string, string> = {
  ready: "counts as ready", "not-ready": "counts as not ready", gone: "machine gone", back: "runs again", joined: "joins", cordoned: "cordoned", tainted: "tainted", untainted: "taint gone",
};
export const marks: Record<string, string> = {
  deleted: "deleted", created: "created", preStop: "preStop begins", "preStop-failed": "preStop fails", SIGTERM: "SIGTERM", SIGKILL: "SIGKILL",
  listens: "listens", closed: "accepts no connections any more", exit: "process ends", killed: "process killed", restart: "restarted by its probe", crash: "crash",
  "node-gone": "gone with its machine", "eviction-refused": "eviction refused", "readiness-gate": "readiness gate", volume: "volume",
  "readiness-probe": "readiness probe", "liveness-probe": "liveness probe", "startup-probe": "startup probe",
};
// short are the words that stand in the picture.
export const short: Record<string, string> = {
  deleted: "deleted", preStop: "preStop", "preStop-failed": "preStop fails", SIGTERM: "SIGTERM", SIGKILL: "SIGKILL", closed: "closed", crash: "crash",
  listens: "listens", restart: "restart", created: "created",
};
export const verdicts: Record<string, string> = {
  outage: "OUTAGE", stuck: "STUCK", blocked: "BLOCKED", drops: "DROPS", depends: "DEPENDS", rare: "RARE", holds: "HOLDS", "not-judged": "NOT JUDGED",
};
