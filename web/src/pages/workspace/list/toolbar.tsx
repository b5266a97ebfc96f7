// The controls of the run list: eyes, grouping, order, columns, the small curve.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { NameIndex } from "../../../series/search";
import { IconButton } from "../../../ui/button";
import { Menu } from "../../../ui/menu";
import { Picker, type PickerItem } from "../../../ui/picker";
import { Popover } from "../../../ui/popover";
import { toggled } from "../../../view/toggled";
import { FIGURES } from "../data/column";
import { groupedBy } from "../data/drawn";
import { KeyPicker } from "../key-picker";
import { useWorkspace, type Workspace } from "../workspace";
import { compareRuns } from "./actions";
import { eyesOf, showAll, showNone, showOnly } from "./eyes";
import { useFields } from "./use-fields";

export function Toolbar(): JSX.Element {
  const workspace = useWorkspace();
  const { runs } = workspace.view.value;
  return (
    <div class="list-tools" role="toolbar" aria-label="Run list">
      <EyeMenu workspace={workspace} />
      <Popover
        label="Group runs by"
        trigger={(props) => (
          <IconButton
            {...props}
            icon="group"
            label="Group by"
            keys="G"
            pressed={runs.group.length > 0}
            data-tool="group"
          />
        )}
      >
        {() => (
          <FieldPicker
            label="Group runs by"
            chosen={runs.group}
            wanted={(name) => !name.startsWith("summary.")}
            note={runs.group.length > 1 ? runs.group.join(" › ") : "Choose several for groups within groups"}
            onPick={(name) => workspace.changeRuns(groupedBy(toggled(runs.group, name).slice(0, 8), runs))}
          />
        )}
      </Popover>
      <Popover
        label="Sort runs by"
        trigger={(props) => <IconButton {...props} icon="sort" label="Sort by" data-tool="sort" />}
      >
        {() => (
          <FieldPicker
            label="Sort runs by"
            chosen={[runs.sort.replace(/^-/, "")]}
            wanted={() => true}
            hasFigures
            note="Choose it again to turn the order round"
            onPick={(name) => workspace.changeRuns({ sort: nextSort(runs.sort, name) })}
          />
        )}
      </Popover>
      <Popover
        label="Columns"
        trigger={(props) => <IconButton {...props} icon="columns" label="Columns" data-tool="columns" />}
      >
        {() => <ColumnPicker workspace={workspace} />}
      </Popover>
      <Popover
        label="Small curve"
        trigger={(props) => (
          <IconButton {...props} icon="bars" label="Metric of the small curves" data-tool="spark" />
        )}
      >
        {(close) => (
          <KeyPicker
            label="Metric of the small curves"
            chosen={workspace.sparkKey.value === null ? [] : [workspace.sparkKey.value]}
            onPick={(key) => {
              workspace.changeRuns({ sparkline: key });
              close();
            }}
          />
        )}
      </Popover>
      <IconButton
        icon="compare"
        label="Compare all runs in the list"
        keys="C"
        onClick={() => compareRuns(workspace, [])}
      />
    </div>
  );
}

/** Another field ascends at first; the same one turns round. */
export function nextSort(sort: string, field: string): string {
  if (sort === field) return `-${field}`;
  return sort === `-${field}` ? field : sort.startsWith("-") ? `-${field}` : field;
}

function EyeMenu({ workspace }: { workspace: Workspace }): JSX.Element {
  const { runs } = workspace.view.value;
  const eyes = eyesOf(runs);
  return (
    <Menu
      label="Which runs are shown"
      trigger={(props) => (
        <IconButton
          {...props}
          icon={eyes === "none" ? "eyeOff" : "eye"}
          label="Which runs are shown"
          pressed={eyes !== "all"}
        />
      )}
      items={[
        { title: "Show all", isChosen: eyes === "all", run: () => workspace.changeRuns(showAll()) },
        { title: "Show none", isChosen: eyes === "none", run: () => workspace.changeRuns(showNone()) },
        {
          title: "Show only the selected",
          isDisabled: runs.selected.length === 0,
          run: () => workspace.changeRuns(showOnly(runs.selected)),
        },
        {
          title: "Show only the pinned",
          isDisabled: runs.pinned.length === 0,
          run: () => workspace.changeRuns(showOnly(runs.pinned)),
        },
      ]}
    />
  );
}

