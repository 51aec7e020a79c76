import { assertEquals } from "@std/assert";
import { Timers } from "../../lib/transport/mod.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { exchangeOf, RecordingOwner } from "../upstream/exchange_fixture.ts";
import { hostOf } from "./host_fixture.ts";

Deno.test("Host has the same share in hashing wherever it stands by that name", () => {
  assertEquals(hostOf("10.0.0.1:50051").hash, 0x25eeec8);
  assertEquals(hostOf("a").hash, 0xe50c2abf);
});

Deno.test("Host.load counts the calls under way and those that wait", () => {
  const host = hostOf("a");
  assertEquals(host.load, 0);
  Object.assign(host.endpoint.counters, { inflight: 3, pending: 4, calls: 100 });
  assertEquals(host.load, 7);
});

Deno.test("Host is left out while it is ejected, and half-open while another call has the lease", () => {
  const host = hostOf("a");
  assertEquals(host.isLeftOut, false);
  host.lease = exchangeOf(new RecordingOwner());
  assertEquals(host.isLeftOut, false); // it is healthy
  host.standing = "half-open";
  assertEquals(host.isLeftOut, true);
  host.lease = undefined;
  assertEquals(host.isLeftOut, false);
  host.standing = "ejected";
  assertEquals(host.isLeftOut, true);
});

Deno.test("Host says which of its times has come", () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const heard: string[] = [];
  const host = hostOf("a", {
    ejectionEnd: ({ endpoint }) => heard.push(`ejection of ${endpoint.name}`),
    leaseEnd: ({ endpoint }) => heard.push(`lease of ${endpoint.name}`),
  });
  timers.set(host.leaseEnds, clock.now() + 10);
  timers.set(host.ejectionEnds, clock.now() + 100);
  while (clock.step(clock.now() + 200)) continue;
  assertEquals(heard, ["lease of a", "ejection of a"]);
  timers.stop();
});
