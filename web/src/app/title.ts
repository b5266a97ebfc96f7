// What the page is called: in the browser's tab, and as the last crumb where a page knows a better name than its
// address has (a run's display name).

import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export const pageTitle = signal<string | null>(null);

/** Call the page this while the component is shown; null leaves the name that its address has. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    pageTitle.value = title;
    return () => {
      pageTitle.value = null;
    };
  }, [title]);
}

export function followTitle(fallback: () => string): void {
  effect(() => {
    const text = pageTitle.value ?? fallback();
    document.title = text ? `${text} · Strobe` : "Strobe";
  });
}
