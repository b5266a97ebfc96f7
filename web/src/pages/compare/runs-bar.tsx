// Which runs are compared: chips to take away, to make the baseline, and a search to add more; or, for a whole view, what
// it means and how many there are.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link } from "../../app/navigation";
import { count, counted } from "../../series/format";
import { useAnswer } from "../../server/answer";
import type { Paged, RunItem } from "../../server/types";
import { Button, IconButton } from "../../ui/button";
import { Select } from "../../ui/field";
import { Picker } from "../../ui/picker";
import { Popover } from "../../ui/popover";
import { useComparison } from "./comparison";
import { Once } from "./once";
import { RunName } from "./run-name";
import { type Compared, runsPath } from "./use-runs";

const MOST_CHIPS = 12;

export function RunsBar({ compared }: { compared: Compared }): JSX.Element {
  const { state, change, runs, base, label, brushed, brush, entity, project } = useComparison();
  const [isAll, setAll] = useState(false);
  const isPicked = state.runs.length > 0;
  const shown = isAll ? runs : runs.slice(0, MOST_CHIPS);
  const pick = (ids: readonly string[]): void =>
    change({ runs: ids, brush: state.brush.filter((id) => ids.includes(id)) });
  const ids = runs.map((run) => run.id);
  return (
    <div class="compare-runs">
      <div class="compare-tools">
        <Once on={[runs, base, label]}>
          {() => (
            <Select
              label="Baseline"
              isLabelShown
              class="compare-baseline"
              value={base.id}
              options={runs.map((run) => ({ value: run.id, title: label(run) }))}
              onChange={(id) => change({ base: id })}
            />
          )}
        </Once>
        <AddRuns
          entity={entity}
          project={project}
          chosen={ids}
          onPick={(id) => pick(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id])}
        />
        {isPicked ? (
          <Button kind="quiet" onClick={() => change({ runs: [], brush: [], ranges: [] })}>
            Compare all runs{state.filter ? " of the view" : ""}
          </Button>
        ) : (
          <span class="quiet">
            {state.filter ? "Runs of the view " : "All runs of the project"}
            {state.filter && (
              <Link
                to={{ name: "workspace", entity, project }}
                search={`?filter=${encodeURIComponent(state.filter)}`}
              >
                <code>{state.filter}</code>
              </Link>
            )}
          </span>
        )}
        {brushed !== null && (
          <span class="compare-brushed" role="status">
            {counted(brushed.size, "run")} selected
            <Button
              kind="quiet"
              onClick={() => pick([...new Set([base.id, ...ids.filter((id) => brushed.has(id))])])}
            >
              Keep only these
            </Button>
            <Button kind="quiet" onClick={() => brush(null)}>
              Clear
            </Button>
          </span>
        )}
      </div>
      <ul class="compare-chips" aria-label="Compared runs">
        {shown.map((run) => (
          <li
            key={run.id}
            class={`compare-chip${brushed !== null && !brushed.has(run.id) ? " compare-dim" : ""}`}
          >
            <RunName run={run} />
            <IconButton
              icon="close"
              label={`Take ${label(run)} away`}
              disabled={runs.length <= 1}
              onClick={() => pick(ids.filter((id) => id !== run.id))}
            />
          </li>
        ))}
        {runs.length > MOST_CHIPS && (
          <li>
            <Button kind="quiet" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
              {isAll ? "Show fewer" : `${count(runs.length - MOST_CHIPS)} more`}
            </Button>
          </li>
        )}
      </ul>
      {compared.total > runs.length && (
        <p class="compare-note">
          Comparing the first {count(runs.length)} of {count(compared.total)} runs.{" "}
          <Button onClick={compared.readAll} disabled={compared.isLoading}>
            Compare all {count(compared.total)}
          </Button>
        </p>
      )}
      {compared.missing.length > 0 && (
        <p class="compare-note">
          {counted(compared.missing.length, "run")} of the address{" "}
          {compared.missing.length === 1 ? "is" : "are"} not there, perhaps deleted:{" "}
          {compared.missing.slice(0, 5).join(", ")}
          {compared.missing.length > 5 && ` and ${count(compared.missing.length - 5)} more`}.
        </p>
      )}
    </div>
  );
}

interface AddRunsProps {
  readonly entity: string;
  readonly project: string;
  readonly chosen: readonly string[];
  readonly onPick: (id: string) => void;
}

function AddRuns(props: AddRunsProps): JSX.Element {
  return (
    <Popover
      label="Add runs"
      trigger={(trigger) => (
        <Button {...trigger} icon="add" class="compare-add">
          Add runs
        </Button>
      )}
    >
      {() => <RunPicker {...props} />}
    </Popover>
  );
}

const FOUND = 100;

export function RunPicker({ entity, project, chosen, onPick }: AddRunsProps): JSX.Element {
  const [typed, setTyped] = useState("");
  const [settled, setSettled] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed.trim()), 150);
    return () => clearTimeout(timer);
  }, [typed]);
  const pattern = settled.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const like = { $regex: `(?i)${pattern}` };
  const filter = settled
    ? JSON.stringify({ $or: [{ display_name: like }, { id: like }, { tags: like }] })
    : null;
  const query = { filter, limit: FOUND, count: true, columns: ["display_name"] };
  const { value } = useAnswer<Paged<RunItem>>(runsPath(entity, project), query);
  const found = value?.items ?? [];
  return (
    <Picker
      label="Search runs by name, id or tag"
      placeholder="Name, id or tag"
      items={found.map((run) => ({ value: run.id, title: run.name, detail: run.id }))}
      left={Math.max(0, (value?.total ?? 0) - found.length)}
      chosen={chosen}
      onSearch={setTyped}
      onPick={onPick}
      isMany
      note={`${counted(chosen.length, "run")} compared`}
    />
  );
}
