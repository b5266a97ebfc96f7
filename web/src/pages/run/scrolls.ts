// Attributes for what scrolls: keys have to reach it, though it is no control (WCAG 2.1.1).

export const SCROLLS = { tabIndex: 0 } as const;

/** The same with a name, so that it is told where one is. */
export function scrollRegion(label: string): { tabIndex: 0; role: "region"; "aria-label": string } {
  return { tabIndex: 0, role: "region", "aria-label": label };
}
