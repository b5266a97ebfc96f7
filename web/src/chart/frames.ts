// Work that may wait, done a few milliseconds per frame in the order in which it came, so that forty charts that come
// on the screen at once never freeze the page.

/**
 * With what the browser does after it, about 50 ms. Less would be no gain: it hands over all canvases of the page with
 * each frame, so that many short frames take longer in all.
 */
const BUDGET_MS = 30;

const waiting = new Set<() => void>();
let isScheduled = false;

/** Do a task in one of the next frames; call what is returned to give it up. */
export function inSomeFrame(task: () => void): () => void {
  waiting.add(task);
  schedule();
  return () => waiting.delete(task);
}

function schedule(): void {
  if (isScheduled || waiting.size === 0) return;
  isScheduled = true;
  requestAnimationFrame(work);
}

function work(): void {
  isScheduled = false;
  const until = performance.now() + BUDGET_MS;
  try {
    for (const task of waiting) {
      waiting.delete(task);
      task();
      if (performance.now() >= until) break;
    }
  } finally {
    schedule();
  }
}
