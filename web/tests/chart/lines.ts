import type { Line } from "../../src/series/curve";

/** A line of a test: what is not given is plain. */
export function line(x: readonly number[], y: readonly number[], more: Partial<Line> = {}): Line {
  return {
    id: "a",
    label: "a",
    colour: "#123456",
    dash: [],
    width: 1.5,
    faint: false,
    x: Float64Array.from(x),
    y: Float64Array.from(y),
    low: null,
    high: null,
    marks: [],
    members: 1,
    ...more,
  };
}

export function range(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i);
}
