/**
 * gRPC libraries of other languages, each in a program of ours that makes the calls it is told to: what a client sees
 * through the sidecar is held, call by call, against what the same client sees without one.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  encodeGreetingRequest,
  HELLO_PATHS,
  type HelloBackend,
  startHello,
} from "../../../lib/hello/mod.ts";
import { GATED_REPLY, GatedBackend } from "../../support/gated_backend.ts";
import { SidecarProcess } from "../../support/process.ts";
import { until } from "../../support/waiting.ts";
import { assertLike, compare, mirrorPlans, type Pair } from "../fidelity.ts";
import { PRESSED, startGzipServer } from "../gzip_server.ts";
import { rollsWithoutLoss } from "../rolling_update.ts";
import type { LineCaller } from "../line_caller.ts";
import { startMirror } from "../mirror.ts";
import { CUT_SHORT, SHARED, SINGLE, STATUSES, TOOLS } from "../plans.ts";
import { type Plan, show } from "../seen.ts";
import { buildGo } from "./build.ts";
import type { Bench } from "./desk.ts";
import { assertUnharmed, openSidecar, UNHARMED } from "./sidecar.ts";
import { Unavailable } from "./suite.ts";

/** Starts a client of what listens on this port. */
type OpenCaller = (port: number) => LineCaller;

/** Longest that a client may take to come back after the sidecar has. */
const RETURN_LIMIT_MS = 30_000;

/** Long enough for calls that are sent together to meet, on a busy machine too. */
const MEETING_MS = 2_000;

/** Calls to the backend that numbers them. Last those that may be over before they have reached it. */
const PLANS: readonly Plan[] = [...SINGLE, ...SHARED, ...STATUSES, ...TOOLS, ...CUT_SHORT];

const MIRRORED: readonly Plan[] = mirrorPlans();

const SHARES = "identical_calls_share_one";
const PRESSED_REPLY = "compressed_reply";
const DRAINS = "goaway_and_restart";
const ROLLS = "rolling_update";

/** Names of all the cases. */
export const CALLER_CASES: readonly string[] = [
  ...PLANS.map(caseName),
  UNHARMED,
  ...MIRRORED.map(caseName),
  SHARES,
  PRESSED_REPLY,
  DRAINS,
  ROLLS,
];

/** Runs all that is wanted with one client. */
export async function runCallers(bench: Bench, open: OpenCaller): Promise<void> {
  await compareAll(bench, open);
  await mirrorAll(bench, open);
  await bench.check(SHARES, () => shares(bench, open));
  await bench.check(PRESSED_REPLY, () => readsCompressed(bench, open));
  await bench.check(DRAINS, () => drainsAndReturns(bench, open));
  await rolls(bench, open);
}

/** How a plan is called on the command line. */
export function caseName({ name }: Plan): string {
  return name.replaceAll('""', "all").replaceAll(/[^\w.]+/g, "_").replace(/_$/, "");
}

async function compareAll(bench: Bench, open: OpenCaller): Promise<void> {
  let rest = PLANS.filter((plan) => bench.wants(caseName(plan)));
  if (rest.length === 0 && !bench.wants(UNHARMED)) return;
  do {
    await using pair = await SideBySide.open(bench, open);
    // After a failure the backends may count differently: what is left starts over with others.
    let allWell = true;
    while (allWell && rest.length > 0) {
      const [plan, ...others] = rest;
      allWell = await bench.check(caseName(plan!), () => compare(pair, plan!));
      rest = others;
    }
    if (rest.length === 0) await bench.check(UNHARMED, () => assertUnharmed(pair.sidecar));
  } while (rest.length > 0);
}

/** Two backends that number their calls, one of them behind a sidecar, and a client for each way. */
class SideBySide implements Pair, AsyncDisposable {
  readonly direct: LineCaller;
  readonly through: LineCaller;
  readonly sidecar: SidecarProcess;
  readonly #hellos: readonly HelloBackend[];

  private constructor(
    hellos: readonly HelloBackend[],
    { sidecar, open }: { sidecar: SidecarProcess; open: OpenCaller },
  ) {
    this.#hellos = hellos;
    this.sidecar = sidecar;
    this.direct = open(hellos[0]!.port);
    this.through = open(sidecar.grpcPort);
  }

