// What the page is about: a manifest, choices, and what the simulator said of them last. A knob that is turned has its picture at once: one run, drawn by
// a worker of its own. What few runs say of it follows, and all of them where nothing is changed for a while. The newest question alone counts.
//
// Until a picture is on the screen nothing else is asked for or drawn on its account: processors are few, and the picture is what one waits for.

import type { Flags, Knob, Look, Ran } from "./contract";
import { Dropped, Lane } from "./engine";
import { mostText } from "./link";
import { familyOf, ofRecord, shownOf, type Pictures } from "./pictures";

export type Doing = "starting" | "few" | "waiting" | "all" | "done" | "faulty" | "stopped" | "failed";

export interface State {
  name: string;
  manifest: string;
  flags: Flags;
  look: Look | null;
  ran: Ran | null; // the newest answer there is
  quick: boolean; // it is one of few runs
  stale: boolean; // it is of another manifest than this one
  pictures: Pictures; // of its cases
  drawn: number; // pictures that came so far
  doing: Doing;
  said: string; // why nothing more comes: a refusal, a failure
  first: Map<string, Knob>; // the knobs as they were when the manifest was opened
  answers: number; // that came so far
  of: string; // the name of what the newest answer is of
}

export const keyOf = (k: { workload: string; knob: string }) => `${k.workload}/${k.knob}`;
const tooLong = "the manifest has more than 1 MB, which is as much as a page reads: run it with lameduck sim -f";
const idle = 350; // milliseconds without a change until all runs are made

type Turn = { workload: string; knob: string; value: string };

// onScreen is when the browser has drawn what it was given. A page that nobody sees draws nothing, and is not waited for; nor, for long, one that is
// hidden just then.
function onScreen(): Promise<void> {
  return new Promise((done) => {
    if (document.hidden) return setTimeout(done, 0);
    requestAnimationFrame(() => setTimeout(done, 0));
    setTimeout(done, 3000);
  });
}

export class Session {
  state: State;
  private readonly turns = new Map<string, Turn>();
  private wanted = ""; // the case that somebody chose to look at
  private dirty = false;
  private typed = true; // since the manifest was looked at last
  private pumping = false;
  private judging = false;
  private refining = false;
  private timer = 0;
  private opened = true; // the next look is the first of this manifest
  private readonly unwritten = new Map<string, Turn>(); // those whose picture is there, and which the editor does not say yet
  private wake: () => void = () => undefined; // ends the wait for a picture to be seen

  constructor(private readonly version: string, name: string, manifest: string, flags: Flags, private readonly quick: Lane, private readonly full: Lane,
    private readonly onState: (s: State) => void, private readonly onManifest: (text: string) => void) {
    this.state = { name, manifest, flags, look: null, ran: null, quick: true, stale: false, pictures: new Map(), drawn: 0, doing: "starting", said: "", first: new Map(), answers: 0, of: name };
  }

  private put(change: Partial<State>) {
    this.state = { ...this.state, ...change };
    this.onState(this.state);
  }

  private about() { return { manifest: this.state.manifest, name: this.state.name, version: this.version }; }
  private isNow(of: { manifest: string; flags: Flags }): boolean { return of.manifest === this.state.manifest && of.flags === this.state.flags; }

  // busySince is when the question began that is being answered; 0 where there is none.
  busySince(): number { return this.quick.since || this.full.since; }
  // far is how far that is, in words.
  far(): string { return this.quick.since ? this.quick.far : this.full.far; }

