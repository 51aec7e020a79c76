/**
 * Scenario 43: what nobody knows is answered by the backend, and what callers think of makes no series.
 *
 * The bounds of each label stand in `tests/proxy/counters_test.ts` and `tests/telemetry/metrics_test.ts`, paths that
 * are none in `tests/proxy/caller_session_test.ts`, memory under distinct requests in `tests/sidecar/memory_test.ts`.
 * The row asks for one label for all that is unknown. The contract, which wins, gives the first 200 methods one each
 * and the rest `other`.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { Client } from "../../lib/measure/mod.ts";
import { MAX_LABELS } from "../../lib/observe/mod.ts";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import { clientOf } from "../support/client.ts";
import { rng } from "../support/cuts.ts";
import { DialledCaller } from "../support/dialled_caller.ts";
import type { Pairs } from "../support/frames.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const NAMED = 5_000;
const ODD = 500;
const STRANGERS = 500;

/** More methods than are remembered, and fewer calls than may wait for a backend. */
const FORGOTTEN = 10_200;

/** A label that callers choose is no longer than 256 characters; names of metrics and other labels come to it. */
const MAX_LINE_CHARS = 400;

/** Per method: an outcome or two in calls_total, a status in responses_total, and one for what its service outdated. */
const SERIES_PER_METHOD = 4;

const ODD_PATHS = [
  "/.env",
  "/",
  "//",
  "/x",
  "*",
  "/a.B/",
  "//a.B/GetC",
  "/a.B/GetC/D",
  "/?a=b",
  "/%00%0a",
];

/** A mark that must be found nowhere, since only callers said it. */
const MARK = "planted";

Deno.test("Scenario 43(a): each unknown method is answered with the backend's own 12, to leader and follower alike", async () => {
  await withSockets(async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const paths = ["/x.Y/GetNothing", "/x.Y/Nothing", "/GetNothing", "/x.Y/"];
    const calls = paths.flatMap((path) => [caller.call(path, "1"), caller.call(path, "1")]);
    await backend.has(6);
    await rig.waits(4);
    for (const request of backend.requests) {
      request.fails(12, [["grpc-message", `no ${request.path}`]]);
    }
    await ended(...calls);
    calls.forEach((call, i) => {
      call.expects(12);
      assertEquals(call.grpcMessage, `no ${paths[i >> 1]}`);
      assertEquals(call.reply.blocks.length, 1);
    });
    const again = caller.call(paths[0]!, "1"); // the service may be there by now
    await backend.has(7);
    backend.requests[6]!.replies(["here"]);
    await ended(again);
    again.expects(0, "here");
  });
});

Deno.test("Scenario 43(b): 6,000 made-up calls make a bounded number of series, and 6,000 more make none", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend, { LOG_LEVEL: "error" });
  await using client = await clientOf(local.port);
  await using caller = await DialledCaller.at(local.port);
  const scanner = new Scanner(client, caller);
  await scanner.named(1);
  const atFirst = await seriesOf(local);
  await scanner.flood();
  const after = await seriesOf(local);
  const allowed = MAX_LABELS * SERIES_PER_METHOD;
  assert(after - atFirst <= allowed, `${after - atFirst} series more, of ${allowed}`);
  await scanner.flood();
  assertEquals(await seriesOf(local), after);
  assertEquals(local.sidecar.proxy.counters.methods.size, MAX_LABELS + 1);
  const series = await local.scrape();
  assertEquals(series.get("collapser_requests_total"), scanner.calls);
  assertEquals(sumOf(series, "collapser_calls_total"), scanner.calls);
  const other = series.get(`collapser_responses_total{method="other",grpc_code="OK"}`);
  assert(other! >= 2 * NAMED, "nearly all of them have one label");
});

Deno.test("Scenario 43(b): calls under way are answered, and shared, though a scanner fills all tables meanwhile", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend);
  await using client = await clientOf(local.port, { connections: 4 });
  const { proxy } = local.sidecar;
  const ask = (path: string) => client.callOnce({ path, message: new Uint8Array(1) });
  const early = [ask(GET), ask(GET), ask(GET)];
  await until(() => proxy.map.waiting === 3, "three on one flight");
  const scanned = Array.from({ length: FORGOTTEN }, (_, i) => ask(`/x${i}.Y/Do`));
  // Those that wait for a place may yet be turned away; two of the undecided have joined.
  const passing = () => local.outcomes.passed + proxy.counters.undecided - 2;
  await until(() => passing() === FORGOTTEN, "the scanner's calls");
  const late = [ask(GET), ask(GET)];
  await until(() => proxy.map.waiting === 5, "two more");
  assertEquals(proxy.map.flying, 1);
  backend.release();
  const replies = await Promise.all([...early, ...late, ...scanned]);
  for (const { status } of replies) assertEquals(status, 0);
  assertEquals([proxy.map.flying, proxy.map.waiting], [0, 0]);
  assertEquals(backend.calls, FORGOTTEN + 1);
});

