// The right side: the verdict and how sure it is, the picture, and the rest of the report behind tabs.

import { useMemo, useRef } from "preact/hooks";
import { Timelines, type TimelinesProps } from "../app";
import type { Case, Page } from "../data";
import { Assumptions, Balancers, Cases, Fixes } from "../parts";
import { count, verdicts } from "../words";
import type { Ran } from "./contract";
import { drawable, shownOf } from "./pictures";
import type { State } from "./session";

export const tabs = { timeline: "Timeline", helps: "Why, and what helps", cases: "Cases", assumed: "Assumed", text: "As text" } as const;
export type Tab = keyof typeof tabs;
export const isTab = (v: string | undefined): v is Tab => v !== undefined && v in tabs;

export interface ResultProps {
  state: State; tab: Tab; caseID: string; late: { seconds: number; far: string }; span: [number, number] | undefined;
  onTab: (t: Tab) => void; onCase: (id: string) => void; onSpan: (v: [number, number] | null) => void; onStop: () => void; onAgain: () => void;
}

// behind says that the picture is of another manifest than this one.
function behind(s: State, caseID: string): boolean {
  const shown = shownOf(s.ran, caseID);
  const picture = shown && s.pictures.get(shown.id);
  return shown !== null && (picture?.manifest !== s.manifest || picture.flags !== s.flags);
}

export function Result(p: ResultProps) {
  const { ran } = p.state;
  return (
    <section class="result" aria-label="What is lost" data-answers={p.state.answers} data-drawn={p.state.drawn} data-stale={String(p.state.stale || behind(p.state, p.caseID))}>
      {ran ? <Verdict ran={ran} stale={p.state.stale} warned={(p.state.look?.warnings.length ?? 0) > 0} /> : <p class="verdict-line">{p.state.said ? "Nothing was simulated yet." : "Starting the simulator."}</p>}
      <Progress {...p} />
      <button type="button" class="to-knobs" onClick={() => document.getElementById("knobs-h")?.scrollIntoView()}>To the knobs</button>
      {ran?.head && <Tabs {...p} ran={ran} />}
    </section>
  );
}

function worst(ran: Ran): Case | undefined { return ran.record.cases[ran.order[0] ?? 0]; }

// runsOf is how many runs stand behind a verdict. The sentence of one without any loss says it, with its bound.
function runsOf(c: Case): string {
  if (c.runs.total === 0) return c.reason;
  return c.runs.withLoss > 0 ? `Something is lost in ${c.runs.withLoss} of ${count(c.runs.total, "run")}.` : "";
}

function Verdict({ ran, stale, warned }: { ran: Ran; stale: boolean; warned: boolean }) {
  const c = worst(ran);
  if (!ran.head) {
    return (
      <div class={stale ? "verdict-line stale" : "verdict-line"}>
        <h2><span class="verdict not-judged">{verdicts["not-judged"]!.toUpperCase()}</span> Nothing to judge: the manifest has no workload behind a Service, and no Scenario.</h2>
        <p>A workload is a Deployment, a StatefulSet or a DaemonSet. It is judged by the clients of a Service that selects its pods, so both have to be in the manifest.{warned && " The warnings below the editor may say what is amiss."}</p>
      </div>
    );
  }
  const { verdict } = ran.head;
  return (
    <div class={stale ? "verdict-line stale" : "verdict-line"}>
      <h2><span class={`verdict ${verdict}`}>{(verdicts[verdict] ?? verdict).toUpperCase()}</span> {ran.head.sentence}</h2>
      {c && runsOf(c) && <p class="runs">{runsOf(c)}</p>}
    </div>
  );
}

function Answers({ ran }: { ran: Ran }) {
  if (!ran.head || ran.head.answers.length === 0) return null;
  return <dl class="answers">{ran.head.answers.flatMap((a) => [<dt key={a.label}>{a.label}</dt>, <dd key={`${a.label}:`}>{a.words.map((w, i) => <span key={i}>{w}<br /></span>)}</dd>])}</dl>;
}

const words: Record<State["doing"], string> = {
  starting: "Starting the simulator \u2026", few: "Making a few runs \u2026", waiting: "From a few runs. More follow as soon as nothing changes.",
  all: "From a few runs. Making 100 or more, and trying what helps \u2026", done: "From all runs that the verdict needs.", faulty: "This is not run", stopped: "Stopped.", failed: "",
};

// sentence ends what was said with a full stop.
function sentence(s: string): string { return /[.!?]$/.test(s) ? s : `${s}.`; }

