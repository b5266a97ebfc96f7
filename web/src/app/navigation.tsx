// Where the page is, as signals, and how it gets elsewhere without being loaded again.

import { computed, signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { type Page, pageOf, pathOf } from "./route";

export interface Place {
  path: string;
  /** With its question mark, or "". */
  search: string;
}

export const place = signal<Place>(current());
const path = computed(() => place.value.path);
/** The page that is shown; changes with the path alone, not with the search. */
export const page = computed<Page>(() => pageOf(path.value));
/** The search text of the URL, with its question mark, or "". */
export const search = computed(() => place.value.search);

/** Go to a page or an address of ours. `replace` leaves no entry in the history. */
export function go(to: Page | string, options: { replace?: boolean; search?: string } = {}): void {
  const url = (typeof to === "string" ? to : pathOf(to)) + (options.search ?? "");
  if (options.replace) history.replaceState(null, "", url);
  else if (url !== location.pathname + location.search) history.pushState(null, "", url);
  const before = place.value.path;
  place.value = current();
  if (place.value.path !== before) document.getElementById("main")?.scrollTo(0, 0);
}

export interface LinkProps extends Omit<JSX.HTMLAttributes<HTMLAnchorElement>, "href"> {
  to: Page | string;
  search?: string;
  class?: string;
  title?: string;
  children?: ComponentChildren;
}

/** A link within the app: a plain anchor, so that new tabs, copying and screen readers work. */
export function Link({ to, search: text = "", onClick, ...rest }: LinkProps): JSX.Element {
  const href = (typeof to === "string" ? to : pathOf(to)) + text;
  return (
    <a
      {...rest}
      href={href}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented || event.button !== 0) return;
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        go(href);
      }}
    />
  );
}

function current(): Place {
  if (typeof location === "undefined") return { path: "/", search: "" };
  return { path: location.pathname, search: location.search };
}

if (typeof window !== "undefined") {
  window.addEventListener("popstate", () => {
    place.value = current();
  });
}
