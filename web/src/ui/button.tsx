// Buttons: with a text, or with an icon alone and then a name for screen readers that is also the tooltip.

import type { ComponentChildren, JSX, Ref } from "preact";
import { Icon, type IconName } from "./icon";
import "./button.css";

export interface ButtonProps extends JSX.HTMLAttributes<HTMLButtonElement> {
  /** primary: the one thing to do here; quiet: no border until it is pointed at; danger: cannot be undone. */
  kind?: "plain" | "primary" | "quiet" | "danger";
  icon?: IconName;
  /** For toggles: whether it is on. */
  pressed?: boolean | undefined;
  disabled?: boolean;
  type?: "button" | "submit";
  buttonRef?: Ref<HTMLButtonElement>;
  children?: ComponentChildren;
}

export function Button({
  kind = "plain",
  icon,
  pressed,
  type = "button",
  buttonRef,
  class: more,
  children,
  ...rest
}: ButtonProps): JSX.Element {
  const isBare = children === undefined || children === null;
  return (
    <button
      {...rest}
      ref={buttonRef ?? null}
      type={type}
      aria-pressed={pressed}
      class={`button button-${kind}${isBare ? " button-bare" : ""}${more ? ` ${String(more)}` : ""}`}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, "children" | "icon"> {
  icon: IconName;
  /** What it does: name and tooltip. */
  label: string;
  /** The key that does the same, shown in the tooltip. */
  keys?: string;
}

export function IconButton({ label, keys, kind = "quiet", ...rest }: IconButtonProps): JSX.Element {
  return <Button {...rest} kind={kind} aria-label={label} title={keys ? `${label} (${keys})` : label} />;
}
