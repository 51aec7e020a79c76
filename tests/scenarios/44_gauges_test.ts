/**
 * Scenario 44: whatever becomes of calls, gauges come down to 0, and each call is counted once, as what it was.
 *
 * 100 calls that end at random, with time that the test moves, stand in `tests/proxy/endings_test.ts`; every test with
 * a rig ends by asserting that each of its calls has one outcome, one status and one duration. Here: what a scrape of a
 * whole sidecar says.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { STORED_LONG } from "../support/beside.ts";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import type { Pairs } from "../support/frames.ts";
import { ListeningBackend } from "../support/listening_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { ended, hasEnded } from "../support/peer_waiting.ts";
import { GET } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

/** Writes of another service, so that nothing stored is outdated by them. */
const PUT = "/other.Service/PutItem";
const CHAT = "/other.Service/Chat";

const GAUGES = [
  "collapser_inflight_requests",
  "collapser_waiters",
  "collapser_backend_inflight",
  "collapser_backend_pending",
  "collapser_connections",
];

/** Of calls that have a deadline; no call of theirs is answered, so a slow machine changes nothing. */
const TIMEOUT = "150m";

/** The ways a call can end; each ends all that wait at the backend now. */
type Ending = (scene: Scene) => void | Promise<void>;

interface Scene {
  readonly backend: ListeningBackend;
  readonly caller: CallerEnd;
  readonly calls: readonly CallerCall[];
}

const ENDINGS: Readonly<Record<string, { ends: Ending; code: string; metadata?: Pairs }>> = {
  "OK": {
    code: "OK",
    ends: ({ backend }) => backend.open.forEach((request) => request.ends()),
  },
  "an error": {
    code: "NotFound",
    ends: ({ backend }) => backend.open.forEach((request) => request.ends({ status: 5 })),
  },
  "its caller's cancelling": {
    code: "Canceled",
    ends: ({ calls }) => calls.forEach((call) => call.cancels()),
  },
  "its deadline": {
    code: "DeadlineExceeded",
    metadata: [["grpc-timeout", TIMEOUT]],
    ends: ({ calls }) => ended(...calls),
  },
  "its caller's connection": {
    code: "Canceled",
    ends: ({ caller }) => caller.leaves(),
  },
  "its backend's connection": {
    code: "Unavailable",
    ends: ({ backend }) => backend.ends.at(-1)!.socket.ends(),
  },
};

const PATHS = [GET, LIST, PUT, CHAT];

/** Equal calls for each path and ending, and how many such pairs. */
const TOGETHER = 2;
const PAIRS = 2;
const HITS = 4;
const CALLS = Object.keys(ENDINGS).length * PATHS.length * TOGETHER * PAIRS + HITS;

Deno.test(`Scenario 44(a): after ${CALLS} calls that ended in every way all gauges are 0, and each was counted once`, async () => {
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    const { backend, local } = rig;
    for (const [name, { ends, metadata = [] }] of Object.entries(ENDINGS)) {
      await using caller = await rig.caller();
      const calls = PATHS.flatMap((path) =>
        Array.from(
          { length: PAIRS * TOGETHER },
          (_, i) => caller.call(path, `${name} ${i >> 1}`, { metadata }),
        )
      );
      await until(() => rig.proxy.map.waiting >= 8 || calls.every(hasEnded), "waiters");
      const expected = PAIRS * 2 + PAIRS * TOGETHER * 2; // flights, and calls that pass
      await until(() => backend.open.length === expected || calls.every(hasEnded), "all at once");
      for (const request of backend.open) {
        request.begins(isStream(request.path) ? ["1", "2"] : ["1"]);
      }
      await ends({ backend, caller, calls });
      await until(() => isAtRest(local), `rest after ${name}`);
      await until(() => rig.proxy.readiness.ready, "the backend's connection");
      await expectNothingNegative(local);
    }
    const caller = await rig.caller();
    const hits = Array.from({ length: HITS }, (_, i) => caller.call(i % 2 ? GET : LIST, "OK 0"));
    await ended(...hits);
    for (const { status } of hits) assertEquals(status, 0);

    const series = await local.scrape();
    assertEquals(gaugesOf(series), { ...NOTHING, collapser_connections: 1 });
    const each = PAIRS * TOGETHER;
    const endings = Object.keys(ENDINGS).length;
    assertEquals(byLabel(series, "collapser_calls_total", "outcome"), {
      led: endings * PAIRS * 2,
      joined: endings * PAIRS * 2,
      passed: endings * each * 2,
      hit: HITS,
    });
    const perEnding = each * PATHS.length;
    assertEquals(byLabel(series, "collapser_responses_total", "grpc_code"), {
      OK: perEnding + HITS,
      NotFound: perEnding,
      Canceled: 2 * perEnding,
      DeadlineExceeded: perEnding,
      Unavailable: perEnding,
    });
    assertEquals(series.get("collapser_requests_total"), CALLS);
    assertEquals(sumOf(series, "collapser_call_duration_seconds_count"), CALLS);
    assertEquals(series.get("collapser_collapsed_requests_total"), endings * PAIRS * 2);
    assertEquals(series.get("collapser_cache_hits_total"), HITS);
    assertEquals(series.get("collapser_backend_calls_total"), backend.requests.length);
    assertEquals(sumOf(series, "collapser_upstream_calls_total"), backend.requests.length);
  });
});

