// What the run's metrics came to: last, extremes, best and where it was, with the shape of each curve.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Link } from "../../../app/navigation";
import { Sparkline } from "../../../chart/sparkline";
import { bestOf, goalOf } from "../../../runs/best";
import type { Curve } from "../../../series/curve";
import { count, counted, exact, number } from "../../../series/format";
import { naturalCompare } from "../../../series/natural";
import { runColour } from "../../../series/palette";
import { readCurves } from "../../../server/series";
import type { Digest, RunDocument } from "../../../server/types";
import { Button } from "../../../ui/button";
import { TextField } from "../../../ui/field";
import { Icon } from "../../../ui/icon";
import { ErrorNote } from "../../../ui/note";
import { useFresh, useRun } from "../model";
import { scrollRegion } from "../scrolls";

const AT_FIRST = 60;
type Order = "key" | "last" | "min" | "max" | "best" | "count";

interface Row {
  key: string;
  digest: Digest;
  best: { value: number; step: number } | null;
  isGuess: boolean;
}

export function Metrics({ run }: { run: RunDocument }): JSX.Element | null {
  const model = useRun();
  const { value, problem, reload } = useFresh<{ digests: Record<string, Digest> }>(model.api("digests"));
  const [search, setSearch] = useState("");
  const [order, setOrder] = useState<{ by: Order; isDown: boolean }>({ by: "key", isDown: false });
  const [isAll, setAll] = useState(false);
  const digests = value?.digests;
  const keys = model.keys.value;
  const goals = useMemo(
    () => new Map((keys ?? []).filter((one) => one.lane === "").map((one) => [one.key, one])),
    [keys],
  );
  const rows = useMemo(
    () =>
      Object.entries(digests ?? {}).map(([key, digest]): Row => {
        const told = goals.get(key);
        return {
          key,
          digest,
          best: bestOf(digest, goalOf(told?.goal)),
          isGuess: told?.is_goal_guessed ?? false,
        };
      }),
    [digests, goals],
  );
  const found = useMemo(() => ordered(rows, search, order), [rows, search, order]);
  const shown = isAll ? found : found.slice(0, AT_FIRST);
  const curves = useShapes(shown.map((row) => row.key));
  if (problem) return <ErrorNote error={problem} onRetry={reload} />;
  if (digests === undefined || rows.length === 0) return null;
  const head = (by: Order, title: string): JSX.Element => (
    <th
      scope="col"
      class={by === "key" ? "" : "end"}
      aria-sort={order.by === by ? (order.isDown ? "descending" : "ascending") : "none"}
    >
      <button
        type="button"
        class="th-sort"
        onClick={() => setOrder({ by, isDown: order.by === by ? !order.isDown : by !== "key" })}
      >
        {title}
        {order.by === by && <span aria-hidden="true">{order.isDown ? " ↓" : " ↑"}</span>}
      </button>
    </th>
  );
  return (
    <section class="card" aria-label="Metrics">
      <div class="card-head">
        <h2>Metrics</h2>
        <span class="quiet">{count(rows.length)}</span>
        <div class="card-end">
          {rows.length > 8 && (
            <TextField
              type="search"
              icon="search"
              label="Search metrics"
              placeholder="Search metrics"
              value={search}
              onInput={setSearch}
            />
          )}
          <Link
            class="button button-quiet"
            to={{ name: "run", entity: run.entity, project: run.project, run: run.id, tab: "charts" }}
          >
            Charts
          </Link>
        </div>
      </div>
      <div class="metrics-scroll" {...scrollRegion("Table of metrics")}>
        <table class="metrics">
          <thead>
            <tr>
              {head("key", "Metric")}
              <th scope="col">
                <span class="unseen">Shape</span>
              </th>
              {head("last", "Last")}
              {head("best", "Best")}
              {head("min", "Min")}
              {head("max", "Max")}
              {head("count", "Points")}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <MetricRow key={row.key} row={row} run={run} curve={curves.get(row.key)} />
            ))}
          </tbody>
        </table>
        {found.length === 0 && <p class="quiet metrics-none">No metric is called “{search}”.</p>}
      </div>
      {found.length > shown.length && (
        <p class="metrics-more">
          Showing {count(shown.length)} of {counted(found.length, "metric")}.{" "}
          <Button kind="quiet" onClick={() => setAll(true)}>
            Show all
          </Button>
        </p>
      )}
    </section>
  );
}

