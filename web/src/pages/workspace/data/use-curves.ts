// Curves as a component has them: wanted while it is shown, and read again when one of its keys has news.

import { useLayoutEffect, useMemo } from "preact/hooks";
import type { CurveStore, CurvesNow, CurveWish } from "./curves";

export function useCurves(store: CurveStore, wish: CurveWish): CurvesNow {
  const { runs, keys, xAxis, pixels, zoom } = wish;
  const first = zoom?.first;
  const last = zoom?.last;
  const stable = useMemo<CurveWish>(
    () => ({
      runs,
      keys,
      xAxis,
      pixels,
      zoom: first === undefined || last === undefined ? null : { first, last },
    }),
    [runs, keys, xAxis, pixels, first, last],
  );
  useLayoutEffect(() => store.want(stable), [store, stable]);
  let beats = 0;
  for (const key of keys) beats += store.beat(key).value;
  return useMemo(() => {
    void beats; // what was read before is old
    return store.read(stable);
  }, [store, stable, beats]);
}
