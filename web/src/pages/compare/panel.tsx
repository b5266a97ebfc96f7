// A box with a title, its controls, and what can be saved of it.

import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import { ExportMenu } from "./export-menu";
import type { TextTable } from "./table-text";

export interface PanelProps {
  readonly title: string;
  readonly controls?: ComponentChildren;
  readonly table: () => TextTable;
  /** Whether it has a drawing. */
  readonly isDrawn?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Panel({
  title,
  controls,
  table,
  isDrawn = true,
  class: name = "",
  children,
}: PanelProps): JSX.Element {
  const body = useRef<HTMLDivElement>(null);
  const drawing = (): SVGSVGElement | null =>
    body.current?.querySelector<SVGSVGElement>(".svg-chart svg") ?? null;
  return (
    <section class={`explore-panel ${name}`} aria-label={title}>
      <div class="explore-head">
        <h2>{title}</h2>
        <div class="explore-controls">{controls}</div>
        <ExportMenu title={title} table={table} {...(isDrawn && { drawing })} />
      </div>
      <div ref={body}>{children}</div>
    </section>
  );
}
