// What benchmarks/dashboard.py measures of the search for metrics: the panels of a workspace with very many of them.

import { render } from "preact";
import "../src/style/tokens.css";
import "../src/style/base.css";
import { keysOf } from "../src/pages/workspace/data/keys";
import { Panels } from "../src/pages/workspace/panels/panels";
import { Workspace, WorkspaceContext } from "../src/pages/workspace/workspace";
import { untilShown } from "./data";

const app = document.getElementById("app") as HTMLElement;
app.style.cssText = "width:1200px;height:900px;overflow:auto";
window.fetch = async () => Response.json({ items: [], cursor: null, own: [] });
const workspace = new Workspace("bench", "search");

function show(metrics: number): void {
  const names = Array.from(
    { length: metrics },
    (_, i) => `model/layer${i % 97}/block${i % 1013}/weight_norm_${i}`,
  );
  workspace.keys.keys.value = keysOf(names);
  render(
    <WorkspaceContext.Provider value={workspace}>
      <Panels />
    </WorkspaceContext.Provider>,
    app,
  );
}

/** Return how long it takes from a search to the frame that shows what it found. */
function search(text: string): Promise<number> {
  return untilShown(() => workspace.change({ charts: { search: text } }, { replace: true }));
}

/** What is said about how many were found. */
function found(): string {
  return app.querySelector(".panels-note")?.textContent ?? "";
}

Object.assign(window, { bench: { show, search, found } });
