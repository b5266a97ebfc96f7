// A group of runs in the list: its value, how many runs it has, what their metrics come to.

import type { JSX } from "preact";
import { count, number } from "../../../series/format";
import { IconButton } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { columnOf } from "../data/column";
import { groupId } from "../data/drawn";
import type { DrawnStyle } from "../data/lines";
import { CELL } from "./grid-roles";
import { Reading, RowFrame, Swatch } from "./row-parts";
import { type GroupRow as GroupRowOf, groupText } from "./rows";

export interface GroupRowProps {
  readonly row: GroupRowOf;
  /** How its line looks, if it is an innermost group. */
  readonly style: DrawnStyle | undefined;
  readonly isShown: boolean;
  readonly isDrawn: boolean;
  readonly isAt: boolean;
  readonly columns: readonly string[];
  readonly onToggle: () => void;
  readonly onEye: () => void;
  readonly onOnly: () => void;
}

export function GroupRow(props: GroupRowProps): JSX.Element {
  const { row, isShown } = props;
  const field = row.field.replace(/^(config|summary|metadata)\./, "");
  const text = groupText(row.value);
  const id = row.leaf ? groupId(row.leaf.key) : row.id;
  return (
    <RowFrame id={id} isAt={props.isAt} isSelected={false} isDim={!isShown} isGroup onPoint={props.onToggle}>
      <span class="row-lead" {...CELL}>
        <IconButton
          class="row-eye"
          tabIndex={-1}
          icon={isShown ? "eye" : "eyeOff"}
          label={isShown ? `Hide ${field} ${text}` : `Show ${field} ${text}`}
          onClick={(event) => {
            event.stopPropagation();
            if (event.altKey) props.onOnly();
            else props.onEye();
          }}
        />
      </span>
      <span class="row-name" {...CELL} style={{ paddingLeft: `${row.depth * 14}px` }}>
        <button
          type="button"
          class="row-fold"
          tabIndex={-1}
          aria-expanded={row.isOpen}
          aria-label={`${field} ${text}`}
          onClick={(event) => {
            event.stopPropagation();
            props.onToggle();
          }}
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
      </span>
      <Reading owner={id} spark={null} />
      {props.columns.map((column) => (
        <GroupCell key={column} column={column} row={row} />
      ))}
      <span class="row-end" {...CELL} />
    </RowFrame>
  );
}

function GroupCell({ column, row }: { column: string; row: GroupRowOf }): JSX.Element {
  const { field } = columnOf(column);
  const found = field === null ? undefined : row.leaf?.metrics[field];
  if (!found || found.mean === null) return <span class="row-cell" {...CELL} />;
  const spread = found.std === null ? "" : ` ± ${number(found.std, 2)}`;
  return (
    <span class="row-cell cut" {...CELL} title={`mean of ${found.count}: ${found.mean}${spread}`}>
      {number(found.mean)}
      {spread && <span class="row-delta">{spread}</span>}
    </span>
  );
}
