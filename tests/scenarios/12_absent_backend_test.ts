/**
 * Scenario 12: a backend that is not there, says nothing, or has moved.
 *
 * In memory and on a clock of its own, tests/proxy/backend_links_test.ts asks (a) and (b) with their times. Here: real
 * sockets, TCP, TLS and unix, a sidecar as a process, and a name whose address changes, for which the process gets a
 * hosts file of its own.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { DialledCaller } from "../support/dialled_caller.ts";
import { concat, goAway, ping, settings, settingsAck } from "../support/frames.ts";
import { JsCaller } from "../support/js_caller.ts";
import { ListeningBackend } from "../support/listening_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { ended } from "../support/peer_waiting.ts";
import { freePort, get, SidecarProcess } from "../support/process.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";
import { until, within } from "../support/waiting.ts";

/** Short for a test; the default is 5 s. */
const PATIENT_FOR = { BACKEND_CONNECT_TIMEOUT: "600ms" };

/** Where stale results may stand in for the backend, callers are not sent elsewhere: see tests/proxy/caller_gate_test.ts. */
const CALLERS_STAY = { staleIfErrorMs: 1 };
const STAYING = { COLLAPSER_STALE_IF_ERROR: "1ms" };

/** What a process needs of the environment to find Deno's cache. */
const KEPT = Object.fromEntries(
  ["HOME", "PATH", "DENO_DIR", "XDG_CACHE_HOME"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }),
);

/** How a backend may accept a connection and be of no use. */
const SILENCES: readonly (readonly [how: string, says: Uint8Array])[] = [
  ["says nothing", new Uint8Array(0)],
  ["says half of its SETTINGS", settings([0x3, 100]).subarray(0, 11)],
  ["acknowledges ours and sends none", settingsAck()],
];

Deno.test("Scenario 12(a): a backend that accepts and does not begin HTTP/2 costs each call its own time at most", async () => {
  await Promise.all(SILENCES.map(async ([how, says]) => {
    await withSockets({ variables: PATIENT_FOR, backend: { settings: "silent" } }, async (rig) => {
      await until(() => rig.backend.ends.length > 0, "a connection");
      rig.backend.end.socket.sends(says);
      await seesSilence(rig.local, how);
      assertEquals(rig.backend.requests.length, 0, how);
      rig.backend.settings = undefined;
      rig.backend.onRequest = (request) => request.echoes();
      await rig.isReady();
      const caller = await rig.caller();
      const next = caller.call(GET, "1");
      await ended(next);
      next.expects(0, "re:1");
    });
  }));
});

