// Where an axis has ticks and what they are called, by what it measures: steps and values, durations, moments.

import { dateTime, duration, exact, number } from "../series/format";
import { durationTicks, linearTicks, logTicks, symlogTicks, tickTexts, timeTicks } from "../series/ticks";
import { axisKey } from "../view/state";
import type { Bend, Range } from "./scale";

/** CSS pixels between ticks, at least. */
export const X_SPACE = 64;
export const Y_SPACE = 32;

export interface AxisTicks {
  places(range: Range, most: number): number[];
  labels(places: readonly number[]): string[];
}

/** Return the ticks of an x axis ("step", "relative", "wall", a key) or, with "value", of a y axis. */
export function axisTicks(axis: string, bend: Bend): AxisTicks {
  const isTime = axis === "wall" || axis === "relative";
  if (bend.kind === "log") {
    return {
      places: ({ min, max }, most) => logTicks(min, max, most),
      labels: isTime ? durations : tickTexts,
    };
  }
  if (bend.kind === "symlog") {
    const { threshold } = bend;
    return {
      places: (range, most) => spaced(symlogTicks(range.min, range.max, threshold, most), range, bend, most),
      labels: isTime ? durations : tickTexts,
    };
  }
  if (axis === "relative")
    return { places: ({ min, max }, most) => durationTicks(min, max, most), labels: durations };
  if (axis === "wall") return { places: ({ min, max }, most) => timeTicks(min, max, most), labels: moments };
  if (axis === "step") return { places: wholeTicks, labels: tickTexts };
  return { places: ({ min, max }, most) => linearTicks(min, max, most), labels: tickTexts };
}

/** Return what an x axis is called. */
export function axisName(axis: string): string {
  const key = axisKey(axis);
  if (key !== null) return key;
  return axis === "step" ? "step" : axis === "relative" ? "time since start" : "time";
}

/** Return one x as text, with the axis's name where the number alone would not tell. */
export function xText(axis: string, x: number): string {
  if (axis === "wall") return dateTime(x * 1000);
  if (axis === "relative") return duration(x);
  if (axis === "step") return `step ${number(Math.round(x), 12)}`;
  return `${axisName(axis)} ${number(x)}`;
}

/** Return one x as text that loses nothing, for files. */
export function exactX(axis: string, x: number): string {
  return axis === "wall" ? new Date(x * 1000).toISOString() : exact(x);
}

/** There is no half step. */
function wholeTicks({ min, max }: Range, most: number): number[] {
  return linearTicks(min, max, Math.min(most, Math.max(1, max - min))).filter(Number.isInteger);
}

/** Leave out ticks that would lie on others: near 0 those of both sides come together. The outer ones and 0 stay. */
function spaced(places: readonly number[], range: Range, bend: Bend, most: number): number[] {
  const least = ((bend.to(range.max) - bend.to(range.min)) / most) * 0.6;
  const kept: number[] = [];
  const byWeight = [...places].sort((a, b) => (a === 0 ? -1 : b === 0 ? 1 : Math.abs(b) - Math.abs(a)));
  for (const place of byWeight) {
    if (kept.every((other) => Math.abs(bend.to(other) - bend.to(place)) >= least)) kept.push(place);
  }
  return kept.sort((a, b) => a - b);
}

function durations(places: readonly number[]): string[] {
  return places.map((seconds) => (seconds === 0 ? "0" : duration(seconds).replace(/ 0+[smh]$/, "")));
}

const DAY = 86_400;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function moments(places: readonly number[]): string[] {
  const gap = places.length > 1 ? (places[1] as number) - (places[0] as number) : DAY;
  let before = "";
  return places.map((seconds) => {
    const at = new Date(seconds * 1000);
    const day = `${MONTHS[at.getMonth()]} ${at.getDate()}`;
    if (gap > 300 * DAY) return String(at.getFullYear());
    if (gap > 27 * DAY) return `${MONTHS[at.getMonth()]} ${at.getFullYear()}`;
    if (gap >= DAY) return day;
    // the first tick of each day says which one it is
    const digits = gap < 1 ? Math.min(3, Math.ceil(-Math.log10(gap))) : 0;
    const fraction = digits > 0 ? (seconds - Math.floor(seconds)).toFixed(digits).slice(1) : "";
    const clock = dateTime(seconds * 1000).slice(11, gap < 60 ? 19 : 16) + fraction;
    const isNewDay = before !== "" && before !== day;
    before = day;
    return isNewDay ? day : clock;
  });
}
