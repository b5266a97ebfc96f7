// A panel as a Python script that draws it again with matplotlib: data inside, nothing needed but matplotlib, written to
// be read and changed.

import type { Line } from "../../series/curve";
import { axisName } from "../axis";
import { xExtent, yExtent } from "../extent";
import type { FigureSpec } from "../figure";
import { legendLabel, legendLines } from "../legend";
import { bendFor } from "../scale";
import { sidesOf } from "../sides";

export interface ScriptOptions {
  /** Inches. */
  readonly width: number;
  readonly height: number;
  /** The file that the script writes. */
  readonly file: string;
  /** Turn a colour as lines have it into one that is not CSS's own. */
  readonly colourOf: (colour: string) => string;
}

const OPTIONS: ScriptOptions = { width: 7.2, height: 4.2, file: "chart.pdf", colourOf: (colour) => colour };

/** Return the Python script of a panel. */
export function matplotlibOf(spec: FigureSpec, given: Partial<ScriptOptions> = {}): string {
  const options = { ...OPTIONS, ...given };
  const named = new Set(legendLines(spec.lines));
  const lines = spec.lines.map((line) => lineText(line, spec, named.has(line), options)).join("");
  const isTime = spec.xAxis === "wall";
  const hasRight = sidesOf(spec.lines).right.length > 0;
  const time = isTime ? "    x = [datetime.fromtimestamp(at, timezone.utc) for at in x]\n" : "";
  return `"""${docText(spec.title)}, as shown by Strobe. Needs matplotlib; writes ${docText(options.file)}."""

${isTime ? "from datetime import datetime, timezone\n\n" : ""}import matplotlib.pyplot as plt

nan = float("nan")  # a gap

# label, style, x, y, low, high (a band, or None)${hasRight ? ', "left" or "right" y axis' : ""}
LINES = [
${lines}]

figure, axes = plt.subplots(figsize=(${options.width}, ${options.height}), layout="constrained")
${
  hasRight
    ? `right_axes = axes.twinx()
for label, style, x, y, low, high, side in LINES:
    own = right_axes if side == "right" else axes
${time}    own.plot(x, y, label=label, **style)
    if low is not None:
        own.fill_between(x, low, high, color=style["color"], alpha=0.18, linewidth=0)
`
    : `for label, style, x, y, low, high in LINES:
${time}    axes.plot(x, y, label=label, **style)
    if low is not None:
        axes.fill_between(x, low, high, color=style["color"], alpha=0.18, linewidth=0)
`
}${scaleText(spec)}${limitsText(spec)}axes.set_title(${text(spec.title)}, loc="left")
axes.set_xlabel(${text(isTime ? "time (UTC)" : spec.xAxis === "relative" ? "seconds since start" : axisName(spec.xAxis))})
${spec.yName === undefined ? "" : `axes.set_ylabel(${text(spec.yName)})\n`}${
  hasRight && spec.rightName !== undefined ? `right_axes.set_ylabel(${text(spec.rightName)})\n` : ""
}axes.grid(True, alpha=0.3)
axes.spines[["top", "right"]].set_visible(False)
${hasRight ? 'right_axes.spines["top"].set_visible(False)\n' : ""}${legendText(named.size, hasRight)}
figure.savefig(${text(options.file)})
`;
}

function lineText(line: Line, spec: FigureSpec, isNamed: boolean, { colourOf }: ScriptOptions): string {
  const [first, last] = [spec.zoom?.first ?? -Infinity, spec.zoom?.last ?? Infinity];
  // one point at each side of the zoom, so that lines leave the picture where they do on the screen
  const shown = indices(line.x, first, last);
  const style = [`"color": ${text(hexOf(colourOf(line.colour)))}`, `"linewidth": ${line.width}`];
  if (line.dash.length > 0) style.push(`"linestyle": (0, (${dashText(line)}))`);
  if (line.faint) style.push('"alpha": 0.4');
  const label = isNamed ? text(legendLabel(line)) : '"_"';
  const band = line.low !== null && line.high !== null && !line.faint;
  const columns = [line.x, line.y, band ? line.low : null, band ? line.high : null];
  const rows = columns
    .map((column) => `        ${column === null ? "None" : list(column, shown)},\n`)
    .join("");
  const side = spec.lines.some((one) => one.isRight)
    ? `        ${line.isRight ? '"right"' : '"left"'},\n`
    : "";
  return `    (\n        ${label},\n        {${style.join(", ")}},\n${rows}${side}    ),\n`;
}

