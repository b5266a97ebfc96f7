// What the plots show: which measures there are, which are chosen (or would be, by what says most), and their values.

import { useMemo } from "preact/hooks";
import type { Goal } from "../../runs/best";
import { useComparison } from "./comparison";
import { associate, strength } from "./correlate";
import { cellOf, measuredRun, measureOf, OWN, type PlotCell, varyingKeys } from "./measure";
import { type Colouring, colouringOf } from "./ramp";
import { telling } from "./telling";
import { useDigests } from "./use-figures";

export interface Explore {
  readonly measures: readonly string[];
  readonly target: string;
  readonly axes: readonly string[];
  readonly x: string;
  readonly y: string;
  /** "" for the colour of each run. */
  readonly colour: string;
  readonly colouring: Colouring | null;
  /** The value of a measure for each run. */
  readonly cells: (measure: string) => readonly PlotCell[];
  /** Config keys that vary, with their values. */
  readonly columns: ReadonlyMap<string, readonly PlotCell[]>;
  readonly goal: (measure: string) => Goal | null;
  readonly problem: Error | null;
}

/** Config axes that are there by themselves: those that matter, but not so few that it is no picture. */
const FEWEST_AXES = 3;
const MOST_AXES = 5;
/** More runs than these have colours of their own nobody can tell apart. */
const FEW_COLOURS = 12;

export function useExplore(): Explore {
  const { state, runs, keys, goal } = useComparison();
  const measured = useMemo(() => runs.map(measuredRun), [runs]);
  const varying = useMemo(() => varyingKeys(measured), [measured]);
  const first = telling(keys.names, 1)[0];
  const target = state.target ?? (first === undefined ? "runtime" : `best(${first})`);
  const wanted = [target, state.x, state.y, state.colour, ...state.axes];
  const metricKeys = wanted.flatMap((one) => {
    const measure = one === null ? null : measureOf(one);
    return measure?.kind === "metric" ? [measure.key] : [];
  });
  const digests = useDigests(runs, [...new Set(metricKeys)]);
  const nowMs = useMemo(() => Date.now(), [runs]);
  const { round } = digests;
  const cells = useMemo(() => {
    const kept = new Map<string, readonly PlotCell[]>();
    void round; // an answer makes all of them new
    return (one: string): readonly PlotCell[] => {
      const known = kept.get(one);
      if (known) return known;
      const measure = measureOf(one);
      const figures = { digest: digests.find, goal };
      const made = measured.map((run) => (measure === null ? null : cellOf(measure, run, figures, nowMs)));
      kept.set(one, made);
      return made;
    };
  }, [measured, round, goal, nowMs]);
  const columns = useMemo(
    () => new Map(varying.map(({ key }) => [key, cells(`config.${key}`)] as const)),
    [varying, cells],
  );
  const best = useMemo(() => {
    const metric = cells(target).map((cell) => (typeof cell === "number" ? cell : Number.NaN));
    const found = [...columns].flatMap(([key, some]) => associate(key, some, metric) ?? []);
    found.sort((a, b) => strength(b) - strength(a));
    // Where too few runs tell what matters, whatever varies is shown.
    const names = [...new Set([...found.map((one) => one.name), ...varying.map((one) => one.key)])];
    return { names, numClear: found.filter((one) => one.isClear).length };
  }, [columns, cells, target, varying]);
  const measures = useMemo(
    () => [
      ...varying.map(({ key }) => `config.${key}`),
      ...keys.names.flatMap((key) => [`best(${key})`, `last(${key})`, `min(${key})`, `max(${key})`]),
      ...Object.keys(OWN),
    ],
    [varying, keys.names],
  );
  const numAxes = Math.min(MOST_AXES, Math.max(FEWEST_AXES, best.numClear));
  const chosenAxes = best.names.slice(0, numAxes).map((key) => `config.${key}`);
  const axes = state.axes.length > 0 ? state.axes : [...chosenAxes, target];
  const numeric = best.names.find((key) => varying.find((one) => one.key === key)?.isNumeric);
  const colour = state.colour ?? (runs.length > FEW_COLOURS ? target : "run");
  const colouring = useMemo(() => (colour === "run" ? null : colouringOf(cells(colour))), [colour, cells]);
  return {
    measures,
    target,
    axes,
    x: state.x ?? (numeric === undefined ? "runtime" : `config.${numeric}`),
    y: state.y ?? target,
    colour: colour === "run" ? "" : colour,
    colouring,
    cells,
    columns,
    goal: (one) => {
      const measure = measureOf(one);
      if (measure?.kind !== "metric") return null;
      return measure.figure === "min" || measure.figure === "max" ? measure.figure : goal(measure.key);
    },
    problem: digests.problem,
  };
}
