// A list of things to do or to choose from, opened by a button; arrows, Home, End and first letters move in it.

import { Fragment, type JSX } from "preact";
import { Icon, type IconName } from "./icon";
import { Popover, type PopoverProps } from "./popover";

export interface MenuItem {
  title: string;
  icon?: IconName;
  /** Shown at the end: the keys that do the same. */
  keys?: string;
  /** A choice: whether it is the chosen one. */
  isChosen?: boolean;
  isDanger?: boolean;
  isDisabled?: boolean;
  /** A heading before it, or a line. */
  heading?: string;
  line?: boolean;
  run: () => void;
}

export interface MenuProps extends Omit<PopoverProps, "children" | "role"> {
  items: readonly MenuItem[];
}

export function Menu({ items, ...rest }: MenuProps): JSX.Element {
  const hasMarks = items.some((item) => item.isChosen !== undefined);
  return (
    <Popover {...rest} role="menu">
      {(close) => (
        <div role="none" onKeyDown={move}>
          {items.map((item, index) => (
            <Fragment key={item.title}>
              {item.line && <hr class="menu-line" />}
              {item.heading && <div class="menu-heading">{item.heading}</div>}
              <button
                type="button"
                {...(item.isChosen === undefined
                  ? { role: "menuitem" }
                  : { role: "menuitemradio", "aria-checked": item.isChosen })}
                class={`menu-item${item.isDanger ? " menu-item-danger" : ""}`}
                disabled={item.isDisabled ?? false}
                data-first={index === 0 || undefined}
                onClick={() => {
                  close();
                  item.run();
                }}
              >
                {hasMarks && <span class="menu-mark">{item.isChosen && <Icon name="check" />}</span>}
                {item.icon && <Icon name={item.icon} />}
                <span class="menu-item-title cut">{item.title}</span>
                {item.keys && <kbd>{item.keys}</kbd>}
              </button>
            </Fragment>
          ))}
        </div>
      )}
    </Popover>
  );
}

function move(event: JSX.TargetedKeyboardEvent<HTMLDivElement>): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>(".menu-item:not(:disabled)")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = target(event.key, at, items);
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  items[to]?.focus();
}

function target(key: string, at: number, items: readonly HTMLElement[]): number | undefined {
  const last = items.length - 1;
  if (key === "ArrowDown") return at >= last ? 0 : at + 1;
  if (key === "ArrowUp") return at <= 0 ? last : at - 1;
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (key.length !== 1 || key === " ") return undefined;
  const letter = key.toLowerCase();
  const order = [...items.keys()].map((index) => (index + at + 1) % items.length);
  return order.find((index) => items[index]?.textContent?.trim().toLowerCase().startsWith(letter));
}
