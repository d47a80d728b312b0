// What is around the timeline: what helps, the cases, what was assumed.

import { behindOf, type Assumption, type Case, type Family, type Fix, type FixedCase, type Page, type Range } from "./data";
import { Copy, Table } from "./tables";
import { count, seconds, span, verdicts } from "./words";

function lost(r: Range): string {
  if (r.max === 0) return "nothing";
  if (r.median === 0) return `at most ${span(r.max)}`;
  return r.min === r.max ? span(r.median) : `${span(r.median)} (${span(r.min)} to ${span(r.max)})`;
}

// ofWhat says of what is lost what it is, where that is no traffic: the time in which sessions have no server.
function ofWhat(c: Case | undefined, r: Range): string { return c?.withoutServer && r.max > 0 ? " without a server" : ""; }

// upward is a bound in per cent: never less than it is.
function upward(p: number): number { return p < 10 ? Math.ceil(p * 10 - 1e-9) / 10 : Math.ceil(p - 1e-9); }

export function Fixes({ page, c }: { page: Page; c?: Case }) {
  const own = page.result.fixes.filter((f) => !c || f.cases.some((x) => x.id === c.id));
  const drawn = c?.families?.find((f) => f.shown)?.preset ?? "";
  const list = [...(own.length > 0 ? own : page.result.fixes)].sort((a, b) => Number(b.families?.includes(drawn) ?? false) - Number(a.families?.includes(drawn) ?? false));
  if (list.length === 0 && page.result.noHelp.length === 0) return null;
  return (
    <section aria-labelledby="helps-h">
      <h2 id="helps-h">What helps</h2>
      {list.length === 0 && <p>Nothing that was tried helps.</p>}
      {list.map((f) => (
        <article key={f.workload + f.title} class="fix">
          <h3>{`${f.workload}: ${f.title}`}</h3>
          {helpsBehind(page, f).length > 0 && <p class="behind">Behind {helpsBehind(page, f).join("; ")}.</p>}
          {f.cases.filter((x) => !inVain(x)).map((x) => <BeforeAfter key={x.id} page={page} x={x} behind={helpsBehind(page, f)[0] ?? ""} />)}
          {f.cases.some(inVain) && <p>As much is lost with it: {f.cases.filter(inVain).map((x) => titleOf(page, x)).join("; ")}.</p>}
          {f.edits.map((e, i) => <EditText key={i} e={e} />)}
          <p>{[f.least && `${f.least} is the least that helps as assumed.`, f.cost.rolloutSeconds > 0.5 && `A rollout takes ${seconds(f.cost.rolloutSeconds)} longer.`, f.cost.other && `Cost: ${f.cost.other}.`, f.destructive.is && `It may break something: ${f.destructive.why}.`].filter(Boolean).join(" ")}</p>
        </article>))}
      {page.result.noHelp.length > 0 && <p>Does not help: {page.result.noHelp.map((n) => `${n.title}${n.why ? ` (${n.why})` : ""}`).join("; ")}.</p>}
    </section>
  );
}

// helpsBehind are the load balancers that a change was confirmed behind, by name, where it might be several. Its figures are of the first one.
function helpsBehind(page: Page, f: Fix): string[] {
  const names = new Map(page.result.cases.flatMap((c) => c.families ?? []).map((x) => [x.preset, x.name]));
  return (f.families ?? []).map((p) => names.get(p) ?? p);
}

