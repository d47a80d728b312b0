// What the page is about: a manifest, choices, and what the simulator said of them last. Few runs answer each change at once; all of them
// follow where nothing is changed for a while. The newest question alone counts.

import type { Flags, Knob, Look, Ran } from "./contract";
import { Dropped, Lane } from "./engine";
import { mostText } from "./link";

export type Doing = "starting" | "few" | "waiting" | "all" | "done" | "faulty" | "stopped" | "failed";

export interface State {
  name: string;
  manifest: string;
  flags: Flags;
  look: Look | null;
  ran: Ran | null; // the newest answer there is
  quick: boolean; // it is one of few runs
  stale: boolean; // it is of another manifest than this one
  doing: Doing;
  said: string; // why nothing more comes: a refusal, a failure
  first: Map<string, Knob>; // the knobs as they were when the manifest was opened
  answers: number; // that came so far
  of: string; // the name of what the newest answer is of
}

export const keyOf = (k: { workload: string; knob: string }) => `${k.workload}/${k.knob}`;
const tooLong = "the manifest has more than 1 MB, which is as much as a page reads: run it with lameduck sim -f";
const idle = 350; // milliseconds without a change until all runs are made

export class Session {
  state: State;
  private readonly turns = new Map<string, { workload: string; knob: string; value: string }>();
  private dirty = false;
  private typed = true; // since the manifest was looked at last
  private pumping = false;
  private timer = 0;
  private opened = true; // the next look is the first of this manifest

  constructor(private readonly version: string, name: string, manifest: string, flags: Flags, private readonly quick: Lane, private readonly full: Lane,
    private readonly onState: (s: State) => void, private readonly onManifest: (text: string) => void) {
    this.state = { name, manifest, flags, look: null, ran: null, quick: true, stale: false, doing: "starting", said: "", first: new Map(), answers: 0, of: name };
  }

  private put(change: Partial<State>) {
    this.state = { ...this.state, ...change };
    this.onState(this.state);
  }

  private about() { return { manifest: this.state.manifest, name: this.state.name, version: this.version }; }

  // busySince is when the question began that is being answered; 0 where there is none.
  busySince(): number { return this.quick.since || this.full.since; }
  // far is how far that is, in words.
  far(): string { return this.quick.since ? this.quick.far : this.full.far; }

  open(name: string, manifest: string, flags: Flags) {
    this.turns.clear();
    this.opened = true;
    this.put({ name, manifest, flags, look: null, stale: true });
    this.onManifest(manifest);
    this.ask(true);
  }
  type(manifest: string) {
    this.put({ manifest, stale: true });
    this.ask(true);
  }
  choose(flag: string, value: string | string[]) {
    const flags = { ...this.state.flags };
    if (value.length > 0) flags[flag] = value; else delete flags[flag];
    this.put({ flags, stale: true });
    this.ask(true);
  }
  // turn writes a knob's value into the manifest, or into --set, where it is no field of a workload.
  turn(workload: string, knob: string, value: string) {
    if (workload === "") return this.choose("set", [...[this.state.flags.set ?? []].flat().filter((s) => !s.startsWith(`${knob}=`)), `${knob}=${value}`]);
    this.turns.set(keyOf({ workload, knob }), { workload, knob, value });
    this.ask(false);
  }
  stop() {
    clearTimeout(this.timer);
    this.quick.stop();
    this.full.stop();
    this.put({ doing: "stopped", said: "" });
  }
  again() { this.ask(true); }

  private ask(typed: boolean) {
    this.typed ||= typed;
    this.dirty = true;
    clearTimeout(this.timer);
    if (this.full.since) this.full.stop();
    if (!this.pumping) void this.pump();
  }

  private async pump() {
    this.pumping = true;
    try {
      while (this.dirty) {
        this.dirty = false;
        await this.round();
      }
      if (this.state.doing === "waiting") this.timer = setTimeout(() => void this.refine(), idle);
    } catch (why) {
      this.dirty = false;
      if (!(why instanceof Dropped)) this.put({ doing: "failed", said: (why as Error).message });
    } finally {
      this.pumping = false;
    }
  }

  private async round() {
    this.put({ doing: this.state.ran ? "few" : "starting", said: "" });
    if (this.state.manifest.length > mostText) return this.put({ doing: "faulty", said: tooLong });
    if (!await this.turned()) return;
    if (this.typed && !await this.looked()) return;
    this.put({ doing: "few" });
    const asked = this.state;
    const ran = await this.quick.ask("run", { ...this.about(), flags: asked.flags, quick: true });
    this.answered(ran, true, asked);
    if (!this.typed && !this.dirty) await this.looked();
  }

  // turned writes the knobs' values into the manifest. What was typed meanwhile is not lost: the value is written into that, then.
  private async turned(): Promise<boolean> {
    while (this.turns.size > 0) {
      const [key, t] = this.turns.entries().next().value!;
      this.turns.delete(key);
      const before = this.state.manifest;
      const got = await this.quick.ask("turn", { ...this.about(), ...t });
      if (this.state.manifest !== before) {
        if (!this.turns.has(key)) this.turns.set(key, t);
        continue;
      }
      if (got.refused) {
        if (this.state.look) this.put({ look: { ...this.state.look, knobs: this.state.look.knobs.map((k) => ({ ...k })) } }); // back to what the manifest says
        this.put({ doing: "faulty", said: got.refused });
        return false;
      }
      this.put({ manifest: got.manifest, stale: true });
      this.onManifest(got.manifest);
    }
    return true;
  }

  // looked says whether the manifest can be run.
  private async looked(): Promise<boolean> {
    const { flags } = this.state;
    this.typed = false;
    const look = await this.quick.ask("look", { ...this.about(), flags });
    if (this.dirty) { // it is of what the manifest was before: the next round looks again
      this.typed = true;
      return false;
    }
    const well = !look.refused && look.errors.length === 0;
    const found = look.knobs ?? [];
    if (this.opened && well) {
      this.opened = false;
      this.put({ first: new Map(found.map((k) => [keyOf(k), k])) });
    }
    const before = this.state.look;
    const knobs = well || found.length > 0 ? found : before?.knobs ?? []; // what cannot be read shows those of before
    const choices = look.choices ?? before?.choices ?? {}, inForce = look.inForce ?? before?.inForce ?? {};
    this.put({ look: { ...look, knobs, choices, inForce }, ...(well ? {} : { doing: "faulty" as const, said: look.refused }) });
    return well;
  }

  private answered(ran: Ran, quick: boolean, asked: State) {
    const stale = this.state.manifest !== asked.manifest || this.state.flags !== asked.flags;
    if (ran.refused || ran.errors.length > 0) this.put({ doing: "faulty", said: ran.refused });
    else this.put({ ran, quick, stale, answers: this.state.answers + 1, of: asked.name, doing: stale ? "few" : quick ? "waiting" : "done", said: "" });
  }

  private async refine() {
    this.put({ doing: "all" });
    const asked = this.state;
    try {
      this.answered(await this.full.ask("run", { ...this.about(), flags: asked.flags }), false, asked);
    } catch (why) {
      if (!(why instanceof Dropped)) this.put({ doing: "failed", said: (why as Error).message });
    }
  }
}
