/**
 * Scenario 46: the process runs out of descriptors (denoland/deno#10148 is the family). Neither port may end for it: the
 * admin port answers while there are none left, and callers get through when some are free again.
 *
 * @module
 */

import { assertEquals, assertLess } from "@std/assert";
import { Running, SidecarProcess } from "../support/process.ts";
import { until } from "../support/waiting.ts";

/** Enough to start with; callers take the rest. */
const DESCRIPTORS = 96;

/** More than there are. */
const CALLERS = 160;

Deno.test("Scenario 46: the admin port answers while callers hold every descriptor, and both ports outlive it", async () => {
  await using sidecar = await SidecarProcess.start({ BACKEND_ADDRESS: "127.0.0.1:1" });
  const limit = new Running(["prlimit", `--pid=${sidecar.pid}`, `--nofile=${DESCRIPTORS}`], {
    env: { PATH: Deno.env.get("PATH") },
    cwd: ".",
  });
  assertEquals((await limit.end()).code, 0);
  const callers: Deno.TcpConn[] = [];
  try {
    for (let i = 0; i < CALLERS; i++) {
      callers.push(await Deno.connect({ hostname: "127.0.0.1", port: sidecar.grpcPort }));
    }
    await until(() => sidecar.logged("Cannot accept a connection") !== undefined, "EMFILE");
    for (let i = 0; i < 20; i++) assertEquals((await sidecar.ask("/health")).status, 200, `${i}`);
    assertEquals((await sidecar.ask("/metrics")).status, 200);
    const refusals = sidecar.log.filter(({ msg }) => msg === "Cannot accept a connection");
    assertLess(refusals.length, 10);
  } finally {
    for (const caller of callers) caller.close();
  }
  assertEquals((await sidecar.ask("/health")).status, 200);
  using late = await Deno.connect({ hostname: "127.0.0.1", port: sidecar.grpcPort });
  await late.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
  const answer = new Uint8Array(64);
  const count = await late.read(answer); // words of ours for who speaks HTTP/1
  assertEquals(
    new TextDecoder().decode(answer.subarray(0, count ?? 0)).slice(0, 12),
    "HTTP/1.1 400",
  );
});
