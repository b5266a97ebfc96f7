import { expect, it } from "vitest";
import { type Port, SHORT, Smoother } from "../../src/series/aside";
import { smooth } from "../../src/series/smooth";
import { answer } from "../../src/series/smooth-request";

const n = SHORT + 1;
const x = Float64Array.from({ length: n }, (_, i) => i);
const y = x.map((value) => Math.sin(value / 50));

/** A real port, with the worker's work at its other end. */
function channel(): { port: Port; asked: number[]; close: () => void } {
  const { port1, port2 } = new MessageChannel();
  const asked: number[] = [];
  port2.onmessage = (event) => {
    asked.push(event.data.smoothing.amount);
    port2.postMessage(answer(event.data));
  };
  return { port: port1, asked, close: () => port1.close() };
}

it("smooths short curves at once, without a worker", () => {
  const smoother = new Smoother(() => {
    throw new Error("no worker is needed");
  });
  const got = smoother.smooth("a", x.subarray(0, 10), y.subarray(0, 10), { kind: "ema", amount: 0.5 });
  expect(got).toEqual(smooth(x.subarray(0, 10), y.subarray(0, 10), { kind: "ema", amount: 0.5 }));
});

it("smooths long curves elsewhere, and only the newest of several questions about a line", async () => {
  const { port, asked, close } = channel();
  const smoother = new Smoother(() => port);
  const amounts = [0.1, 0.2, 0.3, 0.4];
  const answers = await Promise.all([
    ...amounts.map((amount) => smoother.smooth("a", x, y, { kind: "ema", amount })),
    smoother.smooth("b", x, y, { kind: "window", amount: 0.9 }),
  ]);
  expect(asked).toEqual([0.1, 0.4, 0.9]);
  expect(answers.slice(0, 3)).toEqual([null, null, null]);
  expect(answers[3]).toEqual(smooth(x, y, { kind: "ema", amount: 0.4 }));
  expect(answers[4]).toEqual(smooth(x, y, { kind: "window", amount: 0.9 }));
  expect(x.length).toBe(n); // what was sent is still the sender's
  close();
});

it("does the work itself when the worker cannot run", async () => {
  const port: Port = {
    onmessage: null,
    postMessage: () => queueMicrotask(() => port.onerror?.({} as ErrorEvent)),
  };
  const smoother = new Smoother(() => port);
  const wanted = smooth(x, y, { kind: "ema", amount: 0.4 });
  const asked = ["a", "b"].map((line) => smoother.smooth(line, x, y, { kind: "ema", amount: 0.4 }));
  expect(await Promise.all(asked)).toEqual([wanted, wanted]);
  expect(await smoother.smooth("c", x, y, { kind: "ema", amount: 0.4 })).toEqual(wanted);
});
