// The worker's side of aside.ts: smooths what it is sent. A million points take 30 to 1,000 ms, too long for the page's thread.

import { answer, type SmoothRequest } from "./smooth-request";

const scope = self as unknown as {
  onmessage: (event: MessageEvent<SmoothRequest>) => void;
  postMessage: (message: unknown, transfer: Transferable[]) => void;
};

scope.onmessage = (event) => {
  const done = answer(event.data);
  scope.postMessage(done, [done.y.buffer as ArrayBuffer]);
};
