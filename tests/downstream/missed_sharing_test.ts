import { assertEquals } from "@std/assert";
import { MissedSharing } from "../../lib/downstream/missed_sharing.ts";
import type { RecentFlight } from "../../lib/downstream/recent_calls.ts";
import type { RequestRoute } from "../../lib/downstream/request_route.ts";
import { SILENT } from "../../lib/observe/mod.ts";
import { FrameLog, HeaderCache } from "../../lib/wire/mod.ts";
import { requestHead } from "../support/caller_end.ts";
import { ascii, type Pairs } from "../support/frames.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

/** What is looked at of a call: its method, and its list. */
function routeOf(path: string, metadata: Pairs = []): RequestRoute {
  const service = path.split("/")[1]!;
  const inKey = (name: string) => name.startsWith("x-");
  const settings = { inKey };
  const method = { path, service: { name: service, generation: 0 }, settings, recent: {} };
  const list = new HeaderCache().list([...requestHead(path), ...metadata]);
  return { method, list } as unknown as RequestRoute;
}

/** The same call of a method again, with other metadata. */
function again({ method }: RequestRoute, metadata: Pairs): RequestRoute {
  return { ...routeOf(method.path, metadata), method };
}

function bodyOf(...pieces: string[]): FrameLog {
  const log = new FrameLog();
  for (const piece of pieces) log.appendData(ascii(piece), 0, piece.length);
  return log;
}

function listening(): { missed: MissedSharing; heard: string[] } {
  const heard: string[] = [];
  const missed = new MissedSharing(
    {
      ...SILENT,
      couldHaveCollapsed: (method) => heard.push(method),
      keptApartBy: (method, name) => heard.push(`${method} by ${name}`),
    },
  );
  return { missed, heard };
}

Deno.test("MissedSharing compares calls of one method and one head, as single whole messages", () => {
  const cases: [first: FrameLog, second: FrameLog, isEqual: boolean][] = [
    [bodyOf("same"), bodyOf("same"), true],
    [bodyOf("same"), bodyOf("some"), false],
    [bodyOf("same"), bodyOf("same "), false],
    [bodyOf("sa", "me"), bodyOf("sa", "me"), false], // of two frames
    [bodyOf(""), bodyOf(""), false],
    [new FrameLog(), new FrameLog(), false], // it was emptied: that call is over
  ];
  for (const [first, second, isEqual] of cases) {
    const { missed, heard } = listening();
    const route = routeOf("/a.S/Put");
    missed.passed(route, first);
    missed.passed(route, second);
    assertEquals(heard, isEqual ? ["/a.S/Put"] : []);
    assertEquals(missed.hints, isEqual ? [{ method: "/a.S/Put", metadataName: undefined }] : []);
    const other = listening();
    const apart = routeOf("/a.S/Put");
    other.missed.passed(apart, first);
    other.missed.passed(again(apart, [["x-a", "1"]]), second); // something differs
    assertEquals(other.heard, []);
  }
  const { missed, heard } = listening();
  const [route, body] = [routeOf("/a.S/Put"), bodyOf("same")];
  missed.passed(route, body);
  missed.passed(route, body); // it is the same call
  assertEquals(heard, []);
});

Deno.test("MissedSharing says nothing of methods that never collapse, and goes on looking", () => {
  const { missed, heard } = listening();
  for (const path of ["/grpc.health.v1.Health/Check", "/a.S/Put"]) {
    const route = routeOf(path);
    for (let i = 0; i < 2; i++) missed.passed(route, bodyOf("same"));
  }
  assertEquals(heard, ["/a.S/Put"]);
});

Deno.test("MissedSharing names the one metadata name that differs, also where it has several values or is missing", () => {
  const cases: [first: Pairs, second: Pairs, name: string | undefined][] = [
    [[["x-a", "1"]], [["x-a", "2"]], "x-a"],
    [[["x-a", "1"]], [], "x-a"],
    [[], [["x-a", "1"], ["ignored", "1"]], "x-a"],
    [[["x-a", "1"], ["x-a", "2"]], [["x-a", "1"], ["x-a", "3"]], "x-a"],
    [[["x-a", "1"], ["x-a", "2"]], [["x-a", "3"], ["x-a", "2"]], "x-a"],
    [[["x-a", "1"], ["x-a", "2"]], [["x-a", "2"], ["x-a", "1"]], "x-a"], // their order is in the key
    [[["x-a", "1"], ["x-b", "1"]], [["x-b", "1"], ["x-a", "1"]], undefined], // that of names is not
    [[["x-a", "1"], ["x-b", "1"]], [["x-a", "2"], ["x-b", "2"]], undefined],
    [[["ignored", "1"]], [["ignored", "2"]], undefined],
  ];
  for (const [first, second, name] of cases) {
    const { missed, heard } = listening();
    const route = routeOf("/a.S/Get", first);
    missed.led(route, { head: 1, bodyKey: "k", landed: false });
    missed.led(again(route, second), { head: 2, bodyKey: "k", landed: false });
    assertEquals(heard, name === undefined ? [] : [`/a.S/Get by ${name}`]);
  }
});