  open(name: string, manifest: string, flags: Flags) {
    this.turns.clear();
    this.unwritten.clear();
    this.opened = true;
    this.put({ name, manifest, flags, look: null, stale: true });
    this.onManifest(manifest);
    this.ask(true);
  }
  type(manifest: string) {
    for (const [key, turn] of this.unwritten) if (!this.turns.has(key)) this.turns.set(key, turn);
    this.unwritten.clear();
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
  // see is which case is looked at, "" for the worst.
  see(id: string) {
    this.wanted = id;
    if (this.lacking()) void this.pump();
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
    if (this.refining) this.full.stop();
    this.wake();
    void this.pump();
  }

  // pump answers what was asked, one question after the other, until the picture is of what the manifest is now.
  private async pump() {
    if (this.pumping) return;
    this.pumping = true;
    try {
      while (this.dirty || this.lacking()) {
        if (!this.dirty) {
          await this.draw(null);
          continue;
        }
        this.dirty = false;
        await this.round();
      }
    } catch (why) {
      this.gaveUp(why);
    } finally {
      this.pumping = false;
    }
    this.rest();
  }

  private gaveUp(why: unknown) {
    this.dirty = false;
    if (!(why instanceof Dropped)) this.put({ doing: "failed", said: (why as Error).message });
  }

  private over(): boolean { return ["faulty", "stopped", "failed"].includes(this.state.doing); }

  // rest has all runs made where nothing is changed for a while.
  private rest() {
    clearTimeout(this.timer);
    const same = this.state.doing === "few" && !this.state.stale && this.state.ran !== null; // a knob was turned to what it was at
    if (same && !this.pumping && !this.judging) this.put({ doing: "waiting" });
    if (this.state.doing === "waiting" && !this.pumping && !this.judging) this.timer = setTimeout(() => void this.refine(), idle);
  }

  private async round() {
    const doing = this.state.ran ? "few" : "starting";
    if (this.state.doing !== doing || this.state.said) this.put({ doing, said: "" });
    if (this.state.manifest.length > mostText) return this.put({ doing: "faulty", said: tooLong });
    const draws = shownOf(this.state.ran, this.wanted) !== null && !this.typed; // the last turn goes with its picture
    if (!await this.turned(draws ? 1 : 0)) return;
    if (this.typed && !await this.looked()) return;
    if (!this.state.ran) {
      this.put({ doing: "few" });
      const asked = this.state;
      this.answered(await this.quick.ask("run", { ...this.about(), flags: asked.flags, quick: true }), true, asked);
      return;
    }
    if (!await this.draw(this.turns.entries().next().value ?? null)) return;
    const seen = this.seen();
    void seen.then(() => this.judge());
    if (!this.dirty) await Promise.race([seen, new Promise<void>((asked) => { this.wake = asked; })]);
    if (!this.typed && !this.dirty) await this.looked();
  }

  // seen is when the newest picture is on the screen, and the editor has the text that it is of.
  private async seen() {
    await onScreen();
    this.write();
  }

  // lacking says that the case which is looked at has no picture of what the manifest is now.
  private lacking(): boolean {
    const shown = shownOf(this.state.ran, this.wanted);
    const picture = shown && this.state.pictures.get(shown.id);
    return shown !== null && !this.over() && !this.typed && this.turns.size === 0 && !(picture && this.isNow(picture));
  }

  // draw has one run of the case that is looked at drawn, with a knob turned before. It says whether the manifest is one that can be run.
  private async draw(turn: [string, Turn] | null): Promise<boolean> {
    const shown = shownOf(this.state.ran, this.wanted);
    if (!shown) return this.turned(0);
    if (turn) this.turns.delete(turn[0]);
    const asked = this.state;
    const was = asked.pictures.get(shown.id)?.timeline ?? null;
    const got = await this.quick.ask("draw", { ...this.about(), flags: asked.flags, case: shown.id, family: familyOf(shown), seed: was?.seed ?? 1, ...turn?.[1] });
    if (this.state.manifest !== asked.manifest) { // somebody typed meanwhile: the value is written into that
      if (turn && !this.turns.has(turn[0])) this.turns.set(...turn);
      this.dirty = true;
      return false;
    }
    if (got.manifest !== asked.manifest) {
      if (turn) this.unwritten.set(...turn);
      this.put({ manifest: got.manifest, stale: true });
    }
    if (got.refused || got.errors.length > 0) {
      this.write();
      return this.refused(got.refused);
    }
    const pictures = new Map(this.state.pictures).set(shown.id, { timeline: got.timeline ?? was, manifest: got.manifest, flags: asked.flags });
    this.put({ pictures, drawn: this.state.drawn + (got.timeline ? 1 : 0) });
    return true;
  }

  // written takes a manifest over that the simulator has changed.
  private written(got: { manifest: string }) {
    this.put({ manifest: got.manifest, stale: true });
    this.unwritten.clear();
    this.onManifest(got.manifest);
  }

  // write has the editor say what the turns that were drawn have made of the manifest.
  private write() {
    if (this.unwritten.size === 0) return;
    this.unwritten.clear();
    this.onManifest(this.state.manifest);
  }

  private refused(why: string): false {
    if (this.state.look) this.put({ look: { ...this.state.look, knobs: this.state.look.knobs.map((k) => ({ ...k })) } }); // back to what the manifest says
    this.put({ doing: "faulty", said: why });
    return false;
  }

  // turned writes the knobs' values into the manifest, but for some. What was typed meanwhile is not lost: the value is written into that, then.
  private async turned(left: number): Promise<boolean> {
    while (this.turns.size > left) {
      const [key, t] = this.turns.entries().next().value!;
      this.turns.delete(key);
      const before = this.state.manifest;
      const got = await this.quick.ask("turn", { ...this.about(), ...t });
      if (this.state.manifest !== before) {
        if (!this.turns.has(key)) this.turns.set(key, t);
        continue;
      }
      if (got.refused) return this.refused(got.refused);
      this.written(got);
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
    const stale = !this.isNow(asked);
    if (ran.refused || ran.errors.length > 0) {
      if (!stale) this.put({ doing: "faulty", said: ran.refused });
      return;
    }
    const pictures = ofRecord(ran, this.state.pictures, asked.manifest, asked.flags);
    this.put({ ran, quick, stale, pictures, answers: this.state.answers + 1, of: asked.name, ...(stale ? {} : { doing: quick ? "waiting" as const : "done" as const, said: "" }) });
  }

  // judge has few runs say what is lost, again and again until that is of what the manifest is now. Pictures do not wait for it.
  private async judge() {
    if (this.judging) return;
    this.judging = true;
    try {
      while (this.state.stale && !this.over()) {
        const asked = this.state;
        this.answered(await this.full.ask("run", { ...this.about(), flags: asked.flags, quick: true, undrawn: true }), true, asked);
      }
    } catch (why) {
      this.gaveUp(why);
    } finally {
      this.judging = false;
    }
    if (this.lacking()) void this.pump(); // another case is the worst now
    this.rest();
  }

  private async refine() {
    this.put({ doing: "all" });
    const asked = this.state;
    this.refining = true;
    try {
      this.answered(await this.full.ask("run", { ...this.about(), flags: asked.flags }), false, asked);
    } catch (why) {
      if (!(why instanceof Dropped)) this.put({ doing: "failed", said: (why as Error).message });
    } finally {
      this.refining = false;
    }
  }
}