function legendText(count: number, hasRight: boolean): string {
  if (count < 2) return "";
  // each of two axes has a legend of its own, and they would lie on each other
  return hasRight
    ? 'figure.legend(frameon=False, loc="outside lower center", ncols=2)\n'
    : "axes.legend(frameon=False)\n";
}

function indices(x: Float64Array, first: number, last: number): number[] {
  const inside = (i: number): boolean => {
    const value = x[i] as number;
    return value >= first && value <= last;
  };
  const all = Array.from(x.keys());
  return all.filter((i) => inside(i) || (i > 0 && inside(i - 1)) || (i + 1 < x.length && inside(i + 1)));
}

/** In units of the line's width, of which matplotlib counts dashes. */
function dashText(line: Line): string {
  const even = line.dash.length % 2 === 0 ? line.dash : [...line.dash, ...line.dash];
  return even.map((length) => String(Number((length / line.width).toPrecision(3)))).join(", ");
}

function list(values: Float64Array, at: readonly number[]): string {
  const texts = at.map((i) => {
    const value = values[i] as number;
    return Number.isFinite(value) ? String(value) : "nan";
  });
  return `[${texts.join(", ")}]`;
}

function scaleText(spec: FigureSpec): string {
  const { left, right } = sidesOf(spec.lines);
  let lines = "";
  for (const [axes, axis, kind, own] of [
    ["axes", "x", spec.xScale, spec.lines],
    ["axes", "y", spec.yScale, left],
    ["right_axes", "y", right.length > 0 ? spec.rightScale : "linear", right],
  ] as const) {
    if (kind === "log") lines += `${axes}.set_${axis}scale("log", nonpositive="mask")\n`;
    if (kind === "symlog") {
      const { threshold } = bendFor(kind, own, axis);
      // asinh is the curve that the page draws; matplotlib's own "symlog" has a kink
      lines += `${axes}.set_${axis}scale("asinh", linear_width=${threshold})\n`;
    }
  }
  return lines;
}

function limitsText(spec: FigureSpec): string {
  let lines = "";
  const { zoom } = spec;
  const at = (value: number): string =>
    spec.xAxis === "wall" ? `datetime.fromtimestamp(${value}, timezone.utc)` : String(value);
  if (zoom !== null) lines += `axes.set_xlim(${at(zoom.first)}, ${at(zoom.last)})\n`;
  if (spec.clip === null && zoom === null) return lines;
  const window =
    zoom === null
      ? xExtent(spec.lines, bendFor(spec.xScale, spec.lines, "x"))
      : { min: zoom.first, max: zoom.last };
  const { left, right } = sidesOf(spec.lines);
  for (const [axes, own, kind, clip] of [
    ["axes", left, spec.yScale, spec.clip],
    ["right_axes", right, spec.rightScale ?? "linear", null],
  ] as const) {
    if (own.length === 0 && axes === "right_axes") continue;
    const { range } = yExtent(own, window, bendFor(kind, own, "y"), clip);
    lines += `${axes}.set_ylim(${range.min}, ${range.max})\n`;
  }
  return lines;
}

/** Return a Python string literal; JSON's escapes are Python's too, and $ would begin mathematics. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll("$", "\\\\$");
}

function docText(value: string): string {
  return value.replaceAll("\\", "/").replaceAll('"', "'").replace(/\s+/g, " ");
}

/** matplotlib knows #rrggbb, browsers answer rgb(r, g, b). */
function hexOf(colour: string): string {
  const parts = /^rgba?\((\d+),\s*(\d+),\s*(\d+)/.exec(colour);
  if (parts === null) return colour;
  return `#${[1, 2, 3].map((i) => Number(parts[i]).toString(16).padStart(2, "0")).join("")}`;
}