Deno.test("Scenario 12(a): one that accepts and does not begin TLS, or a unix socket nobody serves, is no different", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/backend.sock`;
  await Promise.all([
    async () => {
      const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 }); // the system accepts for it
      const { port } = listener.addr;
      await using local = new LocalSidecar({
        BACKEND_ADDRESS: `127.0.0.1:${port}`,
        BACKEND_USE_TLS: "true",
        ...PATIENT_FOR,
      });
      await seesSilence(local, "TLS");
      listener.close(); // which ends the handshake that is under way: it would outlive the sidecar
      const { proxy } = local.sidecar;
      await until(() => proxy.readiness.reason.includes("refused"), "a dial that is refused");
    },
    async () => {
      const listener = Deno.listen({ transport: "unix", path });
      await using local = new LocalSidecar({ BACKEND_ADDRESS: `unix:${path}`, ...PATIENT_FOR });
      await seesSilence(local, "unix");
      listener.close();
      await using _ = new ListeningBackend({ path, onRequest: (request) => request.echoes() });
      await until(() => local.sidecar.proxy.readiness.ready, "a backend that was started again");
      using client = new JsCaller(local.port);
      assertEquals((await client.call(GET, "1")).messages, ["re:1"]);
    },
  ].map((body) => body()));
  await Deno.remove(folder, { recursive: true });
});

Deno.test("Scenario 12(b): a process that was there before its backend says so, and finds it", async () => {
  const port = freePort();
  await using sidecar = await SidecarProcess.start({
    BACKEND_ADDRESS: `127.0.0.1:${port}`,
    ...STAYING,
  });
  await using caller = await DialledCaller.at(sidecar.grpcPort);
  const early = [GET, PUT].map((path) => caller.call(path, "1"));
  await ended(...early);
  for (const call of early) assertEquals(call.status, 14);
  assertEquals((await sidecar.ask("/ready")).status, 503);
  assertEquals((await sidecar.ask("/health")).status, 200);
  for (let restart = 0; restart < 2; restart++) {
    await using backend = new ListeningBackend({ port, onRequest: (request) => request.echoes() });
    await sidecar.becomes(200);
    const late = [GET, PUT].map((path) => caller.call(path, `${restart}`));
    await ended(...late);
    for (const call of late) call.expects(0, `re:${restart}`);
    await backend.stop();
    await sidecar.becomes(503);
    assertEquals((await sidecar.ask("/health")).status, 200);
  }
});

const noNames = await whyNoNames();

Deno.test({
  name: "Scenario 12(c): calls follow a name to its new address" +
    (noNames === "" ? "" : ` (skipped: ${noNames})`),
  ignore: noNames !== "",
  fn: () => seesItMove("dns:///"),
});

Deno.test("Scenario 12(d): connecting and SETTINGS share the connect timeout, and no call waits for longer", async () => {
  await withRig({
    dialling: "hangs",
    backendSettings: "silent",
    backendConnectTimeoutMs: 2_000,
  }, async (rig) => {
    const caller = await rig.caller();
    const calls = [GET, PUT].map((path) => caller.call(path, "1"));
    await rig.advance(1_500);
    rig.dialling = "accepts";
    rig.answerDials(); // a handshake of TLS may take as long
    await rig.advance(400);
    for (const call of calls) call.expectsNothing();
    await rig.advance(108);
    const text = "the backend cannot be reached: no SETTINGS within 2000 ms";
    for (const call of calls) call.expectsFailure(14, text);
    assertEquals(rig.backends[0]!.socket.isClosed, true);
    rig.expectsRequests(0);
  });
});

Deno.test("Scenario 12(e): a backend that speaks HTTP/1, or refuses the connection in HTTP/2, makes 14 until it is one", async () => {
  const answers: readonly Uint8Array[] = [
    new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"),
    concat(settings(), goAway(0, ERROR_CODE.inadequateSecurity, "no")),
    ping(1), // SETTINGS must be the first frame (RFC 9113 §3.4)
  ];
  for (const answer of answers) {
    await withRig({ backendSettings: "silent" }, async (rig) => {
      const caller = await rig.caller();
      const calls = [GET, GET, PUT].map((path) => caller.call(path, "1"));
      await rig.settle();
      for (let attempt = 0; attempt < 3; attempt++) { // each after its pause
        rig.backend.socket.sends(answer);
        rig.backend.socket.ends();
        await rig.advance(700);
      }
      for (const call of calls) assertEquals(call.status, 14);
      assertEquals(rig.proxy.readiness.ready, false);
      rig.backend.sends(settings());
      await rig.settle();
      assertEquals(rig.proxy.readiness.ready, true);
      const next = caller.call(GET, "1");
      await rig.settle();
      rig.request(-1).echoes();
      await rig.settle();
      next.expects(0, "re:1");
    });
  }
});

Deno.test("Scenario 12(f): a backend that was there and hangs is not ready within a second, and its calls wait their time", async () => {
  for (const how of ["does not accept", "says nothing", "says goodbye"] as const) {
    await withRig({ backendConnectTimeoutMs: 5_000, ...CALLERS_STAY }, async (rig) => {
      const caller = await rig.caller();
      await rig.advance(10_000);
      assertEquals(rig.proxy.readiness.ready, true);
      if (how === "does not accept") rig.dialling = "hangs";
      rig.backendSettings = "silent";
      if (how === "says goodbye") rig.backend.sends(goAway(0, ERROR_CODE.noError));
      else rig.backend.socket.ends();
      await rig.settle();
      const bounded = caller.call(GET, "1", { metadata: [["grpc-timeout", "2S"]] });
      const unbounded = caller.call(PUT, "2");
      await rig.advance(900);
      assertEquals(rig.proxy.readiness.ready, false, how);
      assertEquals(rig.proxy.counters.backends[0]!.up, false);
      for (const call of [bounded, unbounded]) call.expectsNothing();
      await rig.advance(1_200);
      assertEquals(bounded.status, 4);
      rig.dialling = "accepts";
      rig.answerDials();
      await rig.settle();
      rig.backend.sends(settings());
      await rig.settle();
      assertEquals(rig.proxy.readiness.ready, true);
      assertEquals(rig.heard.filter((what) => what.startsWith("main ")).length, 3);
      rig.request(0).echoes();
      await rig.settle();
      unbounded.expects(0, "re:2");
    });
  }
});

/** A sidecar in whose world one name has the addresses that the test says. */
class NamedSidecar implements AsyncDisposable {
  port = 0;
  readonly #child: Deno.ChildProcess;
  readonly #folder: string;
  #said = "";
  readonly #reading: Promise<void>;

  private constructor(folder: string, address: string) {
    this.#folder = folder;
    this.#child = new Deno.Command("unshare", {
      args: [
        ...inWorldWith(`${folder}/hosts`),
        Deno.execPath(),
        "run",
        "-A",
        "--frozen",
        "main.ts",
      ],
      cwd: new URL("../../", import.meta.url),
      clearEnv: true,
      env: {
        ...KEPT,
        BACKEND_ADDRESS: address,
        GRPC_HOST: "127.0.0.1",
        GRPC_PORT: "0",
        METRICS_HOST: "127.0.0.1",
        METRICS_PORT: "0",
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#reading = this.#read();
  }

  static async start(address: string, ...addresses: string[]): Promise<NamedSidecar> {
    const folder = await Deno.makeTempDir();
    await writeHosts(`${folder}/hosts`, addresses);
    const named = new NamedSidecar(folder, address);
    await until(() => /"grpc_port":(\d+)/.test(named.#said), "a sidecar that serves");
    named.port = Number(/"grpc_port":(\d+)/.exec(named.#said)![1]);
    const metricsPort = Number(/"metrics_port":(\d+)/.exec(named.#said)![1]);
    const isReady = async () => (await get(`http://127.0.0.1:${metricsPort}/ready`)).status === 200;
    await until(isReady, "a sidecar that is ready");
    return named;
  }

  /** From now on the name has these addresses. */
  pointsTo(...addresses: string[]): Promise<void> {
    return writeHosts(`${this.#folder}/hosts`, addresses);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await within(this.#child.status, "the end of a sidecar");
    await this.#reading;
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#said += text;
    }
  }
}

