// The page: the timeline of a case, before and with what helps, its paths and stories, the cases, the assumptions.

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { anywayOf, behindOf, endsWithMachine, Index, lostAt, lostOf, markOf, withoutServerOf, zeroOf, type Band, type Case, type Failure, type Fix, type Page, type Timeline, type Told } from "./data";
import { Figure, type Hover, type View } from "./figure";
import { everything, groups, opened, passes, type Filter, type Group } from "./lanes";
import { Paths } from "./paths";
import { Assumptions, Balancers, Cases, Fixes } from "./parts";
import { Tables } from "./tables";
import { count, relative, seconds, span as spanOf } from "./words";

export function App({ page }: { page: Page }) {
  const drawn = useMemo(() => page.order.filter((i) => page.result.cases[i]?.timeline), [page]);
  const [at, setAt] = useState(drawn[0] ?? -1);
  const c = page.result.cases[at];
  return (
    <>
      {c && <Balancers page={page} c={c} />}
      {c?.timeline
        ? <Timelines key={at} page={page} c={c} title={page.titles[at] ?? c.id} drawn={drawn} at={at} onCase={setAt} />
        : <section><h2>Timeline</h2><p>No run was made that could be drawn.</p></section>}
      <Fixes page={page} {...(c ? { c } : {})} />
      <Cases page={page} drawn={drawn} at={at} onCase={(i) => { setAt(i); document.getElementById("timeline")?.scrollIntoView(); }} />
      <Assumptions page={page} />
    </>
  );
}

// Picture is the timeline without all else, as a lesson has it.
export function Picture({ page }: { page: Page }) {
  const drawn = useMemo(() => page.order.filter((i) => page.result.cases[i]?.timeline), [page]);
  const [at, setAt] = useState(drawn[0] ?? -1);
  const c = page.result.cases[at];
  return c?.timeline ? <Timelines key={at} page={page} c={c} title={page.titles[at] ?? c.id} drawn={drawn} at={at} onCase={setAt} /> : null;
}

// fixOf is what helps a case, with the timeline of the same run.
function fixOf(page: Page, c: Case): { fix: Fix; timeline: Timeline } | null {
  for (const fix of page.result.fixes) {
    const timeline = fix.cases.find((x) => x.id === c.id)?.timeline;
    if (timeline) return { fix, timeline };
  }
  return null;
}

// bandView is a view of one band, with some time before and after. A pod that ended with its machine is deleted long after, when all is over.
function bandView(t: Timeline, b: Band): View {
  const times = [endsWithMachine(t, b) ? zeroOf(t, b.pod).at : b.deleted, b.told, b.from, b.to, ...t.failures.filter((f) => f.pod === b.pod).map((f) => markOf(t, f))].filter((v): v is number => v !== null);
  const from = Math.min(...times), to = Math.max(...times, from + 0.2);
  return [Math.max(0, from - (to - from) * 0.22), Math.min(t.end, to + (to - from) * 0.22)];
}
function bandIn(b: Band, v: View): boolean {
  const at = b.from ?? b.deleted;
  return at !== null && at >= v[0] && at <= v[1];
}

// lostBand is the view to begin with: the worst band, with some time before and after.
export function lostBand(t: Timeline, about: number): View {
  const b = t.bands.find((x) => x.pod === about);
  if (t.bands.length === 0 && t.failures.length === 0) return [Math.max(0, t.zero.at - 0.05 * t.end), t.end]; // nothing goes: that is so until the end
  const forsaken = t.failures.filter((f) => !f.without && f.pod < 0).length;
  const most = 2 * forsaken > t.failures.filter((f) => !f.without).length; // had no pod to go to: there is more to see than one pod's end
  if (b && !most && (b.lost > 0 || t.failures.length === 0)) return bandView(t, b);
  const times = [t.zero.at, ...t.failures.filter((f) => !f.without).map((f) => markOf(t, f))];
  const from = Math.min(...times), to = Math.max(...times, from + 0.2);
  const room = (to - from) * 0.22;
  return [Math.max(0, from - room), Math.min(t.end, to + room)];
}

// Place is where one is in a run, and what one looks at there.
interface Place {
  t: Timeline;
  about: number; // the pod that times count from
  view: View;
  now: number;
  selected: number; // of the failures, -1 for none
  moved: boolean; // the view is one that was asked for
}

