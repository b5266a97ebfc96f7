// What benchmarks/dashboard.py measures of the run list: the real list, with any number of runs and a server that answers
// at once, scrolled.

import { render } from "preact";
import "../src/style/tokens.css";
import "../src/style/base.css";
import { RunList } from "../src/pages/workspace/list/run-list";
import { Workspace, WorkspaceContext } from "../src/pages/workspace/workspace";
import { runOf } from "./data";

const app = document.getElementById("app") as HTMLElement;
app.style.cssText = "width:420px;height:900px";

const POINTS = 48;

/** A curve for each run that is asked for, as the server packs them; everything else is a list of nothing. */
window.fetch = async (_, init) => {
  const asked = JSON.parse(String(init?.body ?? "{}")) as { runs?: string[]; keys?: string[] };
  if (!asked.keys) return Response.json({ items: [], cursor: null, own: [] });
  const runs = asked.runs ?? [];
  const start = 8192 + 256 * runs.length;
  const columns = (offset: number) => ({
    step: ["f8", offset, POINTS],
    time: ["f8", offset, POINTS],
    value: ["f8", offset, POINTS],
  });
  const series = runs.map((run, i) => ({
    run,
    key: "loss",
    lane: "",
    is_raw: true,
    is_approximate: false,
    started_ns: 0,
    version: 1,
    columns: columns(start + 8 * POINTS * i),
  }));
  const head = new TextEncoder().encode(JSON.stringify({ series }));
  const body = new ArrayBuffer(start + 8 * POINTS * runs.length);
  new DataView(body).setBigUint64(0, BigInt(head.length), true);
  new Uint8Array(body, 8).set(head);
  new Float64Array(body, start).forEach((_, i, all) => {
    all[i] = Math.exp(-(i % POINTS) / 12);
  });
  return new Response(body);
};

function show(count: number): void {
  render(null, app);
  const workspace = new Workspace("bench", "runs");
  workspace.changeRuns({ sparkline: "loss", columns: ["summary.loss", "config.lr"] }, { replace: true });
  workspace.runs.rows.value = Array.from({ length: count }, (_, number) => runOf(number));
  workspace.runs.total.value = count;
  render(
    <WorkspaceContext.Provider value={workspace}>
      <RunList />
    </WorkspaceContext.Provider>,
    app,
  );
}

/** Scroll by some rows, to and fro in the middle of the list; return the milliseconds of work of each frame. */
async function scroll(moves: number): Promise<number[]> {
  const list = app.querySelector(".list-rows") as HTMLElement;
  list.scrollTop = (list.scrollHeight - list.clientHeight) / 2;
  await pause(300);
  const costs: number[] = [];
  for (let i = 0; i < moves; i++) {
    const work = new Promise<number>((resolve) => {
      let began = 0;
      list.addEventListener("scroll", () => (began = performance.now()), { once: true, capture: true });
      // A task that is posted in a frame runs when the frame has been painted.
      const wait = (): void => {
        if (began === 0) requestAnimationFrame(wait);
        else setTimeout(() => resolve(performance.now() - began), 0);
      };
      requestAnimationFrame(wait);
    });
    list.scrollTop += i % 16 < 8 ? 100 : -100;
    costs.push(await work);
  }
  return costs;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function rows(): number {
  return app.querySelectorAll(".row").length;
}

Object.assign(window, { bench: { show, scroll, rows } });
