// One run in the list, rendered anew only if what it shows has changed.

import { Component, type JSX } from "preact";
import { Link } from "../../../app/navigation";
import type { Curve } from "../../../series/curve";
import { dateTime, relativeTime } from "../../../series/format";
import type { RunItem } from "../../../server/types";
import { IconButton } from "../../../ui/button";
import { InlineEdit } from "../../../ui/inline-edit";
import { Menu } from "../../../ui/menu";
import { MiddleCut } from "../../../ui/middle-cut";
import { Badge, StateDot } from "../../../ui/note";
import { Sparkline } from "../../../ui/sparkline";
import type { Cell } from "../data/column";
import { CELL } from "./grid-roles";
import type { Editable, RowActions } from "./row-actions";
import { hasFinger, Reading, RowFrame, Swatch } from "./row-parts";

export interface RunRowProps {
  readonly run: RunItem;
  readonly depth: number;
  readonly colour: string;
  readonly dash: readonly number[];
  readonly isShown: boolean;
  /** Whether it is among those that are drawn. */
  readonly isDrawn: boolean;
  readonly isPinned: boolean;
  readonly isBaseline: boolean;
  readonly isSelected: boolean;
  readonly isAt: boolean;
  /** What is being changed in its place: the name, or a column. */
  readonly editing: Editable | null;
  readonly staleSince: number | null;
  readonly nowMs: number;
  readonly cells: readonly (Cell & { readonly delta: string; readonly name: string })[];
  readonly spark: Curve | undefined;
  readonly sparkKey: string | null;
  readonly actions: RowActions;
}

export class RunRow extends Component<RunRowProps, { isNear: boolean }> {
  override state = { isNear: false };

  override shouldComponentUpdate(next: RunRowProps, state: { isNear: boolean }): boolean {
    if (state.isNear !== this.state.isNear) return true;
    return (Object.keys(next) as (keyof RunRowProps)[]).some((name) => {
      if (name === "nowMs") return false; // for ages, which may lag behind until something else changes
      if (name === "cells") return !sameCells(next.cells, this.props.cells);
      return next[name] !== this.props[name];
    });
  }

  override render(): JSX.Element {
    const { run, actions, isAt, isSelected } = this.props;
    const { isNear } = this.state;
    return (
      <RowFrame
        id={run.id}
        isAt={isAt}
        isSelected={isSelected}
        isDim={!this.props.isShown}
        onNear={(near) => isNear !== near && this.setState({ isNear: near })}
        onPoint={(event) => actions.point(run, event)}
      >
        <RowContent {...this.props} isNear={isNear || isAt || hasFinger} />
      </RowFrame>
    );
  }
}

function RowContent(props: RunRowProps & { isNear: boolean }): JSX.Element {
  const { run, actions } = props;
  return (
    <>
      <span class="row-lead" {...CELL}>
        <input
          type="checkbox"
          class="row-check"
          tabIndex={-1}
          aria-label={`Select ${run.name}`}
          checked={props.isSelected}
          onClick={(event) => {
            event.stopPropagation();
            actions.select(run, event.shiftKey);
          }}
        />
        <IconButton
          class="row-eye"
          tabIndex={-1}
          icon={props.isShown ? "eye" : "eyeOff"}
          label={props.isShown ? `Hide ${run.name}` : `Show ${run.name}`}
          onClick={(event) => {
            event.stopPropagation();
            if (event.altKey) actions.only(run);
            else actions.eye(run);
          }}
        />
      </span>
      <span
        class="row-name"
        {...CELL}
        style={props.depth ? { paddingLeft: `${props.depth * 14 + 18}px` } : undefined}
      >
        <Swatch colour={props.colour} dash={props.dash} isDrawn={props.isDrawn} />
        <StateDot state={run.state} />
        {props.editing === "name" ? (
          <InlineEdit
            label="Name of the run"
            value={run.name}
            onDone={(name) => actions.keep(run, "name", name)}
            onCancel={() => actions.edit(null, "name")}
          />
        ) : (
          <Link
            to={{ name: "run", entity: run.entity, project: run.project, run: run.id, tab: "" }}
            class="cut row-link"
            tabIndex={-1}
            aria-label={run.name}
            title={`${run.name}\n${run.id} · ${run.state} · ${relativeTime(run.created_ns / 1e6, props.nowMs)}`}
          >
            <MiddleCut text={run.name} />
          </Link>
        )}
        {props.isPinned && (
          <span class="row-mark" title="Pinned">
            •
          </span>
        )}
        {props.isBaseline && (
          <Badge tone="accent" title="Others are compared with this run">
            base
          </Badge>
        )}
        {run.stop_by !== null && run.state === "running" && (
          <Badge tone="warn" title={`${run.stop_by} asked it to stop`}>
            stopping
          </Badge>
        )}
        {props.staleSince !== null && (
          <Badge tone="warn" title={`Nothing was heard of it since ${dateTime(props.staleSince)}`}>
            stale since {dateTime(props.staleSince).slice(11, 16)}
          </Badge>
        )}
      </span>
      <Reading owner={run.id} spark={<Spark {...props} />} />
      {props.cells.map((cell) => (
        <RowCell key={cell.name} cell={cell} {...props} />
      ))}
      <span class="row-end" {...CELL}>
        {props.isNear && (
          <Menu
            label={`Actions for ${run.name}`}
            align="end"
            items={actions.menu(run)}
            trigger={(trigger) => (
              <IconButton {...trigger} tabIndex={-1} icon="dots" label={`Actions for ${run.name}`} />
            )}
          />
        )}
      </span>
    </>
  );
}

function RowCell({
  cell,
  run,
  editing,
  actions,
}: RunRowProps & { cell: RunRowProps["cells"][number] }): JSX.Element {
  const what = cell.name === "tags" || cell.name === "notes" ? cell.name : null;
  if (what !== null && editing === what) {
    return (
      <span class="row-cell" {...CELL}>
        <InlineEdit
          label={what === "tags" ? "Tags, parted by commas" : "Notes"}
          value={what === "tags" ? run.tags.join(", ") : run.notes}
          onDone={(text) => actions.keep(run, what, text)}
          onCancel={() => actions.edit(null, what)}
        />
      </span>
    );
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a cell; the same is in the menu and on a key
    <span
      class={`row-cell cut${what ? " row-editable" : ""}`}
      {...CELL}
      title={what ? `${cell.title}\nDouble-click to change` : cell.title}
      onDblClick={what ? () => actions.edit(run, what) : undefined}
    >
      {cell.text}
      {cell.delta && <span class="row-delta">{cell.delta}</span>}
    </span>
  );
}

function Spark({ spark, sparkKey, run, colour }: RunRowProps): JSX.Element | null {
  if (spark === undefined || sparkKey === null) return null;
  return (
    <Sparkline
      values={spark.mean}
      title={`${sparkKey} of ${run.name}`}
      width={64}
      height={18}
      colour={colour}
    />
  );
}

function sameCells(a: RunRowProps["cells"], b: RunRowProps["cells"]): boolean {
  return (
    a.length === b.length &&
    a.every((cell, i) => cell.text === b[i]?.text && cell.delta === b[i]?.delta && cell.name === b[i]?.name)
  );
}
