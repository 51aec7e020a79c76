import { assert, assertEquals } from "@std/assert";
import { differingNames, VerifySampler } from "../../lib/trust/mod.ts";
import { rng } from "../support/cuts.ts";

/** Runs of followers with these names, in turn, that the sampler chooses after the first 20. */
function runs(sampler: VerifySampler, names: readonly string[], calls: number, seed = 3): number {
  const random = rng(seed);
  let chosen = 0;
  for (let i = 0; i < calls; i++) {
    if (sampler.choose(names, random()) === undefined) continue;
    sampler.ran(names);
    chosen++;
  }
  return chosen;
}

Deno.test("VerifySampler takes the first 20 whatever the ratio, and none after them with 0", () => {
  const sampler = new VerifySampler(0);
  for (let i = 0; i < 20; i++) assertEquals(sampler.choose([], 0.999), "first");
  assertEquals(sampler.choose([], 0), undefined);
  assertEquals(sampler.choose(["x-tenant"], 0), undefined);
});

Deno.test("VerifySampler keeps to its ratio where all callers are alike", () => {
  const sampler = new VerifySampler(0.05);
  runs(sampler, [], 20);
  const chosen = runs(sampler, [], 20_000);
  assert(chosen > 850 && chosen < 1_150, `${chosen}`);
});

Deno.test("VerifySampler looks at once at callers that differ in a way not seen before", () => {
  const sampler = new VerifySampler(0.01);
  runs(sampler, ["x-request-id"], 30);
  assertEquals(sampler.choose(["x-request-id", "x-tenant"], 0.999), "sampled");
  assertEquals(sampler.choose(["x-request-id"], 0.999), undefined);
});

Deno.test("VerifySampler looks again when the run was skipped, and thrice when it was made", () => {
  const sampler = new VerifySampler(0.01);
  runs(sampler, [], 30);
  for (let i = 0; i < 5; i++) assertEquals(sampler.choose(["x-tenant"], 0.999), "sampled");
  for (let i = 0; i < 3; i++) sampler.ran(["x-tenant"]);
  for (let i = 0; i < 500; i++) sampler.choose(["x-tenant"], 0.999);
  assertEquals(sampler.choose(["x-tenant"], 0.999), undefined);
});

Deno.test("VerifySampler gives rare differing callers half of its runs, and stays within the ratio", () => {
  const sampler = new VerifySampler(0.02);
  const random = rng(9);
  const chosen = { alike: 0, differing: 0 };
  for (let i = 0; i < 50_000; i++) {
    const kind = i % 50 === 0 ? "differing" : "alike";
    const names = kind === "differing" ? ["x-tenant"] : [];
    if (sampler.choose(names, random()) === undefined) continue;
    sampler.ran(names);
    chosen[kind]++;
  }
  const all = chosen.alike + chosen.differing;
  assert(Math.abs(all - 1_000) < 150, `${all} runs`);
  assert(chosen.differing > 0.4 * all && chosen.differing < 0.6 * all, JSON.stringify(chosen));
});

Deno.test("VerifySampler is bounded where every caller differs in a name of its own", () => {
  const sampler = new VerifySampler(0.01);
  let chosen = 0;
  const random = rng(4);
  for (let i = 0; i < 20_000; i++) {
    const names = [`x-${i}`];
    if (sampler.choose(names, random()) === undefined) continue;
    sampler.ran(names);
    chosen++;
  }
  assert(chosen < 400, `${chosen}`);
});

Deno.test("differingNames tells names, absent ones and reordered values too, and no value", () => {
  const a = [
    { name: ":path", value: "/a.B/C" },
    { name: "x-same", value: "1" },
    { name: "x-tenant", value: "acme" },
    { name: "x-two", value: "1" },
    { name: "x-two", value: "2" },
  ];
  const b = [
    { name: ":path", value: "/a.B/D" },
    { name: "x-two", value: "2" },
    { name: "x-two", value: "1" },
    { name: "x-same", value: "1" },
    { name: "x-more", value: "acme" },
  ];
  assertEquals(differingNames(a, b), ["x-more", "x-tenant", "x-two"]);
  assertEquals(differingNames(a, a), []);
});

Deno.test("differingNames bounds what callers chose", () => {
  const many = Array.from({ length: 40 }, (_, i) => ({ name: `x-${i}`, value: "" }));
  assertEquals(differingNames(many, []).length, 16);
  assertEquals(differingNames([{ name: "x".repeat(65), value: "" }], []), []);
});
