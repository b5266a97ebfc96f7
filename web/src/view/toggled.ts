// A list of names without the given one, or with it at the end if it was not there.

export function toggled(list: readonly string[], id: string): string[] {
  return list.includes(id) ? list.filter((one) => one !== id) : [...list, id];
}
