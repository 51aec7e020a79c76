/**
 * Scenario 45: the sidecar behaves the same from its source and as the one file that a compiled binary embeds, by
 * itself in a folder that cannot be written to.
 *
 * The binary itself is the runtime with this file in it; the runtime has to be fetched, so that tests which must run
 * anywhere hold the file alone. Every command of it is run in `tests/build/bundle_test.ts`, a drain in
 * `tests/sidecar/run_sidecar_test.ts`.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { BINARY_FLAGS, PERMISSIONS, V8_FLAGS } from "../../build/runtime_flags.ts";
import { succeeds } from "../../build/run.ts";
import { encodeGreetingRequest, HELLO_PATHS, startHello } from "../../lib/hello/mod.ts";
import { GrpcJs } from "../interop/grpc_js.ts";
import type { Kind } from "../interop/seen.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import type { CallerCall } from "../support/caller_end.ts";
import { DialledCaller } from "../support/dialled_caller.ts";
import { expositionTypes, parseExposition } from "../support/exposition.ts";
import { concat, data, headers, RESPONSE } from "../support/frames.ts";
import { ListeningBackend } from "../support/listening_backend.ts";
import { framed } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { get, Process, type ProcessVariables } from "../support/process.ts";
import { GET } from "../support/proxy_rig.ts";
import { LIST } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const CALLS = 1_000;
const BATCH = 250;

/** A runtime says one of these when it lacks what is asked of it, or when nobody caught something. */
const COMPLAINT =
  /not implemented|not supported|uncaught|unhandled|TypeError|ReferenceError|NotCapable|panicked/i;

/** Nothing of a user's: neither Deno's cache nor a home. */
const NOBODY = { HOME: "/nonexistent", DENO_DIR: "/proc/none", XDG_CACHE_HOME: "/proc/none" };

const FORMS = ["source", "bundle"] as const;

