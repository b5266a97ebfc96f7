// A group of runs in the list: its value, how many runs it has, what their metrics come to.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { count, number } from "../../../series/format";
import { IconButton } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { Menu, type MenuItem } from "../../../ui/menu";
import { Badge } from "../../../ui/note";
import { type Column, deltaText, groupFigure } from "../data/column";
import { groupId } from "../data/drawn";
import type { DrawnStyle } from "../data/lines";
import { CELL } from "./grid-roles";
import { hasFinger, Reading, RowFrame, Swatch } from "./row-parts";
import { type GroupRow as GroupRowOf, groupText } from "./rows";

export interface GroupRowProps {
  readonly row: GroupRowOf;
  /** How its line looks, if it is an innermost group. */
  readonly style: DrawnStyle | undefined;
  readonly isShown: boolean;
  readonly isDrawn: boolean;
  readonly isAt: boolean;
  /** Others are compared with it. */
  readonly isBaseline: boolean;
  readonly columns: readonly Column[];
  /** What the baseline has in each column. */
  readonly bases: readonly (number | null)[];
  readonly menu: () => MenuItem[];
  readonly onToggle: () => void;
  readonly onEye: () => void;
  readonly onOnly: () => void;
}

export function GroupRow(props: GroupRowProps): JSX.Element {
  const { row, isShown, isAt } = props;
  const [isNear, setNear] = useState(false);
  const field = row.field.replace(/^(config|summary|metadata)\./, "");
  const text = groupText(row.value);
  const id = row.leaf ? groupId(row.leaf.key) : row.id;
  return (
    <RowFrame
      id={id}
      isAt={isAt}
      isSelected={false}
      isDim={!isShown}
      isGroup
      onNear={setNear}
      onPoint={(event) => {
        if (!(event.target as Element).closest("button")) props.onToggle();
      }}
    >
      <span class="row-lead" {...CELL}>
        <IconButton
          class="row-eye"
          tabIndex={-1}
          icon={isShown ? "eye" : "eyeOff"}
          label={isShown ? `Hide ${field} ${text}` : `Show ${field} ${text}`}
          onClick={(event) => (event.altKey ? props.onOnly() : props.onEye())}
        />
      </span>
      <span class="row-name" {...CELL} style={{ paddingLeft: `${row.depth * 14}px` }}>
        <button
          type="button"
          class="row-fold"
          tabIndex={-1}
          aria-expanded={row.isOpen}
          aria-label={`${field} ${text}`}
          onClick={props.onToggle}
        >
          <Icon name={row.isOpen ? "chevronDown" : "chevronRight"} size={12} />
        </button>
        {props.style && (
          <Swatch colour={props.style.colour} dash={props.style.dash} isDrawn={props.isDrawn} />
        )}
        <span class="cut row-group-name" title={`${row.field}: ${text}`}>
          {text}
        </span>
        <span class="cut quiet row-field">{field}</span>
        <span class="quiet row-count">{count(row.numRuns)}</span>
        {props.isBaseline && (
          <Badge tone="accent" title="Others are compared with this group">
            base
          </Badge>
        )}
      </span>
      <Reading owner={id} spark={null} />
      {props.columns.map((column, i) => (
        <GroupCell
          key={column.text}
          column={column}
          row={row}
          base={props.isBaseline ? null : (props.bases[i] ?? null)}
        />
      ))}
      <span class="row-end" {...CELL}>
        {(isNear || isAt || hasFinger) && (
          <Menu
            label={`Actions for ${field} ${text}`}
            align="end"
            items={props.menu()}
            trigger={(trigger) => (
              <IconButton {...trigger} tabIndex={-1} icon="dots" label={`Actions for ${field} ${text}`} />
            )}
          />
        )}
      </span>
    </RowFrame>
  );
}

interface GroupCellProps {
  readonly column: Column;
  readonly row: GroupRowOf;
  readonly base: number | null;
}

/** The mean; beside it what it differs by from the baseline, else the deviation. */
function GroupCell({ column, row, base }: GroupCellProps): JSX.Element {
  const found = groupFigure(column, row.leaf);
  if (!found || found.mean === null) return <span class="row-cell" {...CELL} />;
  const spread = found.std === null ? "" : ` ± ${number(found.std, 2)}`;
  const delta = base === null ? "" : deltaText(found.mean, base);
  const title = `mean of ${found.count}: ${found.mean}${spread}`;
  const beside = delta.split(" (")[0] || spread;
  return (
    <span class="row-cell cut" {...CELL} title={delta ? `${title}\n${delta} against the baseline` : title}>
      {number(found.mean)}
      {beside && <span class="row-delta">{beside}</span>}
    </span>
  );
}
