// The simulator behind the page: one module, compiled once, and workers that run it.

import type { Asks, FromWorker, ToWorker } from "./contract";

// compiled is the module. A host may send a file whose name ends in .gz unpacked, or have the browser unpack it: what comes tells.
export async function compiled(url: string): Promise<WebAssembly.Module> {
  if (typeof WebAssembly === "undefined") throw new Error("This browser runs no WebAssembly, or was told not to: the simulator cannot be started in it.");
  const got = await fetch(url).catch((why: Error) => { throw new Error(`The simulator's file ${url} could not be loaded: ${why.message}.`); });
  if (!got.ok) throw new Error(`The simulator's file ${url} could not be loaded: ${got.status} ${got.statusText}.`);
  const blob = await got.blob();
  const first = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  const packed = first[0] === 0x1f && first[1] === 0x8b;
  const wasm = packed ? blob.stream().pipeThrough(new DecompressionStream("gzip")) : blob.stream();
  return WebAssembly.compileStreaming(new Response(wasm, { headers: { "Content-Type": "application/wasm" } }));
}

// Compiled is the module for all who want it. One that could not be loaded is loaded again for who asks next.
export class Compiled {
  private got: Promise<WebAssembly.Module> | null = null;
  constructor(private readonly url: string) {}
  module(): Promise<WebAssembly.Module> {
    const got = this.got ?? compiled(this.url);
    this.got = got;
    got.catch(() => { if (this.got === got) this.got = null; });
    return got;
  }
}

// Dropped is why a question has no answer: the worker was ended, because somebody wanted so.
export class Dropped extends Error {}

interface Open { id: number; done: (answer: string) => void; failed: (why: Error) => void }

// Lane is a worker that answers one question at a time.
export class Lane {
  private worker: Worker | null = null;
  private ready: Promise<void> = Promise.resolve();
  private up = false; // it is ready
  private open: Open | null = null;
  private number = 0;
  since = 0; // of what is being answered: 0 while nothing is
  far = ""; // how far that is, in words

  constructor(private readonly module: Compiled, private readonly url: string) {}

  // warm starts the worker, so that it is there when it is asked.
  warm(): Promise<void> {
    if (this.worker) return this.ready;
    const worker = new Worker(this.url);
    this.worker = worker;
    this.ready = new Promise((done, failed) => {
      const end = (why: Error) => { failed(why); if (this.worker === worker) this.stop(why); };
      worker.onmessage = (e: MessageEvent<FromWorker>) => {
        if ("ready" in e.data) {
          this.up = this.worker === worker;
          done();
        }
        else if ("stage" in e.data) this.far = `${e.data.stage}: ${e.data.done} of ${e.data.of}`;
        else if ("broken" in e.data) end(new Error(`The simulator stopped: ${e.data.broken}`));
        else this.answered(e.data.id, e.data.answer);
      };
      worker.onerror = (e) => { e.preventDefault(); end(new Error(`The simulator could not be started: ${e.message || "its file cannot be read"}`)); };
      this.module.module().then((module) => worker.postMessage({ module } satisfies ToWorker), failed);
    });
    this.ready.catch(() => undefined); // who asks hears of it
    return this.ready;
  }

  async ask<K extends keyof Asks>(what: K, ask: Asks[K]["ask"]): Promise<Asks[K]["answer"]> {
    this.since = performance.now();
    this.far = "";
    const started = this.warm();
    const worker = this.worker;
    const answer = await new Promise<string>((done, failed) => {
      const id = ++this.number;
      this.open = { id, done, failed };
      const say = () => { if (this.worker === worker) worker?.postMessage({ id, ask: JSON.stringify({ do: what, ...ask }) } satisfies ToWorker); };
      if (this.up) say(); // at once, and not after what else the page has to do now
      else started.then(say, (why: Error) => this.stop(why));
    });
    return JSON.parse(answer) as Asks[K]["answer"];
  }

  // stop ends the worker, whatever it does. The next question starts another.
  stop(why: Error = new Dropped("stopped")) {
    this.worker?.terminate();
    this.worker = null;
    this.up = false;
    this.since = 0;
    const open = this.open;
    this.open = null;
    open?.failed(why);
  }

  private answered(id: number, answer: string) {
    if (this.open?.id !== id) return;
    const { done } = this.open;
    this.open = null;
    this.since = 0;
    done(answer);
  }
}
