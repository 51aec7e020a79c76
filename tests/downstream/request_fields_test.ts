import { assertEquals } from "@std/assert";
import {
  NO_FIELDS,
  readRequestFields,
  type RequestFields,
} from "../../lib/downstream/request_fields.ts";
import { Field } from "../../lib/wire/mod.ts";
import type { Pairs } from "../support/frames.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

const PASSED = "the call's deadline has passed";

Deno.test("readRequestFields reads what one call asks of the sidecar, and nothing from other fields", () => {
  const cases: [fields: Pairs, read: Partial<RequestFields>][] = [
    [[], {}],
    [[["traceparent", "t"], ["x-collapser", "1"], ["pragma", "no-cache"]], {}],
    [[["grpc-timeout", "1500m"]], { timeoutMs: 1_500 }],
    [[["grpc-timeout", "250u"]], { timeoutMs: 0.25 }],
    [[["grpc-timeout", "2H"]], { timeoutMs: 7_200_000 }],
    [[["cache-control", "no-cache"]], { isFresh: true }],
    [[["cache-control", "No-Store"]], { isAlone: true }],
    [[["cache-control", "max-age=0, no-cache, no-store"]], {
      isFresh: true,
      isAlone: true,
      maxAgeMs: 0,
    }],
    [[["cache-control", "no-cache"], ["cache-control", "max-age=5"]], {
      isFresh: true,
      maxAgeMs: 5_000,
    }],
    [[["cache-control", "no-store"], ["cache-control", "no-cache"]], {
      ...{ isFresh: true, isAlone: true },
    }],
    [[["x-collapser-debug", "1"]], { wantsDebug: true }],
    [[["x-collapser-debug", "true"]], {}],
    [[["x-collapser-debug", "1"], ["x-collapser-debug", "0"]], {}], // the last one counts
    [[["grpc-timeout", "1S"], ["cache-control", "no-cache"], ["x-collapser-debug", "1"]], {
      ...{ timeoutMs: 1_000, isFresh: true, wantsDebug: true },
    }],
  ];
  for (const [fields, expected] of cases) {
    assertEquals(read(...fields), { ...NO_FIELDS, ...expected }, Deno.inspect(fields));
  }
});

Deno.test("readRequestFields says why a call cannot be taken, whatever else it asks for", () => {
  for (const value of ["", "1", "S", "5s", "123456789m", "-1S", "1.5S"]) {
    const failure = { kind: "malformedTimeout", value } as const;
    assertEquals(read(["x-collapser-debug", "1"], ["grpc-timeout", value]), { failure });
  }
  for (const value of ["0n", "0S", "00000000H"]) {
    assertEquals(read(["grpc-timeout", value], ["cache-control", "no-cache"]), {
      failure: { kind: "deadline" },
    });
  }
});

Deno.test("readRequestFields leaves NO_FIELDS as it is, which all calls share", () => {
  read(["grpc-timeout", "1S"], ["cache-control", "no-cache, no-store"], ["x-collapser-debug", "1"]);
  assertEquals(NO_FIELDS, {
    ...{ timeoutMs: undefined, isFresh: false, isAlone: false, wantsDebug: false },
    ...{ isOnlyIfCached: false, maxAgeMs: Infinity },
  });
});

Deno.test("Call with a grpc-timeout outside the grammar ends with 13 and reaches nobody (scenario 29)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const healthy = caller.call(PUT, "healthy");
    await rig.settle();
    for (const value of ["123456789m", "10", "-5S", "5s", "1e3m", "S", "", "5 S"]) {
      const call = caller.call(GET, "1", { metadata: timeout(value) });
      const open = caller.call(PUT, undefined, { ends: false, metadata: timeout(value) });
      await rig.settle();
      call.expectsFailure(13, `cannot read the grpc-timeout "${value}"`);
      open.expectsFailure(13, `cannot read the grpc-timeout "${value}"`);
      assertEquals(open.reply.reset, "NO_ERROR"); // no more of the request is wanted
    }
    rig.expectsRequests(1);
    rig.request(0).replies(["fine"]);
    await rig.settle();
    healthy.expects(0, "fine");
    assertEquals(rig.outcomes, { passed: 1, rejected: 16 });
  });
});

Deno.test("Call whose time is up when it comes ends with 4 at once and reaches nobody", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    for (const value of ["0S", "0n", "00000000m"]) {
      const call = caller.call(GET, "1", { metadata: timeout(value) });
      await rig.settle();
      call.expectsFailure(4, PASSED);
    }
    rig.expectsRequests(0);
    assertEquals(rig.outcomes, { rejected: 3 });
  });
});

function timeout(value: string): Pairs {
  return [["grpc-timeout", value]];
}

function read(...fields: Pairs): ReturnType<typeof readRequestFields> {
  return readRequestFields(
    fields.map(([name, value]) => new Field(name, value, { perCall: true })),
  );
}