// Balancers are the load balancers that a case might be behind: what is lost behind each, and what helps there.
export function Balancers({ page, c }: { page: Page; c: Case }) {
  if (!c.families || c.families.length === 0) return null;
  const tried = page.result.fixes.length + page.result.noHelp.length > 0;
  const helps = (f: Family) => {
    if (!f.fix) return f.runs.withLoss === 0 ? "" : tried ? "nothing that was tried" : "not looked for";
    const x = f.fix.cases.find((o) => o.id === c.id) ?? f.fix.cases[0];
    const left = x && x.after.max > 0 ? `: ${asMuch(x) ? `up to ${span(x.after.max)}` : lost(x.after)} left` : "";
    return `${f.fix.title}${left}${x && x.confirm.runs > 0 ? (x.confirm.withLoss > 0 ? `; something lost in ${x.confirm.withLoss} of ${count(x.confirm.runs, "new run")}` : `; nothing lost in ${count(x.confirm.runs, "new run")}`) : ""}`;
  };
  return (
    <section aria-labelledby="balancers-h">
      <h2 id="balancers-h">By load balancer</h2>
      <p>{`Nothing in the input says which load balancer is in front.${behindOf(c) ? ` What is drawn, and the figures of the case, are behind ${behindOf(c)}: there it loses most.` : ""}`}</p>
      <Table name="What is lost behind each load balancer that it might be, and what helps there" rows={c.families} picked={(f) => f.shown}
        columns={[
          { name: "Load balancer", text: (f) => f.name }, { name: "Verdict", text: (f) => verdicts[f.verdict] ?? f.verdict },
          { name: "Lost", text: (f) => lost(f.lostSeconds), order: (f) => f.lostSeconds.median, number: true },
          { name: "Longest outage", text: (f) => lost(f.longestOutageSeconds), order: (f) => f.longestOutageSeconds.median, number: true },
          { name: "Runs with loss", text: (f) => `${f.runs.withLoss} of ${f.runs.total}`, order: (f) => f.runs.withLoss, number: true },
          { name: "What helps there", text: helps }, { name: "To say it", text: (f) => `--lb ${f.preset}` },
        ]} />
    </section>
  );
}

// asMuch says that a change leaves as much of the loss of the median run: what it helps is the runs that lose more. Where it does not help
// these, it is in vain in that case.
function asMuch(x: FixedCase): boolean { return x.stuckBefore === 0 && x.before.median > 0 && x.after.median >= 0.9 * x.before.median; }
function inVain(x: FixedCase): boolean { return (asMuch(x) || x.before.median === 0 && x.stuckBefore === 0) && 2 * x.after.max > x.before.max; }

function titleOf(page: Page, x: FixedCase): string { return page.titles[page.result.cases.findIndex((c) => c.id === x.id)] ?? x.id; }

// BeforeAfter is the loss without and with a change, on one axis.
function BeforeAfter({ page, x, behind }: { page: Page; x: FixedCase; behind: string }) {
  const at = page.result.cases.findIndex((c) => c.id === x.id);
  const most = Math.max(x.before.max, x.after.max, 1e-9);
  const w = (v: number) => 4 + (v / most) * 240;
  const bar = (y: number, r: Range, look: string) => (
    <g>
      <rect class={look} x="0" y={y} width={r.max === 0 ? 2 : w(r.median)} height="12" />
      <line class="range" x1={w(r.min)} x2={w(r.max)} y1={y + 6} y2={y + 6} />
    </g>);
  return (
    <figure class="compare">
      <figcaption>{titleOf(page, x)}{behind && `, behind ${behind}`}: {compared(x, page.result.cases[at])}</figcaption>
      {x.stuckBefore === 0 && <svg width="250" height="32" viewBox="0 0 250 32" aria-hidden="true">{bar(2, x.before, "lost")}{bar(18, x.after, "kept")}</svg>}
    </figure>
  );
}

