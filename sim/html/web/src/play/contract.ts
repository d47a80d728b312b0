// What the page asks the simulator, and what it answers: see the doc comments of Go's package sim/play.

import type { Result, Timeline } from "../data";

// Flags are flags of lameduck sim by their names.
export type Flags = Record<string, string | string[]>;
export interface Fault { line: number; column: number; text: string }
interface Answered { refused: string; errors: Fault[]; warnings: Fault[] }
// A Knob with a workload is a field of the manifest; one without is --set knob=VALUE.
export interface Knob { workload: string; knob: string; unit: string; value: string; written: boolean; line: number; min: number; max: number; step: number; words: string }
export interface Option { value: string; words: string }
export interface Look extends Answered { knobs: Knob[]; choices: Record<string, Option[]>; inForce: Record<string, string> }
// Bare is an answer to a question that may be refused as a whole: it has nothing else then.
export type Bare<T extends Answered> = Answered & Partial<T>;
export interface Turned extends Answered { manifest: string }
export interface Drawn extends Turned { case: string; timeline: Timeline | null }
export interface Ran extends Answered {
  record: Result; exit: number; text: string; titles: string[]; order: number[]; notes: string[];
  head: { verdict: string; sentence: string; answers: { label: string; words: string[] }[] } | null;
}

interface About { manifest: string; name: string; version: string }
export interface Asks {
  look: { ask: About & { flags: Flags }; answer: Bare<Look> };
  turn: { ask: About & { workload: string; knob: string; value: string }; answer: Turned };
  draw: { ask: About & { flags: Flags; case: string; family: string; seed: number; workload?: string; knob?: string; value?: string }; answer: Drawn };
  run: { ask: About & { flags: Flags; quick?: boolean; undrawn?: boolean }; answer: Ran };
}

// What page and worker say to each other.
export type ToWorker = { module: WebAssembly.Module } | { id: number; ask: string };
export type FromWorker = { ready: true } | { id: number; answer: string } | { broken: string } | { stage: string; done: number; of: number };