// placeIn is where one begins: at the lost request that the text report tells of, if it is one of this run, else at the pod that lost most.
function placeIn(t: Timeline, told: Told | null, span?: View): Place {
  const at = toldIn(t, told), about = at < 0 ? t.zero.pod : aboutOf(t, t.failures[at]!);
  const zero = zeroAt(t, about), from = zeroAt(t, t.zero.pod); // a view counts from where it does whoever is looked at
  if (span) return { ...placeIn(t, told), view: [Math.max(0, from + span[0]), Math.max(0.002, Math.min(t.end, from + span[1]))], moved: true };
  const view = lostBand(t, about), first = t.failures[firstIn(t, view, told)];
  return { t, about, view, now: first ? markOf(t, first) : zero, selected: -1, moved: false };
}

// toldIn is the lost request that the text report tells of, -1 where it is none of those of a run.
function toldIn(t: Timeline, told: Told | null): number {
  if (!told || told.seed !== t.seed) return -1;
  return t.failures.findIndex((f) => f.number === told.number && t.clients[f.client]?.name === told.client && !f.without);
}

// aboutOf is the pod that times count from for who looks at a lost request.
function aboutOf(t: Timeline, f: Failure): number {
  return (countsFrom(t, f) ?? t.bands.find((b) => b.pod === f.pod))?.pod ?? t.zero.pod;
}

// firstIn is the lost request that the text report tells of, else the first of those that are in view, of the pod that times count from where
// it lost any; -1 where nothing is lost.
function firstIn(t: Timeline, [from, to]: View, told: Told | null): number {
  const its = toldIn(t, told);
  if (its >= 0 && markOf(t, t.failures[its]!) >= from && markOf(t, t.failures[its]!) <= to) return its;
  const within = (f: Failure) => !f.without && markOf(t, f) >= from && markOf(t, f) <= to;
  const marks = t.failures.map((f) => markOf(t, f));
  const first = (is: (f: Failure) => boolean) => t.failures.reduce((best, f, i) => (is(f) && (best < 0 || marks[i]! < marks[best]!) ? i : best), -1);
  const own = first((f) => within(f) && f.pod === t.zero.pod);
  const seen = own >= 0 ? own : first(within);
  return seen < 0 ? t.failures.findIndex((f) => !f.without) : seen;
}

// carried is the same place in another run of the case: as long before or after the deletion. A view that nobody asked for stays as wide
// as it was where what there is to see fits, so that one sees what a change does, and the picture does not jump.
function carried(p: Place, t: Timeline, told: Told | null): Place {
  const fresh = placeIn(t, told);
  const by = zeroAt(t, fresh.about) - zeroAt(p.t, p.about);
  const [from, to] = [p.view[0] + by, p.view[1] + by];
  const fits = fresh.view[0] >= from && fresh.view[1] <= to && fresh.view[1] - fresh.view[0] >= 0.4 * (to - from);
  return { ...fresh, view: p.moved || fits ? [from, to] : fresh.view, moved: p.moved };
}

function zeroAt(t: Timeline, about: number): number { return zeroOf(t, about).at; }

const speeds = [0.1, 1, 10];

export interface TimelinesProps {
  page: Page;
  c: Case;
  title: string;
  drawn: number[]; // of the cases, those with a timeline
  at: number; // of the cases, this one
  onCase: (i: number) => void;
  alone?: boolean; // without the same run with what helps, which is another picture as large
  folded?: boolean; // with less around it, and one lost request's story from the start
  span?: View; // the view to begin with, from the deletion on
  onSpan?: (v: View | null) => void; // hears of the view where it is one that was asked for
}

