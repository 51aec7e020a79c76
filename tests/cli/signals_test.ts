import { assertEquals } from "@std/assert";
import { listenForSignals, type StopSignal } from "../../lib/cli/signals.ts";

/** A process that notes what would have ended it. */
function fakeProcess() {
  const listeners = new Map<StopSignal | "SIGHUP", () => void>();
  const exits: number[] = [];
  let atMs = 0;
  const signals = listenForSignals({
    addSignalListener: (signal, listener) => void listeners.set(signal, listener),
    exit: (code) => void exits.push(code),
    nowMs: () => atMs,
  });
  const send = (signal: StopSignal | "SIGHUP", whenMs: number) => {
    atMs = whenMs;
    listeners.get(signal)?.();
  };
  return { signals, exits, send, listening: [...listeners.keys()] };
}

Deno.test("listenForSignals listens for SIGTERM, SIGINT and SIGHUP at once", () => {
  assertEquals(fakeProcess().listening, ["SIGTERM", "SIGINT", "SIGHUP"]);
});

Deno.test("listenForSignals ends the process with 0 while nobody has subscribed", () => {
  const { exits, send } = fakeProcess();
  send("SIGTERM", 0);
  assertEquals(exits, [0]);
});

Deno.test("listenForSignals tells all subscribers of the first signal and ends nothing", () => {
  const { signals, exits, send } = fakeProcess();
  const heard: string[] = [];
  signals.onSignal((signal) => heard.push(`a ${signal}`));
  signals.onSignal((signal) => heard.push(`b ${signal}`));
  send("SIGINT", 0);
  assertEquals([heard, exits], [["a SIGINT", "b SIGINT"], []]);
});

Deno.test("listenForSignals ends the process with 1 on a second signal of either kind", () => {
  const { signals, exits, send } = fakeProcess();
  let heard = 0;
  signals.onSignal(() => heard++);
  send("SIGINT", 0);
  send("SIGTERM", 100);
  assertEquals([heard, exits], [1, [1]]);
});

Deno.test("listenForSignals hands SIGHUP to whoever reads anew, each time, and ends nothing by it", () => {
  const { signals, exits, send } = fakeProcess();
  const heard: string[] = [];
  send("SIGHUP", 0);
  signals.onSignal((signal) => heard.push(signal));
  const forget = signals.onHangUp(() => heard.push("anew"));
  for (const ms of [1, 500, 1_000]) send("SIGHUP", ms);
  assertEquals([heard, exits], [["anew", "anew", "anew"], []]);
  send("SIGTERM", 2_000);
  forget();
  assertEquals([heard.at(-1), exits], ["SIGTERM", []]);
});

Deno.test("listenForSignals takes SIGHUP for the end where nobody reads anew: the terminal is gone", () => {
  const { signals, exits, send } = fakeProcess();
  const heard: string[] = [];
  signals.onSignal((signal) => heard.push(signal));
  send("SIGHUP", 0);
  assertEquals([heard, exits], [["SIGTERM"], []]);
});

Deno.test("listenForSignals takes a signal within 100 ms of the first for its echo", () => {
  const { signals, exits, send } = fakeProcess();
  let heard = 0;
  signals.onSignal(() => heard++);
  send("SIGINT", 5);
  send("SIGINT", 6);
  send("SIGTERM", 104);
  assertEquals([heard, exits], [1, []]);
  send("SIGINT", 105);
  assertEquals([heard, exits], [1, [1]]);
});

Deno.test("listenForSignals forgets who has unsubscribed", () => {
  const { signals, exits, send } = fakeProcess();
  signals.onSignal(() => exits.push(99))();
  send("SIGTERM", 0);
  assertEquals(exits, [0]);
});
