import { assertEquals } from "@std/assert";
import { VerifyBudget } from "../../lib/trust/mod.ts";

/** A budget of two places, with the names of the runs that it started. */
function rig() {
  const started: string[] = [];
  const backend = { busy: false };
  let calls = 0;
  const options = { maxConcurrent: 2, isBusy: () => backend.busy, calls: () => calls };
  const budget = new VerifyBudget(options);
  const ask = (kind: "first" | "sampled", name: string) =>
    budget.ask({
      kind,
      start: () => {
        started.push(name);
        calls++; // a re-run is one of the backend's calls
      },
    });
  const call = (times: number) => void (calls += times);
  return { budget, started, backend, ask, call };
}

Deno.test("VerifyBudget lets sampled runs be one in a hundred calls", () => {
  const { budget, started, ask, call } = rig();
  call(99);
  assertEquals(ask("sampled", "early"), "budget");
  call(1);
  assertEquals(ask("sampled", "one"), undefined);
  budget.ended();
  assertEquals(ask("sampled", "two"), "budget");
  assertEquals(started, ["one"]);
});

Deno.test("VerifyBudget saves up ten runs at most", () => {
  const { budget, started, ask, call } = rig();
  call(100_000);
  for (let i = 0; i < 20; i++) if (ask("sampled", `${i}`) === undefined) budget.ended();
  assertEquals(started.length, 10);
});

Deno.test("VerifyBudget makes first runs without any call, two at once, in their order", () => {
  const { budget, started, ask } = rig();
  for (const name of ["a", "b", "c", "d"]) assertEquals(ask("first", name), undefined);
  assertEquals(started, ["a", "b"]);
  budget.ended();
  assertEquals(started, ["a", "b", "c"]);
  budget.ended();
  assertEquals(started, ["a", "b", "c", "d"]);
});

Deno.test("VerifyBudget starts nothing while callers wait: first runs later, sampled ones not at all", () => {
  const { budget, started, backend, ask, call } = rig();
  call(200);
  backend.busy = true;
  assertEquals(ask("first", "first"), undefined);
  assertEquals(ask("sampled", "sampled"), "busy");
  budget.turn();
  assertEquals(started, []);
  backend.busy = false;
  budget.turn();
  assertEquals(started, ["first"]);
  assertEquals(ask("sampled", "later"), undefined); // being skipped cost nothing of the share
});

Deno.test("VerifyBudget skips a sampled run when both places are taken", () => {
  const { ask, call } = rig();
  call(1_000);
  assertEquals([ask("sampled", "a"), ask("sampled", "b")], [undefined, undefined]);
  assertEquals(ask("sampled", "c"), "busy");
});

Deno.test("VerifyBudget bounds the runs that wait, and gives them up at a drain", () => {
  const { budget, started, ask } = rig();
  for (let i = 0; i < 202; i++) assertEquals(ask("first", `${i}`), undefined);
  assertEquals(ask("first", "one too many"), "busy");
  assertEquals(budget.abandon(), 200);
  budget.ended();
  budget.ended();
  assertEquals(started, ["0", "1"]);
});
