// The tables that a run logged, one at a time: which, at which step, and its rows.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Command, useCommands } from "../../../keys/commands";
import { count, counted } from "../../../series/format";
import { Button } from "../../../ui/button";
import { Select, TextField } from "../../../ui/field";
import { EmptyState, ErrorNote } from "../../../ui/note";
import type { LoggedValue, ObjectKey, ObjectSteps } from "../documents";
import { saveText } from "../download";
import { isTable } from "../media/records";
import { StepSlider } from "../media/step-slider";
import { placeOf, stepShown } from "../media/steps";
import { useFresh, useRun } from "../model";
import { useParam } from "../params";
import { filtersOf, sortOf, textOfFilters } from "./address";
import { csvOf } from "./csv";
import { Grid } from "./grid";
import { loadTable } from "./load";
import { groupsOf, rowsOf } from "./shape";
import type { TableData } from "./table";
import "./tables.css";

export function Tables(): JSX.Element {
  const model = useRun();
  const known = useFresh<{ items: ObjectKey[] }>(model.api("objects"));
  const [chosen, setChosen] = useParam("table");
  const keys = useMemo(
    () => (known.value?.items ?? []).filter((one) => one.types.some(isTable)).map((one) => one.key),
    [known.value],
  );
  const key = keys.includes(chosen) ? chosen : keys[0];
  if (known.problem && !known.value) return <ErrorNote error={known.problem} onRetry={known.reload} />;
  if (!known.value) return <div aria-busy="true" />;
  if (key === undefined) {
    return (
      <EmptyState title="No tables were logged" icon="table">
        <p>Rows with columns of any kind, images too, show up here as they are logged:</p>
        <pre class="hint">run.log({'{"eval": strobe.Table(columns=[…], data=rows)}'})</pre>
      </EmptyState>
    );
  }
  return <OneTable key={key} name={key} names={keys} onName={setChosen} />;
}

interface OneTableProps {
  name: string;
  names: readonly string[];
  onName: (name: string, options?: { push?: boolean }) => void;
}

function OneTable({ name, names, onName }: OneTableProps): JSX.Element {
  const model = useRun();
  const [wanted, setWanted] = useParam("step");
  const [search, setSearch] = useParam("q");
  const [sortText, setSort] = useParam("sort");
  const [groupBy, setGroupBy] = useParam("by");
  const [filterText, setFilterText] = useParam("where");
  const field = useRef<HTMLInputElement>(null);
  const stepsOf = useFresh<ObjectSteps>(model.api("objects", "steps"), { keys: [name] });
  const steps = stepsOf.value?.steps[name] ?? [];
  const step = stepShown(steps, wanted);
  const place = step === null ? -1 : placeOf(steps, step);
  const { table, problem, isLoading, retry } = useTable(name, step);
  const filters = useMemo(() => filtersOf(filterText), [filterText]);
  const sort = useMemo(() => sortOf(sortText), [sortText]);
  const rows = useMemo(
    () => (table === null ? new Uint32Array(0) : rowsOf(table, filters, search, sort)),
    [table, filters, search, sort],
  );
  const groups = useMemo(
    () => (table === null || groupBy === "" ? null : groupsOf(table, rows, groupBy)),
    [table, rows, groupBy],
  );
  // Keys may come faster than the page is drawn.
  const at = useRef(place);
  at.current = place;
  const goTo = (index: number): void => {
    const to = Math.max(0, Math.min(steps.length - 1, index));
    at.current = to;
    setWanted(to === steps.length - 1 ? "" : String(steps[to]));
  };
  const latest = useRef(goTo);
  latest.current = goTo;
  useCommands(
    useMemo(
      (): Command[] => [
        {
          id: "tables.before",
          title: "Step before",
          group: "Tables",
          keys: "[",
          run: () => latest.current(at.current - 1),
        },
        {
          id: "tables.after",
          title: "Next step",
          group: "Tables",
          keys: "]",
          run: () => latest.current(at.current + 1),
        },
        {
          id: "tables.search",
          title: "Search rows",
          group: "Tables",
          keys: "/",
          run: () => field.current?.focus(),
        },
      ],
      [],
    ),
  );
  const isNarrowed = table !== null && rows.length < table.numRows;
  return (
    <>
      <div class="run-bar">
        <Select
          label="Table"
          value={name}
          options={names.map((one) => ({ value: one, title: one }))}
          onChange={(next) => onName(next, { push: true })}
        />
        <TextField
          type="search"
          icon="search"
          label="Search rows"
          placeholder="Search rows"
          hint={<kbd>/</kbd>}
          value={search}
          onInput={setSearch}
          inputRef={field}
        />
        {steps.length > 1 && <StepSlider steps={steps} place={place} onPlace={goTo} />}
        <div class="run-bar-end">
          <Select
            label="Group by"
            value={groupBy}
            options={[
              { value: "", title: "No groups" },
              ...(table?.columns ?? []).map((column) => ({ value: column.name, title: `By ${column.name}` })),
            ]}
            onChange={setGroupBy}
          />
          <Button
            icon="download"
            disabled={table === null}
            title="Download the rows that are shown, as CSV"
            onClick={() =>
              table && saveText(`${name.replaceAll("/", "_")}-${step}.csv`, csvOf(table, rows), "text/csv")
            }
          >
            CSV
          </Button>
        </div>
      </div>
      {problem && <ErrorNote error={problem} onRetry={retry} />}
      {table !== null && (
        <Grid
          table={table}
          rows={rows}
          groups={groups}
          groupBy={groupBy}
          sort={sort}
          filters={filters}
          onSort={(next) => setSort(next === null ? "" : `${next.isDown ? "-" : ""}${next.column}`)}
          onFilter={(column, text) => setFilterText(textOfFilters({ ...filters, [column]: text }))}
        />
      )}
      <p class="quiet tables-count" role="status" aria-busy={isLoading}>
        {table === null
          ? "Loading…"
          : isNarrowed
            ? `${count(rows.length)} of ${counted(table.numRows, "row")}`
            : counted(table.numRows, "row")}
        {groups !== null && ` in ${counted(groups.length, "group")}`}
        {isNarrowed && (
          <Button
            kind="quiet"
            onClick={() => {
              setFilterText("");
              setSearch("");
            }}
          >
            Show all
          </Button>
        )}
      </p>
    </>
  );
}

interface Loaded {
  table: TableData | null;
  problem: Error | null;
  isLoading: boolean;
  retry: () => void;
}

/** The table at a step; the one before stays until it is here. */
function useTable(name: string, step: number | null): Loaded {
  const model = useRun();
  const answer = useFresh<{ values: Record<string, LoggedValue> }>(
    step === null ? null : model.api("objects", "nearest"),
    { step, keys: [name] },
  );
  const value = answer.value?.values[name];
  const identity = value === undefined ? "" : `${value.step} ${value.attempt} ${value.time_ns}`;
  const [state, setState] = useState<{ table: TableData | null; problem: Error | null }>({
    table: null,
    problem: null,
  });
  useEffect(() => {
    if (value === undefined) return;
    const abort = new AbortController();
    loadTable(value.value, (path) => model.fileAddress(path), abort.signal).then(
      (table) => !abort.signal.aborted && setState({ table, problem: null }),
      (problem: Error) => !abort.signal.aborted && setState((before) => ({ ...before, problem })),
    );
    return () => abort.abort();
  }, [model, identity]);
  return {
    ...state,
    problem: answer.problem ?? state.problem,
    isLoading: answer.isLoading,
    retry: answer.reload,
  };
}
