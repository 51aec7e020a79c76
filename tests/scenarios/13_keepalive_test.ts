/**
 * Keepalive, idle and dead connections. Counts of PINGs on one silent stream, and the end of a backend that gives no
 * sign of life, stand in `tests/proxy/limits_test.ts` ("UpstreamSession gives a backend up …", "… asks an idle backend
 * nothing …", "… does not take slow data for silence", "… notices a silent backend …"); what is left is here.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, FRAME } from "../../lib/wire/mod.ts";
import type { BackendEnd } from "../support/backend_end.ts";
import type { CallerEnd } from "../support/caller_end.ts";
import { rng } from "../support/cuts.ts";
import { goAway, ping, raw } from "../support/frames.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** What servers of gRPC allow by default (gRFC A8): one PING in this time with a stream, one in that without. */
const MIN_BETWEEN_MS = 5 * MINUTE_MS;
const MIN_BETWEEN_IDLE_MS = 2 * HOUR_MS;
const MAX_STRIKES = 2;

/** Longer than a silent backend is borne with: 20 s, and 10 s for its answer. */
const GIVEN_UP_MS = 31 * SECOND_MS;

/** Judges PINGs as a server of gRPC does by default. */
class PingJudge {
  strikes = 0;
  pings = 0;
  #lastMs = -Infinity;
  #forgiven = false;

  /** It has sent HEADERS or DATA. */
  hasSent(): void {
    this.#forgiven = true;
  }

  /** A PING came; true when it is one too many. */
  hears(nowMs: number, openStreams: number): boolean {
    this.pings++;
    const soonMs = this.#lastMs + (openStreams > 0 ? MIN_BETWEEN_MS : MIN_BETWEEN_IDLE_MS);
    this.#lastMs = nowMs;
    if (this.#forgiven) this.strikes = 0;
    else if (nowMs < soonMs) this.strikes++;
    this.#forgiven = false;
    return this.strikes > MAX_STRIKES;
  }
}

/** Asks `judge` about each PING that this connection hears, and says GOAWAY when that is what it says. */
function judges(rig: ProxyRig, end: BackendEnd, judge: PingJudge): () => void {
  let heard = 0;
  return () => {
    const pings = end.seen("PING").length;
    for (; heard < pings; heard++) {
      if (!judge.hears(rig.clock.now(), end.open.length)) continue;
      end.sends(goAway(2 ** 31 - 1, ERROR_CODE.enhanceYourCalm, "too_many_pings"));
    }
  };
}

Deno.test("Scenario 13(a): a minute without calls and one with a silent stream cost a PING at most, and callers hear none", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    await rig.advance(MINUTE_MS);
    assertEquals(rig.backend.seen("PING").length, 0);
    caller.call(PUT, "1");
    await rig.advance(MINUTE_MS);
    assert(rig.backend.seen("PING").length <= 2);
    await rig.advance(HOUR_MS);
    assertEquals(caller.seen("PING"), []);
    assertEquals([rig.backends.length, caller.seen("GOAWAY")], [1, []]);
  });
});

Deno.test("Scenario 13(a): a server that counts PINGs as servers do by default never has cause for GOAWAY", async () => {
  for (const seed of [1, 2, 3, 4]) {
    // Several connections, each judged by itself: two streams are all that one of them takes.
    const backendSettings = [[3, 2], [4, 65_535]] as const;
    await withRig({ backendTimeoutMs: 10 * HOUR_MS, backendSettings }, async (rig) => {
      const random = rng(seed);
      const courts = new Map<BackendEnd, { judge: PingJudge; look: () => void }>();
      const caller = await rig.caller();
      const untilMs = rig.clock.now() + 6 * HOUR_MS;
      while (rig.clock.now() < untilMs) {
        const open = rig.requests.filter((request) => !request.isOver);
        const chance = random();
        if (open.length === 0 || chance < 0.25 && open.length < 5) {
          caller.call(chance < 0.2 ? PUT : GET, `${rig.clock.now()}`);
        } else if (chance < 0.45) {
          const request = open[Math.floor(random() * open.length)]!;
          courts.get(request.backend)?.judge.hasSent();
          if (chance < 0.35) request.fails(0);
          else request.fails(14);
        } else if (chance < 0.55) caller.calls.find((call) => isOpen(call))?.cancels();
        // Pauses around the 20 s, the 10 s, and the five minutes; some long, some none.
        const pause = [0, 1, 9, 11, 19.9, 20.1, 29, 31, 120, 299, 301, 330][
          Math.floor(random() * 12)
        ]!;
        await advanceJudged(rig, pause * SECOND_MS, courts);
      }
      const judged = [...courts.values()].map(({ judge }) => judge);
      assert(judged.some(({ pings }) => pings > 10), "a silent stream is asked about");
      for (const { strikes } of judged) assert(strikes <= MAX_STRIKES);
    });
  }
});

function isOpen({ status, cancelled, reply }: CallerEnd["calls"][number]): boolean {
  return status === undefined && !cancelled && reply.reset === undefined;
}

/** Time passes, and each PING is judged when it comes. */
async function advanceJudged(
  rig: ProxyRig,
  ms: number,
  courts: Map<BackendEnd, { judge: PingJudge; look: () => void }>,
): Promise<void> {
  const untilMs = rig.clock.now() + ms;
  do {
    await rig.settle();
    for (const end of rig.backends) {
      if (!courts.has(end)) {
        const judge = new PingJudge();
        end.onQuestion = (question) => {
          judge.hasSent();
          question.fails(12);
        };
        courts.set(end, { judge, look: judges(rig, end, judge) });
      }
      courts.get(end)!.look();
    }
  } while (rig.clock.step(untilMs));
  rig.clock.jump(untilMs);
  await rig.settle();
}

