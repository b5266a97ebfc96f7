// Who sampled the system, in words: by host and rank as far as they differ. What several attempts of the same process
// sampled is one line. Pure.

import { naturalCompare } from "../../../series/natural";
import type { Sampler } from "../documents";

export const COLOUR_BY = ["device", "host", "rank"] as const;
export type ColourBy = (typeof COLOUR_BY)[number];

export interface SamplerChoice {
  /** "" for all. */
  readonly host: string;
  readonly rank: string;
}

/** A rank as a text that can be chosen: "-" is who sampled for all of its host. */
export function rankOf({ rank }: Sampler): string {
  return rank === null ? "-" : String(rank);
}

export function hostsOf(samplers: readonly Sampler[]): string[] {
  return [...new Set(samplers.map((one) => one.host))].sort(naturalCompare);
}

export function ranksOf(samplers: readonly Sampler[]): string[] {
  return [...new Set(samplers.map(rankOf))].sort(naturalCompare);
}

export function rankTitle(rank: string): string {
  return rank === "-" ? "whole host" : `rank ${rank}`;
}

/** Return the lanes that a choice means, null for all. */
export function lanesOf(
  samplers: readonly Sampler[],
  { host, rank }: SamplerChoice,
): ReadonlySet<string> | null {
  if (host === "" && rank === "") return null;
  return new Set(
    samplers
      .filter((one) => (host === "" || one.host === host) && (rank === "" || rankOf(one) === rank))
      .map((one) => one.lane),
  );
}

/** Return the name of each lane: what tells it from the others, "" if there is nothing to tell. */
export function laneNames(samplers: readonly Sampler[]): ReadonlyMap<string, string> {
  const hasHosts = hostsOf(samplers).length > 1;
  const hasRanks = ranksOf(samplers).length > 1;
  return new Map(
    samplers.map((one) => {
      const parts = [
        ...(hasHosts ? [one.host || "unknown host"] : []),
        ...(hasRanks ? [rankTitle(rankOf(one))] : []),
      ];
      return [one.lane, parts.join(" ")];
    }),
  );
}
