// The values of a panel as a table: one row for each x, one column for each line.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { axisName, xText } from "../../../chart/axis";
import { legendLabel } from "../../../chart/legend";
import { joinLines, lowerBound } from "../../../series/align";
import type { Line } from "../../../series/curve";
import { counted, exact } from "../../../series/format";
import { VirtualList } from "../../../ui/virtual";
import type { Zoom } from "../../../view/state";

export interface RawTableProps {
  readonly lines: readonly Line[];
  readonly xAxis: string;
  readonly zoom: Zoom | null;
  /** Whether each value is one that was logged. */
  readonly isRaw: boolean;
  readonly height: number;
}

const ROW = 24;

/** The index behind the last of ascending values that is not above `last`. */
function endOf(x: Float64Array, last: number): number {
  let at = lowerBound(x, last);
  while (at < x.length && x[at] === last) at++;
  return at;
}

export function RawTable({ lines, xAxis, zoom, isRaw, height }: RawTableProps): JSX.Element {
  const shown = useMemo(() => lines.filter((line) => !line.faint), [lines]);
  const table = useMemo(() => joinLines(shown), [shown]);
  const first = zoom === null ? 0 : lowerBound(table.x, zoom.first);
  const last = zoom === null ? table.x.length : endOf(table.x, zoom.last);
  const cells = (index: number): JSX.Element => (
    <div class="raw-row">
      <span class="raw-cell">{xText(xAxis, table.x[first + index] as number)}</span>
      {table.y.map((column, place) => {
        const value = column[first + index];
        const text = value === undefined ? "" : value === null ? "NaN" : exact(value);
        return (
          <span key={place} class="raw-cell cut" title={text}>
            {text}
          </span>
        );
      })}
    </div>
  );
  return (
    <div class="raw" style={{ height: `${height}px` }}>
      <p class="raw-note quiet">
        {counted(Math.max(0, last - first), "row")}.{" "}
        {isRaw
          ? "Every value that was logged."
          : "Means of neighbouring points: zoom in until each point is one that was logged."}
      </p>
      <div class="raw-rows">
        <VirtualList
          class="virtual-wide"
          label="Values"
          count={Math.max(0, last - first)}
          rowHeight={ROW}
          row={cells}
          head={
            <div class="raw-row raw-head">
              <span class="raw-cell">{axisName(xAxis)}</span>
              {shown.map((line) => (
                <span
                  key={line.id}
                  class="raw-cell cut"
                  title={legendLabel(line)}
                  style={{ color: line.colour }}
                >
                  {legendLabel(line)}
                </span>
              ))}
            </div>
          }
        />
      </div>
    </div>
  );
}
