// Keys as text: "mod+k", "shift+/", "g p" (one after the other). `mod` is Command on a Mac, else Control. Pure.

/** Return the keystroke of an event as text, or null for a modifier alone. */
export function keystroke(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">,
  isMac: boolean,
): string | null {
  const { key } = event;
  if (["Shift", "Control", "Alt", "Meta", "Dead", "Unidentified"].includes(key)) return null;
  const isCharacter = [...key].length === 1;
  const parts: string[] = [];
  if (isMac ? event.metaKey : event.ctrlKey) parts.push("mod");
  if (isMac ? event.ctrlKey : event.metaKey) parts.push(isMac ? "ctrl" : "meta");
  if (event.altKey) parts.push("alt");
  // A shifted character says so itself: "?" is one wherever its key is. Letters do not change with it here.
  const isLetter = isCharacter && key.toLowerCase() !== key.toUpperCase();
  if (event.shiftKey && (!isCharacter || isLetter)) parts.push("shift");
  parts.push(key === " " ? "space" : key.toLowerCase());
  return parts.join("+");
}

const SHOWN: Readonly<Record<string, string>> = {
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
  enter: "Enter",
  escape: "Esc",
  space: "Space",
  shift: "Shift",
  alt: "Alt",
};

/** Return keys as people read them: ["Ctrl", "K"]. */
export function shownKeys(keys: string, isMac: boolean): string[] {
  return keys.split(" ").flatMap((stroke) =>
    stroke.split("+").map((part) => {
      if (part === "mod") return isMac ? "⌘" : "Ctrl";
      return SHOWN[part] ?? (part.length === 1 ? part.toUpperCase() : part);
    }),
  );
}

export function onMac(): boolean {
  return typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);
}
