// The head of the run list: names of columns, which sort it; while the crosshair is somewhere, where.

import type { JSX } from "preact";
import { axisName, xText } from "../../../chart/axis";
import { readings } from "../../../chart/crosshair";
import type { Column } from "../data/column";
import type { Workspace } from "../workspace";
import { HEADING, ROW } from "./grid-roles";
import { nextSort } from "./toolbar";

export function ListHead({
  workspace,
  columns,
}: {
  workspace: Workspace;
  columns: readonly Column[];
}): JSX.Element {
  const { sort } = workspace.view.value.runs;
  const heading = (title: string, by: string, name: string): JSX.Element => {
    const isBy = sort.replace(/^-/, "") === by;
    const order = isBy ? (sort.startsWith("-") ? "descending" : "ascending") : undefined;
    return (
      <span
        key={name}
        class={`row-${name === "name" ? "name" : "cell"}`}
        {...{ ...HEADING, "aria-sort": order }}
      >
        <button
          type="button"
          class="head-sort"
          title={`Sort by ${title}`}
          onClick={() => workspace.changeRuns({ sort: nextSort(sort, by) })}
        >
          <span class="cut">{title}</span>
          {isBy && <span aria-hidden="true">{order === "ascending" ? "↑" : "↓"}</span>}
        </button>
      </span>
    );
  };
  return (
    <div class="row row-heads" {...ROW}>
      <span class="row-lead" {...HEADING}>
        <span class="unseen">Shown</span>
      </span>
      {heading("Name", "display_name", "name")}
      <ReadingHead workspace={workspace} />
      {columns.map((column) => heading(column.title, column.sort, column.text))}
      <span class="row-end" {...HEADING}>
        <span class="unseen">Actions</span>
      </span>
    </div>
  );
}

function ReadingHead({ workspace }: { workspace: Workspace }): JSX.Element {
  const now = readings.value;
  const key = workspace.sparkKey.value ?? "";
  // The name stands in the next column already where that has the last value of the same metric.
  const small = workspace.columns.value.includes(`summary.${key}`) ? "" : key.slice(key.lastIndexOf("/") + 1);
  const place = now === null ? "" : xText(now.axis, now.x).replace(/^step /, "");
  return (
    <span
      class="row-reading"
      title={now === null ? key : `${now.title} at ${axisName(now.axis)} ${place}`}
      {...HEADING}
    >
      <span class="cut">{now === null ? small : place}</span>
    </span>
  );
}
