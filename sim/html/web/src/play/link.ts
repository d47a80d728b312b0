// What is shared: manifest, flags and view, in a link's fragment or in the first line of a file. Nothing of it is trusted.

import type { Flags } from "./contract";

export interface Shared { name: string; manifest: string; flags: Flags; view: SharedView }
export interface SharedView { case?: string; tab?: string; span?: [number, number] }

// mostLink is how long a link may be: what is longer, mail and chat programs cut. mostText is how much a manifest may have.
export const mostLink = 32_000;
export const mostText = 1_000_000;
const version = "1";
const flagNames = ["env", "lb", "action", "kubernetes-version", "profile", "rate", "target", "set"];
const listed = ["action", "set"]; // flags with several values

// Unreadable is why something shared is not taken, as a sentence.
export class Unreadable extends Error {}

export async function packed(s: Shared): Promise<string> {
  const stream = new Blob([JSON.stringify(s)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return `${version}.${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

// unpacked reads a fragment, without its #.
export async function unpacked(fragment: string): Promise<Shared> {
  const [, its, body] = /^(\d{1,4})\.([\w-]+)$/.exec(fragment) ?? [];
  if (!its || !body) throw new Unreadable("The link is broken: its end is not what lameduck writes. Maybe it was cut.");
  if (its !== version) throw new Unreadable(`The link is of another lameduck: it has version ${its}, and this page reads version ${version}.`);
  if (fragment.length > 2 * mostText) throw new Unreadable("The link is too long.");
  const text = await inflated(body);
  let value: unknown;
  try { value = JSON.parse(text); } catch { throw new Unreadable("The link is broken: what it holds is not whole."); }
  return shared(value);
}

async function inflated(body: string): Promise<string> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    const bytes = Uint8Array.from(atob(body.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    for (let r = await reader.read(); !r.done; r = await reader.read()) {
      size += r.value.length;
      if (size > 2 * mostText) {
        void reader.cancel().catch(() => undefined);
        break;
      }
      parts.push(r.value);
    }
  } catch { throw new Unreadable("The link is broken: what it holds cannot be unpacked."); }
  if (size > 2 * mostText) throw new Unreadable("The link holds more than a manifest may have, 1 MB.");
  return new Blob(parts).text();
}

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);
const isText = (v: unknown, most: number): v is string => typeof v === "string" && v.length <= most;

function shared(v: unknown): Shared {
  if (!isObject(v) || !isText(v.manifest, mostText)) throw new Unreadable("The link has no manifest, or one of more than 1 MB.");
  return { name: nameOf(v.name), manifest: v.manifest, flags: flagsOf(v.flags ?? {}), view: viewOf(v.view) };
}

// nameOf is a file's name, without its directory.
export function nameOf(v: unknown): string {
  const name = isText(v, 1000) ? v.split(/[\\/]/).at(-1)!.replace(/[^\w.-]+/g, "-").replace(/^-+/, "").slice(0, 80) : "";
  return name || "manifest.yaml";
}

function flagsOf(v: unknown): Flags {
  if (!isObject(v)) throw new Unreadable("The flags that came along are not flags.");
  const out: Flags = {};
  for (const [name, value] of Object.entries(v)) {
    if (!flagNames.includes(name)) throw new Unreadable(`There is no choice ${JSON.stringify(name.slice(0, 40))} in this page.`);
    if (!listed.includes(name) && isText(value, 200)) out[name] = value;
    else if (listed.includes(name) && Array.isArray(value) && value.length <= 50 && value.every((x) => isText(x, 200))) out[name] = value;
    else throw new Unreadable(`What came along for ${name} is not a value.`);
  }
  return out;
}

function viewOf(v: unknown): SharedView {
  const out: SharedView = {};
  if (!isObject(v)) return out;
  if (isText(v.case, 300)) out.case = v.case;
  if (isText(v.tab, 20)) out.tab = v.tab;
  const [from, to] = Array.isArray(v.span) ? v.span : [];
  if (Number.isFinite(from) && Number.isFinite(to) && from < to) out.span = [from, to];
  return out;
}

// A file that is saved has the choices in its first line, as a comment: kubectl and lameduck read it as any manifest.
const mark = "# lameduck play ";

export function asFile(manifest: string, flags: Flags): string {
  return Object.keys(flags).length === 0 ? manifest : `${mark}${JSON.stringify(flags)}\n${manifest}`;
}

export function fromFile(text: string): { manifest: string; flags: Flags | null } {
  if (text.length > mostText) throw new Unreadable("The file has more than 1 MB: a manifest may not.");
  if (!text.startsWith(mark)) return { manifest: text, flags: null };
  const end = text.indexOf("\n");
  let value: unknown;
  try { value = JSON.parse(text.slice(mark.length, end < 0 ? undefined : end)); } catch { return { manifest: text, flags: null }; }
  return { manifest: end < 0 ? "" : text.slice(end + 1), flags: flagsOf(value) };
}
