// The runs behind the plots, the best first; ticked are those that are brushed.

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { count } from "../../series/format";
import { Button } from "../../ui/button";
import { useSettled } from "../../ui/settled";
import { useComparison } from "./comparison";
import { type PlotCell, plotText, titleOf } from "./measure";
import { Once } from "./once";
import { Panel } from "./panel";
import { RunName } from "./run-name";
import { Scroller } from "./scroller";
import type { TextTable } from "./table-text";

const MANY_RUNS = 50;

export interface ExploreTableProps {
  readonly target: string;
  readonly axes: readonly string[];
  readonly cells: (measure: string) => readonly PlotCell[];
  /** Places of the runs that have the metric, the best first. */
  readonly order: readonly number[];
  readonly table: () => TextTable;
  readonly meant: string | null;
  readonly onHover: (id: string | null) => void;
}

export function ExploreTable(props: ExploreTableProps): JSX.Element {
  const { target, axes, cells, order, table, meant, onHover } = props;
  const { runs, label, brushed, brush } = useComparison();
  const [isAll, setAll] = useState(false);
  const isIn = (i: number): boolean => brushed?.has(runs[i]?.id ?? "") ?? false;
  const known = new Set(order);
  const rest = runs.map((_, i) => i).filter((i) => !known.has(i));
  const ordered = [...order, ...rest];
  // Brushed ones first: among hundreds nobody would find them. When the brush rests: rows that fly about help nobody.
  const rested = useSettled(brushed);
  const isFirst = (i: number): boolean => rested?.has(runs[i]?.id ?? "") ?? false;
  const all = rested === null ? ordered : [...ordered.filter(isFirst), ...ordered.filter((i) => !isFirst(i))];
  const shown = isAll ? all : all.slice(0, MANY_RUNS);
  const columns = [...new Set([target, ...axes])];
  const columnNames = columns.join("\n");
  // Always the newest: rows that look the same are not rendered anew.
  const toggle = useRef((_: string): void => {});
  toggle.current = (id) => {
    const next = new Set(brushed ?? []);
    if (!next.delete(id)) next.add(id);
    brush(next.size === 0 ? null : next);
  };
  return (
    <Panel title="Runs" table={table} isDrawn={false} class="explore-wide">
      <Scroller label="Runs">
        <table class="grid-table explore-table">
          <thead>
            <tr>
              <th scope="col">Run</th>
              {columns.map((one) => (
                <th key={one} scope="col" title={titleOf(one)}>
                  <span class="cut grid-name">{titleOf(one)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((i) => {
              const run = runs[i];
              if (run === undefined) return null;
              const isDim = brushed !== null && !isIn(i);
              const isMeant = meant === run.id;
              return (
                <Once key={run.id} on={[run, label, cells, columnNames, isIn(i), isDim, isMeant]}>
                  {() => (
                    <tr
                      class={`${isDim ? "compare-dim" : ""}${isMeant ? " explore-meant" : ""}`}
                      onPointerEnter={() => onHover(run.id)}
                      onPointerLeave={() => onHover(null)}
                    >
                      <th scope="row">
                        <span class="explore-run">
                          <input
                            type="checkbox"
                            aria-label={`Select ${label(run)}`}
                            checked={isIn(i)}
                            onChange={() => toggle.current(run.id)}
                          />
                          <RunName run={run} />
                        </span>
                      </th>
                      {columns.map((one) => (
                        <td key={one}>
                          <span class="cut grid-name">{plotText(cells(one)[i]) || "–"}</span>
                        </td>
                      ))}
                    </tr>
                  )}
                </Once>
              );
            })}
          </tbody>
        </table>
      </Scroller>
      {shown.length < all.length && (
        <p class="compare-note">
          Showing {count(shown.length)} of {count(all.length)} runs.{" "}
          <Button onClick={() => setAll(true)}>Show all</Button>
        </p>
      )}
    </Panel>
  );
}
