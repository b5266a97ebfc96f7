// What follows a value that changes many times in a row: typing, brushing.

import { useEffect, useState } from "preact/hooks";

/** Return a value that follows another once that has been still for a moment. */
export function useSettled<T>(value: T, wait = 150): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), wait);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return settled;
}
