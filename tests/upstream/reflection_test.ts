import { assert, assertEquals } from "@std/assert";
import { STREAM_WINDOW_BYTES } from "../../lib/connection/limits.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { describe } from "../support/descriptors.ts";
import { concat, data, headers } from "../support/frames.ts";
import { framed } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

const ASKS: RigOptions = { cacheDurationMs: 0 };
const V1 = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const V1_ALPHA = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

/** The answer that describes test.Service, with these levels of GetItem and PutItem. */
function description(get: number, put: number): Uint8Array {
  return describe("test.Service", { GetItem: get, PutItem: put });
}

/** Questions about descriptors that are open. */
function questions(rig: ProxyRig): BackendRequest[] {
  return rig.questions.filter(({ isOver }) => !isOver);
}

/** Runs `body` with a rig whose backend leaves every question to the test. */
function withQuestions(options: RigOptions, body: (rig: ProxyRig) => Promise<void>): Promise<void> {
  return withRig({ ...ASKS, ...options }, (rig) => {
    rig.onQuestion = () => {};
    return body(rig);
  });
}

/** How many backend calls two equal calls at once make. */
async function pairOf(rig: ProxyRig, path: string): Promise<number> {
  const caller = rig.callers[0] ?? await rig.caller();
  const before = rig.requests.length;
  for (let i = 0; i < 2; i++) caller.call(path, `pair ${before}`);
  await rig.settle();
  const made = rig.requests.slice(before).filter((request) => request.path === path);
  for (const request of made) request.echoes();
  await rig.settle();
  return made.length;
}

Deno.test("Reflection lets what the descriptor says go before the name", async () => {
  await withQuestions({}, async (rig) => {
    assertEquals([await pairOf(rig, GET), await pairOf(rig, PUT)], [1, 2]); // by name, as yet
    assertEquals(questions(rig).length, 0); // not while it has just begun
    await rig.advance(1_100);
    const [question, ...others] = questions(rig);
    assertEquals([question?.path, others.length], [V1, 0]);
    question!.replies([description(2, 1)]);
    await rig.settle();
    assertEquals([await pairOf(rig, GET), await pairOf(rig, PUT)], [2, 1]);
    assertEquals(rig.proxy.counters.backends[0]!.calls, 6); // its own question is not among them
  });
});

Deno.test("Reflection alone decide where the list says schema", async () => {
  await withQuestions({ methods: ["schema"] }, async (rig) => {
    assertEquals(await pairOf(rig, GET), 2);
    await rig.advance(1_100);
    questions(rig)[0]!.replies([description(0, 1)]);
    await rig.settle();
    assertEquals([await pairOf(rig, GET), await pairOf(rig, PUT)], [2, 1]);
  });
});

Deno.test("Reflection falls back to the older reflection, and asks a backend without any no more", async () => {
  await withQuestions({}, async (rig) => {
    await pairOf(rig, GET);
    await rig.advance(1_100);
    questions(rig)[0]!.fails(12);
    await rig.settle();
    assertEquals(questions(rig)[0]!.path, V1_ALPHA);
    questions(rig)[0]!.fails(12);
    await rig.settle();
    await pairOf(rig, "/other.Service/GetItem");
    await rig.advance(1_100);
    assertEquals(questions(rig).length, 0);
    await rig.advance(300_100); // until it may be another one
    const asked = questions(rig);
    assertEquals(asked.map(({ path }) => path), [V1]);
    asked[0]!.fails(5);
    await rig.settle();
    for (const question of questions(rig)) question.fails(5);
    await rig.settle();
  });
});

Deno.test("Reflection falls back to the older reflection when the newer is refused by HTTP 404", async () => {
  await withQuestions({}, async (rig) => {
    await pairOf(rig, PUT);
    await rig.advance(1_100);
    const [newer] = questions(rig);
    assertEquals(newer!.path, V1);
    newer!.backend.sends(headers(newer!.id, [[":status", "404"]], { endStream: true }));
    await rig.settle();
    const older = questions(rig).at(-1);
    assertEquals(older!.path, V1_ALPHA);
    older!.replies([description(0, 1)]);
    await rig.settle();
    assertEquals(await pairOf(rig, PUT), 1);
  });
});

Deno.test("Reflection reads a description of 1 MiB, which is more than a stream's window", async () => {
  await withQuestions({}, async (rig) => {
    await pairOf(rig, PUT);
    await rig.advance(1_100);
    const [question] = questions(rig);
    const unknown = Uint8Array.of(0x7a, 0x80, 0x80, 0x40); // field 15, of 1 MiB
    const answer = framed(concat(description(0, 1), unknown, new Uint8Array(2 ** 20)));
    question!.begins();
    for (let at = 0; at < answer.length; at += 16_384) {
      const end = Math.min(answer.length, at + 16_384);
      assert(end <= STREAM_WINDOW_BYTES + question!.seen.granted, `no window at ${at}`);
      question!.backend.sends(data(question!.id, answer.subarray(at, end)));
      await rig.settle();
    }
    question!.ends();
    await rig.settle();
    assertEquals(await pairOf(rig, PUT), 1);
  });
});

Deno.test("Reflection is no request of anybody's, and a backend that knows none of it is served as before", async () => {
  await withRig(ASKS, async (rig) => {
    const made = [await pairOf(rig, GET), await pairOf(rig, PUT)];
    await rig.advance(1_100);
    assertEquals(rig.questions.map(({ path, isOver }) => [path, isOver]), [[V1, true], [
      V1_ALPHA,
      true,
    ]]);
    assertEquals([await pairOf(rig, GET), await pairOf(rig, PUT)], made);
    rig.expectsRequests(6);
    rig.callers[0]!.call(V1, "a caller's own");
    await rig.settle();
    rig.expectsRequests(7); // which is a call like any other
    rig.request(6).echoes();
    await rig.settle();
    assertEquals(rig.questions.length, 2);
  });
});