  static async open(bench: Bench, open: OpenCaller): Promise<SideBySide> {
    const hellos = [await startHello(), await startHello()];
    try {
      const sidecar = await openSidecar(bench, hellos[1]!.address);
      return new SideBySide(hellos, { sidecar, open });
    } catch (error) {
      for (const hello of hellos) hello.kill();
      throw error;
    }
  }

  get inFlight(): number {
    return this.#hellos.reduce((sum, hello) => sum + hello.report().inFlight, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.direct.kill();
    await this.through.kill();
    await this.sidecar[Symbol.asyncDispose]();
    for (const hello of this.#hellos) hello.kill();
  }
}

async function mirrorAll(bench: Bench, open: OpenCaller): Promise<void> {
  const plans = MIRRORED.filter((plan) => bench.wants(caseName(plan)));
  if (plans.length === 0) return;
  using mirror = await startMirror();
  await using sidecar = await openSidecar(bench, `127.0.0.1:${mirror.port}`);
  await using stack = new AsyncDisposableStack();
  const direct = stack.adopt(open(mirror.port), (caller) => caller.kill());
  const through = stack.adopt(open(sidecar.grpcPort), (caller) => caller.kill());
  for (const plan of plans) {
    await bench.check(caseName(plan), async () => {
      const expected = await direct.see(plan);
      // Twice: the second may come out of the cache.
      for (let again = 0; again < 2; again++) {
        assertLike(await through.see(plan), { expected, plan });
      }
    });
  }
}

/** Reads by their name, which collapse in every mode. */
async function shares(bench: Bench, open: OpenCaller): Promise<void> {
  const hello = await startHello();
  using _ = { [Symbol.dispose]: () => hello.kill() };
  await using sidecar = await openSidecar(bench, hello.address);
  await using caller = open(sidecar.grpcPort);
  // The sidecar waits for the end of a slow request once it knows the method for one that has a single message.
  await caller.see(greeting({ name: "first" }));
  const plan = greeting({ name: "Ada", delayMs: MEETING_MS });
  const seen = await Promise.all(Array.from({ length: 20 }, () => caller.see(plan)));
  for (const one of seen) assertEquals(one, seen[0]);
  assertEquals([seen[0]!.code, hello.total], [0, 2]);
}

async function readsCompressed(bench: Bench, open: OpenCaller): Promise<void> {
  using server = await startGzipServer();
  await using sidecar = await openSidecar(bench, `127.0.0.1:${server.port}`);
  await using caller = open(sidecar.grpcPort);
  for (const path of ["/press.v1.Press/GetPressed", "/press.v1.Press/PostPressed"]) {
    const plan: Plan = { name: path, kind: "unary", path, messages: [Uint8Array.of(1)] };
    const { code, messages } = await caller.see(plan);
    assertEquals([code, messages], [0, [show(PRESSED)]], path);
  }
}

/** A call in flight outlives the GOAWAY of a sidecar that stops; those after it find the one that comes in its place. */
async function drainsAndReturns(bench: Bench, open: OpenCaller): Promise<void> {
  await using backend = new GatedBackend();
  const env = { ...bench.env, BACKEND_ADDRESS: `127.0.0.1:${backend.port}` };
  await using first = await SidecarProcess.start(env);
  await first.becomes(200);
  await using caller = open(first.grpcPort);
  const inFlight = caller.see(greeting({ name: "before" }));
  await backend.holds(1);
  first.signal("SIGTERM");
  await first.becomes(503);
  backend.release();
  const { code, messages } = await inFlight;
  assertEquals([code, messages], [0, [show(GATED_REPLY)]], "the call in flight");
  assertEquals((await first.end()).code, 0, "the sidecar's exit code");

  await using second = await SidecarProcess.start({ ...env, GRPC_PORT: String(first.grpcPort) });
  await second.becomes(200);
  const answered = async () => (await caller.see(greeting({ name: "after" }))).code === 0;
  await until(answered, "the client at the sidecar that came back", RETURN_LIMIT_MS);
}

async function rolls(bench: Bench, open: OpenCaller): Promise<void> {
  if (!bench.wants(ROLLS)) return;
  let server: string;
  try {
    server = (await buildGo(["./graceful_server"]))("graceful_server");
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return bench.skip(ROLLS, error.message);
  }
  await bench.check(ROLLS, () => rollsWithoutLoss({ server, env: bench.env, open }));
}

function greeting(request: { name: string; delayMs?: number }): Plan {
  const messages = [encodeGreetingRequest(request)];
  return { name: request.name, kind: "unary", path: HELLO_PATHS.getGreeting, messages };
}
