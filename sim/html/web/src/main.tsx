import { render } from "preact";
import { App, Picture } from "./app";
import { read } from "./data";

// The verdict and the cases stand in the page, and are on the screen before the data are read and the timeline is drawn.
function begin(root: HTMLElement) {
  const Root = root.dataset.view === "picture" ? Picture : App;
  const draw = () => {
    const page = read();
    root.textContent = "";
    render(<Root page={page} />, root);
  };
  if (document.hidden) return draw(); // it has no frames
  const says = document.createElement("p");
  says.textContent = "The timeline is being drawn \u2026";
  root.prepend(says);
  requestAnimationFrame(() => setTimeout(draw, 0));
}

const root = document.getElementById("app");
if (root) begin(root);