function MetricRow({
  row,
  run,
  curve,
}: {
  row: Row;
  run: RunDocument;
  curve: Curve | undefined;
}): JSX.Element {
  const { key, digest, best } = row;
  const odd = digest.nan + digest.posinf + digest.neginf;
  const { entity, project, id } = run;
  return (
    <tr>
      <th scope="row">
        <Link
          to={{ name: "run", entity, project, run: id, tab: "charts" }}
          search={`?q=${encodeURIComponent(key)}`}
          class="cut metric-name"
          title={key}
        >
          {key}
        </Link>
      </th>
      <td class="metric-shape">
        {curve && <Sparkline x={curve.x} y={curve.mean} width={96} height={20} colour={runColour(id)} />}
      </td>
      <td class="end">
        {odd > 0 && (
          <span
            class="metric-odd"
            title={`${count(digest.nan)} NaN, ${count(digest.posinf)} inf, ${count(digest.neginf)} -inf`}
          >
            <Icon name="warning" size={12} />
            {count(odd)}
            <span class="metric-odd-text">not finite</span>
          </span>
        )}
        <Value value={Number(digest.last)} step={digest.last_step} />
      </td>
      <td class="end">
        {best ? (
          <span title={row.isGuess ? "Best by its name; define_metric says it for sure" : undefined}>
            <Value value={best.value} step={best.step} />
          </span>
        ) : (
          <span class="quiet">–</span>
        )}
      </td>
      <td class="end">
        <Value value={digest.min} step={digest.min_step} />
      </td>
      <td class="end">
        <Value value={digest.max} step={digest.max_step} />
      </td>
      <td class="end quiet">{count(digest.count)}</td>
    </tr>
  );
}

function Value({ value, step }: { value: number | null; step: number | null }): JSX.Element {
  if (value === null) return <span class="quiet">–</span>;
  return (
    <span class="metric-value" title={`${exact(value)}${step === null ? "" : ` at step ${step}`}`}>
      {number(value)}
      {step !== null && <span class="metric-step">@{count(step)}</span>}
    </span>
  );
}

function ordered(rows: readonly Row[], search: string, order: { by: Order; isDown: boolean }): Row[] {
  const wanted = search.trim().toLowerCase();
  const found = rows.filter((row) => row.key.toLowerCase().includes(wanted));
  const value = (row: Row): number => {
    if (order.by === "best") return row.best?.value ?? Number.NaN;
    if (order.by === "key") return 0;
    return Number(row.digest[order.by] ?? Number.NaN);
  };
  const sign = order.isDown ? -1 : 1;
  return found.sort((a, b) => {
    if (order.by === "key") return sign * naturalCompare(a.key, b.key);
    const [one, other] = [value(a), value(b)];
    if (Number.isNaN(one) || Number.isNaN(other))
      return Number(Number.isNaN(one)) - Number(Number.isNaN(other));
    return sign * (one - other) || naturalCompare(a.key, b.key);
  });
}

/** Small curves of the metrics that are shown. */
function useShapes(keys: readonly string[]): ReadonlyMap<string, Curve> {
  const model = useRun();
  const [curves, setCurves] = useState<ReadonlyMap<string, Curve>>(new Map());
  const name = JSON.stringify(keys);
  const beat = model.beat.value;
  useEffect(() => {
    void beat; // the run went on
    const wanted = JSON.parse(name) as string[];
    if (wanted.length === 0) return;
    const abort = new AbortController();
    readCurves({ runs: [model.path], keys: wanted, pixels: 48 }, abort.signal).then(
      (some) => {
        if (!abort.signal.aborted) setCurves(new Map(some.map((curve) => [curve.key, curve])));
      },
      // Decoration: the numbers beside it say what went wrong.
      () => {},
    );
    return () => abort.abort();
  }, [model, name, beat]);
  return curves;
}