// Timelines are the picture of a case, and all that one can do with it. Another run of the same case may take its place.
export function Timelines({ page, c, title, drawn, at, onCase, alone = false, folded = false, span, onSpan }: TimelinesProps) {
  const t = c.timeline!, told = c.lostRequest ?? null;
  const fixed = useMemo(() => (alone ? null : fixOf(page, c)), [page, c, alone]);
  const index = useMemo(() => new Index(t), [t]);
  const after = useMemo(() => (fixed ? new Index(fixed.timeline) : null), [fixed]);
  const end = Math.max(t.end, fixed?.timeline.end ?? 0);
  const [stored, setStored] = useState<Place>(() => placeIn(t, told, span));
  const { about, view, now, selected, moved } = useMemo(() => (stored.t === t ? stored : carried(stored, t, told)), [stored, t, told]);
  const go = useCallback((change: Partial<Place>) => setStored((p) => ({ ...(p.t === t ? p : carried(p, t, told)), ...change })), [t, told]);
  const setAbout = (pod: number) => go({ about: pod });
  const setNow = (moment: number) => go({ now: moment });
  const { at: zero, what: zeroWhat } = useMemo(() => zeroOf(t, about), [t, about]);
  const other = useMemo(() => (after ? zeroOf(after.t, about) : t.zero), [after, about]);
  const shift = other.at - zero; // of the same run with what helps: both are seen from the same deletion
  const [pinned, setPinned] = useState(false);
  const setSelected = (i: number) => go({ selected: i });
  const [filter, setFilter] = useState<Filter>(everything);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const [toggled, setToggled] = useState<Record<string, boolean>>({});
  const [hover, setHover] = useState<Hover | null>(null);
  const [client, setClient] = useState(0);
  const [says, setSays] = useState("");
  const open = useCallback((list: Group[], which: string) => opened(list, (key) => toggled[`${which}${key}`]), [toggled]);
  const before = useMemo(() => open(groups(index, filter, about), "b"), [index, filter, open, about]);
  const withFix = useMemo(() => (after ? open(groups(after, filter, after.t.bands.some((b) => b.pod === about) ? about : after.t.zero.pod), "a") : []), [after, filter, open, about]);
  const failures = useMemo(() => {
    const all = t.failures.map((f, i) => (passes(f, index, filter) ? i : -1)).filter((i) => i >= 0);
    const caused = all.filter((i) => !t.failures[i]!.without);
    return caused.length > 0 ? caused : all; // what the action costs is what one goes through
  }, [t, index, filter]);

  const clamp = useCallback(([from, to]: View): View => {
    const size = Math.min(end, Math.max(0.002, to - from));
    const start = Math.min(end - size, Math.max(0, from));
    return [start, start + size];
  }, [end]);
  const look = useCallback((v: View) => {
    setHover(null); // what the mouse was at is elsewhere now
    go({ view: clamp(v), moved: true });
  }, [clamp, go]);
  const home = () => go({ view: clamp(lostBand(t, about)), moved: false });
  const zoomBy = (k: number) => {
    const pivot = now > view[0] && now < view[1] ? now : (view[0] + view[1]) / 2;
    look([pivot - (pivot - view[0]) * k, pivot + (view[1] - pivot) * k]);
  };
  const pan = (part: number) => look([view[0] + (view[1] - view[0]) * part, view[1] + (view[1] - view[0]) * part]);
  const show = (moment: number) => {
    setNow(moment);
    if (moment < view[0] || moment > view[1]) look([moment - (view[1] - view[0]) / 2, moment + (view[1] - view[0]) / 2]);
  };
  const select = (i: number) => {
    setSelected(i);
    setPlaying(false);
    setHover(null); // the story says it, and what was hovered over may be drawn anew
    const f = t.failures[i];
    if (!f) return;
    setPinned(true);
    setClient(f.client);
    const b = t.bands.find((x) => x.pod === f.pod);
    setAbout(aboutOf(t, f));
    if (b && !bandIn(b, view)) {
      look(bandView(t, b));
      setNow(index.marks[i]!);
    } else show(index.marks[i]!);
    setSays(`${f.without ? "A request that fails without the action, too" : `Lost request ${failures.indexOf(i) + 1} of ${failures.length}`}: ${f.outcome}, ${f.cause}. ${f.what}`);
  };
  const nextFailure = (d: number) => {
    if (failures.length === 0) return;
    const k = failures.indexOf(selected);
    if (k >= 0) return select(failures[(k + d + failures.length) % failures.length]!);
    const seen = failures.filter((i) => index.marks[i]! >= view[0] && index.marks[i]! <= view[1]); // begin with what is in view
    const from = seen.length > 0 ? seen : failures;
    select(from[d > 0 ? 0 : from.length - 1]!);
  };
  const step = (d: number) => {
    const list = index.moments;
    const next = d > 0 ? list.find((m) => m > now + 1e-7) : [...list].reverse().find((m) => m < now - 1e-7);
    if (next === undefined) return;
    setPinned(true);
    setPlaying(false);
    show(next);
    setSays(`${relative(next, zero)}: ${[...new Set(t.events.filter((e) => e.at === next).map((e) => e.what))].join("; ")}`);
  };
  const from = zeroAt(t, t.zero.pod);
  useEffect(() => onSpan?.(moved ? [view[0] - from, view[1] - from] : null), [moved, view, from]);
  usePlay(playing, speed, now, end, setNow, () => setPlaying(false));

  const lit = useMemo(() => {
    const out = new Map<number, number>();
    const f = t.failures[selected];
    if (f) index.story(f).forEach((l, k) => { if (l.event) out.set(l.event.number, k + 1); });
    return out;
  }, [t, index, selected]);

  const keys: Record<string, () => void> = {
    a: () => pan(-0.15), ArrowLeft: () => pan(-0.15), d: () => pan(0.15), ArrowRight: () => pan(0.15), w: () => zoomBy(0.8), ArrowUp: () => zoomBy(0.8), "+": () => zoomBy(0.8), "=": () => zoomBy(0.8),
    s: () => zoomBy(1.25), ArrowDown: () => zoomBy(1.25), "-": () => zoomBy(1.25), Home: () => look([0, end]), End: home, n: () => nextFailure(1), p: () => nextFailure(-1),
    ".": () => step(1), ",": () => step(-1), " ": () => { setPinned(true); setPlaying(!playing); }, Escape: () => { setSelected(-1); setPinned(false); setPlaying(false); },
  };
  const onKey = (e: KeyboardEvent) => {
    const on = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || /^(SELECT|INPUT|TEXTAREA|SUMMARY|A)$/.test(on.tagName) || (on.tagName === "BUTTON" && (e.key === " " || e.key === "Enter"))) return;
    const action = keys[e.key];
    if (!action) return;
    e.preventDefault();
    action();
  };
  const shared = {
    view, end, zero, zeroWhat, now, onView: look, onHover: setHover,
    onNow: (m: number, pin: boolean) => { if (pin) { setPinned(true); setPlaying(false); setHover(null); setNow(m); } else if (!pinned && !playing) setNow(m); },
  };
  const toggle = (k: string) => {
    const g = before.find((x) => x.key === k);
    setToggled({ ...toggled, [`b${k}`]: !isOpen(before, k) });
    const b = t.bands.find((x) => k === `pod-${x.pod}`);
    if (!b || g?.open) return;
    setAbout(b.pod);
    if (!bandIn(b, view)) look(bandView(t, b)); // what was opened is to be seen
  };
  const fixTitle = fixed?.fix.title ?? "";
  const filters = <Filters index={index} filter={filter} onFilter={(f) => { setFilter(f); setSelected(-1); }} />;
  const paths = (
        <div class="moment">
          <h3>{`Where connections go at ${relative(now, zero)}`}</h3>
          <div class="bar-of-tools">
            <span class="tools"><button type="button" aria-label="previous event" onClick={() => step(-1)}>{"\u25c0|"}</button>
              <button type="button" class="play" aria-pressed={playing} onClick={() => { setPinned(true); setPlaying(!playing); }}>{playing ? "Pause" : "Play"}</button>
              <button type="button" aria-label="next event" onClick={() => step(1)}>{"|\u25b6"}</button></span>
            <label>Speed <select value={String(speed)} onChange={(e) => setSpeed(Number((e.currentTarget as HTMLSelectElement).value))}>{speeds.map((s) => <option key={s} value={String(s)}>{s === 0.1 ? "1/10" : s}</option>)}</select></label>
            {t.clients.length > 1 && <label>Client <select value={String(client)} onChange={(e) => setClient(Number((e.currentTarget as HTMLSelectElement).value))}>{t.clients.map((x, i) => <option key={i} value={String(i)}>{x.name}</option>)}</select></label>}
            <label class="moment-slider">Moment <input type="range" min="0" max={String(end)} step="any" value={String(now)} aria-valuetext={relative(now, zero)} onInput={(e) => { setPinned(true); setPlaying(false); show(Number((e.currentTarget as HTMLInputElement).value)); }} /></label>
          </div>
          <Paths index={index} client={client} now={now} zero={zero} />
        </div>
  );
  return (
    <section id="timeline" aria-labelledby="timeline-h">
      <h2 id="timeline-h">What happens, and when</h2>
      <p class="lead">{lead(t)}{lostOf(t) > 0 && <span class="screen"> Click a cross to see how it came about.</span>}</p>
      <div class="bar-of-tools">
        {drawn.length > 1 && <label>Case <select value={String(at)} onChange={(e) => onCase(Number((e.currentTarget as HTMLSelectElement).value))}>{drawn.map((i) => <option key={i} value={String(i)}>{page.titles[i]}</option>)}</select></label>}
        <span class="tools"><button type="button" onClick={home}>{t.failures.length > 0 ? "Lost band" : t.zero.pod < 0 ? "The beginning" : "The deletion"}</button><button type="button" onClick={() => look([0, end])}>Whole run</button>
          <button type="button" aria-label="zoom in" onClick={() => zoomBy(0.6)}>+</button><button type="button" aria-label="zoom out" onClick={() => zoomBy(1 / 0.6)}>{"\u2212"}</button>
          <button type="button" aria-label="earlier" onClick={() => pan(-0.3)}>{"\u25c0"}</button><button type="button" aria-label="later" onClick={() => pan(0.3)}>{"\u25b6"}</button></span>
        <span class="tools"><button type="button" onClick={() => nextFailure(-1)} disabled={failures.length === 0}>Previous lost</button><button type="button" onClick={() => nextFailure(1)} disabled={failures.length === 0}>Next lost</button></span>
        {folded ? <details class="filters"><summary>Filter</summary><div class="bar-of-tools">{filters}</div></details> : filters}
        <span class="count">{failures.length === t.failures.filter((f) => !f.without || failures.some((i) => t.failures[i]!.without)).length ? "" : `${failures.length} of ${count(t.failures.length, "lost request")} shown`}</span>
      </div>
      <div class="stage" tabIndex={0} role="group" aria-label="Timeline. Keys: a and d or left and right move, w and s or up and down zoom, Home whole run, End lost band, n and p next and previous lost request, comma and period previous and next event, space plays, Escape clears." onKeyDown={onKey}>
        <div class={t.failures.length === 0 ? "with-story none" : "with-story"}>
          <div class="figures">
            <h3>{`${title}${behindOf(c) && `, behind ${behindOf(c)}`}: ${which(c, t)}seed ${t.seed}`}</h3>
            <Figure {...shared} id="before" title={title} index={index} groups={before} selected={selected} lit={lit} onSelect={select} onToggle={toggle} />
            {!folded && paths}
            {after && (
              <>
                <h3>{`The same run with ${fixTitle}`}</h3>
                <p class="lead">{lead(after.t)}</p>
                <Figure {...shared} id="after" zero={other.at} zeroWhat={other.what} now={now + shift} view={[view[0] + shift, view[1] + shift]} onView={([a, b]) => look([a - shift, b - shift])} onNow={(m, pin) => shared.onNow(m - shift, pin)} title={`with ${fixTitle}`} index={after} groups={withFix} selected={-1} lit={nothing} onSelect={() => undefined} onToggle={(k) => setToggled({ ...toggled, [`a${k}`]: !isOpen(withFix, k) })} />
              </>)}
          </div>
          <Side index={index} selected={selected >= 0 || !folded ? selected : firstIn(t, lostBand(t, about), told)} preview={folded && selected < 0} zero={zero} place={failures.indexOf(selected)} of={failures.length} onMoment={(m) => { setPinned(true); show(m); }} onClose={() => setSelected(-1)} />
        </div>
        {folded && <details class="more"><summary>Where connections go at each moment</summary>{paths}</details>}
        <p class="hint screen">Drag to move, wheel with Ctrl (or after a click) to zoom, drag over the strip above for a span, n and p for the next and previous lost request, Home for the whole run.</p>
        <p class="hint">{words(t)}</p>
      </div>
      <p class="visually-hidden" role="status" aria-live="polite">{says}</p>
      <Unhurried of={index}>{() => <Tables index={index} filter={filter} zero={zero} selected={selected} onSelect={select} />}</Unhurried>
      {t.leftOut.length > 0 && <p class="left-out">Left out for want of room: {t.leftOut.join("; ")}.</p>}
      {hover && <Tip hover={hover} />}
    </section>
  );
}

