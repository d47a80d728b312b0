import type { Flags } from "./contract";

// command is what says the same in a terminal.
export function command(name: string, flags: Flags): string {
  const words = ["lameduck", "sim", "-f", quoted(name)];
  for (const [flag, value] of Object.entries(flags)) for (const v of flag === "set" ? [value].flat() : [[value].flat().join(",")]) words.push(`--${flag}`, quoted(v));
  return words.join(" ");
}

function quoted(v: string): string { return /^[\w.,:=/@%+][\w.,:=/@%+-]*$/.test(v) ? v : `'${v.replaceAll("'", "'\\''")}'`; }
