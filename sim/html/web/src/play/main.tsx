import { render } from "preact";
import example from "../../../../../examples/web-app.yaml";
import { Compiled, Lane } from "./engine";
import { nameOf, unpacked, type Shared } from "./link";
import { Play, type Start } from "./page";

const theExample: Shared = { name: "web-app.yaml", manifest: example, flags: {}, view: {} };

// start.json says which lameduck this is, and has the manifest that it was begun with.
interface Served { version: string; name: string; manifest: string }

async function begin(): Promise<Start> {
  const served = await fetch("start.json").then((r) => r.json() as Promise<Served>).catch(() => ({ version: "", name: "", manifest: "" }));
  const { version } = served;
  const own = served.manifest ? { name: nameOf(served.name), manifest: served.manifest, flags: {}, view: {} } : theExample;
  const plain = { version, shared: own, first: own === theExample, complaint: "" };
  if (location.hash.length < 2) return plain;
  try {
    return { version, shared: await unpacked(location.hash.slice(1)), first: false, complaint: "" };
  } catch (why) {
    return { ...plain, complaint: `${(why as Error).message} This is ${plain.first ? "the example" : own.name} instead.` };
  }
}

function page() {
  const module = new Compiled("lameduck.wasm.gz");
  const quick = new Lane(module, "worker.js"), full = new Lane(module, "worker.js");
  void quick.warm();
  void begin().then((start) => {
    const root = document.getElementById("app")!;
    root.textContent = "";
    render(<Play start={start} quick={quick} full={full} />, root);
  });
}

// Browsers let no page that was opened from disk load files.
function fromDisk() {
  document.querySelector(".starting")!.textContent = "This page was opened from disk, and browsers let such a page load no files: the simulator cannot be started. Run lameduck play, which serves the page to this machine alone, or put its files on any web server.";
  document.querySelector(".not-started")!.remove();
}

if (location.protocol === "file:") fromDisk();
else page();
