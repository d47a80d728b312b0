import { render } from "preact";
import { App, Picture } from "./app";
import { read } from "./data";

const root = document.getElementById("app");
if (root) {
  const Root = root.dataset.view === "picture" ? Picture : App;
  root.textContent = "";
  render(<Root page={read()} />, root);
}
