// A Plotly figure drawn still, without Plotly: its lines, points and bars. The figure itself can be downloaded.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { xExtent, yExtent } from "../../../chart/extent";
import { bendFor, pixelScale } from "../../../chart/scale";
import { Axes, useWidth } from "../../../chart/svg/frame";
import type { Line } from "../../../series/curve";
import { COLOURS } from "../../../series/palette";
import { FileNote } from "./file-note";
import { figureOf, type PlotFigure, type PlotTrace } from "./plotly";
import { useFileText } from "./use-file-text";

const HEIGHT = 280;
const INSET = { left: 56, right: 14, top: 26, bottom: 44 };

export function PlotlyItem({ path, size }: { path: string; size: number | null }): JSX.Element {
  const { text, problem } = useFileText(path, size);
  const figure = useMemo(() => {
    try {
      return text === null ? null : figureOf(JSON.parse(text));
    } catch {
      return null; // not JSON: said below
    }
  }, [text]);
  if (text === null && problem === null) return <p class="quiet">Loading</p>;
  if (figure === null) {
    const why = problem ?? "it has none of the lines, points and bars that are drawn here";
    return <FileNote path={path} size={size} what="Plotly figure" why={why} />;
  }
  const missing = figure.missing.length > 0 ? `without its ${figure.missing.join(", ")}` : "drawn still";
  return (
    <div class="plotly">
      <Drawing figure={figure} />
      <FileNote path={path} size={size} what="Plotly figure" why={missing} />
    </div>
  );
}

function Drawing({ figure }: { figure: PlotFigure }): JSX.Element {
  const [holder, width] = useWidth();
  const lines = useMemo(() => figure.traces.map(lineOf), [figure]);
  const xBend = bendFor(figure.xScale, lines, "x");
  const yBend = bendFor(figure.yScale, lines, "y");
  const hasBars = figure.traces.some((trace) => trace.kind === "bar");
  const gap = hasBars ? barGap(figure) : 0;
  const x = xExtent(lines, xBend);
  const xRange =
    hasBars || figure.names !== null ? { min: x.min - (gap || 1) / 2, max: x.max + (gap || 1) / 2 } : x;
  const y = yExtent(lines, xRange, yBend, null).range;
  const yRange =
    hasBars && figure.yScale !== "log" ? { min: Math.min(0, y.min), max: Math.max(0, y.max) } : y;
  const xs = pixelScale(xBend, xRange, INSET.left, width - INSET.right);
  const ys = pixelScale(yBend, yRange, HEIGHT - INSET.bottom, INSET.top);
  const bars = figure.traces.filter((trace) => trace.kind === "bar");
  const colour = (trace: PlotTrace): string =>
    trace.colour ?? (COLOURS[figure.traces.indexOf(trace) % COLOURS.length] as string);
  return (
    <div ref={holder} class="svg-chart" style={{ height: `${HEIGHT}px` }}>
      {width > 0 && (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`${figure.title || "Figure"}: ${figure.traces.map((trace) => trace.name).join(", ")}`}
        >
          <Axes
            xs={xs}
            ys={ys}
            xName={figure.xName}
            yName={figure.yName || figure.title}
            xAxis={figure.isTime ? "wall" : "value"}
            xNames={figure.names}
          />
          {figure.traces.map((trace, i) =>
            trace.kind === "bar" ? (
              <Bars
                key={i}
                trace={trace}
                place={bars.indexOf(trace)}
                count={bars.length}
                gap={gap}
                at={xs.at}
                top={ys.at}
                floor={ys.at(Math.max(0, yRange.min))}
                colour={colour(trace)}
              />
            ) : (
              <g key={i}>
                {trace.kind !== "points" && (
                  <path
                    d={pathOf(trace, xs.at, ys.at)}
                    fill="none"
                    stroke={colour(trace)}
                    stroke-width="1.5"
                  />
                )}
                {trace.kind !== "line" &&
                  trace.x.map((at, j) => {
                    const [cx, cy] = [xs.at(at), ys.at(trace.y[j] as number)];
                    return (
                      Number.isFinite(cx + cy) && (
                        <circle key={j} cx={cx} cy={cy} r="2.5" fill={colour(trace)} />
                      )
                    );
                  })}
              </g>
            ),
          )}
        </svg>
      )}
      {figure.traces.length > 1 && (
        <ul class="plotly-legend">
          {figure.traces.map((trace, i) => (
            <li key={i}>
              <span class="plotly-mark" style={{ background: colour(trace) }} />
              <span class="cut">{trace.name}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface BarsProps {
  readonly trace: PlotTrace;
  readonly place: number;
  readonly count: number;
  readonly gap: number;
  readonly at: (x: number) => number;
  readonly top: (y: number) => number;
  readonly floor: number;
  readonly colour: string;
}

function Bars({ trace, place, count, gap, at, top, floor, colour }: BarsProps): JSX.Element {
  const wide = (gap * 0.8) / count;
  return (
    <g fill={colour}>
      {trace.x.map((x, i) => {
        const left = at(x - gap * 0.4 + place * wide);
        const y = top(trace.y[i] as number);
        if (!Number.isFinite(y)) return null;
        return (
          <rect
            key={i}
            x={left}
            y={Math.min(y, floor)}
            width={Math.max(1, at(x - gap * 0.4 + (place + 1) * wide) - left - 1)}
            height={Math.max(1, Math.abs(floor - y))}
          />
        );
      })}
    </g>
  );
}

/** The least distance between bars. */
function barGap({ traces }: PlotFigure): number {
  const places = [...new Set(traces.filter((one) => one.kind === "bar").flatMap((one) => one.x))].sort(
    (a, b) => a - b,
  );
  let gap = Number.POSITIVE_INFINITY;
  for (let i = 1; i < places.length; i++)
    gap = Math.min(gap, (places[i] as number) - (places[i - 1] as number));
  return Number.isFinite(gap) ? gap : 1;
}

function pathOf({ x, y }: PlotTrace, at: (x: number) => number, top: (y: number) => number): string {
  let path = "";
  let isOn = false;
  for (let i = 0; i < x.length; i++) {
    const [px, py] = [at(x[i] as number), top(y[i] as number)];
    if (!Number.isFinite(px + py)) {
      isOn = false;
      continue;
    }
    path += `${isOn ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`;
    isOn = true;
  }
  return path;
}

function lineOf({ name, x, y }: PlotTrace): Line {
  const [xs, ys] = [Float64Array.from(x), Float64Array.from(y)];
  const plain = { dash: [], width: 1.5, faint: false, low: null, high: null, marks: [], members: 1 };
  return { ...plain, id: name, label: name, colour: "", x: xs, y: ys };
}
