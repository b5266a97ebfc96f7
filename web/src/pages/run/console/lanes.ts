// Who printed a line: the choice of one process, stream or attempt, as a text for the address. Pure.

import type { ConsoleLane } from "../documents";
import type { LaneChoice } from "./pages";

export const ALL: LaneChoice = { writer: null, stream: null, attempt: null };

/** "stderr", "@2" (an attempt), or "=writer". */
export function choiceOf(text: string): LaneChoice {
  if (text.startsWith("@")) return { ...ALL, attempt: Number(text.slice(1)) };
  if (text.startsWith("=")) return { ...ALL, writer: text.slice(1) };
  return text ? { ...ALL, stream: text } : ALL;
}

export function whoOf(lane: ConsoleLane | undefined): string | null {
  if (lane === undefined) return null;
  if (lane.rank !== null) return `rank ${lane.rank}`;
  return lane.kind === "main" ? "main" : `${lane.kind} ${lane.writer.slice(0, 4)}`;
}

/** Return what one can choose from; the chosen one is always among them. */
export function lanesIn(
  lanes: readonly ConsoleLane[],
  numAttempts: number,
  chosen: string,
): { value: string; title: string }[] {
  const options = [{ value: "", title: "All lines" }];
  const streams = [...new Set(lanes.map((lane) => lane.stream))].sort();
  if (streams.length > 1) for (const stream of streams) options.push({ value: stream, title: stream });
  for (let number = 1; numAttempts > 1 && number <= numAttempts; number++) {
    options.push({ value: `@${number}`, title: `Attempt ${number}` });
  }
  const inOneAttempt = new Map<string, ConsoleLane>();
  for (const lane of lanes) inOneAttempt.set(lane.writer, lane);
  const writers = [...inOneAttempt.values()].sort((a, b) => (a.rank ?? -1) - (b.rank ?? -1));
  if (writers.length > numAttempts) {
    for (const lane of writers) options.push({ value: `=${lane.writer}`, title: whoOf(lane) ?? lane.writer });
  }
  if (!options.some((option) => option.value === chosen)) {
    options.push({
      value: chosen,
      title: chosen.replace(/^[@=]/, (sign) => (sign === "@" ? "Attempt " : "")),
    });
  }
  return options;
}
