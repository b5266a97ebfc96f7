// What benchmarks/dashboard.py measures of brushing: the page that compares runs, with a server that answers at once.

import { render } from "preact";
import "../src/style/tokens.css";
import "../src/style/base.css";
import { ComparePage } from "../src/pages/compare";
import type { Digest, RunItem } from "../src/server/types";
import { loss, randomFrom, runOf, untilShown } from "./data";

const app = document.getElementById("app") as HTMLElement;
let runs: RunItem[] = [];
let best: Float64Array = new Float64Array(0);

function prepare(count: number): void {
  const random = randomFrom(1);
  best = loss(count, 2);
  runs = Array.from({ length: count }, (_, number) => ({
    ...runOf(number),
    config: {
      lr: 10 ** (-5 * random()),
      layers: 1 + Math.floor(6 * random()),
      dropout: random(),
      optimizer: ["sgd", "adam", "lion"][number % 3],
    },
  }));
}

function digestOf(value: number): Digest {
  return {
    ...{ count: 100, min: value, max: 2, min_step: 99, max_step: 0, mean: 1, first: 2, last: value },
    ...{ first_step: 0, last_step: 99, nan: 0, posinf: 0, neginf: 0 },
  };
}

window.fetch = async (input) => {
  const path = new URL(String(input), location.href).pathname;
  if (path.endsWith("/digests"))
    return Response.json({
      items: runs.map((run, i) => ({
        run: `${run.entity}/${run.project}/${run.id}`,
        digests: { loss: digestOf(best[i] as number) },
      })),
    });
  if (path.endsWith("/metrics"))
    return Response.json({
      items: [{ key: "loss", is_system: false, has_points: true, num_runs: runs.length }],
    });
  if (path.includes("/api/v1/runs/")) return Response.json({ ...runs[0], metrics: {} });
  return Response.json({ items: runs, cursor: null, total: runs.length });
};

function show(count: number): void {
  prepare(count);
  render(null, app);
  history.replaceState(null, "", "?tab=explore");
  render(<ComparePage name="compare" entity="bench" project="runs" />, app);
}

const strands = (): number => app.querySelectorAll(".strand").length;
const dim = (): number => app.querySelectorAll(".strand.dim").length;

/** Move a brush along an axis to and fro; return how long each move takes until it is shown in all plots. */
async function brush(moves: number): Promise<number[]> {
  const axes = app.querySelectorAll<SVGGElement>("g.axis");
  const axis = axes[axes.length - 1] as SVGGElement;
  const press = (key: string): boolean =>
    axis.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press("ArrowDown");
  const took: number[] = [];
  for (let i = 0; i < moves; i++)
    took.push(await untilShown(() => press(i % 10 < 5 ? "ArrowDown" : "ArrowUp")));
  return took;
}

Object.assign(window, { bench: { show, strands, dim, brush } });