Deno.test("Scenario 44(b): a stream that is open counts as under way, and as answered only when it has ended", async () => {
  await withSockets(async (rig) => {
    const { backend, local } = rig;
    const caller = await rig.caller();
    const stream = caller.call(LIST, "1");
    await backend.has(1);
    backend.requests[0]!.begins(["1"]);
    await until(() => stream.messages.length === 1, "the first message");
    const atBackend = { ...NOTHING, collapser_connections: 1, collapser_backend_inflight: 1 };
    const open = { ...atBackend, collapser_inflight_requests: 1, collapser_waiters: 1 };
    assertEquals(gaugesOf(await local.scrape()), open);
    backend.requests[0]!.sends("2"); // from now on it takes no place in the bulkhead, as the contract has it
    await until(() => stream.messages.length === 2, "the second message");
    const during = await local.scrape();
    assertEquals(gaugesOf(during), { ...open, collapser_backend_inflight: 0 });
    assertEquals(sumOf(during, "collapser_responses_total"), 0);
    assertEquals(sumOf(during, "collapser_call_duration_seconds_count"), 0);
    assertEquals(sumOf(during, "collapser_upstream_calls_total"), 0);
    assertEquals(byLabel(during, "collapser_calls_total", "outcome"), { led: 1 });
    const late = caller.call(LIST, "1");
    await until(() => late.messages.length === 2, "a joiner's messages");
    assertEquals((await local.scrape()).get("collapser_waiters"), 2);
    stream.cancels();
    await rig.waits(1);
    const one = await local.scrape();
    assertEquals([one.get("collapser_inflight_requests"), one.get("collapser_waiters")], [1, 1]);
    assertEquals(byLabel(one, "collapser_responses_total", "grpc_code"), { Canceled: 1 });
    backend.requests[0]!.ends();
    await ended(late);
    const after = await local.scrape();
    assertEquals(gaugesOf(after), { ...NOTHING, collapser_connections: 1 });
    assertEquals(byLabel(after, "collapser_responses_total", "grpc_code"), { Canceled: 1, OK: 1 });
    assertEquals(byLabel(after, "collapser_calls_total", "outcome"), { led: 1, joined: 1 });
    assertEquals(sumOf(after, "collapser_upstream_calls_total"), 1);
  });
});

Deno.test("Scenario 44(b): a conversation that passes is at the backend until it has begun to stream, and is answered at its end", async () => {
  await withSockets(async (rig) => {
    const { backend, local } = rig;
    const caller = await rig.caller();
    const chat = caller.call(CHAT, "1", { ends: false });
    await until(() => backend.requests[0]?.messages.length === 1, "the first word");
    const quiet = { ...NOTHING, collapser_connections: 1 };
    assertEquals(gaugesOf(await local.scrape()), { ...quiet, collapser_backend_inflight: 1 });
    chat.sends("2");
    await until(() => backend.requests[0]!.messages.length === 2, "the second word");
    const during = await local.scrape();
    assertEquals(gaugesOf(during), quiet);
    assertEquals(sumOf(during, "collapser_responses_total"), 0);
    chat.cancels();
    await until(() => backend.open.length === 0, "its end at the backend");
    const after = await local.scrape();
    assertEquals(gaugesOf(after), quiet);
    assertEquals(byLabel(after, "collapser_responses_total", "grpc_code"), { Canceled: 1 });
  });
});

