// The editor of the manifest: CodeMirror, in a shadow root, where its styles are sheets of its own and need no leave of the page's policy.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { Annotation, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Fault } from "./contract";

export interface Editor {
  text(): string;
  set(text: string): void; // by the program: onChange hears nothing
  faults(list: Fault[], warnings: Fault[]): void;
  line(n: number): void;
}

const own = Annotation.define<boolean>();

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--paper)", fontSize: "13px" },
  "&.cm-focused": { outline: "3px solid var(--focus)", outlineOffset: "-3px" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'SF Mono', Menlo, 'Liberation Mono', Consolas, monospace", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--faint)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter": { backgroundColor: "var(--faint)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--use)" },
  ".cm-tooltip": { backgroundColor: "var(--paper)", color: "var(--ink)", border: "1px solid var(--gone-edge)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--lost)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn-edge)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--lost)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn-edge)" },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--use-edge)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good-edge)" },
  { tag: [tags.number, tags.bool, tags.keyword], color: "var(--fall-edge)" },
  { tag: [tags.meta, tags.separator, tags.punctuation], color: "var(--soft)" },
]);

// place is where in the text a fault is: the rest of its line, from its column on.
function place(state: EditorState, f: Fault, severity: "error" | "warning"): Diagnostic {
  const line = state.doc.line(Math.min(Math.max(1, f.line), state.doc.lines));
  const indent = /^\s*/.exec(line.text)![0].length;
  const from = Math.min(line.to, line.from + (f.column > 1 ? f.column - 1 : indent));
  return { from, to: line.to, severity, message: f.text };
}

export function editorIn(host: HTMLElement, text: string, onChange: (text: string) => void): Editor {
  const root = host.attachShadow({ mode: "open" });
  const parent = document.createElement("div");
  parent.style.height = "100%";
  root.append(parent);
  const view = new EditorView({
    root, parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.lineWrapping, lineNumbers(), lintGutter(), history(), drawSelection(), highlightActiveLine(), highlightActiveLineGutter(), bracketMatching(), yaml(), syntaxHighlighting(colours), look,
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ "aria-label": "Manifest, YAML", spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((u) => { if (u.docChanged && !u.transactions.some((t) => t.annotation(own))) onChange(u.state.doc.toString()); }),
      ],
    }),
  });
  view.scrollDOM.tabIndex = 0; // it scrolls by keyboard, too
  view.scrollDOM.setAttribute("role", "group");
  view.scrollDOM.setAttribute("aria-label", "scroll the manifest");
  return {
    text: () => view.state.doc.toString(),
    set(next) {
      const [from, to, insert] = difference(view.state.doc.toString(), next);
      if (from !== to || insert) view.dispatch({ changes: { from, to, insert }, annotations: own.of(true) });
    },
    faults: (list, warnings) => view.dispatch(setDiagnostics(view.state, [...list.filter((f) => f.line > 0).map((f) => place(view.state, f, "error")), ...warnings.filter((f) => f.line > 0).map((f) => place(view.state, f, "warning"))].sort((a, b) => a.from - b.from))),
    line(n) {
      const at = view.state.doc.line(Math.min(Math.max(1, n), view.state.doc.lines)).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
  };
}

// difference is what to replace in a text, and by what, so that it is another: a cursor elsewhere stays where it is.
export function difference(a: string, b: string): [number, number, string] {
  const most = Math.min(a.length, b.length);
  let from = 0, end = 0;
  while (from < most && a[from] === b[from]) from++;
  while (end < most - from && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [from, a.length - end, b.slice(from, b.length - end)];
}
