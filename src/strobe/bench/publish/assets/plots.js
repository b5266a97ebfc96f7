// Drawings: axes with round ticks, and the pictures that the views share. Values in, SVG out.

function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(value);
  return found;
}

const tickText = (value) => Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6 });

function span(values, margin = 0.08) {
  let low = Math.min(...values), high = Math.max(...values);
  if (low === high) [low, high] = [low - Math.abs(low || 1) * 0.05, high + Math.abs(high || 1) * 0.05];
  return [low - (high - low) * margin, high + (high - low) * margin];
}

/** A plot of a fixed size: scales, grid and tick labels; the caller adds the rest. `yTicks` are pairs: where, and its text. */
function plot({ width = 320, height = 170, x, y, xLabel = "", yLabel = "", xTicks = true, yTicks = ticks(...y, 4).map((tick) => [tick, tickText(tick)]), label }) {
  const box = { left: 46, right: width - 10, top: 8, bottom: height - (xTicks ? 34 : 14) };
  const sx = (value) => box.left + ((value - x[0]) / (x[1] - x[0])) * (box.right - box.left);
  const sy = (value) => box.bottom - ((value - y[0]) / (y[1] - y[0])) * (box.bottom - box.top);
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": label });
  for (const [tick, text] of yTicks) {
    svg.append(s("line", { class: "grid-line", x1: box.left, x2: box.right, y1: sy(tick), y2: sy(tick) }));
    svg.append(s("text", { x: box.left - 6, y: sy(tick) + 4, "text-anchor": "end" }, text));
  }
  if (xTicks) {
    for (const tick of ticks(...x, 4)) {
      svg.append(s("text", { x: sx(tick), y: box.bottom + 15, "text-anchor": "middle" }, tickText(tick)));
    }
  }
  if (xLabel) svg.append(s("text", { x: box.right, y: height - 4, "text-anchor": "end" }, xLabel));
  if (yLabel) svg.append(s("text", { x: 2, y: 10 }, yLabel));
  return { svg, sx, sy, box };
}

/** What a sample of step times is: short steps are timed several at once, and their mean says less of the tail. */
const stepsOf = (row) => (row.inner_loops > 1 ? `means of ${row.inner_loops} steps` : "steps");

/** The distribution of step times as a cumulative line, and each process repeat as a dot below. */
function distribution(row) {
  const parts = [];
  if (row.steps_ms.length > 2) {
    const last = row.steps_ms.length - 1;
    const { svg, sx, sy } = plot({
      height: 130, x: span(row.steps_ms, 0.03), y: [0, 100], xLabel: "ms per step", label: `Step times of ${row.name}`,
    });
    const line = row.steps_ms.map((value, index) => `${sx(value).toFixed(1)},${sy((100 * index) / last).toFixed(1)}`);
    svg.append(s("polyline", { points: line.join(" "), fill: "none", stroke: "var(--line-1)", "stroke-width": 2 }));
    parts.push(h("div", { class: "dim" }, `Share of ${row.num_steps} ${stepsOf(row)} that are quicker, %`), svg);
  }
  if (row.samples.length > 1) parts.push(h("div", { class: "dim" }, `${row.samples.length} ${row.samples_are}, ${row.units}`), dots(row));
  return parts;
}

function dots(row) {
  const width = 320;
  const [low, high] = span(row.samples, 0.1);
  const sx = (value) => 10 + ((value - low) / (high - low)) * (width - 20);
  const svg = s("svg", { viewBox: `0 0 ${width} 34`, width: "100%", role: "img", "aria-label": `Repeats of ${row.name}` });
  svg.append(s("line", { class: "grid-line", x1: 10, x2: width - 10, y1: 10, y2: 10 }));
  for (const value of row.samples) svg.append(s("circle", { cx: sx(value), cy: 10, r: 4, fill: "var(--line-1)", "fill-opacity": 0.55 }));
  svg.append(s("line", { x1: sx(row.shown_score), x2: sx(row.shown_score), y1: 2, y2: 18, stroke: "var(--text)", "stroke-width": 2 }));
  const [least, most] = [Math.min(...row.samples), Math.max(...row.samples)];
  svg.append(s("text", { x: 2, y: 31 }, number(least)), s("text", { x: width - 2, y: 31, "text-anchor": "end" }, number(most)));
  return svg;
}

/** Where the logarithms of all speed-ups of a table lie, "equal" included, so that its rows share one scale. */
function reachOf(rows) {
  // Bounds of two wild repeats would leave no room for the others; a single repeat has none.
  const logs = rows.flatMap((row) => [row.low ?? row.speedup, row.high ?? row.speedup].map((value) => Math.log(Math.min(100, Math.max(0.01, value)))));
  return [Math.min(-0.02, ...logs), Math.max(0.02, ...logs)];
}

/** A speed-up with its bounds, from the line of "equal". */
function whisker(row, [low, high]) {
  const width = 180;
  const sx = (value) => 6 + Math.min(1, Math.max(0, (Math.log(value) - low) / (high - low))) * (width - 12);
  const middle = sx(1);
  const svg = s("svg", { class: "whisker", viewBox: `0 0 ${width} 18`, width, height: 18, "aria-hidden": "true" });
  const colour = { faster: "var(--good)", slower: "var(--bad)" }[row.verdict] || "var(--faint)";
  svg.append(
    s("line", { x1: middle, x2: middle, y1: 0, y2: 18, stroke: "var(--strong-line)" }),
    s("line", { x1: middle, x2: sx(row.speedup), y1: 9, y2: 9, stroke: colour, "stroke-width": 6, "stroke-opacity": 0.35 }),
    ...(row.low === null ? [] : [s("line", { x1: sx(row.low), x2: sx(row.high), y1: 9, y2: 9, stroke: colour, "stroke-width": 2 })]),
    s("circle", { cx: sx(row.speedup), cy: 9, r: 4, fill: colour }),
  );
  return svg;
}

