// The page: the manifest, the knobs, what is lost.

import { useEffect, useRef, useState } from "preact/hooks";
import { command } from "./command";
import { editorIn, type Editor } from "./editor";
import { Knobs } from "./knobs";
import type { Fault } from "./contract";
import { asFile, fromFile, mostLink, mostText, nameOf, packed, unpacked, type Shared, type SharedView } from "./link";
import { Result, isTab, type Tab } from "./result";
import { Session, type State } from "./session";
import type { Lane } from "./engine";

export interface Start { version: string; shared: Shared; first: boolean; complaint: string }

const none = { seconds: 0, far: "" };
const longRun = 5000; // milliseconds after which a run is said to take long

export function Play({ start, quick, full }: { start: Start; quick: Lane; full: Lane }) {
  const session = useRef<Session | null>(null);
  const editor = useRef<Editor | null>(null);
  const host = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<State | null>(null);
  const [origin, setOrigin] = useState(start.shared);
  const [notice, setNotice] = useState(start.complaint);
  const [example, setExample] = useState(start.first);
  const [view, setView] = useState<SharedView>(start.shared.view);
  const [late, setLate] = useState(none);
  const span = useRef<[number, number] | null>(start.shared.view.span ?? null);

  useEffect(() => {
    const { name, manifest, flags } = start.shared;
    const s = new Session(start.version, name, manifest, flags, quick, full, setState, (text) => editor.current?.set(text));
    session.current = s;
    editor.current = editorIn(host.current!, manifest, (text) => { setExample(false); s.type(text); });
    setState(s.state);
    s.again();
    const ticking = setInterval(() => {
      const for_ = s.busySince() ? performance.now() - s.busySince() : 0;
      setLate(for_ > longRun ? { seconds: Math.round(for_ / 1000), far: s.far() } : none);
    }, 500);
    return () => clearInterval(ticking);
  }, []);
  useEffect(() => session.current?.see(view.case ?? ""), [view.case]);
  useEffect(() => { if (state?.look) editor.current?.faults(state.look.errors, state.look.warnings); }, [state?.look]);

  const opened = (shared: Shared, says: string) => {
    setOrigin(shared);
    setView(shared.view);
    span.current = shared.view.span ?? null;
    setExample(false);
    setNotice(says);
    session.current?.open(shared.name, shared.manifest, shared.flags);
  };
  // Another address is another manifest. Back and forward find what was there, with what was changed in it.
  const left = useRef(new Map<string, Shared>());
  const here = useRef(location.hash);
  const shown = (): Shared => {
    const { name, manifest, flags } = state ?? start.shared;
    return { name, manifest, flags, view: { ...view, ...(span.current ? { span: span.current } : {}) } };
  };
  const now = useRef(shown);
  now.current = shown;
  useEffect(() => {
    const onHash = async () => {
      left.current.set(here.current, now.current());
      here.current = location.hash;
      const was = left.current.get(location.hash);
      if (was) return opened(was, "");
      if (location.hash.length < 2) return;
      try {
        opened(await unpacked(location.hash.slice(1)), "");
      } catch (why) {
        setNotice((why as Error).message);
      }
    };
    const heard = () => void onHash();
    addEventListener("hashchange", heard);
    return () => removeEventListener("hashchange", heard);
  }, []);
  const openFile = async (file: File | undefined) => {
    if (!file) return;
    try {
      if (file.size > 4_000_000) throw new Error("The file has more than 1 MB: a manifest may not.");
      const { manifest, flags } = fromFile(await file.text());
      opened({ name: nameOf(file.name), manifest, flags: flags ?? session.current?.state.flags ?? {}, view: {} }, `${nameOf(file.name)} is open. It did not leave this browser.`);
    } catch (why) {
      setNotice((why as Error).message);
    }
  };

  const s = session.current;
  const tab: Tab = isTab(view.tab) ? view.tab : "timeline";
  const changed = state !== null && (state.manifest !== origin.manifest || JSON.stringify(state.flags) !== JSON.stringify(origin.flags));
  const errors = state?.look?.errors ?? [], warnings = state?.look?.warnings ?? [];
  return (
    <div class="play">
      <header>
        <h1>lameduck: what a rollout does to traffic</h1>
        <Tools state={state} view={() => shown().view} onFile={openFile} onNotice={setNotice} onLink={() => { here.current = location.hash; }} />
      </header>
      {notice && <p class="notice" role="alert">{notice} <button type="button" class="link" onClick={() => setNotice("")}>Close</button></p>}
      <main>
        <section class="manifest" aria-labelledby="manifest-h" onDragOverCapture={(e) => { if (e.dataTransfer?.types.includes("Files")) e.preventDefault(); }}
          onDropCapture={(e) => { const file = e.dataTransfer?.files[0]; if (file) { e.preventDefault(); e.stopPropagation(); void openFile(file); } }}>
          <h2 id="manifest-h">{state?.name ?? start.shared.name}</h2>
          <div class="editor" ref={host} />
          <Faults list={errors} name="Errors of the manifest" onLine={(n) => editor.current?.line(n)} />
          <Faults list={warnings} name="Warnings: these stop nothing" onLine={(n) => editor.current?.line(n)} />
          <p class="small">Edit it, paste yours, or drop a file here. Nothing leaves this browser.</p>
        </section>
        {state && <Knobs knobs={state.look?.knobs ?? []} first={state.first} choices={state.look?.choices ?? {}} inForce={state.look?.inForce ?? {}} flags={state.flags} changed={changed} readable={state.look !== null && errors.length === 0 && !state.look.refused} hint={example && state.look ? hint(state) : ""}
          onTurn={(k, v) => s?.turn(k.workload, k.knob, `${v}${k.unit}`)} onChoose={(f, v) => s?.choose(f, v)} onReset={() => { setNotice(""); setExample(start.first && origin === start.shared); s?.open(origin.name, origin.manifest, origin.flags); }} />}
        {state && <Result state={state} tab={tab} caseID={view.case ?? ""} late={late} span={view.span} onTab={(t) => setView((v) => ({ ...v, tab: t }))}
          onCase={(id) => setView(({ span: _, ...v }) => ({ ...v, case: id }))} onSpan={(v) => { span.current = v; }} onStop={() => s?.stop()} onAgain={() => s?.again()} />}
      </main>
    </div>
  );
}

