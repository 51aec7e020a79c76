import { assertEquals } from "@std/assert";
import { isKnownHost } from "../../lib/admin/known_host.ts";

Deno.test("isKnownHost knows addresses, names of one word and of closed domains", () => {
  for (
    const name of [
      ...["127.0.0.1", "10.1.2.3", "[::1]", "[fe80::1]", "localhost", "localhost.", "a.localhost"],
      ...["pod-7", "collapser.team.svc", "c.team.svc.cluster.local", "mac.local", "vm.internal"],
    ]
  ) {
    assertEquals(isKnownHost(name), true, name);
  }
});

Deno.test("isKnownHost does not know what a stranger may register", () => {
  for (
    const name of [
      ...["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "svc.evil.com"],
      ...["evilinternal.com", "xlocalhost.co", "1.2.3.4.com", "local.dev", "notcluster.local.io"],
    ]
  ) {
    assertEquals(isKnownHost(name), false, name);
  }
});
