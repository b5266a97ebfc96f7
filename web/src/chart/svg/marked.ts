// Hundreds of marks are not rendered anew because another of them is brushed or pointed at: those that change get
// another class, and nothing else is touched.

import { useLayoutEffect, useRef } from "preact/hooks";

/** Return the ref of an element whose children are the marks of `items`: what is not brushed is dim, one may be meant. */
export function useMarked(
  items: readonly { readonly id: string }[],
  brushed: ReadonlySet<string> | null,
  meant: string | null,
): { current: SVGGElement | null } {
  const group = useRef<SVGGElement>(null);
  useLayoutEffect(() => {
    const marks = group.current?.children ?? [];
    for (let i = 0; i < marks.length; i++) {
      const id = items[i]?.id ?? "";
      const { classList } = marks[i] as SVGElement;
      classList.toggle("meant", id === meant);
      classList.toggle("dim", id !== meant && brushed !== null && !brushed.has(id));
    }
  });
  return group;
}