Deno.test("Reflection asks again when it gets no answer, and when the backend is gone", async () => {
  await withQuestions({ staleIfErrorMs: 1 }, async (rig) => {
    await pairOf(rig, GET);
    await rig.advance(1_100);
    assertEquals(questions(rig).length, 1);
    await rig.advance(5_100); // and is given up
    rig.dialling = "refuses";
    rig.backend.socket.ends();
    await rig.advance(3_000);
    rig.dialling = "accepts";
    await rig.advance(4_000);
    questions(rig).at(-1)!.replies([description(2, 0)]);
    await rig.settle();
    assertEquals(await pairOf(rig, GET), 2);
  });
});

Deno.test("Reflection asks about one service at a time, and of none that the backend does not know", async () => {
  await withQuestions({}, async (rig) => {
    const caller = await rig.caller();
    rig.onRequest = (request) => {
      if (request.path?.startsWith("/scan.")) request.fails(12);
      else if (request.path?.startsWith("/real.")) request.echoes();
    };
    for (let i = 0; i < 300; i++) caller.call(`/scan.S${i}/Get`, "x");
    await rig.settle();
    for (let i = 0; i < 3; i++) caller.call(`/real.S${i}/Get`, "x");
    await rig.advance(1_100);
    let asked = 0;
    for (; questions(rig).length > 0; asked++) {
      assertEquals(questions(rig).length, 1);
      questions(rig)[0]!.fails(5);
      await rig.settle();
    }
    assertEquals(asked, 3);
  });
});

Deno.test("Reflection are not asked for where nobody heeds them", async () => {
  for (
    const options of [{ methods: ["*"] }, { mode: "off" as const }, { asksDescriptors: false }]
  ) {
    await withRig({ ...ASKS, ...options }, async (rig) => {
      await pairOf(rig, GET);
      await rig.advance(2_000);
      assertEquals(rig.questions, []);
    });
  }
});

const LOGS = "/test.Service/GetLogs";

Deno.test("Reflection says which methods stream, and those whose name hints at more than that pass", async () => {
  await withQuestions({}, async (rig) => {
    assertEquals([await pairOf(rig, LOGS), await pairOf(rig, GET)], [1, 1]); // as far as names tell
    await rig.advance(1_100);
    const said = describe("test.Service", { GetLogs: 0, GetItem: 0 }, {
      streams: ["GetLogs", "GetItem"],
    });
    questions(rig)[0]!.replies([said]);
    await rig.settle();
    assertEquals([await pairOf(rig, LOGS), await pairOf(rig, GET)], [2, 1]);
  });
});

Deno.test("Method that was seen to stream its answers passes, where its name hints at that", async () => {
  await withRig(ASKS, async (rig) => {
    const caller = await rig.caller();
    for (const path of [LOGS, GET]) caller.call(path, "k");
    await rig.settle();
    for (const request of [...rig.requests]) request.replies(["one", "two"]);
    await rig.settle();
    assertEquals([await pairOf(rig, LOGS), await pairOf(rig, GET)], [2, 1]);
  });
});

Deno.test("Reflection that describes a method's requests ends what is learnt from calls", async () => {
  await withQuestions({}, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "first", { ends: false }).sends("second", { ends: true }); // an odd caller
    await rig.settle();
    rig.request(0).echoes();
    await rig.advance(1_100);
    questions(rig)[0]!.replies([describe("test.Service", { GetItem: 0 })]);
    await rig.settle();
    const slow = caller.call(GET, "k", { ends: false });
    await rig.advance(500);
    rig.expectsRequests(1); // its end is awaited, as that of a method which takes one message
    slow.ends();
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(1).echoes();
    await rig.settle();
  });
});

Deno.test("Reflection that wants credentials is said once, and not asked of every service", async () => {
  for (const status of [7, 16]) {
    const told: string[] = [];
    const observer = {
      notDescribed: (service: string, why: string) => void told.push(service, why),
    };
    await withQuestions({ observer }, async (rig) => {
      await pairOf(rig, GET);
      await rig.advance(1_100);
      questions(rig)[0]!.fails(status);
      await rig.settle();
      await pairOf(rig, "/other.Service/GetItem");
      await rig.advance(1_100);
      assertEquals(questions(rig).length, 0);
      assertEquals(told, [
        "test.Service",
        "its reflection wants credentials, which the sidecar has none of",
      ]);
    });
  }
});

Deno.test("Reflection that gives another reason for the same verdict is what is told from then on", async () => {
  const told: string[] = [];
  const observer = {
    methodJudged: (_: string, { why }: { why: string }) => void told.push(why),
  };
  await withQuestions({ observer }, async (rig) => {
    await pairOf(rig, GET);
    await rig.advance(1_100);
    questions(rig)[0]!.replies([description(1, 0)]);
    await rig.settle();
    assertEquals(told, ["its name begins with get", "its descriptor says NO_SIDE_EFFECTS"]);
    const [known] = rig.proxy.inspection.methods().filter(({ method }) => method === GET);
    assertEquals(known?.verdict?.why, "its descriptor says NO_SIDE_EFFECTS");
    assertEquals(await pairOf(rig, GET), 1);
  });
});
