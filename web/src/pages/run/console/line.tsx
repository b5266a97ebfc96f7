// One line of the console: its number, when it was printed, who printed it, and the text in its colours.

import type { JSX } from "preact";
import { clock } from "../clock";
import type { ConsoleLane, ConsoleLine } from "../documents";
import { type AnsiStyle, PLAIN, parseAnsi } from "./ansi";
import { markFound } from "./find";
import { readable } from "./readable";

export interface LineProps {
  line: ConsoleLine;
  lane: ConsoleLane | undefined;
  /** Shown before the text where several processes write. */
  who: string | null;
  pattern: RegExp | null;
  isCurrent: boolean;
  /** The address of the charts at its time. */
  onTime: (line: ConsoleLine) => void;
}

export function Line({ line, lane, who, pattern, isCurrent, onTime }: LineProps): JSX.Element {
  const isError = lane?.stream === "stderr";
  const spans = markFound(parseAnsi(line.text), pattern);
  return (
    <div
      class={`log-line${isError ? " log-error" : ""}${isCurrent ? " log-current" : ""}`}
      data-line={line.number}
    >
      <span class="log-number">{line.number + 1}</span>
      <button
        type="button"
        class="log-time"
        tabIndex={-1}
        title="Charts at this time"
        onClick={() => onTime(line)}
      >
        {clock(line.time_ns / 1e6)}
      </button>
      {who !== null && <span class="log-who cut">{who}</span>}
      {isError && <span class="unseen">stderr: </span>}
      <span class="log-text">
        {spans.map((span, index) => {
          const text = span.isFound ? <mark>{span.text}</mark> : span.text;
          if (span.style === PLAIN) return text;
          return (
            <span key={index} {...dress(span.style)}>
              {text}
            </span>
          );
        })}
      </span>
    </div>
  );
}

function dress(style: AnsiStyle): { class: string; style?: Record<string, string> } {
  const names: string[] = [];
  const own: Record<string, string> = {};
  let { colour, background } = style;
  if (style.inverse) {
    [colour, background] = [background, colour];
    names.push("ansi-inverse");
  }
  if (typeof colour === "number") own.color = `var(--ansi-${colour})`;
  // On a background of its own choice the text is the program's own affair.
  else if (colour !== null) own.color = background === null ? readable(colour) : colour;
  if (typeof background === "number") own.background = `var(--ansi-${background})`;
  else if (background !== null) own.background = background;
  if (style.bold) names.push("ansi-bold");
  if (style.dim) names.push("ansi-dim");
  if (style.italic) names.push("ansi-italic");
  if (style.underline) names.push("ansi-underline");
  if (style.strike) names.push("ansi-strike");
  return { class: names.join(" "), style: own };
}