Deno.test("Scenario 13(b): a caller that PINGs every 10 s is answered each time, not sent away, and its quiet stream lives", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const stream = caller.call(PUT, "1");
    await rig.settle();
    rig.request(0).begins(["first"]);
    const sent: string[] = [];
    for (let i = 1; i <= 90; i++) {
      await rig.advance(10 * SECOND_MS);
      caller.sends(ping(i));
      await rig.settle();
      sent.push(`00 00 00 00 00 00 00 ${i.toString(16).padStart(2, "0")}`);
      assertEquals(caller.seen("PING ack").map(({ opaque }) => opaque), sent);
    }
    // Not passed on: each hop's PINGs are its own.
    assert(rig.backend.seen("PING").length <= 4);
    rig.request(0).sends("second");
    rig.request(0).ends();
    await rig.settle();
    stream.expects(0, "first", "second");
    assertEquals(caller.seen("GOAWAY"), []);
  });
});

Deno.test("Scenario 13(b): PINGs are answered when no window is open, when no call is, and behind a reply that is not read", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller([[4, 0]], { connectionBytes: 0 });
    const stream = caller.call(PUT, "1");
    await rig.settle();
    rig.request(0).begins(["x".repeat(100_000)]);
    await rig.settle();
    caller.sends(ping(1));
    await rig.settle();
    assertEquals([caller.seen("PING ack").length, stream.reply.text], [1, ""]);
    stream.cancels();
    await rig.advance(MINUTE_MS);
    caller.sends(ping(2));
    await rig.settle();
    assertEquals(caller.seen("PING ack").length, 2);
    caller.socket.hold();
    caller.sends(ping(3));
    await rig.advance(SECOND_MS);
    caller.socket.release();
    await rig.settle();
    assertEquals(caller.seen("PING ack").length, 3);
  });
});

Deno.test("Scenario 13(b): on real sockets a PING comes back with its eight bytes, whatever they are, as an ACK", async () => {
  await withSockets(async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const opaque = Uint8Array.of(0xff, 0, 0x80, 1, 0x7f, 0xfe, 0, 0xaa);
    caller.sends(raw(FRAME.ping, {}, opaque)); // before anything else
    const stream = caller.call(PUT, "1");
    (await rig.request(0)).begins(["first"]);
    await until(() => stream.messages.length === 1, "the first message");
    for (let i = 0; i < 20; i++) caller.sends(raw(FRAME.ping, {}, opaque));
    await until(() => caller.seen("PING ack").length === 21, "an ACK of each PING");
    const acked = caller.seen("PING ack").map(({ opaque }) => opaque);
    assertEquals(acked, Array.from({ length: 21 }, () => "ff 00 80 01 7f fe 00 aa"));
    backend.requests[0]!.ends();
    await until(() => stream.status !== undefined, "the end of the stream");
    stream.expects(0, "first");
    assertEquals([caller.seen("GOAWAY"), caller.seen("PING")], [[], []]);
  });
});

for (
  const [how, dies] of Object.entries<(end: BackendEnd) => void>({
    "neither reads nor answers": (end) => end.socket.hold(),
    "reads and says nothing": (end) => void (end.answersPings = false),
  })
) {
  Deno.test(`Scenario 13(c): a backend that ${how} is left within time and time-out, and calls go on`, async () => {
    await withRig(async (rig) => {
      const dead = rig.backend;
      dies(dead);
      rig.onRequest = (request) => request.backend === dead || request.echoes();
      const caller = await rig.caller();
      const metadata = [["grpc-timeout", "2S"]] as const;
      const calls = [];
      for (let second = 0; second <= GIVEN_UP_MS / SECOND_MS; second++) {
        const path = second % 2 === 0 ? GET : PUT;
        calls.push(caller.call(path, `${second}`, { metadata }));
        await rig.advance(SECOND_MS);
      }
      await rig.advance(2 * SECOND_MS);
      for (const { status } of calls.slice(0, -1)) assert(status === 4 || status === 14);
      calls.at(-1)!.expects(0, "re:31");
      assertEquals([rig.backends.length, dead.socket.isClosed], [2, true]);
      assertEquals(rig.proxy.counters.backends[0]!.up, true);
      for (let more = 0; more < 40; more++) {
        const call = caller.call(GET, `more ${more}`, { metadata });
        await rig.advance(SECOND_MS);
        call.expects(0, `re:more ${more}`);
      }
      dead.socket.release();
    });
  });
}

Deno.test("Scenario 13(c): a dead backend ends everyone on a flight, and an upload that fills all windows, with 14", async () => {
  await withRig({ backendTimeoutMs: HOUR_MS }, async (rig) => {
    rig.backend.socket.hold();
    const callers = [await rig.caller(), await rig.caller()];
    const shared = callers.map((caller) => caller.call(GET, "1"));
    const upload = callers[0]!.call(PUT, "x".repeat(100_000), { ends: false });
    await rig.advance(GIVEN_UP_MS);
    for (const call of [...shared, upload]) {
      call.expectsFailure(14, "the connection to the backend was lost: no sign of life for 30 s");
    }
    rig.backends[0]!.socket.release();
  });
});

Deno.test("Scenario 13(c): a caller that dies without a word holds up nobody on its flight", async () => {
  await withRig(async (rig) => {
    const [dead, live] = [await rig.caller(), await rig.caller()];
    dead.socket.hold();
    const calls = [dead.call(GET, "1"), live.call(GET, "1")];
    dead.answersPings = false;
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    calls[1]!.expects(0, "one");
    assertEquals(calls[0]!.status, undefined);
    dead.socket.release();
  });
});