// words explains what the picture and its buttons call by a word.
function words(t: Timeline): string {
  return [
    t.bands.length > 0 ? "Who lets go of a pod sends it no new connections any more." : "",
    t.failures.length > 0 ? "A cross stands at the moment at which its request was sent, or at which it failed where its pod took connections when it was sent. The lost band is the time in which requests are lost; whose delay it is that they were still sent is told with each." : "",
  ].filter(Boolean).join(" ");
}

// which says which of its runs is drawn: what the report says of a case is about all of them.
function which(c: Case, t: Timeline): string {
  if (c.runs.total < 2) return "";
  return c.worstSeed === t.seed && lostOf(t) > 0 ? `the worst of ${c.runs.total} runs, ` : `one of ${c.runs.total} runs, `;
}

const nothing = new Map<number, number>();

// Unhurried is what is not looked at while something changes again and again: it follows a little later.
function Unhurried({ of, children }: { of: unknown; children: () => ComponentChildren }) {
  const [shown, setShown] = useState(of);
  const made = useRef<ComponentChildren>(null);
  useEffect(() => {
    if (shown === of) return;
    const later = setTimeout(() => setShown(of), 150);
    return () => clearTimeout(later);
  }, [of, shown]);
  if (shown === of) made.current = children();
  return <>{made.current}</>;
}

