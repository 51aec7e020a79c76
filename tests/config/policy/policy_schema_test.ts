import { assert, assertEquals, fail } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { COLLAPSER_KEYS } from "../../../lib/config/policy/collapser_keys.ts";
import { policySchema } from "../../../lib/config/policy/policy_schema.ts";
import { readPolicy } from "../../../lib/config/policy/read_policy.ts";

const FILE = new URL("../../../manifests/schema/policy.schema.json", import.meta.url);

const NAME = [{ service: "a.B", method: "Get" }];
const RETRY = {
  ...{ maxAttempts: 3, initialBackoff: "0.1s", maxBackoff: "1s", backoffMultiplier: 2 },
  retryableStatusCodes: ["UNAVAILABLE", 14],
};

/** As Go's programs have it, which read names in any case. */
const GO_RETRY = {
  ...{ MaxAttempts: 4, InitialBackoff: ".01s", MaxBackoff: "1.s", BackoffMultiplier: 1.0 },
  RetryableStatusCodes: ["UNAVAILABLE"],
};

/** Values of each key: some that are taken, some that are not. */
const VALUES: Readonly<Record<string, readonly [good: unknown[], bad: unknown[]]>> = {
  mode: [["off", "shadow", "verify", "collapse"], ["Off", "", true, null]],
  collapse: [[true, false], ["true", 1, null]],
  ttl: [["0s", "0", "1.5s", "1h2m3s", ".5s", "1.s", "3us", "3\u00b5s"], ["", "5", " 1s", "-1s", 5]],
  staleWhileRevalidate: [["1h", "0s"], ["x", 1]],
  staleIfError: [["0.1s"], [{}]],
  staleIfErrorCodes: [[[], [1, 16, "UNAVAILABLE", "internal", "Data_Loss"]], [
    [0],
    [17],
    ["OK"],
    ["NONE"],
    14,
  ]],
  ttlJitter: [[0, 0.5], [0.51, -0.1, "0.1"]],
  cacheErrors: [[true], ["yes"]],
  keyHeaders: [[[], ["x-a", "X-B"]], [["x-*"], [""], [1], "x-a", ["a b"]]],
  ignoreHeaders: [[["x.y_z"]], [["a:b"], {}]],
  invalidates: [[false], [0]],
  hitForPass: [["10s"], ["10"]],
  joinMaxAge: [["200ms"], ["200 ms"]],
  maxFollowers: [[0, 10, 1e3], [-1, 1.5, "10"]],
  maxMessageBytes: [[0, 65_536, "64KiB", "1 MB", "100"], [-1, "64KiBs", "x", 0.5]],
  verifyRatio: [[0, 1, 0.01], [2, -1, "0.5"]],
  ignoreFields: [[[], ["3.1", "stamp.made"]], [["3."], ["0"], [3], "3"]],
  priority: [["critical", "background"], ["urgent", 1]],
  shared: [[true], ["on"]],
  accessLog: [["off", "errors", "slow", "all"], ["ALL", false]],
};

const GOOD: readonly unknown[] = [
  {},
  { $schema: "https://example.org/policy.schema.json", methodConfig: [] },
  { methodConfig: null, loadBalancingPolicy: null },
  { loadBalancingConfig: [{ round_robin: {} }], healthCheckConfig: { serviceName: "" } },
  { methodConfig: [{ name: [] }, { name: null }, {}] },
  { methodConfig: [{ name: [{ service: "a.B", method: null }, { service: null }] }] },
  { methodConfig: [{ name: [{ service: "", method: "" }] }] },
  { methodConfig: [{ name: NAME, timeout: "0.000000001s", waitForReady: true }] },
  { methodConfig: [{ name: NAME, maxConcurrent: 1, maxRequestMessageBytes: "8388608" }] },
  { methodConfig: [{ name: NAME, retryPolicy: RETRY, hedgingPolicy: null }] },
  { methodConfig: [{ name: NAME, retryPolicy: { ...RETRY, maxAttempts: "12" } }] },
  { methodConfig: [{ name: NAME, hedgingPolicy: { maxAttempts: 2, hedgingDelay: "0s" } }] },
  { retryThrottling: { maxTokens: "10", tokenRatio: 0.1 } },
  { MethodConfig: [{ Name: [{ Service: "a.B", Method: "Get" }], RetryPolicy: GO_RETRY }] },
  { methodConfig: [{ name: NAME, retryPolicy: GO_RETRY, timeout: ".5s" }] },
  { HealthCheckConfig: { ServiceName: "x" }, LB: "round_robin" },
  { owner: "us", methodConfig: [{ name: NAME, comment: "ours" }] },
];