Deno.test("Scenario 44(c): a flight of ten is one led and nine joined, and an eleventh caller soon after is one hit", async () => {
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    const { backend, local } = rig;
    const first = await rig.caller();
    const second = await rig.caller();
    const calls = Array.from({ length: 10 }, (_, i) => (i % 2 ? first : second).call(GET, "1"));
    await rig.waits(10);
    const during = await local.scrape();
    assertEquals(during.get("collapser_inflight_requests"), 1);
    assertEquals(during.get("collapser_waiters"), 10);
    await backend.has(1);
    backend.requests[0]!.replies(["one"]);
    await ended(...calls);
    const eleventh = first.call(GET, "1");
    await ended(eleventh);
    eleventh.expects(0, "one");
    const series = await local.scrape();
    assertEquals(byLabel(series, "collapser_calls_total", "outcome"), {
      led: 1,
      joined: 9,
      hit: 1,
    });
    assertEquals(series.get("collapser_requests_total"), 11);
    assertEquals(series.get("collapser_collapsed_requests_total"), 9);
    assertEquals(series.get("collapser_cache_hits_total"), 1);
    assertEquals(series.get("collapser_backend_calls_total"), 1);
    assertEquals(series.get("collapser_cached_results"), 1);
    assertEquals(series.get("collapser_backend_latency_seconds_count"), 1);
    assertEquals(gaugesOf(series), { ...NOTHING, collapser_connections: 2 });
  });
});

Deno.test("Scenario 44(c): calls that wait for a backend are counted while they wait, and once when they give up", async () => {
  const variables = { BACKEND_MAX_CONCURRENT: "1", BACKEND_MAX_PENDING: "3" };
  await withSockets({ variables }, async (rig) => {
    const { backend, local } = rig;
    const caller = await rig.caller();
    const calls = Array.from({ length: 6 }, (_, i) => caller.call(PUT, `${i}`));
    await until(() => calls.filter(hasEnded).length === 2, "two refused");
    await backend.has(1);
    const during = await local.scrape();
    assertEquals(valuesOf(during, "collapser_backend_pending"), [3]);
    assertEquals(valuesOf(during, "collapser_backend_inflight"), [1]);
    assertEquals(during.get("collapser_requests_total"), 6);
    for (const call of calls.toReversed()) if (!hasEnded(call)) call.cancels(); // who waits first
    await until(() => isAtRest(local, 1), "rest");
    const after = await local.scrape();
    assertEquals(gaugesOf(after), { ...NOTHING, collapser_connections: 1 });
    assertEquals(byLabel(after, "collapser_responses_total", "grpc_code"), {
      Canceled: 4,
      ResourceExhausted: 2,
    });
    assertEquals(byLabel(after, "collapser_calls_total", "outcome"), { passed: 4, rejected: 2 });
    assertEquals(after.get("collapser_backend_calls_total"), 1);
    assertEquals(backend.requests.length, 1);
  });
});

const NOTHING: Readonly<Record<string, number>> = Object.fromEntries(
  GAUGES.map((name) => [name, 0]),
);

function isStream(path: string | undefined): boolean {
  return path === LIST || path === CHAT;
}

/** Nothing is under way, and no more than so many callers are connected, if that is asked for. */
function isAtRest({ sidecar: { proxy } }: LocalSidecar, connections?: number): boolean {
  const [backend] = proxy.counters.backends;
  const isQuiet = proxy.map.flying + proxy.map.waiting + backend!.inflight + backend!.pending === 0;
  const durations = Object.values(proxy.counters.durations).reduce(
    (sum, { count }) => sum + count,
    0,
  );
  let decided = 0;
  for (const { outcomes } of proxy.counters.all()) {
    decided += Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  }
  return isQuiet && durations === decided &&
    proxy.counters.connections <= (connections ?? Infinity);
}

/** Gauges by name; those with labels are added up. */
function gaugesOf(series: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries(GAUGES.map((name) => [name, sumOf(series, name)]));
}

async function expectNothingNegative(local: LocalSidecar): Promise<void> {
  for (const [name, value] of await local.scrape()) assert(value >= 0, `${name} ${value}`);
}

function valuesOf(series: ReadonlyMap<string, number>, family: string): number[] {
  return [...series].filter(([name]) => name === family || name.startsWith(`${family}{`))
    .map(([, value]) => value);
}

function sumOf(series: ReadonlyMap<string, number>, family: string): number {
  return valuesOf(series, family).reduce((sum, value) => sum + value, 0);
}

/** The values of a family added up by one of its labels; those that are 0 left out. */
function byLabel(
  series: ReadonlyMap<string, number>,
  family: string,
  label: string,
): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, value] of series) {
    if (!name.startsWith(`${family}{`) || value === 0) continue;
    const key = new RegExp(`[{,]${label}="([^"]*)"`).exec(name)?.[1] ?? "";
    sums[key] = (sums[key] ?? 0) + value;
  }
  return sums;
}
