// What a panel draws on which of its two y axes. Pure.

import { sampleName } from "../../../series/samples";
import { type ChartOptions, rightMetric } from "../../../view/state";
import type { PanelSpec } from "./specs";

export interface PanelKeys {
  /** All that is drawn, in the order of dashes; "" is the expression, samples have their entry's name. */
  readonly drawn: readonly string[];
  /** Those of them that the right axis measures. */
  readonly right: ReadonlySet<string>;
  /** Logged keys to ask for. */
  readonly logged: readonly string[];
  /** Entry -> key of a sample of the system. */
  readonly samples: ReadonlyMap<string, string>;
}

export function panelKeys(spec: PanelSpec, options: Pick<ChartOptions, "right">): PanelKeys {
  const right = new Set<string>();
  const samples = new Map<string, string>();
  for (const entry of options.right) {
    const { key, isSystem } = rightMetric(entry);
    if (isSystem) samples.set(entry, key);
    right.add(isSystem ? entry : key);
  }
  const left = spec.expression === null ? spec.keys : [""];
  const logged = new Set([...spec.keys, ...[...right].filter((name) => !samples.has(name))]);
  return { drawn: [...new Set([...left, ...right])], right, logged: [...logged], samples };
}

/** Return what a drawn key is called. */
export function keyTitle(name: string, { samples }: PanelKeys, spec: PanelSpec): string {
  const sample = samples.get(name);
  if (sample !== undefined) return sampleName(sample);
  return name === "" ? spec.title : name;
}

/** Return the name of the right axis, for pictures. */
export function rightTitle(keys: PanelKeys, spec: PanelSpec): string {
  return [...keys.right].map((name) => keyTitle(name, keys, spec)).join(", ");
}
