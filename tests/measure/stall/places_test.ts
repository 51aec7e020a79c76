import { assertEquals } from "@std/assert";
import { STATUS } from "../../../lib/grpc/mod.ts";
import { requestBody } from "../../../lib/measure/client/client.ts";
import { Places } from "../../../lib/measure/stall/places.ts";
import { type ClientRig, PATH, withClient } from "../client_rig.ts";

/** A pool of two, with room for one that waits, and what became of its calls. */
function pool(rig: ClientRig) {
  const places = new Places(rig.client, { places: 2, waiting: 1 });
  const method = rig.client.method({ path: PATH, deadlineMs: 100 });
  const ended: [name: string, status: number, afterMs: number][] = [];
  const body = requestBody(new Uint8Array(0));
  const call = (name: string) => {
    const dueMs = rig.clock.now();
    places.call(
      method,
      body,
      dueMs,
      (status, endedMs) => ended.push([name, status, endedMs - dueMs]),
    );
  };
  return { call, ended };
}

Deno.test("Places sends so many at once, lets so many wait, and refuses the rest", async () => {
  await withClient({}, async (rig) => {
    const { call, ended } = pool(rig);
    for (const name of ["one", "two", "three", "four"]) call(name);
    await rig.settle();
    assertEquals(rig.requests.length, 2);
    assertEquals(ended, [["four", STATUS.resourceExhausted, 0]]);
    await rig.advance(10);
    rig.request(0).replies(["there"]);
    await rig.settle();
    assertEquals(rig.requests.length, 3);
    rig.request(1).replies(["there"]);
    rig.request(2).replies(["there"]);
    await rig.settle();
    assertEquals(ended.slice(1).map(([name, status]) => [name, status]), [
      ["one", STATUS.ok],
      ["two", STATUS.ok],
      ["three", STATUS.ok],
    ]);
  });
});

Deno.test("Places lets nobody wait beyond the deadline, and gives the place to the next", async () => {
  await withClient({}, async (rig) => {
    const { call, ended } = pool(rig);
    for (const name of ["one", "two", "three"]) call(name);
    await rig.advance(108);
    assertEquals(ended.map(([name, status]) => [name, status]), [
      ["three", STATUS.deadlineExceeded],
    ]);
    call("four");
    await rig.advance(300); // a silent server is given up a little after the deadline
    const statuses = new Map(ended.map(([name, status]) => [name, status]));
    assertEquals(statuses.get("one"), STATUS.deadlineExceeded);
    assertEquals(statuses.get("two"), STATUS.deadlineExceeded);
    call("five");
    await rig.settle();
    rig.requests.at(-1)!.replies(["there"]);
    await rig.settle();
    assertEquals(ended.at(-1)?.slice(0, 2), ["five", STATUS.ok]);
  });
});
