// A name that is cut in its middle where there is no room for it: names of a sweep begin alike and differ at the end.
// Whoever holds it gives the whole name to screen readers, which would read the two parts as two words.

import type { JSX } from "preact";
import "./middle-cut.css";

/** Characters at the end that stay, and how long a name must be for that to be worth it. */
const END = 10;
const SHORT = 2 * END;

export function MiddleCut({ text }: { text: string }): JSX.Element {
  const letters = [...text];
  if (letters.length <= SHORT) return <span class="cut">{text}</span>;
  return (
    <span class="middle-cut">
      <span class="cut">{letters.slice(0, -END).join("")}</span>
      <span>{letters.slice(-END).join("")}</span>
    </span>
  );
}