Deno.test("Scenario 43(b): nothing that callers said but the names of methods is in a scrape", async () => {
  await withSockets(async (rig) => {
    const { backend, local } = rig;
    backend.onRequest = (request) => request.replies(["x"]);
    const caller = await rig.caller();
    const long = `/${MARK}.${"x".repeat(4_096)}/GetItem`;
    const metadata: Pairs = [["user-agent", MARK], [`x-${MARK}`, MARK], ["authorization", MARK]];
    const calls = [
      ...Array.from(
        { length: 50 },
        (_, i) => strangersCall(caller, { authority: `${MARK}${i}.test`, metadata }),
      ),
      caller.call(long, MARK),
      caller.call(`${long}s`, MARK),
      caller.call(GET, MARK, { metadata }),
    ];
    await ended(...calls);
    for (const { status } of calls) assertEquals(status, 0);
    const { text } = await local.ask("/metrics");
    assertEquals(text.includes(MARK), false);
    for (const line of text.split("\n")) assert(line.length < MAX_LINE_CHARS, line.slice(0, 100));
    const series = await local.scrape(); // which throws for a series that is there twice
    assertEquals(series.get(`collapser_calls_total{method="${GET}",outcome="led"}`), 51);
    assertEquals(series.get(`collapser_calls_total{method="other",outcome="led"}`), 2);
  });
});

Deno.test("Scenario 43(b): quotes, backslashes and a method called other keep the scrape readable", async () => {
  await withSockets(async (rig) => {
    const { backend, local } = rig;
    backend.onRequest = (request) => request.replies(["x"]);
    const caller = await rig.caller();
    const paths = [
      '/a"B/Get',
      "/a\\B/Get",
      "/a\\",
      '/a"} 1',
      "other",
      "/\xe4.B/Get",
      "/a{b=1}/Get,",
    ];
    const calls = paths.map((path) => caller.call(path, "1"));
    await ended(...calls);
    const series = await local.scrape();
    const refused = calls.filter(({ reply }) => reply.reset !== undefined).length;
    assertEquals(sumOf(series, "collapser_calls_total"), paths.length - refused);
    assertEquals(
      series.has(String.raw`collapser_calls_total{method="/a\\B/Get",outcome="led"}`),
      true,
    );
  });
});

Deno.test("Scenario 43(b): statuses that no gRPC knows make one series, however many they are", async () => {
  let next = 17;
  await withSockets(async (rig) => {
    const { backend, local } = rig;
    backend.onRequest = (request) => request.fails(next++);
    const caller = await rig.caller();
    const calls = Array.from({ length: 300 }, (_, i) => caller.call(GET, `${i}`));
    await ended(...calls);
    const series = await local.scrape();
    const codes = [...series.keys()].filter((name) => name.startsWith("collapser_responses_total"));
    assertEquals(codes.length, 1);
    assertEquals(series.get(codes[0]!), 300);
    assertEquals(calls.map(({ status }) => status).sort((a, b) => a! - b!)[299], 316); // as it came
  });
});

Deno.test("Scenario 43(c): what asks in another method of HTTP's is turned away, and is no method of gRPC's", async () => {
  await withSockets(async (rig) => {
    const { backend, local } = rig;
    const caller = await rig.caller();
    const before = await seriesOf(local);
    const calls = ["/.env", "/", "/wp-login.php", `/${"x".repeat(4_096)}`].flatMap((path) =>
      ["GET", "HEAD", "PUT", "DELETE"].map((method) =>
        caller.call(path, undefined, {
          head: [
            [":method", method],
            [":scheme", "http"],
            [":path", path],
            [":authority", "scanner.test"],
          ],
        })
      )
    );
    await ended(...calls);
    for (const { reply } of calls) assertEquals(reply.blocks[0]![0], [":status", "405"]);
    assertEquals(await seriesOf(local), before);
    assertEquals(backend.requests.length, 0);
  });
});

/** Sends what nobody asked for. */
class Scanner {
  calls = 0;
  readonly #client: Client;
  readonly #caller: CallerEnd;
  readonly #random = rng(43);

  constructor(client: Client, caller: CallerEnd) {
    this.#client = client;
    this.#caller = caller;
  }

  async flood(): Promise<void> {
    await this.named(NAMED);
    await this.#all(ODD, (i) => {
      const path = i % 20
        ? ODD_PATHS[i % ODD_PATHS.length]!
        : `/${this.#word().padEnd(4_096, "x")}`;
      return this.#caller.call(path, "1");
    });
    await this.#all(STRANGERS, () => {
      const authority = `${this.#word()}.test`;
      return strangersCall(this.#caller, { authority, metadata: [["user-agent", this.#word()]] });
    });
  }

  async named(count: number): Promise<void> {
    const message = new Uint8Array(1);
    const replies = await Promise.all(Array.from({ length: count }, (_, i) => {
      const verb = i % 2 ? "Get" : "Do";
      const path = `/${this.#word()}.${this.#word()}/${verb}${this.#word()}`;
      return this.#client.callOnce({ path, message });
    }));
    for (const { status } of replies) assertEquals(status, 0);
    this.calls += count;
  }

  async #all(count: number, make: (i: number) => CallerCall): Promise<void> {
    const calls = Array.from({ length: count }, (_, i) => make(i));
    await ended(...calls);
    for (const { status } of calls) assertEquals(status, 0);
    this.calls += count;
  }

  #word(): string {
    return Math.floor(this.#random() * 2 ** 32).toString(36);
  }
}

function strangersCall(
  caller: CallerEnd,
  { authority, metadata }: { authority: string; metadata: Pairs },
): CallerCall {
  return caller.call(GET, "1", {
    head: [
      [":method", "POST"],
      [":scheme", "http"],
      [":path", GET],
      [":authority", authority],
      ["te", "trailers"],
      ["content-type", "application/grpc"],
    ],
    metadata,
  });
}

async function seriesOf(local: LocalSidecar): Promise<number> {
  return (await local.scrape()).size;
}

function sumOf(series: ReadonlyMap<string, number>, family: string): number {
  return [...series].filter(([name]) => name.startsWith(`${family}{`))
    .reduce((sum, [, value]) => sum + value, 0);
}