// compared is what a change does in words. Where nothing came to its end before, that it does is what helps, and what it loses then is no harm of it.
function compared(x: FixedCase, c: Case | undefined) {
  if (x.stuckBefore === 0) {
    const [before, after] = asMuch(x) ? [`at most ${span(x.before.max)}`, `at most ${span(x.after.max)}`] : [lost(x.before), lost(x.after)];
    return <>{before}{ofWhat(c, x.before)} {"\u2192"} <b>{after}</b>{asMuch(x) && `, in the median run ${span(x.before.median)} as before`}. {x.confirm.withLoss === 0 ? `Nothing lost in ${count(x.confirm.runs, "new run")} either.` : `Something lost in ${x.confirm.withLoss} of ${count(x.confirm.runs, "new run")}.`}</>;
  }
  const finishes = (stuck: number, runs: number) => (stuck === runs ? "never finishes" : `finishes in ${runs - stuck} of ${runs} runs`);
  const also = x.before.max > 0 ? `, and loses ${lost(x.before)}` : "";
  return <>{finishes(x.stuckBefore, x.runs)}{also} {"\u2192"} <b>{finishes(x.stuck, x.runs)}, and loses {lost(x.after)}</b>. {`Of ${count(x.confirm.runs, "new run")} it finishes in ${x.confirm.runs - x.confirm.stuck}, and ${x.confirm.withLoss === 0 ? "none loses anything" : `${x.confirm.withLoss} lose something`}.`}</>;
}

function EditText({ e }: { e: { file: string; line: number; path: string; from: string; to: string; yaml: string[] } }) {
  const text = e.yaml.length > 0 ? e.yaml.join("\n") : `${e.path}: ${e.to}`;
  return (
    <div class="edit">
      <p class="source">{e.line > 0 ? `${e.file}:${e.line}` : e.path ? "" : "new"} <code>{e.path}</code></p>
      <pre tabIndex={0} aria-label={`change of ${e.path}`}>{text}</pre>
      <Copy text={() => text} what={`the change of ${e.path || e.file}`} />
    </div>
  );
}

export function Cases({ page, drawn, at, onCase }: { page: Page; drawn: number[]; at: number; onCase: (i: number) => void }) {
  const rows = page.order.map((i) => ({ i, c: page.result.cases[i]! }));
  return (
    <section aria-labelledby="cases-h">
      <h2 id="cases-h">Cases</h2>
      <Table name={`Cases, the worst first. Lost: seconds of traffic, median and range of the runs${rows.some((x) => x.c.withoutServer) ? ". Of sessions it is how long one has no server, the mean of all: most requests wait meanwhile and are answered late" : ""}`} rows={rows} picked={(x) => x.i === at}
        cell={(x, col) => (col.name === "Case" && drawn.includes(x.i) ? <button type="button" class="link" onClick={() => onCase(x.i)}>{col.text(x)}</button> : col.name === "Lost" && x.c.runs.total === 0 ? <span class="reason">{col.text(x)}</span> : col.text(x))}
        columns={[
          { name: "Verdict", text: (x) => verdicts[x.c.verdict] ?? x.c.verdict, order: (x) => page.order.indexOf(x.i) },
          { name: "Case", text: (x) => page.titles[x.i] ?? x.c.id },
          { name: "Lost", text: (x) => (x.c.runs.total === 0 ? x.c.reason : `${byBalancer(x.c)}${ofWhat(x.c, x.c.lostSeconds)}`), order: (x) => x.c.lostSeconds.median, number: true },
          { name: "Longest outage", text: (x) => (x.c.runs.total === 0 ? "" : lost(x.c.longestOutageSeconds)), order: (x) => x.c.longestOutageSeconds.median, number: true },
          { name: "Runs with loss", text: (x) => (x.c.runs.total === 0 ? "" : `${x.c.runs.withLoss} of ${x.c.runs.total}`), order: (x) => x.c.runs.withLoss, number: true },
          { name: "Bound", text: (x) => (x.c.runs.lossBound95 === null ? "" : `at most ${upward(x.c.runs.lossBound95 * 100)} % of runs lose anything (95 % confidence)`) },
          { name: "Line", text: (x) => x.c.source },
        ]} />
      {drawn.length < rows.filter((x) => x.c.runs.total > 0).length && <p class="small">{count(drawn.length, "case")} can be drawn: the worst.</p>}
    </section>
  );
}

// byBalancer is what a case loses: over the load balancers that it might be behind, where it might be several.
function byBalancer(c: Case): string {
  const medians = (c.families ?? []).map((f) => f.lostSeconds.median);
  const low = Math.min(...medians), high = Math.max(...medians);
  return medians.length > 1 && low < high ? `${span(low)} to ${span(high)}, by load balancer` : lost(c.lostSeconds);
}

