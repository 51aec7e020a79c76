/**
 * What a fault of the sidecar's own costs: the calls it happened to, with status 13, and nothing else.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Connection } from "../../lib/connection/mod.ts";
import { Call } from "../../lib/downstream/call.ts";
import { Endpoint } from "../../lib/upstream/mod.ts";
import { GatheredReply } from "../../lib/upstream/gathered_reply.ts";
import { ERROR_CODE, latin1 } from "../../lib/wire/mod.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { goAway } from "../support/frames.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

const FAULT = "a fault of the sidecar's own";

Deno.test("CallerSession ends a call with 13 when its key cannot be made, and serves the others", async () => {
  const codec = {
    latin1(bytes: Uint8Array, from: number, to: number): string {
      const text = latin1(bytes, from, to);
      if (text.endsWith("boom")) throw new Error("no key for this");
      return text;
    },
    digest(): string {
      throw new Error("no digest either");
    },
  };
  await withRig({ codec }, async (rig) => {
    const caller = await rig.caller();
    const healthy = caller.call(PUT, "1");
    const bad = [
      caller.call(GET, "boom"),
      caller.call(GET, "x".repeat(10_000)),
      caller.call(GET, "boom", { ends: false }),
    ];
    const good = caller.call(GET, "fine");
    await rig.settle();
    bad[2]!.ends();
    await rig.settle();
    for (const call of bad) call.expectsFailure(13, FAULT);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
    healthy.expects(0, "re:1");
    good.expects(0, "re:fine");
    assertEquals(rig.heard.filter((what) => what.startsWith("fault of ours")).length, 3);
    assertEquals(rig.outcomes, { passed: 1, led: 1, rejected: 3 });
  });
});

Deno.test("FlightCall that cannot be ended gives everyone 13, and the next caller leads (scenario 34)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 5 }, () => caller.call(GET, "1"));
    const other = caller.call(GET, "2");
    await rig.settle();
    failOnce(rig.proxy.map, "keep");
    rig.request(0).replies(["lost"]);
    rig.request(1).replies(["two"]); // in the same read
    await rig.settle();
    for (const call of calls) call.expectsFailure(13, FAULT);
    other.expects(0, "two");
    assertEquals(rig.gauges.flights, 0);
    assertEquals(rig.heard.at(-1), "fault of ours: passing a reply on: keep failed");
    const next = caller.call(GET, "1");
    await rig.settle();
    rig.request(2).replies(["one"]);
    await rig.settle();
    next.expects(0, "one");
  });
});

Deno.test("FlightCall loses one caller and not the others when it cannot be relayed to that one", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 5 }, () => caller.call(GET, "1"));
    await rig.settle();
    const restore = failRelayOf(calls[2]!.id);
    try {
      rig.request(0).replies(["one"]);
      await rig.settle();
    } finally {
      restore();
    }
    for (const [i, call] of calls.entries()) {
      if (i === 2) call.expectsFailure(13, FAULT);
      else call.expects(0, "one");
    }
    const repeat = caller.call(GET, "1");
    await rig.settle();
    repeat.expects(0, "one");
  });
});

Deno.test("Call that passes ends with 13 when its reply cannot be relayed, and so does its backend call", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(PUT, "1"), caller.call(PUT, "2")];
    await rig.settle();
    const restore = failRelayOf(calls[0]!.id);
    try {
      for (const request of rig.requests) request.begins(["a"]);
      await rig.settle();
    } finally {
      restore();
    }
    calls[0]!.expectsFailure(13, FAULT);
    assertEquals(rig.request(0).seen.reset, "CANCEL");
    rig.request(1).ends();
    await rig.settle();
    calls[1]!.expects(0, "a");
  });
});

Deno.test("Call ends with 13 when a hit, a window update or an alarm of its own fails", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller([[4, 5]]);
    const passed = caller.call("/other.Service/PutItem", "1");
    const hit = async () => {
      const call = caller.call(GET, "1");
      await rig.settle();
      return call;
    };
    await hit();
    for (const request of rig.requests) request.replies(["0123456789"]);
    await rig.settle();
    caller.calls[1]!.grants(100);
    await rig.settle();
    caller.calls[1]!.expects(0, "0123456789");
    const restore = failRelayOf(passed.id, caller.calls.at(-1)!.id + 2);
    try {
      (await hit()).expectsFailure(13, FAULT);
      passed.grants(100);
      await rig.settle();
      assertEquals(passed.status, 13);
    } finally {
      restore();
    }
    const waiting = caller.call(GET, "2", { metadata: [["grpc-timeout", "100m"]] });
    const bystander = caller.call(GET, "3", { metadata: [["grpc-timeout", "100m"]] });
    await rig.settle();
    failOnce(Connection.prototype, "sendFinalHeaders");
    await rig.advance(104);
    assertEquals([waiting.status, bystander.status].sort(), [13, 4]); // whichever came first
  });
});

Deno.test("Endpoint loses one call and not those behind it when that one cannot be sent", async () => {
  await withRig({ dialling: "hangs" }, async (rig) => {
    const caller = await rig.caller();
    const calls = ["1", "2", "3"].map((message) => caller.call(GET, message));
    await rig.settle();
    failOnce(Connection.prototype, "openStream");
    rig.dialling = "accepts";
    rig.answerDials();
    await rig.settle();
    calls[0]!.expectsFailure(13, FAULT);
    rig.expectsRequests(2);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
    calls[1]!.expects(0, "re:2");
    calls[2]!.expects(0, "re:3");
  });
});

Deno.test("UpstreamSession loses one call and not its connection when a reply cannot be taken", async () => {
  const faults: Record<string, (request: BackendRequest) => void> = {
    takeHeaders: (request) => request.begins(["a"]),
    receive: (request) => request.replies(["a"]),
    fail: (request) => request.resets(ERROR_CODE.internalError),
  };
  for (const [name, comes] of Object.entries(faults)) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const calls = [GET, PUT, PUT].map((path, i) => caller.call(path, `${i}`));
      await rig.settle();
      failOnce(GatheredReply.prototype as unknown as Record<string, () => void>, name);
      comes(rig.request(0));
      await rig.settle();
      calls[0]!.expectsFailure(13, FAULT);
      assertEquals(rig.heard.at(-1), `fault of ours: taking a reply: ${name} failed`);
      for (const request of rig.requests.slice(1)) request.echoes();
      await rig.settle();
      calls[1]!.expects(0, "re:1");
      calls[2]!.expects(0, "re:2");
      assertEquals(rig.backends.length, 1);
    });
  }
});

Deno.test("UpstreamSession loses one call and not the others when it cannot be sent again after a GOAWAY", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = ["1", "2", "3"].map((message) => caller.call(GET, message));
    await rig.settle();
    failOnce(Endpoint.prototype, "repeat");
    rig.backend.sends(goAway(0, 0));
    await rig.settle();
    calls[0]!.expectsFailure(13, FAULT);
    for (const request of rig.requests.slice(3)) request.echoes();
    await rig.settle();
    calls[1]!.expects(0, "re:2");
    calls[2]!.expects(0, "re:3");
  });
});

Deno.test("CallerSession lets go of all its calls when its connection is gone and one of them fails at that", async () => {
  await withRig(async (rig) => {
    const [gone, other] = [await rig.caller(), await rig.caller()];
    for (const message of ["1", "2", "3"]) gone.call(GET, message);
    await rig.settle();
    failOnce(Call.prototype, "gone");
    gone.socket.ends();
    await rig.settle();
    assertEquals(rig.heard.slice(1), ["fault of ours: serving a call: gone failed"]);
    assertEquals(rig.gauges.flights, 0);
    for (const request of rig.requests) assertEquals(request.seen.reset, "CANCEL");
    assertEquals(rig.proxy.counters.connections, 1);
    const call = other.call(GET, "1");
    await rig.settle();
    rig.request(-1).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
  });
});

Deno.test("CallerSession keeps the other calls when one cannot be let go of after a reset", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const [first, second] = [caller.call(PUT, "1"), caller.call(PUT, "2")];
    await rig.settle();
    failOnce(Call.prototype, "gone");
    first.cancels();
    await rig.settle();
    assertEquals(rig.request(0).seen.reset, "CANCEL");
    rig.request(1).replies(["two"]);
    await rig.settle();
    second.expects(0, "two");
  });
});

Deno.test("Timers wakes the others, and goes on, when one that it woke fails", async () => {
  const reported: string[] = [];
  function hear(event: ErrorEvent): void {
    event.preventDefault();
    reported.push(event.error.message);
  }
  addEventListener("error", hear);
  try {
    await withRig({ cleanupIntervalMs: 100 }, async (rig) => {
      const caller = await rig.caller();
      const metadata = [["grpc-timeout", "100m"]] as const;
      const calls = Array.from({ length: 5 }, (_, i) => caller.call(PUT, `${i}`, { metadata }));
      await rig.settle();
      failOnce(rig.proxy.map, "sweep");
      await rig.advance(104);
      for (const call of calls) assertEquals(call.status, 4);
      assertEquals(reported, ["sweep failed"]);
      caller.call(GET, "1");
      await rig.settle();
      rig.request(-1).replies(["one"]);
      await rig.advance(204);
      assertEquals(rig.proxy.map.stored.entries, 0); // it is swept again
    });
  } finally {
    removeEventListener("error", hear);
  }
});

/** Makes the next call of a method throw. */
function failOnce<K extends string>(
  of: { [P in K]: (...args: never[]) => unknown },
  name: K,
): void {
  const real = of[name];
  const isOwn = Object.hasOwn(of, name);
  of[name] = function () {
    if (isOwn) of[name] = real;
    else delete (of as Record<string, unknown>)[name];
    throw new Error(`${name} failed`);
  } as typeof real;
}

/** Makes relaying to these streams of callers throw, until it is told to stop. */
function failRelayOf(...ids: number[]): () => void {
  const { relay } = Connection.prototype;
  Connection.prototype.relay = function (stream, log) {
    const isCallers = stream.owner instanceof Call;
    if (isCallers && ids.includes(stream.id)) throw new Error("relay failed");
    return relay.call(this, stream, log);
  };
  return () => void (Connection.prototype.relay = relay);
}
