import { assert, assertEquals } from "@std/assert";
import { isLoopback } from "../../lib/admin/loopback.ts";
import type { AdminSources } from "../../lib/admin/mod.ts";
import { withAdmin } from "./support.ts";

const TOKEN = "let-me-in-please";

/** A way out that notes whether it was taken. */
class Exit implements Mutable<AdminSources["drain"]> {
  state: "serving" | "draining" | "drained" = "serving";
  begun = 0;
  begin(): void {
    this.begun++;
    this.state = "draining";
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Asks by the loopback address, which reaches both kinds of listener. */
async function drain(port: number, headers: Record<string, string> = {}, method = "POST") {
  const response = await fetch(`http://127.0.0.1:${port}/api/drain`, { method, headers });
  return [response.status, await response.text()];
}

Deno.test("POST /api/drain needs no token where only this machine reaches the listener", async () => {
  for (const adminToken of [undefined, TOKEN]) {
    const exit = new Exit();
    await withAdmin({ drain: exit, adminToken: () => adminToken }, async ({ admin, logged }) => {
      assertEquals(await drain(admin.port), [202, '{"state":"draining"}\n']);
      assertEquals(await drain(admin.port), [202, '{"state":"draining"}\n']);
      assertEquals(logged.map(({ msg }) => msg), ["Told to drain"], "once");
      assert(exit.begun > 0);
    });
  }
});

Deno.test("POST /api/drain is not there without a token where others reach the listener", async () => {
  const exit = new Exit();
  await withAdmin({ drain: exit, hostname: "0.0.0.0" }, async ({ admin }) => {
    assertEquals(await drain(admin.port), [404, "No such page: see /\n"]);
  });
  assertEquals(exit.begun, 0);
});

Deno.test("POST /api/drain takes the token where others reach the listener", async () => {
  const exit = new Exit();
  const options = { drain: exit, hostname: "0.0.0.0", adminToken: () => TOKEN };
  await withAdmin(options, async ({ admin }) => {
    const [status] = await drain(admin.port, { authorization: "Bearer wrong" });
    assertEquals([status, exit.begun], [401, 0]);
    const [accepted] = await drain(admin.port, { authorization: `Bearer ${TOKEN}` });
    assertEquals([accepted, exit.begun], [202, 1]);
  });
});

Deno.test("POST /api/drain is refused to pages of other sites, whose reader has forwarded the port", async () => {
  const exit = new Exit();
  await withAdmin({ drain: exit }, async ({ admin }) => {
    for (
      const headers of [
        { origin: "https://evil.example" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site" },
      ]
    ) assertEquals((await drain(admin.port, headers))[0], 403, JSON.stringify(headers));
    assertEquals((await drain(admin.port, {}, "DELETE"))[0], 405);
  });
  assertEquals(exit.begun, 0);
});

Deno.test("GET /api/drain tells how far the drain is, and begins nothing", async () => {
  const exit = new Exit();
  await withAdmin({ drain: exit }, async ({ admin }) => {
    for (const state of ["serving", "draining", "drained"] as const) {
      exit.state = state;
      assertEquals(await drain(admin.port, {}, "GET"), [200, `{"state":"${state}"}\n`]);
    }
  });
  assertEquals(exit.begun, 0);
});

Deno.test("isLoopback knows the addresses that only this machine reaches", () => {
  for (
    const address of ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost", "::ffff:127.0.0.1"]
  ) {
    assertEquals(isLoopback(address), true, address);
  }
  for (const address of ["::", "[::]", "0.0.0.0", "10.0.0.1", "127.0.0.1.evil.example", ""]) {
    assertEquals(isLoopback(address), false, address);
  }
});
