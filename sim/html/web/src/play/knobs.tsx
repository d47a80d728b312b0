// The knobs: what the manifest says of a workload as sliders, and the choices that stand in no manifest.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Flags, Knob, Option } from "./contract";
import { keyOf } from "./session";

interface KnobsProps {
  knobs: Knob[]; first: Map<string, Knob>; choices: Record<string, Option[]>; inForce: Record<string, string>; flags: Flags; hint: string;
  onTurn: (k: Knob, value: number) => void; onChoose: (flag: string, value: string | string[]) => void; onReset: () => void; changed: boolean;
  readable: boolean; // the manifest could be read
}

export function Knobs(p: KnobsProps) {
  const workloads = [...new Set(p.knobs.map((k) => k.workload))].filter(Boolean);
  const [picked, setPicked] = useState("");
  const workload = workloads.includes(picked) ? picked : workloads[0];
  const slider = (k: Knob) => <Slider key={keyOf(k)} k={k} first={p.first.get(keyOf(k))} onTurn={(v) => p.onTurn(k, v)} />;
  return (
    <section class="knobs" aria-labelledby="knobs-h">
      <h2 id="knobs-h">Knobs</h2>
      {p.hint && <p class="drag-first">{p.hint}</p>}
      {workloads.length > 1 && (
        <label class="choice">Workload <select value={workload ?? ""} onChange={(e) => setPicked(e.currentTarget.value)}>{workloads.map((w) => <option key={w} value={w}>{w}</option>)}</select></label>)}
      {p.knobs.filter((k) => k.workload && k.workload === workload).map(slider)}
      {workloads.length === 0 && <p class="small">{p.readable ? "The manifest has no workload that is judged, and so no knob of one." : "The knobs come as soon as the manifest can be read."}</p>}
      <div class="choices">
        {p.knobs.filter((k) => !k.workload).map(slider)}
        {order.flatMap((flag) => { const all = p.choices[flag]; return all ? [<Chooser key={flag} flag={flag} all={all} inForce={p.inForce[flag] ?? ""} value={[p.flags[flag] ?? ""].flat().join(",")} onChoose={p.onChoose} />] : []; })}
      </div>
      <button type="button" class="reset" disabled={!p.changed} onClick={p.onReset}>Reset</button>
    </section>
  );
}

const order = ["action", "env", "lb", "kubernetes-version", "profile"];
const labels: Record<string, string> = { env: "Cluster", lb: "Load balancer", action: "What is done", "kubernetes-version": "Kubernetes version", profile: "At SIGTERM the app" };
const unsaid: Record<string, string> = { env: "as the manifest says", action: "rollout and drain", profile: "does what its image does" };

// Chooser is a flag with the values that it takes; the first is not to give it.
function Chooser({ flag, all, inForce, value, onChoose }: { flag: string; all: Option[]; inForce: string; value: string; onChoose: KnobsProps["onChoose"] }) {
  const others = all.filter((o) => value !== "" || o.value !== inForce);
  return (
    <label class="choice">{labels[flag] ?? flag} <select name={flag} value={value} onChange={(e) => { const v = e.currentTarget.value; onChoose(flag, flag === "action" ? v.split(",").filter(Boolean) : v); }}>
      <option value="">{value === "" && inForce ? named(all, inForce) : unsaid[flag] ?? "default"}</option>
      {value !== "" && !all.some((o) => o.value === value) && <option value={value}>{value}</option>}
      {others.map((o) => <option key={o.value} value={o.value}>{named(all, o.value)}</option>)}
    </select></label>
  );
}

function named(all: Option[], value: string): string {
  const words = all.find((o) => o.value === value)?.words;
  return words ? `${value}: ${words}` : value;
}

const names: Record<string, string> = {
  prestop: "preStop sleep", grace: "grace period", "readiness.periodSeconds": "readiness period", "readiness.failureThreshold": "readiness failures",
  "nodes.proxy.minSyncPeriod": "minSyncPeriod", start: "start of the app",
};

// numberOf is a value in the unit of its knob; NaN for one that is not of its scale.
function numberOf(value: string, unit: string): number {
  if (unit !== "s" && unit !== "ms") return Number.parseFloat(value);
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)];
  const seconds = parts.reduce((sum, [, n, u]) => sum + Number(n) * ({ h: 3600, m: 60, s: 1, ms: 0.001 })[u as "h"]!, 0);
  return parts.length === 0 ? Number.NaN : unit === "s" ? seconds : seconds * 1000;
}

// Slider is a knob by mouse, by keyboard and by typing, with a mark at what the manifest said when it was opened.
function Slider({ k, first, onTurn }: { k: Knob; first: Knob | undefined; onTurn: (v: number) => void }) {
  const said = numberOf(k.value, k.unit);
  const [hand, setHand] = useState<{ k: Knob; value: number } | null>(null); // what was turned since the manifest was looked at
  const value = hand?.k === k ? hand.value : said;
  const [typed, setTyped] = useState<string | null>(null);
  const was = first ? numberOf(first.value, first.unit) : Number.NaN;
  const known = Number.isFinite(value);
  const max = Math.max(k.max, known ? value : 0);
  const min = k.min % k.step === 0 ? k.min : 0; // a slider counts its steps from there
  const turn = (v: number) => {
    if (!Number.isFinite(v)) return;
    const next = Math.max(k.min, Math.round(v));
    setHand({ k, value: next });
    onTurn(next);
  };
  const id = `knob-${k.knob}`, name = names[k.knob] ?? k.knob;
  const shown = known ? `${value} ${k.unit}`.trim() : "not said";
  return (
    <div class={`knob${Number.isFinite(was) && was !== value ? " turned" : ""}`} data-knob={k.knob}>
      <label for={id} title={k.words}>{name}</label>
      <span class="typed"><input type="number" aria-label={`${name}, ${k.unit === "s" ? "seconds" : k.unit || "number"}`} min={k.min} step={1} value={typed ?? (known ? String(value) : "")}
        onInput={(e) => { setTyped(e.currentTarget.value); turn(e.currentTarget.valueAsNumber); }} onBlur={() => setTyped(null)} /><span class="unit">{k.unit}</span></span>
      <span class="track">
        <input id={id} type="range" min={min} max={max} step={known && value % k.step !== 0 ? "any" : k.step} value={known ? value : min} aria-valuetext={shown} title={k.words} onInput={(e) => turn(e.currentTarget.valueAsNumber)} />
        {Number.isFinite(was) && <Mark part={(was - min) / Math.max(1e-9, max - min)} />}
      </span>
      {k.written && !known && <span class="was">{k.line > 0 ? `line ${k.line}` : "the manifest"} says it in a way that is no number: a value replaces that</span>}
      {Number.isFinite(was) && was !== value && <button type="button" class="link was" onClick={() => { setTyped(null); setHand({ k, value: was }); onTurn(was); }}>{`was ${`${was} ${k.unit}`.trim()}`}</button>}
    </div>
  );
}

// Mark is where a slider stood at first. Its place is set by script: the page's policy allows no style in markup.
function Mark({ part }: { part: number }) {
  const ref = useRef<HTMLSpanElement>(null);
  useEffect(() => { ref.current?.style.setProperty("--part", String(Math.min(1, Math.max(0, part)))); }, [part]);
  return <span class="mark" ref={ref} aria-hidden="true" />;
}