// isOpen says whether a group, or lanes that are alike, are open.
function isOpen(list: Group[], key: string): boolean {
  return list.find((g) => g.key === key)?.open ?? list.some((g) => g.rows.some((r) => r.folds?.key === key && r.folds.open));
}


// lead says in one sentence what is to be seen. What sessions lose is no number of requests.
function lead(t: Timeline): string {
  const dark = withoutServerOf(t);
  return `${dark > 0 ? `Sessions have no server for ${spanOf(dark)} in this run, the mean of all of them: most requests wait meanwhile and are answered late, ${lostOf(t) > 0 ? `and ${count(lostOf(t), "request is", "requests are")} lost` : "and none is lost"}. ` : ""}${ofRequests(t)}`;
}

function ofRequests(t: Timeline): string {
  const lost = lostOf(t);
  const anyway = anywayOf(t) > 0 ? " A hollow ring is a request that fails without the action, too." : "";
  if (t.clients.length === 0) return "No client is simulated here, so there is no request that could be lost: this is what becomes of the pods.";
  const worst = [...t.bands].filter((b) => b.from !== null && b.to !== null).sort((a, b) => b.lost - a.lost)[0];
  if (lost === 0) {
    const tight = [...t.bands].filter((b) => b.from !== null && b.to !== null && b.nodes.length > 0).sort((a, b) => a.from! - a.to! - (b.from! - b.to!))[0];
    const left = t.pods.find((p) => p.phases[p.phases.length - 1]?.is === "pending" && p.gone === null && heldUp(t) === "");
    const pending = left ? ` ${left.called} is pending until the end.` : "";
    if (!tight) return `Nothing was lost${t.bands.length > 0 ? "" : `: ${heldUp(t)}no pod goes`}.${pending}${anyway}`;
    const margin = tight.from! - tight.to!;
    return margin > 0 ? `Nothing was lost: ${lastOne(tight)} lets go of each pod at least ${seconds(margin)} before it closes.${pending}` : `Nothing was lost, by chance: ${tight.last} uses a closed pod for ${seconds(-margin)}, and nobody asked.${pending}`;
  }
  const { kind, all } = mostLost(t);
  const they = all ? "They" : "Most";
  const why = {
    late: lateWords(t, all), ended: endedWords(worst, all), cut: `${they} were under way to a pod, or over connections that it already had, and were cut before the pod ended.`,
    hung: `${they} went over connections to a machine that is gone.`, machine: `${they} were sent to a node that is gone.`, nowhere: `${they} came where there was no pod to send to.`,
    local: `${they} came to a node that had no pod of its own to send to.`,
    untargeted: `${they} came while ${t.targets[0]?.balancer ?? "the load balancer"} had no target to send to.`, early: `${they} were sent to a pod before it listened.`, other: "",
  }[kind];
  return ["Each cross is a lost request.", why].filter(Boolean).join(" ") + anyway;
}

