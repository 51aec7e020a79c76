import { assertEquals } from "@std/assert";
import {
  type CallSums,
  MethodRecord,
  type MethodSetting,
  reportRow,
  type Verdict,
} from "../../lib/trust/mod.ts";

const HOUR_MS = 3_600_000;
const METHOD = "/bar.Things/GetThing";
const SHADOW: MethodSetting = { mode: "shadow", ttlMs: 100 };

/** The row of a method with 1,000 calls in an hour, nothing saved, but for what is given. */
function row(
  sums: Partial<CallSums> = {},
  { setting = SHADOW, coveredMs = HOUR_MS, compared = {}, names = {}, method = METHOD }: {
    setting?: MethodSetting;
    coveredMs?: number;
    compared?: Partial<Record<Verdict, number>>;
    names?: Record<string, number>;
    method?: string;
  } = {},
) {
  const record = new MethodRecord();
  record.add(0, { calls: 1_000, ...sums });
  for (const [result, count] of Object.entries(compared)) {
    for (let i = 0; i < count; i++) record.compared(0, result as Verdict);
  }
  for (const [name, count] of Object.entries(names)) {
    for (let i = 0; i < count; i++) record.keptApart(0, name);
  }
  return reportRow(method, record.summary(coveredMs), setting);
}

function settings(policy: unknown): unknown {
  return (policy as { methodConfig: [{ collapser: unknown }] }).methodConfig[0].collapser;
}

const SAVES = {
  wouldHit: 300,
  wouldJoin: 100,
  savedInFlight: 100,
  savedAt1s: 420,
  savedAt10s: 450,
  rehearsed: 1_000,
};

Deno.test("reportRow tells shares, rates each second, and mean waits", () => {
  const told = row({ ...SAVES, savedMs: 72_000, waitNowMs: 50_000, waitThenMs: 10_000 });
  assertEquals(told.share, 0.4);
  assertEquals(told.savedCallsPerS, 400 / 3_600);
  assertEquals(told.savedSecondsPerS, 72 / 3_600);
  assertEquals([told.waitNowMs, told.waitThenMs], [50, 10]);
  assertEquals(told.ttl, { "0": 0.1, configured: 0.4, "1s": 0.42, "10s": 0.45 });
});

Deno.test("reportRow has no number that is no number before the first call", () => {
  const told = reportRow(METHOD, new MethodRecord().summary(0), SHADOW);
  assertEquals([told.share, told.savedCallsPerS, told.waitNowMs, told.ttl["10s"]], [0, 0, 0, null]);
});

Deno.test("reportRow says too early of 999 calls, and of less than an hour, and gives no policy", () => {
  const few = row({ ...SAVES, calls: 999 });
  assertEquals([few.recommendation, few.policy], ["too early", undefined]);
  assertEquals(row(SAVES, { coveredMs: HOUR_MS - 1 }).recommendation, "too early");
  assertEquals(row(SAVES).recommendation, "collapse");
});

Deno.test("reportRow recommends verify after shadow and collapse after verify", () => {
  const first = row(SAVES);
  assertEquals(first.policy, {
    methodConfig: [{
      name: [{ service: "bar.Things", method: "GetThing" }],
      collapser: { mode: "verify" },
    }],
  });
  const second = row(SAVES, { setting: { mode: "verify", ttlMs: 100 } });
  assertEquals(second.recommendation, "collapse");
  assertEquals(settings(second.policy), { mode: "collapse" });
});

Deno.test("reportRow recommends the shortest time that saves much more, and none that does not", () => {
  const longer = (savedAt1s: number, savedAt10s: number, ttlMs = 100) =>
    row({ ...SAVES, savedAt1s, savedAt10s }, { setting: { mode: "shadow", ttlMs } });
  assertEquals(settings(longer(700, 750).policy), { mode: "verify", ttl: "1s" });
  assertEquals(longer(700, 750).recommendation, "collapse with ttl");
  assertEquals(settings(longer(700, 900).policy), { mode: "verify", ttl: "10s" });
  assertEquals(longer(450, 480).recommendation, "collapse");
  assertEquals(longer(700, 750, 60_000).recommendation, "collapse");
});

Deno.test("reportRow leaves a method with one mismatch, whatever it would save", () => {
  const told = row(SAVES, { compared: { match: 10_000, mismatch: 1 } });
  assertEquals(told.recommendation, "leave");
  assertEquals(settings(told.policy), { mode: "off" });
});

Deno.test("reportRow leaves a method of which more than one in twenty answers is unstable", () => {
  const compared = (match: number, unstable: number) =>
    row(SAVES, { compared: { match, unstable } });
  assertEquals(compared(94, 6).recommendation, "leave");
  assertEquals(compared(95, 5).recommendation, "collapse");
  assertEquals(compared(40, 9).recommendation, "collapse"); // 49 are too few to say so
});

Deno.test("reportRow leaves a method that saves next to nothing", () => {
  assertEquals(row({ wouldHit: 49 }).recommendation, "leave");
  assertEquals(row({ wouldHit: 50 }).recommendation, "collapse");
});

Deno.test("reportRow recommends to ignore the name that keeps calls apart, in shadow first", () => {
  const told = row({}, { names: { "x-request-seq": 400, "x-rare": 3 } });
  assertEquals(told.recommendation, "ignore x-request-seq");
  assertEquals(settings(told.policy), { mode: "shadow", ignoreHeaders: ["x-request-seq"] });
  assertEquals(told.keptApartBy, ["x-request-seq", "x-rare"]);
});

Deno.test("reportRow never recommends to ignore who asks", () => {
  for (const name of ["authorization", "cookie", "x-tenant", "x-api-key", "x-user-id"]) {
    const told = row({}, { names: { [name]: 900 } });
    assertEquals([name, told.recommendation], [name, "leave"]);
    assertEquals(told.keptApartBy, [name]);
  }
});

Deno.test("reportRow gives no policy for all other methods together", () => {
  assertEquals(row(SAVES, { method: "other" }).policy, undefined);
});
