/**
 * Envoy between caller and sidecar, as in a mesh or behind a gateway: what a caller sees through both is held, call by
 * call, against what it sees through Envoy alone.
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
import { PeerProxy, peerVersion } from "../../support/peer_proxies.ts";
import type { SidecarProcess } from "../../support/process.ts";
import { compare, type Pair } from "../fidelity.ts";
import { GoProgram, GrpcGo, whyNoGo } from "../grpc_go.ts";
import { SHARED, SINGLE, STATUSES } from "../plans.ts";
import type { Plan } from "../seen.ts";
import { caseName } from "./callers.ts";
import type { Bench } from "./desk.ts";
import { assertUnharmed, openSidecar, UNHARMED } from "./sidecar.ts";
import { type RunMode, type Suite, Unavailable } from "./suite.ts";

const PLANS: readonly Plan[] = [...SINGLE, ...SHARED, ...STATUSES];

/** Callers at once with one question, all on Envoy's one connection. */
const CALLERS = 20;

const SHARES = "identical_calls_share_one";

/** Long enough for calls that are sent together to meet, on a busy machine too. */
const MEETING_MS = 2_000;

/** The suite of the chain caller, Envoy, collapser, backend. */
export const ENVOY: Suite = {
  name: "envoy",
  cases: () => [...PLANS.map(caseName), SHARES, UNHARMED],
  async prepare(): Promise<RunMode> {
    if (peerVersion("envoy") === undefined) throw new Unavailable("Envoy is not installed");
    const reason = await whyNoGo();
    if (reason !== "") throw new Unavailable(reason);
    return async (bench) => {
      await using program = await GoProgram.build();
      await using chain = await Chain.open(bench, program);
      for (const plan of PLANS) await bench.check(caseName(plan), () => compare(chain, plan));
      await bench.check(SHARES, () => shares(chain));
      await bench.check(UNHARMED, () => assertUnharmed(chain.sidecar));
    };
  },
};

/** Two backends that number their calls, each behind an Envoy of its own, one of them behind a sidecar as well. */
class Chain implements Pair, AsyncDisposable {
  readonly direct: GrpcGo;
  readonly through: GrpcGo;
  readonly sidecar: SidecarProcess;
  /** The backend behind the sidecar. */
  readonly behind: HelloBackend;
  readonly #alone: HelloBackend;
  readonly #stack: AsyncDisposableStack;

  private constructor(stack: AsyncDisposableStack, parts: {
    hellos: readonly [alone: HelloBackend, behind: HelloBackend];
    envoys: readonly [alone: PeerProxy, before: PeerProxy];
    sidecar: SidecarProcess;
    program: GoProgram;
  }) {
    this.#stack = stack;
    [this.#alone, this.behind] = parts.hellos;
    this.sidecar = parts.sidecar;
    const [alone, before] = parts.envoys.map(({ port }) =>
      stack.adopt(new GrpcGo(parts.program, port), (caller) => caller.kill())
    );
    this.direct = alone!;
    this.through = before!;
  }

  static async open(bench: Bench, program: GoProgram): Promise<Chain> {
    const stack = new AsyncDisposableStack();
    try {
      const hellos = [await startHello(), await startHello()] as const;
      for (const hello of hellos) stack.defer(() => hello.kill());
      const sidecar = stack.use(await openSidecar(bench, hellos[1].address));
      const envoys = [
        stack.use(await PeerProxy.start("envoy", hellos[0].port)),
        stack.use(await PeerProxy.start("envoy", sidecar.grpcPort)),
      ] as const;
      return new Chain(stack, { hellos, envoys, sidecar, program });
    } catch (error) {
      await stack.disposeAsync();
      throw error;
    }
  }

  get inFlight(): number {
    return this.#alone.report().inFlight + this.behind.report().inFlight;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** Reads by their name, which collapse in every mode: Envoy adds nothing to calls that would keep them apart. */
async function shares({ through, behind }: Chain): Promise<void> {
  // The sidecar waits for the end of a slow request once it knows the method for one that has a single message.
  await through.see(greeting({ name: "first" }));
  const before = behind.total;
  const plan = greeting({ name: "together", delayMs: MEETING_MS });
  const seen = await Promise.all(Array.from({ length: CALLERS }, () => through.see(plan)));
  for (const one of seen) assertEquals(one, seen[0]);
  assertEquals([seen[0]!.code, behind.total - before], [0, 1]);
}

function greeting(request: { name: string; delayMs?: number }): Plan {
  const messages = [encodeGreetingRequest(request)];
  return { name: request.name, kind: "unary", path: HELLO_PATHS.getGreeting, messages };
}