/** The one file, alone in its folder. */
class Bundle implements AsyncDisposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "collapser-test-" });

  static async make(): Promise<Bundle> {
    const made = new Bundle();
    const output = `${made.folder}/collapser.js`;
    await succeeds(Deno.execPath(), [
      ...["bundle", "--quiet", "--frozen", "--platform", "deno"],
      ...["--output", output, "main.ts"],
    ]);
    await Deno.chmod(output, 0o444);
    await Deno.chmod(made.folder, 0o555);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.chmod(this.folder, 0o755);
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** `collapser serve` in one of its forms. */
class Running implements AsyncDisposable {
  readonly process: Process;
  port = 0;
  adminPort = 0;

  private constructor(process: Process) {
    this.process = process;
  }

  static async start(
    { port, folder }: { port: number; folder: string | undefined },
  ): Promise<Running> {
    const env: ProcessVariables = {
      GRPC_HOST: "127.0.0.1",
      GRPC_PORT: "0",
      METRICS_HOST: "127.0.0.1",
      METRICS_PORT: "0",
      BACKEND_ADDRESS: `127.0.0.1:${port}`,
    };
    const running = new Running(
      folder === undefined
        ? new Process(["run", "--quiet", V8_FLAGS, ...PERMISSIONS, "main.ts", "serve"], env)
        : new Process(
          [
            "run",
            "--quiet",
            "--no-config",
            "--cached-only",
            ...BINARY_FLAGS,
            "collapser.js",
            "serve",
          ],
          { ...env, ...NOBODY },
          folder,
        ),
    );
    const { process } = running;
    const ports = () => /"grpc_port":(\d+).*"metrics_port":(\d+)/.exec(process.said);
    await until(() => ports() !== null || !process.isRunning, "a sidecar that serves");
    const [, grpc, metrics] = ports() ?? [];
    if (grpc === undefined) throw new Error(`Cannot start a sidecar: it ended\n${process.said}`);
    running.port = Number(grpc);
    running.adminPort = Number(metrics);
    await until(async () => (await running.ask("/ready")).status === 200, "readiness");
    return running;
  }

  ask(path: string): Promise<{ status: number; text: string }> {
    return get(`http://127.0.0.1:${this.adminPort}${path}`);
  }

  /** It ends well when told to, and has complained of nothing. */
  async endsWell(): Promise<void> {
    this.process.signal("SIGTERM");
    const { code } = await this.process.end();
    assertEquals(code, 0, this.process.said);
    const complaints = this.process.said.split("\n").filter((line) => COMPLAINT.test(line));
    assertEquals(complaints, []);
    assertMatch(this.process.said.trimEnd().split("\n").at(-1)!, /"msg":"Stopped"/);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.process[Symbol.asyncDispose]();
  }
}

for (const form of FORMS) {
  Deno.test(`Scenario 45(a, b): from its ${form} it is scraped three times, and relays replies that come in one write`, async () => {
    await using bundle = form === "bundle" ? await Bundle.make() : undefined;
    await using backend = new ListeningBackend({ onRequest: replyInOneWrite });
    await using running = await Running.start({ port: backend.port, folder: bundle?.folder });
    {
      await using caller = await DialledCaller.at(running.port);
      for (let at = 0; at < CALLS; at += BATCH) {
        const calls = Array.from(
          { length: BATCH },
          (_, i) => caller.call(i % 2 ? GET : LIST, `${at + i}`),
        );
        await ended(...calls);
        calls.forEach((call, i) => expectWhole(call, `${at + i}`));
        if (at / BATCH < 3) await expectScrape(running, at + BATCH);
      }
    }
    assertEquals(backend.requests.length, CALLS);
    await running.endsWell();
  });

  Deno.test(`Scenario 45(c): from its ${form} it carries the four kinds of calls for grpc-js, and ends with 0`, async () => {
    await using bundle = form === "bundle" ? await Bundle.make() : undefined;
    const hello = await startHello();
    try {
      await using running = await Running.start({ port: hello.port, folder: bundle?.folder });
      {
        await using client = new GrpcJs(running.port); // it leaves before the sidecar does
        const { getGreeting, listGreetings, uploadGreetings, chat } = HELLO_PATHS;
        const request = encodeGreetingRequest({ name: "Ada" });
        const kinds: readonly { kind: Kind; path: string; asked: number; answered: number }[] = [
          { kind: "unary", path: getGreeting, asked: 1, answered: 1 },
          { kind: "server", path: listGreetings, asked: 1, answered: 3 },
          { kind: "client", path: uploadGreetings, asked: 3, answered: 1 },
          { kind: "bidi", path: chat, asked: 3, answered: 3 },
        ];
        for (const { kind, path, asked, answered } of kinds) {
          const messages = Array.from({ length: asked }, () => request);
          const seen = await client.see({ name: kind, kind, path, messages });
          assertEquals([seen.code, seen.messages.length], [0, answered], kind);
          assert(seen.head !== null && seen.head.some(([name]) => name === "x-hello-call"), kind);
          assert(seen.trailers.some(([name]) => name === "x-hello"), kind);
        }
      }
      await running.endsWell();
    } finally {
      hello.kill();
    }
  });
}

Deno.test("Scenario 45(b): a reply in one write is relayed as well when SETTINGS, PING and another's reply are in it", async () => {
  await using backend = new ListeningBackend();
  const held: BackendRequest[] = [];
  backend.onRequest = (request) => {
    held.push(request);
    if (held.length < 3) return;
    const settings = concat(Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0));
    const ping = Uint8Array.of(0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8);
    const replies = held.map((one) => concat(settings, replyOf(one), ping));
    request.backend.sends(concat(...replies));
  };
  await using running = await Running.start({ port: backend.port, folder: undefined });
  {
    await using caller = await DialledCaller.at(running.port);
    const calls = ["1", "2", "3"].map((said) => caller.call(GET, said));
    await ended(...calls);
    calls.forEach((call, i) => expectWhole(call, `${i + 1}`));
    const [connection] = backend.ends;
    await until(() => connection!.seen("PING ack").length === 3, "the answers to PINGs");
  }
  await running.endsWell();
});

function replyInOneWrite(request: BackendRequest): void {
  request.backend.sends(replyOf(request));
}

/** HEADERS, DATA and trailers, as one piece. */
function replyOf({ id, messages }: BackendRequest): Uint8Array {
  const [said] = messages;
  return concat(
    headers(id, [...RESPONSE, ["x-header", said!]]),
    data(id, framed(`re:${said}`)),
    headers(id, [["grpc-status", "0"], ["x-trailer", said!]], { endStream: true }),
  );
}

function expectWhole(call: CallerCall, said: string): void {
  call.expects(0, `re:${said}`);
  assertEquals(call.reply.blocks, [
    [...RESPONSE, ["x-header", said]],
    [["grpc-status", "0"], ["x-trailer", said]],
  ]);
}

/** A scrape is valid, and says what it should of calls and of the process. */
async function expectScrape(running: Running, calls: number): Promise<void> {
  const { status, text } = await running.ask("/metrics");
  assertEquals(status, 200);
  const series = parseExposition(text);
  assertEquals(series.get("collapser_requests_total"), calls);
  for (const [name, value] of series) assert(!Number.isNaN(value), name);
  assert(series.get("process_resident_memory_bytes")! > 10 * 2 ** 20, "memory that is not made up");
  assert(series.get("process_cpu_seconds_total")! > 0, "time that is not made up");
  assertEquals(expositionTypes(text).get("collapser_backend_latency_seconds"), "histogram");
}