// heldUp is what keeps pods from going, where that can be seen; "" where it cannot.
function heldUp(t: Timeline): string {
  if (t.pods.some((p) => p.marks.some((m) => m.kind === "eviction-refused"))) return "the eviction of a pod is refused, and ";
  const waits = t.pods.find((p) => p.marks.filter((m) => m.kind === "volume").pop()?.ok === false);
  return waits ? `${waits.called} waits for its volume, and ` : "";
}

// Kind is when a request was lost: sent to a pod that had closed, or did not listen yet; under way when its pod ended, or when it was cut before;
// over a connection to a machine that is gone, or sent to one; where no pod was, or the load balancer had no target.
type Kind = "late" | "early" | "ended" | "cut" | "hung" | "machine" | "nowhere" | "local" | "untargeted" | "other";

// lateCauses are those of requests that are still sent to a pod that accepts nothing any more, however long ago they were first tried.
const lateCauses = ["stale-rules", "stale-lb", "stale-dns", "listener-closed"];

function kindOf(t: Timeline, f: Failure): Kind {
  if (f.node >= 0 && lostAt(t.nodes.find((n) => n.index === f.node), f.end)) return "machine";
  if (f.pod < 0) return f.cause === "no-healthy-target" ? "untargeted" : f.cause === "no-local-endpoint" ? "local" : "nowhere";
  if (f.cause === "not-listening-yet") return "early";
  if (f.cause === "node-gone" && f.actor === "spec") return "hung";
  const b = t.bands.find((x) => x.pod === f.pod);
  if (!b || b.from === null) return "other";
  const used = b.to === null || b.to > b.from; // after it has closed
  if (used && (f.at >= b.from || f.cause === "node-gone" || lateCauses.includes(f.cause))) return "late";
  return f.end < b.from - 1e-6 ? "cut" : "ended";
}

