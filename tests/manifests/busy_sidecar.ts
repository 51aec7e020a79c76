import { startHello } from "../../lib/hello/mod.ts";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { STATUS } from "../../lib/grpc/mod.ts";
import { ask, clientOf } from "../support/client.ts";
import { SidecarProcess } from "../support/process.ts";
import { until } from "../support/waiting.ts";

/** Enough to meet, and fewer than anything bounds. */
const CALLERS = 20;

/** One method is verified and one is in shadow; both number their answers, in field 2. */
const ON_TRIAL = {
  methodConfig: [["GetGreeting", "verify"], ["ListGreetings", "shadow"]].map(([method, mode]) => ({
    name: [{ service: "hello.v1.Hello", method }],
    collapser: { mode, ignoreFields: ["2"] },
  })),
};

/**
 * A sidecar as users run it, with the permissions of `deno task start`, in front of a Hello backend. It goes on being
 * asked until it is disposed of, in every way that has a metric.
 */
export class BusySidecar implements AsyncDisposable {
  readonly process: SidecarProcess;
  readonly #stack: AsyncDisposableStack;

  private constructor(process: SidecarProcess, stack: AsyncDisposableStack) {
    this.process = process;
    this.#stack = stack;
  }

  static async start(): Promise<BusySidecar> {
    await using stack = new AsyncDisposableStack();
    const hello = await startHello({ delayMs: 20 });
    stack.defer(() => hello.kill());
    const policyPath = await Deno.makeTempFile({ suffix: ".json" });
    stack.defer(() => Deno.remove(policyPath));
    await Deno.writeTextFile(policyPath, JSON.stringify(ON_TRIAL));
    const process = stack.use(
      await SidecarProcess.start({
        BACKEND_ADDRESS: `127.0.0.1:${hello.port}`,
        COLLAPSER_CONFIG: policyPath, // some metrics are there with a policy file alone
      }),
    );
    await process.becomes(200);
    const client = stack.use(await clientOf(process.grpcPort));
    let isAsking = true;
    const asking = (async () => {
      while (isAsking) await askInEveryWay(client, process.grpcPort);
    })();
    stack.defer(async () => {
      isAsking = false;
      await asking;
    });
    await until(async () => hasSeenEverything((await process.ask("/metrics")).text), "all metrics");
    return new BusySidecar(process, stack.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

type Client = Awaited<ReturnType<typeof clientOf>>;

/** Led, joined, hit and passed; a write, a failure, and a peer that does not speak HTTP/2. */
async function askInEveryWay(client: Client, port: number): Promise<void> {
  const greeting = { name: "Ada" };
  const together = Array.from(
    { length: CALLERS },
    () => ask(client, HELLO_PATHS.getGreeting, greeting),
  );
  await Promise.all(together);
  await ask(client, HELLO_PATHS.getGreeting, greeting);
  for (let i = 0; i < 2; i++) {
    await ask(client, HELLO_PATHS.listGreetings, { ...greeting, count: 1 });
  }
  await ask(client, HELLO_PATHS.createGreeting, greeting);
  const failWith = { code: STATUS.unavailable, message: "out for lunch" };
  await ask(client, HELLO_PATHS.getGreeting, { name: "Bob", failWith });
  await breakProtocol(port);
}

async function breakProtocol(port: number): Promise<void> {
  using peer = await Deno.connect({ hostname: "127.0.0.1", port });
  await peer.write(new TextEncoder().encode("not HTTP/2 at all, whatever follows it\r\n\r\n"));
  const rest = new Uint8Array(1_024);
  // Its GOAWAY, then the end, which a reset may be.
  while (await peer.read(rest).catch(() => null) !== null);
}

/** Series that come with their first count only. */
function hasSeenEverything(text: string): boolean {
  return [
    'outcome="hit"',
    'outcome="joined"',
    'outcome="led"',
    'outcome="passed"',
    'grpc_code="Unavailable"',
    "collapser_invalidated_total{",
    "collapser_shadow_compared_total{",
    "collapser_verify_total{",
    'collapser_shadow_calls_total{method="/hello.v1.Hello/ListGreetings",outcome="hit"}',
    "collapser_connection_errors_total{",
  ].every((part) => text.includes(part));
}
