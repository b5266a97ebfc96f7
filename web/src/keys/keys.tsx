// Keys as they stand on a keyboard.

import type { JSX } from "preact";
import { onMac, shownKeys } from "./keystroke";

export function Keys({ keys }: { keys: string }): JSX.Element {
  return (
    <span class="keys">
      {shownKeys(keys, onMac()).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}
