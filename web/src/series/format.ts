// Numbers, durations, times and sizes as short text. One spelling everywhere: the minus is "-", so that what is shown can be
// copied and parsed; thousands are told apart by ",". Exact text is one call away (`exact`).

/** A number in few significant digits: 0.0123, 1,234, 1.23e-7, 12.3M; NaN, inf and -inf by name. */
export function number(value: number, digits = 4): string {
  const odd = notFinite(value);
  if (odd !== null) return odd;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e15) return scientific(value, digits);
  if (size >= 1e6) return si(value, digits);
  if (Number.isInteger(value)) return count(value);
  // Digits before the point are never cut: 12,345.6 in four digits is 12,346, not 12,350.
  const whole = Math.max(digits, Math.floor(Math.log10(size)) + 1);
  const short = Number(value.toPrecision(Math.min(whole, 21)));
  return Math.abs(short) >= 1000 ? count(short) : String(short);
}

/** Every digit that tells this number from its neighbours. */
export function exact(value: number): string {
  return notFinite(value) ?? (Object.is(value, -0) ? "0" : String(value));
}

/** A number with an SI letter: 1.2k, 3.4M, 560m is not used: small numbers stay numbers. */
export function si(value: number, digits = 3): string {
  const odd = notFinite(value);
  if (odd !== null) return odd;
  const letters = ["", "k", "M", "G", "T", "P", "E"];
  return letterOf(value, 1000, letters, digits) ?? scientific(value, digits);
}

/** A count or whole number with thousands told apart: 1,234,567. What has a fraction keeps it. */
export function count(value: number): string {
  const odd = notFinite(value);
  if (odd !== null) return odd;
  if (Math.abs(value) >= 1e21) return String(value);
  const [whole, fraction] = String(value).split(".") as [string, string | undefined];
  const parted = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? parted : `${parted}.${fraction}`;
}

/** Bytes: 512 B, 1.5 KiB, 3.2 GiB. */
export function bytes(value: number): string {
  const odd = notFinite(value);
  if (odd !== null) return odd;
  const units = [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"];
  return letterOf(value, 1024, units, 3) ?? `${scientific(value, 3)} B`;
}

/** A span of time in its two largest units: 250 ms, 12.3 s, 5m 03s, 2h 15m, 3d 4h. */
export function duration(seconds: number): string {
  const odd = notFinite(seconds);
  if (odd !== null) return odd;
  if (seconds < 0) return `-${duration(-seconds)}`;
  if (seconds === 0) return "0 s";
  if (seconds < 0.9995e-3) return `${Number((seconds * 1e6).toPrecision(3))} µs`;
  if (seconds < 0.9995) return `${Number((seconds * 1e3).toPrecision(3))} ms`;
  if (seconds < 59.95) return `${Number(seconds.toPrecision(3))} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
  const hours = Math.round(seconds / 3600);
  return `${count(Math.floor(hours / 24))}d ${hours % 24}h`;
}

/** How long ago a moment was, or in how long it is: just now, 5 min ago, 3 h ago, 2 d ago, in 5 min; then the date. */
export function relativeTime(atMs: number, nowMs: number): string {
  if (!Number.isFinite(atMs) || !Number.isFinite(nowMs)) return "unknown";
  const seconds = (nowMs - atMs) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return "just now";
  if (size >= 30 * 86400) return date(atMs);
  let text: string;
  if (size < 60) text = `${Math.floor(size)} s`;
  else if (size < 3600) text = `${Math.floor(size / 60)} min`;
  else if (size < 86400) text = `${Math.floor(size / 3600)} h`;
  else text = `${Math.floor(size / 86400)} d`;
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}

/** The day in local time: 2026-03-05. */
export function date(atMs: number): string {
  const at = new Date(atMs);
  if (Number.isNaN(at.getTime())) return "unknown";
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** The moment in local time: 2026-03-05 14:03:09. */
export function dateTime(atMs: number): string {
  const at = new Date(atMs);
  if (Number.isNaN(at.getTime())) return "unknown";
  return `${date(atMs)} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** A change: +0.0123, -4, 0. */
export function delta(value: number, digits = 3): string {
  const text = number(value, digits);
  return value > 0 ? `+${text}` : text;
}

/** A share of one: 12.3 %. */
export function percent(share: number, digits = 3): string {
  return notFinite(share) ?? `${number(share * 100, digits)} %`;
}

/** "1 run", "1,340 runs". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

function notFinite(value: number): string | null {
  if (Number.isNaN(value)) return "NaN";
  if (value === Number.POSITIVE_INFINITY) return "inf";
  return value === Number.NEGATIVE_INFINITY ? "-inf" : null;
}

function scientific(value: number, digits: number): string {
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e") as [string, string];
  return `${Number(mantissa)}e${Number(exponent)}`;
}

/** Return the value in the largest unit that leaves at least one, null beyond the last. */
function letterOf(value: number, base: number, letters: readonly string[], digits: number): string | null {
  let left = value;
  for (const letter of letters) {
    // Rounding may reach the next unit: 999,999 is 1M and not 1,000k.
    const short = Math.abs(left) < 1000 ? Number(left.toPrecision(digits)) : Math.round(left);
    if (Math.abs(short) < base) return `${short}${letter}`;
    left /= base;
  }
  return null;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
