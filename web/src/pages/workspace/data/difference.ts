// What lies between a line and a baseline: at each point of the line, less the baseline's last value there. Only where both
// are: nothing is extrapolated. Pure.

import { lowerBound } from "../../../series/align";
import type { Line } from "../../../series/curve";

export function differenceOf(line: Line, base: Line): Line {
  const first = lowerBound(line.x, base.x[0] ?? Number.POSITIVE_INFINITY);
  const end = base.x[base.x.length - 1] ?? Number.NEGATIVE_INFINITY;
  let last = first;
  while (last < line.x.length && (line.x[last] as number) <= end) last++;
  const x = line.x.subarray(first, last);
  const at = new Float64Array(x.length);
  let place = 0;
  for (let i = 0; i < x.length; i++) {
    while (place + 1 < base.x.length && (base.x[place + 1] as number) <= (x[i] as number)) place++;
    at[i] = base.y[place] as number;
  }
  const less = (values: Float64Array): Float64Array =>
    values.subarray(first, last).map((value, i) => value - (at[i] as number));
  return {
    ...line,
    x,
    y: less(line.y),
    low: line.low && less(line.low),
    high: line.high && less(line.high),
  };
}
