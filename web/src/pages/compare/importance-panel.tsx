// Which config keys go together with a metric: rank correlation, what a key explains alone, and permutation importance.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, counted, percent } from "../../series/format";
import { Button } from "../../ui/button";
import { type Association, associate, strength } from "./correlate";
import type { Column } from "./forest";
import { type PlotCell, titleOf } from "./measure";
import { Panel } from "./panel";
import { Scroller } from "./scroller";
import type { TextTable } from "./table-text";
import { FEWEST_RUNS, useImportance } from "./use-importance";

const MANY_KEYS = 15;

export interface ImportancePanelProps {
  readonly target: string;
  readonly targetCells: readonly PlotCell[];
  /** By key: one cell for each run. */
  readonly columns: ReadonlyMap<string, readonly PlotCell[]>;
  readonly onPick: (key: string) => void;
}

export function ImportancePanel({ target, targetCells, columns, onPick }: ImportancePanelProps): JSX.Element {
  const [isAll, setAll] = useState(false);
  const metric = useMemo(
    () => targetCells.map((cell) => (typeof cell === "number" ? cell : Number.NaN)),
    [targetCells],
  );
  const found = useMemo(() => {
    const all = [...columns].flatMap(([key, cells]) => associate(key, cells, metric) ?? []);
    return all.sort((a, b) => strength(b) - strength(a));
  }, [columns, metric]);
  const learned = useMemo(() => forestInput(found, columns, metric), [found, columns, metric]);
  const importance = useImportance(learned.columns, learned.target);
  const shown = isAll ? found : found.slice(0, MANY_KEYS);
  const numRuns = metric.filter(Number.isFinite).length;
  const table = (): TextTable => ({
    title: `Config against ${titleOf(target)}`,
    isNumeric: true,
    head: ["key", "runs", "Spearman", "explained alone", "importance"],
    rows: found.map((one) => [
      one.name,
      String(one.n),
      one.rho?.toFixed(3) ?? "",
      one.explained.toFixed(3),
      importance.shares?.get(one.name)?.toFixed(3) ?? "",
    ]),
  });
  return (
    <Panel title={`What goes with ${titleOf(target)}`} table={table} isDrawn={false} class="panel-importance">
      {found.length === 0 ? (
        <p class="quiet explore-none">
          {targetCells.length < 3
            ? "Three runs or more are needed to see what a metric goes with."
            : "No config key varies between runs that have this metric."}
        </p>
      ) : (
        <Scroller label={`Config keys against ${titleOf(target)}`}>
          <table class="importance">
            <thead>
              <tr>
                <th scope="col">Config key</th>
                <th scope="col" title="Rank correlation from -1 to 1; none for texts">
                  Spearman
                </th>
                <th scope="col" title="Share of the metric's rank variance that this key explains alone">
                  Alone
                </th>
                <th
                  scope="col"
                  title="Share of the metric's variance that a forest loses when this key is shuffled"
                >
                  Importance
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((one) => (
                <tr key={one.name} class={one.isClear ? "" : "importance-weak"}>
                  <th scope="row">
                    <button
                      type="button"
                      class="importance-key"
                      title={one.name}
                      onClick={() => onPick(one.name)}
                    >
                      <span class="cut">{one.name}</span>
                    </button>
                    {one.n < numRuns && <span class="quiet"> n = {count(one.n)}</span>}
                  </th>
                  <td>{one.rho === null ? <span class="quiet">text</span> : <Rho rho={one.rho} />}</td>
                  <td>
                    <Share share={one.explained} />
                  </td>
                  <td>
                    <Share share={importance.shares?.get(one.name) ?? null} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroller>
      )}
      {shown.length < found.length && (
        <p class="compare-note">
          Showing {count(shown.length)} of {counted(found.length, "key")}.{" "}
          <Button onClick={() => setAll(true)}>Show all</Button>
        </p>
      )}
      {found.length > 0 && (
        <p class="quiet explore-none">
          {counted(numRuns, "run")}. Faint rows may be chance; of keys that do nothing, up to 1 in 10 looks
          clear.{" "}
          {numRuns < FEWEST_RUNS
            ? `Importance needs ${FEWEST_RUNS} runs.`
            : importance.shares === null && learned.columns.length > 0
              ? `Computing importance, ${percent(importance.progress, 2)}`
              : ""}
        </p>
      )}
    </Panel>
  );
}

/** A bar from the middle: to the right for what rises together. */
function Rho({ rho }: { rho: number }): JSX.Element {
  const width = `${Math.abs(rho) * 50}%`;
  return (
    <span class="rho">
      <span class="rho-track" aria-hidden="true">
        <span class="rho-bar" style={rho < 0 ? { right: "50%", width } : { left: "50%", width }} />
      </span>
      <span>{rho.toFixed(2)}</span>
    </span>
  );
}

function Share({ share }: { share: number | null }): JSX.Element {
  if (share === null) return <span class="quiet">–</span>;
  return (
    <span class="rho">
      <span class="rho-track" aria-hidden="true">
        <span class="rho-bar" style={{ left: "0", width: `${Math.min(1, share) * 100}%` }} />
      </span>
      <span>{percent(share, 2)}</span>
    </span>
  );
}

/** Rows with a value of the metric; texts as the number of their level, what is missing apart from all. */
function forestInput(
  found: readonly Association[],
  columns: ReadonlyMap<string, readonly PlotCell[]>,
  metric: readonly number[],
): { columns: Column[]; target: Float64Array } {
  const rows = metric.flatMap((value, i) => (Number.isFinite(value) ? [i] : []));
  return {
    target: Float64Array.from(rows, (i) => metric[i] as number),
    columns: found.map(({ name }) => {
      const cells = columns.get(name) ?? [];
      const levels = [...new Set(cells.filter((cell) => typeof cell === "string"))].sort();
      return {
        name,
        values: Float64Array.from(rows, (i) => {
          const cell = cells[i] ?? null;
          if (typeof cell === "string") return levels.indexOf(cell);
          return cell !== null && Number.isFinite(cell) ? cell : -1e300;
        }),
      };
    }),
  };
}