export function Assumptions({ page }: { page: Page }) {
  const rank = (a: Assumption) => (a.effect === "verdict" ? 0 : a.effect === "size" ? 1 : a.effect === "none" ? 2 : 3);
  const rows = [...page.result.assumptions].sort((a, b) => rank(a) - rank(b));
  const effect = (a: Assumption) => ({ verdict: "decides the verdict", size: "changes how much is lost", none: "makes no difference" })[a.effect ?? ""] ?? "was not varied";
  return (
    <section aria-labelledby="assumed-h">
      <h2 id="assumed-h">Assumed, and what if it is otherwise</h2>
      {rows.length === 0 ? <p>Nothing was assumed.</p> : (
        <Table name="Assumptions, those that matter first. Other values are tried on a few of the seeds, and compared on these" rows={rows}
          cell={(a, col) => (col.name === "Otherwise" ? <Alternatives a={a} page={page} /> : col.text(a))}
          columns={[
            { name: "Assumed", text: (a) => a.what }, { name: "Value", text: (a) => a.value }, { name: "Effect", text: effect, order: rank },
            { name: "Otherwise", text: (a) => a.alternatives.map((x) => x.value).join(", ") },
            { name: "Basis", text: (a) => [a.basis, a.source].filter(Boolean).join(": ") }, { name: "To say it", text: (a) => a.settle },
          ]} />)}
      {page.result.notModelled.length > 0 && (<><h3>Not modelled</h3><ul>{page.result.notModelled.map((n) => <li key={n.id + n.object}>{n.what}{n.object ? ` (${n.object})` : ""}{n.direction === "more" ? ": reality loses more" : n.direction === "less" ? ": reality loses less" : ""}.</li>)}</ul></>)}
    </section>
  );
}

// Alternatives are the other values of an assumption, each with the loss as a bar beside that of the value that was assumed.
function Alternatives({ a, page }: { a: Assumption; page: Page }) {
  const first = a.alternatives.find((x) => x.effect !== "none") ?? a.alternatives[0]; // of the cases, one that it matters to
  if (!first) return null;
  if (a.effect === "none") return <>{a.alternatives.map((x) => x.value).filter((v, i, all) => all.indexOf(v) === i).join("; ")}: no difference</>;
  const own = a.alternatives.filter((x) => x.case === first.case);
  const base = page.result.cases.find((c) => c.id === first.case);
  const most = Math.max(base?.lostSeconds.median ?? 0, ...own.filter((x) => x.effect !== "none").map((x) => x.lostSeconds.median), 1e-9);
  const words = ({ median, max }: { median: number; max: number }, withLoss: number, runs: number) =>
    median > 0 ? `${span(median)} ${base?.withoutServer ? "without a server" : "lost"}` : withLoss > 0 ? `up to ${span(max)} lost in ${withLoss} of ${count(runs, "run")}` : "nothing lost";
  const line = (value: string, of: { median: number; max: number }, said: string, look: string) => (
    <li key={value}><svg width="62" height="10" viewBox="0 0 62 10" aria-hidden="true"><rect class={look} x="0" y="1" width={of.median === 0 ? 1.5 : 2 + (60 * of.median) / most} height="8" /></svg><span>{value}: {said}</span></li>);
  const same = (value: string) => <li key={value}><svg width="62" height="10" aria-hidden="true" /><span>{value}: no difference</span></li>; // on the same seeds, of which there are few
  const assumed = base?.lostSeconds ?? { median: 0, max: 0 };
  return (
    <ul class="spark">
      {line(a.value.endsWith("(assumed)") ? a.value : `${a.value} (assumed)`, assumed, words(assumed, base?.runs.withLoss ?? 0, base?.runs.total ?? 0), "assumed")}
      {own.map((x) => (x.effect === "none" ? same(x.value) : line(x.value, x.lostSeconds, words(x.lostSeconds, x.withLoss, x.runs), "lost")))}
    </ul>);
}
