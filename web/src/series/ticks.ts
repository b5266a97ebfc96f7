// Where an axis has its ticks: round numbers, powers of ten, calendar times, round durations. All ascend and lie within.

/** Return about `target` round numbers (1, 2, 5 times a power of ten) from `low` to `high`. */
export function linearTicks(low: number, high: number, target = 6): number[] {
  if (!usable(low, high)) return [];
  if (low === high) return [low];
  return multiples(low, high, niceStep((high - low) / Math.max(target, 1)));
}

/** Return the step of 1, 2 or 5 times a power of ten that is not below a rough one. */
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const share = rough / power;
  // A hair of tolerance: 0.3/3 is 0.09999999999999999.
  const factor = share <= 1 + 1e-9 ? 1 : share <= 2 + 1e-9 ? 2 : share <= 5 + 1e-9 ? 5 : 10;
  return power === 0 ? rough : factor * power;
}

/** Return powers of ten, with 2s and 5s between where few fit, fewer powers where many do; linear within a decade. */
export function logTicks(low: number, high: number, target = 6): number[] {
  if (!usable(low, high) || high <= 0) return [];
  if (low <= 0) return logTicks(high / 10 ** target, high, target);
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.ceil(Math.log10(high) - 1e-9);
  const decades = last - first;
  const stride = Math.max(1, Math.ceil(decades / target));
  const factors = decades <= target / 3 ? [1, 2, 5] : [1];
  const out: number[] = [];
  for (let power = Math.ceil(first / stride) * stride; power <= last; power += stride) {
    for (const factor of factors) {
      const value = decimal(factor, power);
      if (value >= low * (1 - 1e-12) && value <= high * (1 + 1e-12)) out.push(value);
    }
  }
  return out.length >= 2 ? out : linearTicks(low, high, target);
}

/** Return 0 and powers of ten on both sides beyond the threshold; linear if all lies within it. */
export function symlogTicks(low: number, high: number, threshold: number, target = 7): number[] {
  if (!usable(low, high)) return [];
  if (Math.max(Math.abs(low), Math.abs(high)) <= threshold * 2) return linearTicks(low, high, target);
  const side = Math.max(2, Math.ceil(target / (low < 0 && high > 0 ? 2 : 1)));
  const up = high > threshold ? logTicks(Math.max(low, threshold), high, side) : [];
  const down = low < -threshold ? logTicks(Math.max(-high, threshold), -low, side) : [];
  const out = down.map((value) => -value).reverse();
  if (low <= 0 && high >= 0) out.push(0);
  return out.concat(up);
}

const SECOND_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200];
const DAY = 86400;

/** Return round durations in seconds: 10 s, 15 min, 6 h, 2 d. */
export function durationTicks(low: number, high: number, target = 6): number[] {
  if (!usable(low, high)) return [];
  if (low === high) return [low];
  const rough = (high - low) / Math.max(target, 1);
  if (rough <= 1) return linearTicks(low, high, target);
  return multiples(low, high, SECOND_STEPS.find((step) => step >= rough) ?? niceStep(rough / DAY) * DAY);
}

/** Return round moments of local time, in seconds since the epoch: seconds, minutes, hours, days, months, years. */
export function timeTicks(low: number, high: number, target = 6): number[] {
  if (!usable(low, high)) return [];
  if (low === high) return [low];
  const rough = (high - low) / Math.max(target, 1);
  if (rough <= 1) return linearTicks(low, high, target);
  const seconds = SECOND_STEPS.find((step) => step >= rough);
  const start = new Date(low * 1000);
  const [year, month, day] = [start.getFullYear(), start.getMonth(), start.getDate()];
  // Counted from the local midnight before, so that they are round where the person is.
  if (seconds !== undefined) {
    return collect(low, high, (k) => new Date(year, month, day, 0, 0, k * seconds), 1);
  }
  const days = [1, 2, 7, 14].find((step) => step * DAY >= rough);
  if (days !== undefined) return collect(low, high, (k) => new Date(year, month, day + k * days), 0);
  const months = [1, 3, 6].find((step) => step * 30.4 * DAY >= rough);
  if (months !== undefined) {
    const first = Math.floor(month / months) * months;
    return collect(low, high, (k) => new Date(year, first + k * months, 1), 0);
  }
  const years = Math.max(1, niceStep(rough / (366 * DAY)));
  const first = Math.floor(year / years) * years;
  return collect(low, high, (k) => new Date(first + k * years, 0, 1), 0);
}

/** Return the texts of ticks of numbers: as many decimals as tell neighbours apart. */
export function tickTexts(ticks: readonly number[]): string[] {
  let gap = Number.POSITIVE_INFINITY;
  for (let i = 1; i < ticks.length; i++)
    gap = Math.min(gap, Math.abs((ticks[i] as number) - (ticks[i - 1] as number)));
  return ticks.map((tick) => tickText(tick, gap));
}

function tickText(tick: number, gap: number): string {
  if (tick === 0) return "0";
  const size = Math.abs(tick);
  // Digits down to the gap, however large the number is: 100,000.1 and 100,000.2.
  const needed = Number.isFinite(gap) && gap > 0 ? Math.ceil(Math.log10(size / gap) - 1e-9) + 1 : 4;
  const digits = Math.min(Math.max(needed, 1), 17);
  const short = Number(tick.toPrecision(digits));
  if (size < 1e-4 || size >= 1e15) {
    const [mantissa, exponent] = short.toExponential().split("e") as [string, string];
    return `${mantissa}e${Number(exponent)}`;
  }
  for (const [unit, letter] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (size < unit) continue;
    const scaled = Number((short / unit).toPrecision(digits));
    // A letter only where it shortens: 12.5k, but 1,234,567 stays.
    return String(scaled).length <= 6 ? `${scaled}${letter}` : String(short);
  }
  return String(short);
}

function usable(low: number, high: number): boolean {
  return Number.isFinite(low) && Number.isFinite(high) && low <= high;
}

function multiples(low: number, high: number, step: number): number[] {
  const out: number[] = [];
  const slack = step * 1e-9;
  const first = Math.ceil((low - slack) / step);
  for (let k = first; k * step <= high + slack && out.length < 1000; k++)
    out.push(k === 0 ? 0 : tidy(k, step));
  return out;
}

/** k * step without the rounding that 3 * 0.1 shows: to the decimals of the step. */
function tidy(k: number, step: number): number {
  const decimals = Math.ceil(-Math.log10(step) - 1e-9);
  return decimals > 0 && decimals <= 100 ? Number((k * step).toFixed(decimals)) : k * step;
}

/** factor * 10^power as the nearest number there is: 10 ** -5 is not 1e-5 in every engine. */
function decimal(factor: number, power: number): number {
  return Number(`${factor}e${power}`);
}

function collect(low: number, high: number, at: (k: number) => Date, from: number): number[] {
  const out: number[] = [];
  for (let k = from - 1; out.length < 1000; k++) {
    const seconds = at(k).getTime() / 1000;
    if (!(seconds <= high)) break;
    if (seconds >= low && seconds !== out[out.length - 1]) out.push(seconds);
  }
  return out;
}