Deno.test("MissedSharing compares calls that could have shared: another head, the same message, still under way", () => {
  const flight = { head: 1, bodyKey: "k", landed: false };
  const cases: [before: RecentFlight, now: RecentFlight][] = [
    [flight, flight],
    [flight, { ...flight, head: 2, bodyKey: "other" }],
    [{ ...flight, landed: true }, { ...flight, head: 2 }],
  ];
  for (const [before, now] of cases) {
    const { missed, heard } = listening();
    const route = routeOf("/a.S/Get", [["x-a", "1"]]);
    missed.led(route, before);
    missed.led(again(route, [["x-a", "2"]]), now);
    assertEquals(heard, []);
  }
});

Deno.test("MissedSharing tells ten names at most, and remembers nothing of calls after that", () => {
  const { missed, heard } = listening();
  for (let i = 0; i < 12; i++) {
    const route = routeOf(`/a.S/Get${i}`, [[`x-${i}`, "1"]]);
    missed.led(route, { head: 1, bodyKey: "k", landed: false });
    missed.led(again(route, [[`x-${i}`, "2"]]), { head: 2, bodyKey: "k", landed: false });
    assertEquals(route.method.recent.led === undefined, i >= 10);
  }
  assertEquals(heard, Array.from({ length: 10 }, (_, i) => `/a.S/Get${i} by x-${i}`));
  assertEquals(missed.hints.length, 10);
});

Deno.test("MissedSharing names the first method that does not collapse though its calls are equal", async () => {
  const heard: string[] = [];
  const observer = { couldHaveCollapsed: (method: string) => heard.push(method) };
  await withRig({ observer }, async (rig) => {
    const caller = await rig.caller();
    caller.call(PUT, "same");
    await rig.settle();
    caller.call(PUT, "other");
    await rig.settle();
    assertEquals(heard, []); // not equal
    caller.call(PUT, "other");
    await rig.settle();
    assertEquals(heard, [PUT]);
    caller.call(PUT, "other");
    caller.call("/test.Service/Say", "1");
    caller.call("/test.Service/Say", "1");
    await rig.settle();
    assertEquals(heard, [PUT]); // once is enough
    for (const request of rig.requests) request.echoes();
    await rig.settle();
  });
});

Deno.test("MissedSharing says nothing of equal calls one after the other", async () => {
  const heard: string[] = [];
  const observer = { couldHaveCollapsed: (method: string) => heard.push(method) };
  await withRig({ observer }, async (rig) => {
    const caller = await rig.caller();
    for (let i = 0; i < 3; i++) {
      caller.call(PUT, "same");
      await rig.settle();
      rig.request(i).echoes();
      await rig.settle();
    }
    assertEquals(heard, []);
  });
});

Deno.test("MissedSharing names metadata that alone keeps the calls of an eligible method apart, once", async () => {
  const heard: string[] = [];
  const observer = { keptApartBy: (_: string, name: string) => heard.push(name) };
  await withRig({ observer }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1", { metadata: [["x-hop", "a"]] });
    await rig.settle();
    caller.call(GET, "2", { metadata: [["x-hop", "b"]] });
    await rig.settle();
    assertEquals(heard, []); // another message
    caller.call(GET, "2", { metadata: [["x-hop", "c"], ["x-user", "u"]] });
    await rig.settle();
    assertEquals(heard, []); // two names
    caller.call(GET, "2", { metadata: [["x-hop", "d"], ["x-user", "u"]] });
    await rig.settle();
    assertEquals(heard, ["x-hop"]);
    caller.call(GET, "2", { metadata: [["x-hop", "e"], ["x-user", "u"]] });
    await rig.settle();
    assertEquals(heard, ["x-hop"]);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
  });
});
