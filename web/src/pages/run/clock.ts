// The time of day of a moment, in local time: 14:03:09. Pure.

export function clock(atMs: number): string {
  const at = new Date(atMs);
  if (Number.isNaN(at.getTime())) return "";
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
