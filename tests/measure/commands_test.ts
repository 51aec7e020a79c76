/**
 * `demo`, `load` and `healthcheck` as a user runs them: the rooms are brought together by `cli`, which no other test
 * of this room sees.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { besideHello, STORED_LONG } from "../support/beside.ts";
import { runToEnd } from "../support/process.ts";

Deno.test("demo answers a burst with one backend call or two and ends well", async () => {
  const { code, output, errors } = await runToEnd(["demo", "--callers", "200"], {});
  assertEquals([code, errors], [0, ""]);
  const burst = /backend {3}counted (\d+) calls?: one for \d+ answers/.exec(output);
  assert(burst !== null && Number(burst[1]) <= 2, output);
  assertStringIncludes(output, "200 answered in");
});

Deno.test("load counts at the Hello backend, and healthcheck finds the sidecar healthy", async () => {
  await using pair = await besideHello(STORED_LONG);
  const address = `127.0.0.1:${pair.local.port}`;
  const [load, health] = await Promise.all([
    runToEnd(["load", "--address", address, "--calls", "300", "--keys", "3"], {}),
    runToEnd(["healthcheck", "--address", address, "--timeout", "10s"], {}),
  ]);
  assertEquals([load.code, load.errors], [0, ""]);
  assertStringIncludes(load.output, "counted 3 calls: one for 100 answers");
  assertEquals(pair.hello.counts()[HELLO_PATHS.getGreeting], 3);
  assertEquals([health.code, health.output], [0, `${address}: serving`]);

  const refused = await runToEnd(["healthcheck", "--address", address, "--service", "no.Such"], {});
  assertEquals(refused.code, 1);
  assertMatch(refused.errors, /it does not know the service "no\.Such"/);
});