function Progress({ state, late, onStop, onAgain }: ResultProps) {
  const over = state.doing === "faulty" || state.doing === "failed";
  const busy = ["starting", "few", "all"].includes(state.doing);
  const errors = state.look?.errors.length ?? 0;
  const older = state.ran ? ` The result below is ${state.of === state.name ? "from before the change" : `of ${state.of}`}.` : "";
  const why = over ? `${state.said ? sentence(state.said) : `${count(errors, "error")} in the manifest, marked in the editor.`}${older}` : "";
  const said = state.doing === "done" && !state.ran?.head ? "" : words[state.doing]; // of nothing, nothing is said
  return (
    <div class={`progress ${state.doing}${over ? " wrong" : ""}`} role="status" aria-live="polite" data-doing={state.doing}>
      <p>{over ? <><b>{said}{said && ": "}</b>{why}</> : said}</p>
      {busy && late.seconds > 0 && <p class="late-run">This takes long: {late.seconds} s so far{late.far && `, ${late.far}`}. <button type="button" onClick={onStop}>Stop it</button></p>}
      {(state.doing === "stopped" || state.doing === "failed") && <button type="button" onClick={onAgain}>Run again</button>}
    </div>
  );
}

function Tabs(p: ResultProps & { ran: Ran }) {
  const names = Object.keys(tabs) as Tab[];
  const move = (e: KeyboardEvent) => {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    e.preventDefault();
    const next = names[(names.indexOf(p.tab) + by + names.length) % names.length]!;
    p.onTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Parts of the report" onKeyDown={move}>
        {names.map((t) => <button key={t} type="button" role="tab" id={`tab-${t}`} aria-selected={p.tab === t} aria-controls="panel" tabIndex={p.tab === t ? 0 : -1} onClick={() => p.onTab(t)}>{tabs[t]}</button>)}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${p.tab}`}><Panel {...p} /></div>
    </>
  );
}

function Panel(p: ResultProps & { ran: Ran }) {
  const { ran } = p;
  const { pictures, stale } = p.state;
  const page = useMemo((): Page => {
    const cases = ran.record.cases.map((c) => { const timeline = pictures.get(c.id)?.timeline; return timeline ? { ...c, timeline } : c; });
    return { result: { ...ran.record, cases }, order: ran.order, titles: ran.titles, replay: "", notes: ran.notes };
  }, [ran, pictures]);
  const drawn = useMemo(() => drawable(ran), [ran]);
  const at = page.result.cases.findIndex((c) => c.id === shownOf(ran, p.caseID)?.id);
  const c = page.result.cases[at];
  const onCase = (i: number) => { const id = page.result.cases[i]?.id; if (id) p.onCase(id); };
  switch (p.tab) {
    case "text": return <pre tabIndex={0} aria-label="the report as text">{ran.text}</pre>;
    case "helps": return <><Answers ran={ran} />{p.state.quick ? <p>What helps is tried with all runs.</p> : <Fixes page={page} {...(c ? { c } : {})} />}</>;
    case "cases": return <>{c && <Balancers page={page} c={c} />}<Cases page={page} drawn={drawn} at={at} onCase={(i) => { onCase(i); p.onTab("timeline"); }} /></>;
    case "assumed": return <Assumptions page={page} />;
    default: return c?.timeline ? <Drawing key={c.id} {...{ page, c, drawn, at, onCase }} onSpan={p.onSpan} {...(p.span ? { span: p.span } : {})} /> : <p>{c && !stale ? "Drawing one run \u2026" : "No run was made that could be drawn."}</p>;
  }
}

type DrawingProps = Pick<TimelinesProps, "page" | "c" | "drawn" | "at" | "onCase" | "span"> & { onSpan: (v: [number, number] | null) => void };

// Drawing is the picture of a case. It is gone through again only where something of it is another: most of what the page hears is not about it.
function Drawing({ page, c, drawn, at, onCase, onSpan, span }: DrawingProps) {
  const heard = useRef({ onCase, onSpan });
  heard.current = { onCase, onSpan };
  const titles = page.titles.join("\n");
  return useMemo(() => {
    const props: TimelinesProps = {
      page, c, title: page.titles[at] ?? c.id, drawn, at, alone: true, folded: true, ...(span ? { span } : {}),
      onCase: (i) => heard.current.onCase(i), onSpan: (v) => heard.current.onSpan(v),
    };
    return <Timelines {...props} />;
  }, [c.timeline, titles, at, drawn.join()]);
}