const BAD: readonly unknown[] = [
  [],
  "text",
  { $schema: 1 },
  { methodConfig: {} },
  { methodConfig: [1] },
  { methodConfig: [{ name: {} }] },
  { methodConfig: [{ name: [{ method: "Get" }] }] },
  { methodConfig: [{ name: [{ service: "", method: "Get" }] }] },
  { methodConfig: [{ name: [{ service: 1 }] }] },
  { methodConfig: [{ name: [{ service: "a.B", methods: "Get" }] }] },
  { methodConfig: [{ name: NAME, collapser: [] }] },
  { methodConfig: [{ name: NAME, collapser: null }] },
  { methodConfig: [{ name: NAME, maxConcurrent: 0 }] },
  { methodConfig: [{ name: NAME, timeout: "100ms" }] },
  { methodConfig: [{ name: NAME, waitForReady: "yes" }] },
  { methodConfig: [{ name: NAME, retryPolicy: {} }] },
  { methodConfig: [{ name: NAME, retryPolicy: { ...RETRY, maxAttempts: "five" } }] },
  { methodConfig: [{ name: NAME, retryPolicy: { ...RETRY, maxAttempts: "1" } }] },
  { methodConfig: [{ name: NAME, retryPolicy: { ...RETRY, initialBackoff: "0.0s" } }] },
  { methodConfig: [{ name: NAME, retryPolicy: { ...RETRY, retryableStatusCodes: [] } }] },
  { methodConfig: [{ name: NAME, retryPolicy: RETRY, hedgingPolicy: { maxAttempts: 2 } }] },
  { methodConfig: [{ name: NAME, maxResponseMessageBytes: -1 }] },
  { loadBalancingConfig: {} },
  { retryThrottling: { maxTokens: 0, tokenRatio: 1 } },
  { MethodConfig: [{ Name: [{ Method: "Get" }] }] },
  { MethodConfig: {} },
  { methodConfig: [{ name: NAME, retryPolicy: { ...GO_RETRY, MaxAttempts: "five" } }] },
  { methodConfig: [{ name: NAME, timeout: ".s" }] },
];

Deno.test("policySchema and readPolicy take the same files, and refuse the same", () => {
  const validate = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true })
    .compile(policySchema());
  const hold = (config: unknown, isGood: boolean) => {
    const text = JSON.stringify(config);
    assertEquals("policies" in readPolicy(text), isGood, `the parser on ${text}`);
    assertEquals(validate(config), isGood, `the schema on ${text}`);
  };
  for (const config of GOOD) hold(config, true);
  for (const config of BAD) hold(config, false);
  assertEquals(Object.keys(VALUES), COLLAPSER_KEYS.map(({ key }) => key));
  for (const [key, [good, bad]] of Object.entries(VALUES)) {
    const file = (value: unknown) => ({
      methodConfig: [{ name: NAME, collapser: { [key]: value } }],
    });
    for (const value of good) hold(file(value), true);
    for (const value of bad) hold(file(value), false);
  }
  hold({ methodConfig: [{ name: NAME, collapser: { tll: "1s" } }] }, false);
});

Deno.test("policySchema describes every key, and uses no pattern that RE2 does not have", () => {
  const text = JSON.stringify(policySchema());
  for (const { key } of COLLAPSER_KEYS) assert(text.includes(`"${key}":{`), key);
  assertEquals(text.match(/\(\?[!=<]/g), null);
});

Deno.test("manifests/schema has the schema as the tables have it", async () => {
  const want = `${JSON.stringify(policySchema(), undefined, 2)}\n`;
  if (await Deno.readTextFile(FILE) !== want) {
    fail("collapser schema > manifests/schema/policy.schema.json has not been run");
  }
});
