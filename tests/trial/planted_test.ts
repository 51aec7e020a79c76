import { assert, assertEquals } from "@std/assert";
import type { BackendRequest } from "../support/backend_end.ts";
import { rng } from "../support/cuts.ts";
import { valueOf } from "../support/peer_end.ts";
import { GET } from "../support/proxy_rig.ts";
import { withRehearsal } from "./rehearsal.ts";

const TENANTS = ["a", "b", "c", "d", "e"];

/** What may depend on who asks, from all of it to what one tenant alone is told. */
const PLANTS: Readonly<Record<string, (request: BackendRequest) => void>> = {
  "every answer": (request) => request.replies([`for ${tenantOf(request)}`]),
  "the answer to one tenant of five": (request) =>
    request.replies([tenantOf(request) === "e" ? "hidden" : "for all"]),
  "one question of three": (request) =>
    request.replies([request.messages[0] === "0" ? `for ${tenantOf(request)}` : "for all"]),
  "the status": (request) =>
    tenantOf(request) === "c" ? request.fails(7) : request.replies(["for all"]),
  "how many messages there are": (request) =>
    request.replies(tenantOf(request) === "b" ? ["one"] : ["one", "two"]),
};

function tenantOf({ fields }: BackendRequest): string | undefined {
  return valueOf(fields, "x-tenant");
}

for (const [what, answer] of Object.entries(PLANTS)) {
  Deno.test(`Verify finds out within 200 calls that ${what} depends on who asks`, async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const random = rng(seed);
      await withRehearsal("verify", answer, async (rehearsal) => {
        const { trial } = rehearsal.rig.proxy;
        let calls = 0;
        while ([...trial.methods.off()].length === 0) {
          assert(++calls <= 200, `seed ${seed}: not found in 200 calls`);
          const tenant = TENANTS[Math.floor(random() * TENANTS.length)]!;
          const message = String(Math.floor(random() * 3));
          await rehearsal.ask([["x-tenant", tenant]], { message });
        }
        assertEquals([...trial.methods.off()], [[GET, ["x-tenant"]]]);
      }, { cacheErrors: true });
    }
  });
}

Deno.test("Verify accuses nobody in 2,000 calls of many callers who are answered alike", async () => {
  const random = rng(7);
  await withRehearsal("verify", (request) => request.echoes(), async (rehearsal) => {
    for (let i = 0; i < 2_000; i++) {
      const tenant = TENANTS[Math.floor(random() * TENANTS.length)]!;
      await rehearsal.ask([["x-tenant", tenant], ["x-request-id", `${i}`]], {
        message: String(Math.floor(random() * 50)),
      });
    }
    assertEquals([...rehearsal.rig.proxy.trial.methods.off()], []);
    assertEquals(rehearsal.counters.trial?.verified.mismatch, 0);
  });
});
