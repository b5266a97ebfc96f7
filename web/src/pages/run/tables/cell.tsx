// One cell, by the kind of its column.

import type { JSX } from "preact";
import { exact, number } from "../../../series/format";
import { Icon } from "../../../ui/icon";
import { Item } from "../media/item";
import { itemsOf } from "../media/records";
import { cellText, isNumeric } from "./table";

const LONG = 60;

export interface CellProps {
  cell: unknown;
  kind: string;
  /** All of it, in a window of its own. */
  isWhole?: boolean;
  /** Show all of it. */
  onOpen?: () => void;
}

export function CellView({ cell, kind, isWhole = false, onOpen }: CellProps): JSX.Element {
  if (cell === null || cell === undefined) return <span class="quiet">–</span>;
  if (typeof cell === "boolean") {
    return (
      <span class={cell ? "cell-true" : "cell-false"}>
        <Icon name={cell ? "check" : "close"} size={14} />
        <span class="unseen">{String(cell)}</span>
      </span>
    );
  }
  if (typeof cell === "number" && isNumeric(kind)) {
    if (Number.isNaN(cell)) return <span class="cell-odd">NaN</span>;
    return <span title={exact(cell)}>{isWhole ? exact(cell) : number(cell, 5)}</span>;
  }
  if (typeof cell === "object" && !(cell instanceof Uint8Array) && "_type" in cell) {
    const type = String((cell as { _type: unknown })._type);
    const [item] = itemsOf(cell);
    if (item && item.kind !== "text" && type !== "timestamp") {
      if (item.kind === "image" && !isWhole) {
        return (
          <button
            type="button"
            class="cell-media cell-image"
            aria-label={`Show ${cellText(cell)}`}
            onClick={onOpen}
          >
            <Item item={item} title={cellText(cell)} hasMarks={false} />
          </button>
        );
      }
      if (isWhole || item.kind === "audio") {
        return (
          <div class="cell-media">
            <Item item={item} title={cellText(cell)} hasMarks />
          </div>
        );
      }
      return <span class="quiet">{item.kind === "file" ? item.what : item.kind}</span>;
    }
  }
  const text = cellText(cell);
  if (isWhole) return <pre class="cell-text">{text}</pre>;
  // Long texts are read in a window; short ones stand here in full.
  if (text.length > LONG && onOpen) {
    return (
      <button type="button" class="cell-long cut" title="Show all of it" onClick={onOpen}>
        {text.slice(0, 200)}
      </button>
    );
  }
  return (
    <span class="cut" title={text}>
      {text}
    </span>
  );
}