// Faults are what is wrong with the manifest, each a way to its line.
function Faults({ list, name, onLine }: { list: Fault[]; name: string; onLine: (n: number) => void }) {
  if (list.length === 0) return null;
  const most = 20, warns = !name.startsWith("Errors");
  return (
    <ul class={warns ? "faults warnings" : "faults"} aria-label={name}>
      {list.slice(0, most).map((f, i) => <li key={i}>{f.line > 0 && <button type="button" class="link" onClick={() => onLine(f.line)}>line {f.line}</button>} {warns && <b>warning: </b>}{f.text}</li>)}
      {list.length > most && <li>and {list.length - most} more</li>}
    </ul>
  );
}

// hint is what to do first with the example.
function hint(state: State): string {
  const actions = state.flags.action ?? [];
  if (["crash", "reboot", "shutdown", "spot"].some((a) => actions.includes(a))) return "No preStop runs on a machine that is gone: see what more replicas change.";
  return state.ran?.head?.verdict === "holds" && !state.stale ? "Nothing is lost now. Try the other knobs, or paste a manifest of yours." : "Drag preStop until nothing is lost.";
}

function Tools({ state, view, onFile, onNotice, onLink }: { state: State | null; view: () => SharedView; onFile: (f: File | undefined) => void; onNotice: (s: string) => void; onLink: () => void }) {
  const file = useRef<HTMLInputElement>(null);
  const [link, setLink] = useState("");
  if (!state) return null;
  const { name, manifest, flags } = state;
  const said = command(name, flags);
  const share = async () => {
    if (manifest.length > mostText) return onNotice("The manifest has more than 1 MB: this page does not read one as large, also not from a link.");
    const fragment = await packed({ name, manifest, flags, view: view() });
    const url = `${location.href.split("#")[0]}#${fragment}`;
    if (url.length > mostLink) {
      setLink("");
      onNotice(`The link would have ${Math.ceil(url.length / 1000)} kB, and many programs cut one that long. Download the manifest instead: the choices are in its first line, and opening it here restores them.`);
      return;
    }
    history.replaceState(null, "", `#${fragment}`);
    onLink();
    setLink(url);
  };
  return (
    <div class="tools-of-play">
      <button type="button" onClick={() => file.current?.click()}>Open a file</button>
      <input ref={file} type="file" accept=".yaml,.yml,.json,text/*" hidden aria-label="a manifest" onChange={(e) => { onFile(e.currentTarget.files?.[0]); e.currentTarget.value = ""; }} />
      <button type="button" onClick={() => download(name, asFile(manifest, flags))}>Download</button>
      <button type="button" onClick={() => void share()}>Share by link</button>
      {link && <span class="copied"><input readOnly aria-label="the link" value={link} onFocus={(e) => e.currentTarget.select()} /><Copy text={link} what="link" /></span>}
      <span class="copied command"><code>{said}</code><Copy text={said} what="command" /></span>
    </div>
  );
}

function Copy({ text, what }: { text: string; what: string }) {
  const [said, setSaid] = useState("");
  const copy = () => navigator.clipboard.writeText(text).then(() => setSaid("Copied"), () => setSaid("Select it, and copy by hand"));
  useEffect(() => { const t = setTimeout(() => setSaid(""), 2000); return () => clearTimeout(t); }, [said]);
  return <button type="button" onClick={() => void copy()}>{said || `Copy ${what}`}</button>;
}

function download(name: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

