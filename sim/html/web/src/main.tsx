import { render } from "preact";
import { App } from "./app";
import { read } from "./data";

const root = document.getElementById("app");
if (root) {
  root.textContent = "";
  render(<App page={read()} />, root);
}
