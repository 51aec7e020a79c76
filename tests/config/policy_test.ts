import { assert, assertEquals } from "@std/assert";
import { parsePolicy } from "../../lib/config/policy.ts";

function policies(config: unknown) {
  const reading = parsePolicy(JSON.stringify(config));
  assert("policies" in reading, JSON.stringify(reading));
  return reading;
}

function problems(text: string): readonly string[] {
  const reading = parsePolicy(text);
  assert("problems" in reading, JSON.stringify(reading));
  return reading.problems;
}

Deno.test("parsePolicy reads gRPC's methodConfig, each name with what its entry says", () => {
  const { policies: found, ignored } = policies({
    methodConfig: [
      { name: [{}], collapser: { ttl: "1m30s" } },
      { name: [{ service: "a.B" }], maxConcurrent: 5 },
      {
        name: [{ service: "a.B", method: "Get" }, { service: "c.D", method: "Put" }],
        collapser: { collapse: false },
      },
    ],
  });
  assertEquals(found, [
    { service: "", method: "", collapser: { cacheDurationMs: 90_000 } },
    { service: "a.B", method: "", maxConcurrent: 5 },
    { service: "a.B", method: "Get", collapser: { collapse: false } },
    { service: "c.D", method: "Put", collapser: { collapse: false } },
  ]);
  assertEquals(ignored, []);
  assertEquals(policies({}), { policies: [], ignored: [] });
});

Deno.test("parsePolicy leaves a client's own settings to the client, and says so", () => {
  const { policies: found, ignored } = policies({
    loadBalancingConfig: [{ round_robin: {} }],
    retryThrottling: { maxTokens: 10, tokenRatio: 0.1 },
    healthCheckConfig: { serviceName: "" },
    methodConfig: [
      { name: [{ service: "a.B", method: null }], timeout: "1s", retryPolicy: {} },
      { name: [{ service: "a.B" }], waitForReady: true },
      { name: [], timeout: "0.1s" },
      { timeout: "0.1s" },
    ],
  });
  assertEquals(found, []); // what says nothing to the sidecar may stand in it as often as it likes
  assertEquals(ignored, [
    ...["loadBalancingConfig", "retryThrottling", "healthCheckConfig"],
    ...["timeout", "retryPolicy", "waitForReady"],
  ]);
});

Deno.test("parsePolicy reads what becomes of a method's answers", () => {
  const { policies: found } = policies({
    methodConfig: [{
      name: [{ service: "a.B", method: null }],
      collapser: {
        ttl: "0.1s",
        staleWhileRevalidate: "30s",
        staleIfError: "1h",
        hitForPass: "0s",
        ttlJitter: 0.5,
        cacheErrors: true,
      },
    }],
  });
  assertEquals(found, [{
    ...{ service: "a.B", method: "" },
    collapser: {
      ...{ cacheDurationMs: 100, staleDurationMs: 30_000, staleIfErrorMs: 3_600_000 },
      ...{ hitForPassMs: 0, ttlJitter: 0.5, cacheErrors: true },
    },
  }]);
  const wrong = { staleWhileRevalidate: "2h", staleIfError: 5, ttlJitter: 0.6, cacheErrors: "yes" };
  const entry = { name: [{ service: "a.B" }], collapser: wrong };
  assertEquals(problems(JSON.stringify({ methodConfig: [entry] })), [
    'methodConfig[0].collapser.staleWhileRevalidate: expected a duration such as "100ms", 1h at most',
    'methodConfig[0].collapser.staleIfError: expected a duration such as "100ms", 1h at most',
    "methodConfig[0].collapser.ttlJitter: expected a share from 0 to 0.5, such as 0.1",
    "methodConfig[0].collapser.cacheErrors: expected true or false",
  ]);
});

Deno.test("parsePolicy bounds what it reads, and what it says is wrong", () => {
  assertEquals(problems(`"${"x".repeat(2 ** 20)}"`), [
    "expected 1048576 characters at most, not 1048578",
  ]);
  const methodConfig = Array.from({ length: 10_000 }, () => ({ name: 1 }));
  const told = problems(JSON.stringify({ methodConfig }));
  assertEquals([told.length, told.at(-1)], [21, "and 9980 problems more"]);
});

Deno.test("parsePolicy says all that is wrong at once, and where", () => {
  const config = {
    methodConfigs: [],
    methodConfig: [
      { name: {}, maxConcurrent: 1 },
      { name: [{ service: "a.B" }], maxConcurrent: 0 },
      { name: [{ service: "a.B" }], collapser: { tll: "1s", ttl: "fast", collapse: "no" } },
      { name: [{ method: "Get" }, { servce: "x" }] },
      "nothing",
    ],
  };
  assertEquals(problems(JSON.stringify(config)), [
    'the file has no key "methodConfigs"; the nearest is methodConfig',
    'methodConfig[0].name: expected a list such as [{ "service": "pkg.S" }]',
    "methodConfig[1].maxConcurrent: expected a whole number above 0",
    'methodConfig[2].collapser has no key "tll"; the nearest is ttl',
    "methodConfig[2].collapser.collapse: expected true or false",
    'methodConfig[2].collapser.ttl: expected a duration such as "100ms"',
    "methodConfig[3].name[0]: expected a service beside the method",
    'methodConfig[3].name[1] has no key "servce"; the nearest is service',
    "methodConfig[4]: expected an object",
  ]);
});

Deno.test("parsePolicy refuses a name that stands in it twice, as gRPC does", () => {
  const name = [{ service: "a.B", method: "Get" }];
  const config = { methodConfig: [{ name, maxConcurrent: 1 }, { name, maxConcurrent: 2 }] };
  assertEquals(problems(JSON.stringify(config)), ['"a.B/Get" stands in it twice']);
});

Deno.test("parsePolicy takes nothing for JSON that is none", () => {
  assertEquals(problems("{ not json").length, 1);
  assertEquals(problems("[]"), ["the file: expected an object with methodConfig"]);
  assertEquals(problems('{"methodConfig":{}}'), ["methodConfig: expected a list"]);
});
