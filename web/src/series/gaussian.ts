// Gaussian smoothing in O(n) at any width and any spacing of x.
// The one idea (Deriche, 1993): for d >= 0, exp(-d^2/2) is within 0.001 of a sum of two damped oscillations, and a damped
// oscillation can be carried from point to point like an exponential average. One pass each way makes both sides.

// (cos, sin) amplitudes, damping and frequency of the two.
const A0 = 1.68;
const A1 = 3.735;
const B0 = 1.783;
const W0 = 0.6318;
const C0 = -0.6803;
const C1 = -0.2598;
const B1 = 1.723;
const W1 = 1.997;

/** Return the Gaussian average of `y` over ascending `x`; what is not finite is a gap. */
export function gaussian(x: Float64Array, y: Float64Array, sigma: number): Float64Array {
  const n = y.length;
  const top = new Float64Array(n);
  const bottom = new Float64Array(n);
  pass(x, y, sigma, top, bottom, false);
  pass(x, y, sigma, top, bottom, true);
  for (let i = 0; i < n; i++) {
    const value = y[i] as number;
    top[i] = value - value === 0 ? (top[i] as number) / (bottom[i] as number) : Number.NaN;
  }
  return top;
}

/** Add to `top` the weighted values and to `bottom` the weights of one side; a point itself counts in the first. */
function pass(
  x: Float64Array,
  y: Float64Array,
  sigma: number,
  top: Float64Array,
  bottom: Float64Array,
  isBack: boolean,
): void {
  const n = y.length;
  // Oscillation k of the sums: of values (p + iq) and of weights (r + is).
  let p0 = 0;
  let q0 = 0;
  let r0 = 0;
  let s0 = 0;
  let p1 = 0;
  let q1 = 0;
  let r1 = 0;
  let s1 = 0;
  let lastGap = Number.NaN;
  let cos0 = 1;
  let sin0 = 0;
  let cos1 = 1;
  let sin1 = 0;
  let lastX = x[isBack ? n - 1 : 0] ?? 0;
  for (let k = 0; k < n; k++) {
    const i = isBack ? n - 1 - k : k;
    const value = y[i] as number;
    if (value - value !== 0) continue;
    const here = x[i] as number;
    const gap = Math.abs(here - lastX);
    lastX = here;
    if (gap !== lastGap) {
      lastGap = gap;
      const d = sigma > 0 ? gap / sigma : gap > 0 ? 1e3 : 0;
      const damp0 = Math.exp(-B0 * d);
      const damp1 = Math.exp(-B1 * d);
      cos0 = damp0 * Math.cos(W0 * d);
      sin0 = damp0 * Math.sin(W0 * d);
      cos1 = damp1 * Math.cos(W1 * d);
      sin1 = damp1 * Math.sin(W1 * d);
    }
    let t = p0 * cos0 - q0 * sin0;
    q0 = p0 * sin0 + q0 * cos0;
    p0 = t;
    t = r0 * cos0 - s0 * sin0;
    s0 = r0 * sin0 + s0 * cos0;
    r0 = t;
    t = p1 * cos1 - q1 * sin1;
    q1 = p1 * sin1 + q1 * cos1;
    p1 = t;
    t = r1 * cos1 - s1 * sin1;
    s1 = r1 * sin1 + s1 * cos1;
    r1 = t;
    if (isBack) {
      top[i] = (top[i] as number) + A0 * p0 + A1 * q0 + C0 * p1 + C1 * q1;
      bottom[i] = (bottom[i] as number) + A0 * r0 + A1 * s0 + C0 * r1 + C1 * s1;
    }
    p0 += value;
    r0 += 1;
    p1 += value;
    r1 += 1;
    if (!isBack) {
      top[i] = A0 * p0 + A1 * q0 + C0 * p1 + C1 * q1;
      bottom[i] = A0 * r0 + A1 * s0 + C0 * r1 + C1 * s1;
    }
  }
}
