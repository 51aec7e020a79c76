import { assert, assertEquals } from "@std/assert";
import { encodeGreetingRequest, HELLO_PATHS } from "../../lib/hello/mod.ts";
import { type Client, LoadRun, requestBody } from "../../lib/measure/mod.ts";
import { clientOf } from "../support/client.ts";
import { parseExposition } from "../support/exposition.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { SidecarProcess } from "../support/process.ts";
import { within } from "../support/waiting.ts";

/** Until the stored results have reached their bound many times, and the heap its size under this load (measured). */
const WARM_UP_CALLS = 100_000;

const QUARTER_CALLS = 25_000;
const QUARTERS = 4;

const CALLERS = 200;
const CONNECTIONS = 4;

/**
 * Every call leads; few results are kept, so that what grows is not what is meant to be kept. A process that records
 * its coverage is several times slower, and is not the one whose memory is of interest.
 */
const VARIABLES = { COLLAPSER_MAX_CACHE_ENTRIES: "1000", DENO_COVERAGE_DIR: undefined };

/** What a garbage collector may not have got round to: 32 MiB are some 450 bytes a call. */
const SLACK_SHARE = 0.2;
const SLACK_BYTES = 32 * 2 ** 20;

/** Nothing here takes so long but what hangs: an idle machine needs seconds for the most calls, a busy one many times that. */
const LIMIT_MS = 600_000;

Deno.test("runSidecar needs no more memory after many distinct requests than after some", async () => {
  await using backend = new GatedBackend({ open: true });
  const BACKEND_ADDRESS = `127.0.0.1:${backend.port}`;
  await using sidecar = await SidecarProcess.start({ BACKEND_ADDRESS, ...VARIABLES });
  await using client = await clientOf(sidecar.grpcPort, { connections: CONNECTIONS });
  let next = 0;
  next = await callAll(client, { from: next, calls: WARM_UP_CALLS });
  const bytes: number[] = [];
  for (let quarter = 0; quarter < QUARTERS; quarter++) {
    next = await callAll(client, { from: next, calls: QUARTER_CALLS });
    bytes.push(await residentBytes(sidecar));
  }
  assertEquals(backend.calls, next);
  const [first, last] = [bytes[0]!, bytes.at(-1)!];
  const mebibytes = bytes.map((one) => Math.round(one / 2 ** 20)).join(", ");
  assert(
    last <= first * (1 + SLACK_SHARE) || last <= first + SLACK_BYTES,
    `resident MiB after each quarter: ${mebibytes}`,
  );
});

/** As many calls that no other one equals; returns the number of the next. */
async function callAll(client: Client, part: { from: number; calls: number }): Promise<number> {
  const { from, calls } = part;
  const run = new LoadRun(client, {
    method: client.method({ path: HELLO_PATHS.getGreeting }),
    bodyOf: (key) => requestBody(encodeGreetingRequest({ name: `key ${from + key}` })),
    keys: calls,
    callers: CALLERS,
    calls,
  });
  await within(run.run(), "the end of all calls", LIMIT_MS);
  assertEquals([...run.tally.statuses], [[0, calls]]);
  return from + calls;
}

async function residentBytes(sidecar: SidecarProcess): Promise<number> {
  const series = parseExposition((await sidecar.ask("/metrics")).text);
  return series.get("process_resident_memory_bytes")!;
}
