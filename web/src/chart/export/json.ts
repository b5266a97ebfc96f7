// The points of a panel as JSON: the lines as drawn, each with its columns, as programs read them.

import type { Line } from "../../series/curve";
import { axisName } from "../axis";

/** Return what the CSV has, line by line; numbers that JSON lacks stand as texts: "NaN", "Infinity", "-Infinity". */
export function jsonOf(lines: readonly Line[], xAxis: string, yName: string): string {
  return JSON.stringify({
    x: axisName(xAxis),
    y: yName,
    lines: lines.map((line) => ({
      label: line.label,
      is_raw: line.faint,
      num_runs: line.members,
      axis: line.isRight ? "right" : "left",
      x: cells(line.x),
      y: cells(line.y),
      ...(line.low !== null && line.high !== null && { low: cells(line.low), high: cells(line.high) }),
    })),
  });
}

function cells(values: Float64Array): (number | string)[] {
  return Array.from(values, (value) => (Number.isFinite(value) ? value : String(value)));
}