// mostLost is how most requests of a run were lost.
function mostLost(t: Timeline): { kind: Kind; all: boolean } {
  const counts: Record<Kind, number> = { late: 0, early: 0, ended: 0, cut: 0, hung: 0, machine: 0, nowhere: 0, local: 0, untargeted: 0, other: 0 };
  const caused = t.failures.filter((f) => !f.without);
  for (const f of caused) counts[kindOf(t, f)]++;
  const kind = (Object.keys(counts) as Kind[]).reduce((a, b) => (counts[b] > counts[a] ? b : a));
  return counts[kind] * 2 >= caused.length ? { kind, all: counts[kind] === caused.length } : { kind: "other", all: false };
}

// lateWords are of the pod that is used longest after it has closed, of those that lost something.
function lateWords(t: Timeline, all: boolean): string {
  const longest = t.bands.filter((b) => b.from !== null && b.to !== null && b.lost > 0).sort((a, b) => b.to! - b.from! - (a.to! - a.from!))[0];
  if (!longest) return "";
  const balanced = longest.nodes.some((n) => n.node < 0), by = longest.nodes.find((n) => n.name === longest.last)?.node === -1 ? "by" : "on";
  const closes = endsWithMachine(t, longest) ? "a pod is gone with its machine" : "a pod accepts no connections any more";
  return `${all ? "They" : "Most"} are lost between the moment at which ${closes} and the moment at which the last ${balanced ? "node, or load balancer, lets" : "node's rules let"} go of it: up to ${seconds(longest.to! - longest.from!)}, ${by} ${longest.last}.`;
}

// lastOne is who lets go of a pod last.
function lastOne(b: Band): string {
  const balancers = b.nodes.filter((n) => n.node < 0).length;
  return balancers === 0 ? "the last node" : balancers === b.nodes.length ? "the load balancer" : "the last node, or load balancer,";
}

function endedWords(worst: Band | undefined, all: boolean): string {
  const early = worst ? worst.from! - worst.to! : 0;
  return `${all ? "They" : "Most"} were under way to a pod, or over connections that it already had, when it ended${early > 0 ? `: ${lastOne(worst!)} lets go of it ${seconds(early)} before it closes` : ""}.`;
}

