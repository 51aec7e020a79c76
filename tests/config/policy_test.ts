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
    { service: "", method: "", cacheDurationMs: 90_000 },
    { service: "a.B", method: "", maxConcurrent: 5 },
    { service: "a.B", method: "Get", collapse: false },
    { service: "c.D", method: "Put", collapse: false },
  ]);
  assertEquals(ignored, []);
  assertEquals(policies({}), { policies: [], ignored: [] });
});

Deno.test("parsePolicy leaves a client's own settings to the client, and says so", () => {
  const { policies: found, ignored } = policies({
    loadBalancingConfig: [{ round_robin: {} }],
    methodConfig: [{ name: [{ service: "a.B" }], timeout: "1s", retryPolicy: {} }],
  });
  assertEquals(found, [{ service: "a.B", method: "" }]);
  assertEquals(ignored, ["loadBalancingConfig", "timeout", "retryPolicy"]);
});

Deno.test("parsePolicy says all that is wrong at once, and where", () => {
  const config = {
    methodConfigs: [],
    methodConfig: [
      { name: [], maxConcurrent: 1 },
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
  const config = { methodConfig: [{ name }, { name }] };
  assertEquals(problems(JSON.stringify(config)), ['"a.B/Get" stands in it twice']);
});

Deno.test("parsePolicy takes nothing for JSON that is none", () => {
  assertEquals(problems("{ not json").length, 1);
  assertEquals(problems("[]"), ["the file: expected an object with methodConfig"]);
  assertEquals(problems('{"methodConfig":{}}'), ["methodConfig: expected a list"]);
});
