// The worker: the simulator as it is, asked one question after the other. It is ended from outside where an answer is no longer wanted.

import type { FromWorker, ToWorker } from "./contract";

declare function importScripts(...urls: string[]): void;
declare class Go {
  importObject: WebAssembly.Imports;
  run(instance: WebAssembly.Instance): Promise<void>;
}
declare global {
  var lameduckAnswer: ((ask: string) => string) | undefined;
  var lameduckProgress: ((stage: string, done: number, of: number) => void) | undefined;
}

const say = (word: FromWorker) => (globalThis as unknown as { postMessage(m: unknown): void }).postMessage(word);
const broken = (why: unknown) => say({ broken: why instanceof Error ? why.message : String(why) });

// The simulator says how far it is, and the page hears of it a few times a second.
let heard = 0;
globalThis.lameduckProgress = (stage, done, of) => {
  if (performance.now() - heard < 200) return;
  heard = performance.now();
  say({ stage, done, of });
};

function start(module: WebAssembly.Module) {
  importScripts("wasm_exec.js");
  const go = new Go();
  go.run(new WebAssembly.Instance(module, go.importObject)).then(() => broken("the simulator has ended"), broken);
  if (!globalThis.lameduckAnswer) throw new Error("the module has no answer");
  say({ ready: true });
}

globalThis.addEventListener("message", (e) => {
  const word = (e as MessageEvent<ToWorker>).data;
  try {
    if ("module" in word) start(word.module);
    else say({ id: word.id, answer: globalThis.lameduckAnswer!(word.ask) });
  } catch (why) {
    broken(why);
  }
});