/** Into the same file: it is the one that is mounted. */
function writeHosts(path: string, addresses: readonly string[]): Promise<void> {
  const lines = ["127.0.0.1 localhost", ...addresses.map((address) => `${address} backend.test`)];
  return Deno.writeTextFile(path, lines.map((line) => `${line}\n`).join(""));
}

/** What `unshare` is told to run the rest where this file is /etc/hosts. */
function inWorldWith(hosts: string): string[] {
  const script = 'mount --bind "$0" /etc/hosts && exec "$@"';
  return ["--map-root-user", "--mount", "sh", "-c", script, hosts];
}

/** Why no process can have a hosts file of its own here; "" when one can. */
async function whyNoNames(): Promise<string> {
  const hosts = await Deno.makeTempFile();
  try {
    const command = new Deno.Command("unshare", {
      args: [...inWorldWith(hosts), "true"],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    });
    const { success } = await command.output();
    return success ? "" : "a process cannot have a hosts file of its own here";
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return "there is no unshare here";
  } finally {
    await Deno.remove(hosts);
  }
}

/** The backend's name goes from one address to another, and calls with it, none of them to where it was. */
async function seesItMove(scheme: string): Promise<void> {
  await using first = new ListeningBackend({ hostname: "127.0.0.2" });
  await using second = new ListeningBackend({ hostname: "127.0.0.3", port: first.port });
  for (const backend of [first, second]) backend.onRequest = (request) => request.echoes();
  await using named = await NamedSidecar.start(`${scheme}backend.test:${first.port}`, "127.0.0.2");
  await using caller = await DialledCaller.at(named.port);
  const call = caller.call(GET, "1");
  await ended(call);
  call.expects(0, "re:1");
  assertEquals([first.ends.length, second.ends.length], [1, 0]);
  await named.pointsTo("127.0.0.3");
  await first.stop();
  let calls = 0;
  await until(async () => {
    const again = caller.call(GET, `again ${calls++}`);
    await ended(again);
    assert(again.status === 0 || again.status === 14, `status ${again.status}`);
    return again.status === 0;
  }, "an answer from the new address");
  assertEquals(second.requests.length, 1);
  // The first address of several need not be the one that answers.
  await named.pointsTo("127.0.0.4", "127.0.0.3");
  second.end.socket.ends();
  await until(() => second.ends.length === 2, "another connection to what is there");
  const last = caller.call(PUT, "last");
  await ended(last);
  last.expects(0, "re:last");
}

/**
 * A call with a deadline, and one without, end as the row says. Which of both times is over first is asked where time
 * can be told to pass: on a busy machine it may be either.
 */
async function seesSilence(local: LocalSidecar, how: string): Promise<void> {
  await using caller = await DialledCaller.at(local.port);
  const bounded = caller.call(GET, "1", { metadata: [["grpc-timeout", "200m"]] });
  const unbounded = caller.call(PUT, "2");
  await ended(bounded, unbounded);
  assert(bounded.status === 4 || bounded.status === 14, `${how}: ${bounded.status}`);
  assertEquals(unbounded.status, 14, how);
  assertStringIncludes(unbounded.grpcMessage!, "collapser: the backend cannot be reached: ");
  assertEquals(local.sidecar.proxy.readiness.ready, false, how);
}
