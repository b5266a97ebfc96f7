// Student's t: how many standard errors a 95 % confidence interval reaches to each side.

/** The 97.5 % quantiles for 1 to 30 degrees of freedom. */
const TABLE = [
  12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139,
  2.200985, 2.178813, 2.160369, 2.144787, 2.13145, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963, 2.079614,
  2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.04523, 2.042272,
];
const Z = 1.959963985;

/** Return the 97.5 % quantile for some degrees of freedom; NaN below one. */
export function tQuantile95(freedom: number): number {
  if (!(freedom >= 1)) return Number.NaN;
  const listed = TABLE[Math.floor(freedom) - 1];
  if (listed !== undefined) return listed;
  // Cornish and Fisher's expansion about the normal quantile: right to 1e-6 from here on.
  const first = (Z ** 3 + Z) / 4;
  const second = (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96;
  const third = (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384;
  return Z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}