interface FieldPickerProps {
  readonly label: string;
  readonly chosen: readonly string[];
  readonly wanted: (name: string) => boolean;
  /** Whether figures of metrics can be chosen too: min(loss). */
  readonly hasFigures?: boolean;
  readonly note?: string;
  readonly onPick: (name: string) => void;
}

function FieldPicker(props: FieldPickerProps): JSX.Element {
  const { label, chosen, wanted, hasFigures = false, note, onPick } = props;
  const [typed, setTyped] = useState("");
  const page = useFields(typed);
  const { index } = useWorkspace().keys.keys.value;
  const items = useMemo(() => {
    const own = (page?.own ?? []).map((name): PickerItem => ({ value: name, title: name, detail: "" }));
    const fields = (page?.items ?? []).map((field) => ({
      value: field.name,
      title: field.name,
      detail: field.kinds.join(", "),
    }));
    const figures = hasFigures ? figureItems(index, typed) : [];
    const all = [...fields, ...own, ...figures].filter((item) => wanted(item.value));
    // What is chosen stands first, so that it can be taken away.
    return [
      ...all.filter((item) => chosen.includes(item.value)),
      ...all.filter((item) => !chosen.includes(item.value)),
    ];
  }, [page, wanted, chosen, hasFigures, index, typed]);
  return (
    <Picker
      label={label}
      placeholder="Search fields"
      items={items}
      chosen={chosen}
      onSearch={setTyped}
      onPick={onPick}
      isMany
      {...(page?.cursor || (hasFigures && index.names.length > FIGURED)
        ? { note: "Those that fit first: type to narrow them down" }
        : note
          ? { note }
          : {})}
    />
  );
}

/** Metrics whose figures are offered at once; typing more narrows them down. */
const FIGURED = 30;

function figureItems(index: NameIndex, typed: string): PickerItem[] {
  // "min(loss" is looked for by the metric in it
  const [, figure = "", name] = /^(\w*)\((.*?)\)?$/.exec(typed.trim()) ?? [];
  return index.search(name ?? typed, FIGURED).names.flatMap((key) =>
    FIGURES.filter((one) => one.startsWith(figure)).map((one) => ({
      value: `${one}(${key})`,
      title: `${one}(${key})`,
      detail: one === "min" || one === "max" ? "with its step" : "",
    })),
  );
}

function ColumnPicker({ workspace }: { workspace: Workspace }): JSX.Element {
  const [typed, setTyped] = useState("");
  const page = useFields(typed);
  const chosen = workspace.columns.value;
  const { index } = workspace.keys.keys.value;
  const items = useMemo(() => {
    const fields = (page?.items ?? []).map((field) => ({
      value: field.name,
      title: field.name,
      detail: field.name.startsWith("summary.") ? "last" : field.kinds.join(", "),
    }));
    const own = (page?.own ?? []).map((name) => ({ value: name, title: name, detail: "" }));
    const figures = figureItems(index, typed);
    const known = new Set(chosen);
    fields.sort((a, b) => rank(a.value) - rank(b.value));
    const first = chosen.map((value) => ({ value, title: value, detail: "" }));
    return [...first, ...[...fields, ...own, ...figures].filter((item) => !known.has(item.value))];
  }, [page, index, typed, chosen]);
  return (
    <Picker
      label="Columns"
      placeholder="Search config, summary, min(metric)"
      items={items}
      chosen={chosen}
      onSearch={setTyped}
      onPick={(name) => workspace.changeRuns({ columns: toggled(chosen, name) })}
      isMany
      {...(page?.cursor || index.names.length > FIGURED
        ? { note: "Those that fit first: type to narrow them down" }
        : {})}
    />
  );
}

/** Config and results before the rest, whatever their alphabet. */
function rank(name: string): number {
  if (name.startsWith("config.")) return 0;
  return name.startsWith("summary.") ? 1 : name.startsWith("metadata.") ? 3 : 2;
}
