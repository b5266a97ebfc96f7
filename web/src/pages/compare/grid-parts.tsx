// The parts of the table of metrics: heads that sort, the arrow that says what is better, a figure with its change.

import type { JSX } from "preact";
import { count, exact, number } from "../../series/format";
import { Icon } from "../../ui/icon";
import { useComparison } from "./comparison";
import { deltaText, turnGoal } from "./figure";
import { type GridCell, nextOrder, readOrder } from "./metric-grid";
import { RunName } from "./run-name";

export interface SortHeadProps {
  readonly column: string;
  readonly title: string;
  /** Has nothing to be sorted by: the baseline does not differ from itself. */
  readonly isPlain?: boolean;
  readonly children?: JSX.Element;
}

export function SortHead({ column, title, isPlain = false, children }: SortHeadProps): JSX.Element {
  const { state, change } = useComparison();
  const order = readOrder(state.order);
  const isChosen = state.order !== "" && order.column === column;
  const isRun = children?.type === RunName;
  if (isPlain) return <th scope="col">{children}</th>;
  return (
    <th scope="col" aria-sort={isChosen ? (order.sign > 0 ? "ascending" : "descending") : undefined}>
      <span class="grid-top">
        {!isRun && children}
        <button
          type="button"
          class="grid-order"
          title={`Sort by ${title}`}
          onClick={() => change({ order: nextOrder(state.order, column) })}
        >
          {isRun ? children : <span class="cut">{title}</span>}
          {isChosen && <span aria-hidden="true">{order.sign > 0 ? "↑" : "↓"}</span>}
        </button>
      </span>
    </th>
  );
}

export function GoalButton({ metric }: { metric: string }): JSX.Element {
  const { state, change, goal } = useComparison();
  const now = goal(metric);
  const text = now === "min" ? "lower is better" : now === "max" ? "higher is better" : "neither is better";
  return (
    <button
      type="button"
      class="goal"
      aria-label={`${metric}: ${text}; change`}
      title={`${text}; click to change`}
      onClick={() => change({ goals: turnGoal(state.goals, metric, now) })}
    >
      {now === "min" ? "↓" : now === "max" ? "↑" : "·"}
    </button>
  );
}

export function FigureCell({ cell }: { cell: GridCell | undefined }): JSX.Element {
  if (cell?.value == null) return <td class="grid-none">–</td>;
  const { value, delta, isBest } = cell;
  return (
    <td
      title={value.step === null ? exact(value.value) : `${exact(value.value)} at step ${count(value.step)}`}
    >
      <span class="grid-value">
        {isBest && <Icon name="star" size={12} />}
        {isBest && <span class="unseen">best: </span>}
        {number(value.value)}
        {value.step !== null && <span class="quiet"> @ {count(value.step)}</span>}
      </span>
      {delta !== null && (
        <span class={`grid-delta grid-${delta.verdict}`}>
          {deltaText(delta)}
          {(delta.verdict === "better" || delta.verdict === "worse") && (
            <span class="unseen">, {delta.verdict}</span>
          )}
        </span>
      )}
    </td>
  );
}