/** Latency against throughput: a line per implementation, a point per batch size, hollow where the limit is not known to be kept. */
function curve(task) {
  const points = task.lines.flatMap((line) => line.points);
  const [, highest] = span(points.map((point) => point.latency_ms));
  const [, best] = span(points.map((point) => point.score));
  const isNear = task.limit_ms && task.limit_ms < 2.5 * highest;
  const x = [0, isNear ? Math.max(highest, 1.08 * task.limit_ms) : highest];
  const { svg, sx, sy, box } = plot({ height: 220, x, y: [0, best], xLabel: `${task.percentile} of a step, ms`, yLabel: "ex/s", label: task.title });
  if (isNear) {
    const place = sx(task.limit_ms);
    // At the bottom, where no line runs, and on the side with more room.
    const isLate = place > (box.left + box.right) / 2;
    svg.append(
      s("line", { x1: place, x2: place, y1: box.top, y2: box.bottom, stroke: "var(--bad)", "stroke-dasharray": "4 3" }),
      s("text", { x: place + (isLate ? -4 : 4), y: box.bottom - 6, "text-anchor": isLate ? "end" : "start" }, `${task.percentile} limit ${number(task.limit_ms)} ms`),
    );
  }
  task.lines.forEach((line, index) => {
    const colour = `var(--line-${(index % 6) + 1})`;
    const path = line.points.map((point) => `${sx(point.latency_ms).toFixed(1)},${sy(point.score).toFixed(1)}`).join(" ");
    svg.append(s("polyline", { points: path, fill: "none", stroke: colour, "stroke-width": 2 }));
    for (const point of line.points) {
      const [isMissed, isUndecided] = [point.limit === "missed", point.limit === "undecided"];
      const isHollow = isMissed || isUndecided;
      const told = isMissed ? ", missed its limit" : isUndecided ? ", too few steps to tell whether it keeps its limit" : "";
      const mark = s("circle", {
        class: "mark", cx: sx(point.latency_ms), cy: sy(point.score), r: isHollow ? 4 : 5, "stroke-width": isHollow ? 2 : 1.5,
        fill: isHollow ? "var(--surface)" : colour, stroke: isHollow ? colour : "var(--surface)", "stroke-dasharray": isUndecided ? "2 2" : null,
        role: "img", "aria-label": `${line.label}, batch ${point.batch}: ${number(point.score)} ex/s${told}`,
      });
      svg.append(withHint(mark, () => h("div", {}, h("b", {}, line.label), definitions([
        ["Batch", String(point.batch ?? "")], ["Throughput", `${number(point.score)}${point.signs} ex/s`], [task.percentile, `${number(point.latency_ms)} ms`],
      ]))));
    }
  });
  return svg;
}

/** A row's sessions: points with their range, levels as lines in the band that noise stays within, a mark at each step. */
function course(series) {
  const bands = series.band ? series.levels.map(([, , value]) => [value / (1 + series.band), value * (1 + series.band)]) : [];
  const lows = [...series.points.flatMap((point) => [point.low, point.high]), ...bands.flat()];
  const { svg, sx, sy, box } = plot({
    height: 150, x: [-0.5, series.points.length - 0.5], y: span(lows), xTicks: false, yLabel: "", label: `History of ${series.name}`,
  });
  for (const step of series.steps) {
    const place = sx(step.index - 0.5);
    const colour = step.change < 0 ? "var(--bad)" : "var(--good)";
    svg.append(s("line", { x1: place, x2: place, y1: box.top, y2: box.bottom, stroke: colour, "stroke-dasharray": "3 3" }));
    const isLate = place > (box.left + box.right) / 2;
    svg.append(s("text", { x: place + (isLate ? -5 : 5), y: box.top + 9, "text-anchor": isLate ? "end" : "start", style: `fill:${colour};font-weight:600` }, signed(step.change)));
  }
  bands.forEach(([low, high], index) => {
    const [start, stop] = series.levels[index];
    svg.append(s("rect", { class: "band", x: sx(start - 0.5), y: sy(high), width: sx(stop - 0.5) - sx(start - 0.5), height: sy(low) - sy(high), fill: "var(--line-1)", "fill-opacity": 0.12 }));
  });
  for (const [start, stop, value] of series.levels) {
    svg.append(s("line", { x1: sx(start - 0.4), x2: sx(stop - 0.6), y1: sy(value), y2: sy(value), stroke: "var(--line-1)", "stroke-width": 2 }));
  }
  series.points.forEach((point, index) => {
    svg.append(s("line", { x1: sx(index), x2: sx(index), y1: sy(point.low), y2: sy(point.high), stroke: "var(--line-1)", "stroke-opacity": 0.35 }));
    const mark = s("circle", {
      class: "mark", cx: sx(index), cy: sy(point.score), r: series.points.length > 60 ? 2.5 : 4, fill: "var(--surface)", stroke: "var(--line-1)", "stroke-width": 1.5,
      role: "img", "aria-label": `${short(point.commit)}: ${number(point.score)} ${series.unit}`,
    });
    svg.append(withHint(mark, () => h("div", {}, h("b", {}, `${number(point.score)} ${series.unit}`), definitions([
      ["Commit", short(point.commit)], ["Measured", day(point.at)], ["Range", `${number(point.low)} to ${number(point.high)}, n=${point.n}`],
    ]))));
  });
  return svg;
}
