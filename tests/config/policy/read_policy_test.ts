import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { faultText } from "../../../lib/config/policy/place.ts";
import { readPolicy } from "../../../lib/config/policy/read_policy.ts";

function readingOf(config: unknown) {
  const text = typeof config === "string" ? config : JSON.stringify(config);
  const reading = readPolicy(text);
  assert("policies" in reading, JSON.stringify(reading));
  return reading;
}

/** What is wrong with the file, each with its line and pointer in front. */
function problems(config: unknown): readonly string[] {
  const reading = readPolicy(typeof config === "string" ? config : JSON.stringify(config));
  assert("problems" in reading, JSON.stringify(reading));
  return reading.problems.map(faultText);
}

function entry(collapser: Record<string, unknown>, rest: Record<string, unknown> = {}) {
  return { methodConfig: [{ name: [{ service: "a.B" }], collapser, ...rest }] };
}

/** What is wrong with a setting of the one entry. */
function wrongIn(collapser: Record<string, unknown>): readonly string[] {
  return problems(entry(collapser)).map((text) => text.replace(/^line 1, .*collapser\//, ""));
}

Deno.test("readPolicy reads gRPC's methodConfig, each name with what its entry says and where that stands", () => {
  const { policies } = readingOf(`{
    "$schema": "policy.schema.json",
    "methodConfig": [
      { "name": [{}], "collapser": { "ttl": "1m30s" } },
      { "name": [{ "service": "a.B", "method": null }], "maxConcurrent": 5, "timeout": "1.500s" },
      {
        "name": [{ "service": "a.B", "method": "Get" }, { "service": "c.D", "method": "Put" }],
        "collapser": { "collapse": false }
      },
      { "name": [{ "service": "e.F", "method": "" }], "waitForReady": true }
    ]
  }`);
  assertEquals(policies, [
    { service: "", method: "", entry: 0, line: 4, collapser: { cacheDurationMs: 90_000 } },
    { service: "a.B", method: "", entry: 1, line: 5, maxConcurrent: 5, timeoutMs: 1_500 },
    { service: "a.B", method: "Get", entry: 2, line: 6, collapser: { collapse: false } },
    { service: "c.D", method: "Put", entry: 2, line: 6, collapser: { collapse: false } },
    // It says nothing to the sidecar, and hides the time-outs of broader entries all the same.
    { service: "e.F", method: "", entry: 3, line: 10 },
  ]);
  const nothing = { policies: [], ignored: [], unbuilt: [], warnings: [] };
  for (const config of [{}, { methodConfig: null }, { methodConfig: [] }]) {
    assertEquals(readingOf(config), nothing);
  }
});

Deno.test("readPolicy fills a field of a method's policy by each key of the collapser object", () => {
  const collapser = {
    ...{ mode: "verify", collapse: true, ttl: "1.5s", staleWhileRevalidate: "0.1s" },
    ...{ staleIfError: "1h", staleIfErrorCodes: ["UNAVAILABLE", "internal", 4, 14] },
    ...{ ttlJitter: 0.5, cacheErrors: true, keyHeaders: ["X-User", "authorization"] },
    ...{ ignoreHeaders: ["x-noise", "X-Noise"], invalidates: false, hitForPass: "0s" },
    ...{ joinMaxAge: "500ms", maxFollowers: 0, maxMessageBytes: "64KiB", verifyRatio: 1 },
    ...{ ignoreFields: ["3.1", "stamp.made"], priority: "low", shared: true, accessLog: "slow" },
  };
  const { policies, unbuilt } = readingOf(entry(collapser));
  assertEquals(policies[0]!.collapser, {
    ...{ mode: "verify", collapse: true, cacheDurationMs: 1_500, staleDurationMs: 100 },
    ...{ staleIfErrorMs: 3_600_000, staleIfErrorCodes: [14, 13, 4], ttlJitter: 0.5 },
    ...{ cacheErrors: true, keyHeaders: ["x-user", "authorization"], ignoreHeaders: ["x-noise"] },
    ...{ invalidates: false, hitForPassMs: 0, joinMaxAgeMs: 500, maxFollowers: 0 },
    ...{ maxMessageBytes: 65_536, verifyRatio: 1, ignoreFields: ["3.1", "stamp.made"] },
    ...{ priority: "low", shared: true, accessLog: "slow" },
  });
  assertEquals(unbuilt, ["priority", "shared", "accessLog"]);
});

Deno.test("readPolicy says what each key of the collapser object takes, and what was given instead", () => {
  const durations = { ttl: "fast", staleWhileRevalidate: "2h", staleIfError: 5, joinMaxAge: "-1s" };
  assertEquals(wrongIn(durations), [
    'ttl: expected a duration such as "100ms", not "fast"',
    'staleWhileRevalidate: expected a duration such as "30s", 1h at most, not "2h"',
    'staleIfError: expected a duration such as "30s", 1h at most, not 5',
    'joinMaxAge: expected a duration such as "100ms", not "-1s"',
  ]);
  assertEquals(wrongIn({ mode: "sometimes", collapse: "no", ttlJitter: 0.6, verifyRatio: 2 }), [
    'mode: expected "off", "shadow", "verify" or "collapse", not "sometimes"',
    'collapse: expected true or false, not "no"',
    "ttlJitter: expected a share from 0 to 0.5, such as 0.1, not 0.6",
    "verifyRatio: expected a share from 0 to 1, such as 0.1, not 2",
  ]);
  assertEquals(wrongIn({ maxFollowers: -1, maxMessageBytes: 1.5, keyHeaders: "x", shared: null }), [
    "maxFollowers: expected a whole number of at least 0, not -1",
    'maxMessageBytes: expected a size such as 65536 or "64KiB", not 1.5',
    'keyHeaders: expected a list of metadata names such as ["x-tenant"], not "x"',
    "shared: expected true or false, not null",
  ]);
  const lists = {
    ignoreHeaders: ["x-a", "x-*"],
    ignoreFields: ["3..1"],
    staleIfErrorCodes: ["ok"],
  };
  assertEquals(wrongIn(lists), [
    'ignoreHeaders/1: expected a metadata name such as x-tenant, not "x-*"',
    'ignoreFields/0: expected numbers or names of fields such as 3.1 or stamp.made, not "3..1"',
    'staleIfErrorCodes/0: expected a gRPC status from 1 to 16, or its name, not "ok"',
  ]);
  assertEquals(wrongIn({ keyHeaders: ["x-a"], ignoreHeaders: ["X-A"] }), [
    'ignoreHeaders: keyHeaders names "x-a" too; expected it in one of the two',
  ]);
  assertEquals(wrongIn({ staleWhileRevalidat: "1s", __proto__x: 1 }), [
    "staleWhileRevalidat: there is no such key; the nearest is staleWhileRevalidate",
    "__proto__x: there is no such key; the nearest is priority",
  ]);
});

Deno.test("readPolicy names what is a client's, and holds it to gRPC's rules all the same", () => {
  const retryPolicy = {
    ...{ maxAttempts: 4, initialBackoff: "0.1s", maxBackoff: "60s", backoffMultiplier: 1.3 },
    retryableStatusCodes: ["UNAVAILABLE", "deadline_exceeded", 8],
  };
  const others = { maxRequestMessageBytes: 4_194_304, maxResponseMessageBytes: "8388608" };
  const name = [{ service: "a.B" }];
  const { ignored, warnings } = readingOf({
    loadBalancingConfig: [{ weighted_target_experimental: { targets: {} } }, { round_robin: {} }],
    loadBalancingPolicy: "round_robin",
    healthCheckConfig: { serviceName: "" },
    retryThrottling: { maxTokens: 10, tokenRatio: 0.1 },
    methodConfig: [{ name, waitForReady: false, retryPolicy, ...others }, {
      name: [{}],
      hedgingPolicy: {
        maxAttempts: "9",
        hedgingDelay: "0s",
        nonFatalStatusCodes: [14, "INTERNAL"],
      },
    }],
  });
  assertEquals(ignored, [
    ...["loadBalancingConfig", "loadBalancingPolicy", "healthCheckConfig", "retryThrottling"],
    ...["waitForReady", "retryPolicy", "maxRequestMessageBytes", "maxResponseMessageBytes"],
    "hedgingPolicy",
  ]);
  assertEquals(warnings, [
    "line 1, /methodConfig/1/hedgingPolicy/maxAttempts: 9 is taken for 5, as gRPC does",
  ]);
  const bad = (rest: Record<string, unknown>) =>
    problems({ methodConfig: [{ name, ...rest }] }).map((text) => text.replace(/^[^:]*\/0\//, ""));
  const retry = (change: Record<string, unknown>) =>
    bad({ retryPolicy: { ...retryPolicy, ...change } });
  assertEquals(retry({ maxAttempts: "five" }), [
    'retryPolicy/maxAttempts: expected a whole number of at least 2, not "five"',
  ]);
  assertEquals(retry({ maxAttempts: 1 }).length, 1);
  assertEquals(retry({ maxAttempts: null }), ["retryPolicy: expected maxAttempts in it"]);
  assertEquals(retry({ initialBackoff: "100ms" }), [
    'retryPolicy/initialBackoff: expected seconds above 0 such as "0.1s", not "100ms"',
  ]);
  assertEquals(retry({ maxBackoff: "0s" }).length, 1);
  assertEquals(retry({ backoffMultiplier: 0 }).length, 1);
  assertEquals(retry({ retryableStatusCodes: [] }).length, 1);
  assertEquals(retry({ retryableStatusCodes: ["NO_SUCH"] }).length, 1);
  assertEquals(bad({ retryPolicy: {} }).length, 5);
  assertEquals(bad({ retryPolicy, hedgingPolicy: { maxAttempts: 2 } }), [
    "hedgingPolicy: retryPolicy stands beside it; gRPC takes one of the two",
  ]);
  assertEquals(bad({ hedgingPolicy: { hedgingDelay: 1 } }).length, 2);
  for (const timeout of ["1", "100ms", "-1s", "1.0000000001s", "1e3s", "315576000001s", 5]) {
    assertEquals(bad({ timeout }).length, 1, String(timeout));
  }
  assertEquals(problems({ retryThrottling: { maxTokens: 1_001, tokenRatio: 0 } }).length, 2);
});

Deno.test("readPolicy takes a duration of gRPC's to the nanosecond, and as long as a timer can wait", () => {
  const timeoutOf = (timeout: string) =>
    readingOf({ methodConfig: [{ name: [{}], timeout }] }).policies[0]!.timeoutMs;
  assertEquals(timeoutOf("0.000000001s"), 1e-6);
  assertEquals(timeoutOf("1.001s"), 1_001);
  assertEquals(timeoutOf("315576000000s"), 2 ** 31 - 1);
});

Deno.test("readPolicy passes over what gRPC passes over, and says so", () => {
  const { warnings, policies } = readingOf(`{
    "methodConfig": [
      { "name": [], "timeout": "1s" },
      { "timeout": "1s" },
      { "name": [{}], "comment": "ours" }
    ],
    "owner": "us"
  }`);
  assertEquals(policies.length, 1);
  assertEquals(warnings, [
    "methodConfig[0] (line 3) has no name: it holds for no method",
    "methodConfig[1] (line 4) has no name: it holds for no method",
    "line 5, /methodConfig/2/comment: neither gRPC nor collapser has such a name here",
    "line 7, /owner: neither gRPC nor collapser has such a name here",
  ]);
});

Deno.test("readPolicy refuses a slip of the pen in a name that would be lost in silence", () => {
  assertEquals(problems({ methodConfigs: [] }), [
    "line 1, /methodConfigs: there is no such key; the nearest is methodConfig",
  ]);
  const slips = { methodConfig: [{ name: [{ servce: "a.B" }], colapser: {}, maxConcurent: 1 }] };
  assertEquals(problems(slips), [
    "line 1, /methodConfig/0/colapser: there is no such key; the nearest is collapser",
    "line 1, /methodConfig/0/maxConcurent: there is no such key; the nearest is maxConcurrent",
    "line 1, /methodConfig/0/name/0/servce: there is no such key; the nearest is service",
  ]);
});

Deno.test("readPolicy refuses a name that stands in it twice, unless one of the two is a client's alone", () => {
  const name = [{ service: "a.B", method: "Get" }];
  const two = (one: Record<string, unknown>, other: Record<string, unknown>) => ({
    methodConfig: [{ name, ...one }, { name, ...other }],
  });
  const twice = ['line 1, /methodConfig/1/name/0: "a.B/Get" stands in the file twice'];
  assertEquals(problems(two({ maxConcurrent: 1 }, { timeout: "1s" })), twice);
  assertEquals(problems(two({ collapser: {} }, { collapser: {} })), twice);
  assertEquals(problems(two({}, {})), twice);
  assertEquals(readingOf(two({ waitForReady: true }, { timeout: "1s" })).policies.length, 2);
  assertEquals(readingOf(two({ timeout: "1s" }, { waitForReady: true })).policies.length, 2);
  assertEquals(readingOf(two({ waitForReady: true }, { waitForReady: true })).policies.length, 2);
  assertEquals(problems({ methodConfig: [{ name: [{}, { service: "" }] }] }).length, 1);
});

Deno.test("readPolicy tells where each problem is, twenty of them, and how many more there are", () => {
  const text = `{
    "methodConfig": [
      { "name": {} },
      {
        "name": [{ "method": "Get" }],
        "collapser": []
      },
      "nothing"
    ]
  }`;
  assertEquals(problems(text), [
    'line 3, /methodConfig/0/name: expected a list such as [{ "service": "pkg.S" }], not an object',
    "line 6, /methodConfig/1/collapser: expected an object, not a list",
    'line 5, /methodConfig/1/name/0: expected a service beside the method "Get"',
    'line 8, /methodConfig/2: expected an object, not "nothing"',
  ]);
  const many = { methodConfig: Array.from({ length: 10_000 }, () => ({ name: 1 })) };
  const told = problems(many);
  assertEquals([told.length, told.at(-1)], [21, "and 9980 problems more"]);
  const more = { methodConfig: Array.from({ length: 10_001 }, () => ({})) };
  assertEquals(problems(more), [
    "line 1, /methodConfig: expected 10000 entries at most, not 10001",
  ]);
});

Deno.test("readPolicy warns of settings by which callers may see each other's answers", () => {
  const { warnings } = readingOf({
    methodConfig: [
      { name: [{ service: "a.A" }], collapser: { keyHeaders: ["x-user"] } },
      { name: [{ service: "a.B" }], collapser: { ignoreHeaders: ["cookie"] } },
      { name: [{ service: "a.C" }], collapser: { keyHeaders: ["authorization"] } },
    ],
  });
  assertEquals(warnings, [
    "methodConfig[0] (line 1): keyHeaders leaves authorization out: callers with different credentials share answers",
    "methodConfig[1] (line 1): ignoreHeaders leaves credentials out: callers with different ones share answers",
  ]);
});

Deno.test("readPolicy reads ten thousand entries, and says of each pair once what is hidden, up to a bound", () => {
  const methodConfig = Array.from({ length: 9_998 }, (_, i) => ({
    name: [{ service: "a.B", method: `Get${i}` }, { service: "c.D", method: `Get${i}` }],
    collapser: { collapse: true },
  }));
  const broad = { name: [{}], timeout: "1s", collapser: { ttl: "1s", maxFollowers: 1 } };
  const { policies, warnings } = readingOf({ methodConfig: [broad, ...methodConfig] });
  assertEquals(policies.length, 1 + 2 * 9_998);
  assertEquals([warnings.length, warnings.at(-1)], [21, "and 9978 warnings more"]);
  assertStringIncludes(
    warnings[0]!,
    "methodConfig[1] (line 1) of a.B/Get0 hides ttl, maxFollowers, timeout of methodConfig[0]",
  );
});

Deno.test("readPolicy repeats no text of the file's at length, whatever it is", () => {
  const long = "x".repeat(300_000);
  const name = [{ service: long, method: "Get" }];
  const files = [
    entry({ [long]: 1 }),
    entry({ ttl: long }),
    entry({ keyHeaders: [long.slice(2)], ignoreHeaders: [long.slice(2)] }),
    { methodConfig: [{ name: [{ method: long }] }] },
    { methodConfig: [{ name }, { name: [{ service: long, method: "Get" }] }] },
    {
      [long]: [],
      methodConfig: [{ name: [{}], collapser: { ttl: "1s" } }, { name, collapser: {} }],
    },
    `{"${long}":1,"${long}":2}`,
  ];
  for (const config of files) {
    const text = typeof config === "string" ? config : JSON.stringify(config);
    const reading = readPolicy(text);
    const told = "problems" in reading ? reading.problems.map(faultText) : reading.warnings;
    assert(told.length > 0);
    for (const line of told) assert(line.length < 500, line.slice(0, 500));
  }
});

Deno.test("readPolicy takes gRPC's own names with a capital in front, as Go does, and never ours", () => {
  const { policies, ignored, warnings } = readingOf({
    MethodConfig: [{
      Name: [{ Service: "a.B", Method: "Get" }],
      Timeout: ".5s",
      WaitForReady: true,
    }],
  });
  assertEquals(policies, [{ service: "a.B", method: "Get", entry: 0, line: 1, timeoutMs: 500 }]);
  assertEquals([ignored, warnings], [["waitForReady"], []]);
  assertEquals(problems({ methodConfig: [{ name: [{}], Collapser: {} }] }), [
    "line 1, /methodConfig/0/Collapser: there is no such key; the nearest is collapser",
  ]);
});
