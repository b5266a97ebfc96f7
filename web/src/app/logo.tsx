// The mark: three flashes, each brighter.

import type { JSX } from "preact";

export function Logo(): JSX.Element {
  return (
    <svg class="logo" width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <rect x="2" y="9" width="3.5" height="6" rx="1" opacity="0.35" />
      <rect x="8" y="6" width="3.5" height="9" rx="1" opacity="0.65" />
      <rect x="14" y="3" width="3.5" height="12" rx="1" />
      <rect x="2" y="17" width="15.5" height="1.5" rx="0.75" />
    </svg>
  );
}
