// A part that scrolls by itself, also by the keyboard.

import type { ComponentChildren, JSX } from "preact";

export interface ScrollerProps {
  readonly label: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Scroller({ label, class: name = "", children }: ScrollerProps): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it
    <section class={`scroller ${name}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