function usePlay(playing: boolean, speed: number, now: number, end: number, setNow: (t: number) => void, stop: () => void) {
  const at = useRef(now);
  at.current = now;
  useEffect(() => {
    if (!playing) return;
    let last = performance.now();
    let frame = requestAnimationFrame(function tick(t) {
      const next = at.current + ((t - last) / 1000) * speed;
      last = t;
      if (next >= end) {
        setNow(end);
        stop();
        return;
      }
      setNow(next);
      frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, speed, end]);
}

function Filters({ index, filter, onFilter }: { index: Index; filter: Filter; onFilter: (f: Filter) => void }) {
  const values = useMemo(() => {
    const caused = index.t.failures.filter((f) => !f.without);
    const sorted = (list: string[]) => [...new Set(list)].filter(Boolean).sort();
    return {
      workload: sorted(index.t.pods.map((p) => p.workload)), node: sorted([...index.names.values()]),
      cause: sorted(caused.map((f) => f.cause)), actor: sorted(caused.map((f) => f.actor)),
    };
  }, [index]);
  const labels: Record<keyof Filter, string> = { workload: "Workload", node: "Node", cause: "Cause", actor: "Whose delay" };
  return (
    <>{(Object.keys(labels) as (keyof Filter)[]).filter((k) => values[k].length > 1).map((k) => (
      <label key={k}>{labels[k]} <select value={filter[k]} onChange={(e) => onFilter({ ...filter, [k]: (e.currentTarget as HTMLSelectElement).value })}>
        <option value="">all</option>{values[k].map((v) => <option key={v} value={v}>{v}</option>)}
      </select></label>))}</>
  );
}

// countsFrom is the pod whose deletion the story of a request counts from: the picture does so, too, for one clock is enough.
function countsFrom(t: Timeline, f: Failure): Band | undefined {
  const deleted = t.bands.filter((b) => b.deleted !== null && Math.abs(b.deleted - f.zero) < 1e-6);
  return deleted.find((x) => x.pod === f.pod) ?? deleted[0];
}

// Side is the story of the lost request that was chosen.
function Side({ index, selected, preview, zero, place, of, onMoment, onClose }: { index: Index; selected: number; preview: boolean; zero: number; place: number; of: number; onMoment: (m: number) => void; onClose: () => void }) {
  const f = index.t.failures[selected];
  if (!f) {
    return index.t.failures.length === 0 ? null : <aside class="side empty" aria-label="Story of a lost request"><h3>How a request was lost</h3><p>Click a cross, or press n.</p></aside>;
  }
  // what rules said when they were still to be replaced: since when they did is no part of the story
  const long = (l: { at: number; event: { kind: string } | null }) => l.event?.kind === "rules" && l.at < zero;
  return (
    <aside class="side" aria-label="Story of a lost request">
      <h3>{preview ? "How one of them was lost" : f.without ? "Fails without the action, too" : `Lost request ${place + 1} of ${of}`}</h3>
      <p><b>{f.outcome}</b>, {index.client(f.client)}, request {f.number}<br />{f.without ? "In the same run without the action this request fails, too, or another in its place: it is no loss of the action. Here: " : ""}{f.cause}{f.actor === "spec" ? "" : `, ${f.actor}`}{f.elsewhere ? "; another ready pod could have answered" : ""}</p>
      <ol class="story">
        {index.story(f).map((l, k) => (
          <li key={k} class={l.event === null ? "own" : l.blamed ? "blamed" : ""}>
            <button type="button" class="link" title={relative(l.at, zero)} onClick={() => onMoment(l.at)}>{long(l) ? "before" : relative(l.at, zero)}</button> {l.what}
            {l.event?.source && <span class="source"> {l.event.source.file}:{l.event.source.line}</span>}
          </li>))}
      </ol>
      {f.like >= 0 && <p class="small">The story is that of a request that failed alike.</p>}
      {!preview && <button type="button" onClick={onClose}>Close</button>}
    </aside>
  );
}

function Tip({ hover }: { hover: Hover }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const e = ref.current;
    if (!e) return;
    e.style.left = `${Math.max(4, Math.min(window.innerWidth - e.offsetWidth - 8, hover.x + 14))}px`;
    e.style.top = `${hover.y + 18 + e.offsetHeight > window.innerHeight ? hover.y - e.offsetHeight - 10 : hover.y + 18}px`;
  });
  return <div class="tip" ref={ref} aria-hidden="true">{hover.lines.map((l, i) => <div key={i}>{l}</div>)}</div>;
}
