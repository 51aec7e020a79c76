import { assertEquals, assertMatch } from "@std/assert";
import { collapser } from "../support.ts";

Deno.test("drain finds the sidecar of the same environment, and waits as long as that may take", async () => {
  for (
    const [variables, url, timeoutMs] of [
      [{}, "http://127.0.0.1:2112", 15_000],
      [{ METRICS_PORT: "9" }, "http://127.0.0.1:9", 15_000],
      [
        { ADMIN_HOST: "127.0.0.1", ADMIN_PORT: "2113", DRAIN_DELAY: "5s", DRAIN_TIMEOUT: "20s" },
        "http://127.0.0.1:2113",
        30_000,
      ],
      [{ ADMIN_HOST: "::1", ADMIN_PORT: "7" }, "http://[::1]:7", 15_000],
    ] as const
  ) {
    const { code, out, ran } = await collapser("drain", { variables });
    const target = { url, token: undefined, tokenPath: undefined };
    assertEquals([code, out, ran], [0, `${url}: drained`, ["drain", target, { timeoutMs }]]);
  }
});

Deno.test("drain brings the token that the environment has, and goes where it is told", async () => {
  const { ran } = await collapser("drain --url http://127.0.0.1:1 --timeout 1s", {
    variables: { ADMIN_TOKEN: " secret-of-sixteen ", ADMIN_TOKEN_FILE: "/run/token" },
  });
  const target = {
    url: "http://127.0.0.1:1",
    token: "secret-of-sixteen",
    tokenPath: "/run/token",
  };
  assertEquals(ran, ["drain", target, { timeoutMs: 1_000 }]);
});

Deno.test("drain exits with 1 and the reason when the sidecar has not drained", async () => {
  const { code, out, err } = await collapser("drain", {
    runners: {
      drain: () => Promise.resolve({ drained: false, detail: "not drained within 1 ms" }),
    },
  });
  assertEquals([code, out], [1, ""]);
  assertMatch(
    err,
    /^Cannot drain the sidecar at http:\/\/127\.0\.0\.1:2112: not drained within 1 ms$/,
  );
});

Deno.test("drain needs an address and times that can be read", async () => {
  for (
    const [variables, said] of [
      [{ ADMIN_PORT: "0" }, /Cannot find the sidecar by ADMIN_PORT/],
      [{ ADMIN_PORT: "x" }, /Cannot find the sidecar by ADMIN_PORT/],
      [{ DRAIN_DELAY: "5" }, /Cannot parse DRAIN_DELAY: expected a duration/],
    ] as const
  ) {
    const { code, err, ran } = await collapser("drain", { variables });
    assertEquals([code, ran], [64, undefined]);
    assertMatch(err, said);
  }
});
