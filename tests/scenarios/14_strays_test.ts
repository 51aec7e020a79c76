/**
 * Probes that come and go, HTTP/1 on the port, and what they must not leave behind. What is answered to each kind of
 * stray stands in `tests/proxy/limits_test.ts` ("CallerSession answers an HTTP/1 request in HTTP/1 …", "… answers what
 * is neither …", "… sends no preface within ten seconds"), those on a TLS port in `tests/transport/tls_listen_test.ts`;
 * here are real sockets, the process, its descriptors and its memory.
 *
 * @module
 */

import { connect as connectNode } from "node:net";
import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { healthReply, healthRequest } from "../../lib/grpc/mod.ts";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";
import { ask, clientOf } from "../support/client.ts";
import { rng } from "../support/cuts.ts";
import { DialledCaller } from "../support/dialled_caller.ts";
import { ascii, concat, ping, PREFACE, settings } from "../support/frames.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { SidecarProcess } from "../support/process.ts";
import { PUT } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";
import { until, within } from "../support/waiting.ts";

const CHECK = "/grpc.health.v1.Health/Check";

/** Each round is one stray of each kind; the field has 2,000, of which these are as many as a test has time for. */
const ROUNDS = 150;

/** Two rounds at once: a backlog is no stray's concern. */
const LANES = 6;

/** A good call so often while strays come. */
const GOOD_EVERY_MS = 100;

/** What a garbage collector may not have got round to: the field's tenth, and as much as small numbers need. */
const SLACK_SHARE = 0.1;
const SLACK_BYTES = 8 * 2 ** 20;

const HTTP1 = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/** What strays do, on a port of their own choice. */
const STRAYS: Readonly<Record<string, (port: number, random: () => number) => Promise<void>>> = {
  "connect and close": async (port) => {
    (await connect(port)).close();
  },
  "connect and reset": (port) => reset(port),
  "HTTP/1.1": async (port) => {
    const text = await answer(port, ascii(HTTP1));
    assertMatch(text, /^HTTP\/1\.1 400 Bad Request\r\n/);
  },
  "HTTP/1.1, cut off in the middle": async (port) => {
    const wire = await connect(port);
    await wire.write(ascii(HTTP1.slice(0, 10)));
    wire.close();
  },
  "40 random bytes": async (port, random) => {
    const bytes = Uint8Array.from({ length: 40 }, () => Math.floor(random() * 256));
    await answer(port, bytes);
  },
  "one health check, then reset": async (port) => {
    const caller = await DialledCaller.at(port);
    const call = caller.call(CHECK, healthRequest("collapser"));
    await until(() => call.status !== undefined, "the sidecar's health");
    call.expects(0, textOf(healthReply(true)));
    caller.sends(ping(1)); // its answer meets a socket that is closed, which is a reset
    await caller[Symbol.asyncDispose]();
  },
  "a health check that waits at the backend, then reset": async (port) => {
    const wire = await connect(port);
    const caller = new DialledCaller(wire);
    caller.call(CHECK, healthRequest("some.Service"));
    caller.sends(ping(1));
    await until(() => caller.seen("SETTINGS").length > 0, "SETTINGS");
    await caller[Symbol.asyncDispose]();
  },
};

Deno.test("Scenario 14: strays of every kind leave the process, its descriptors and its memory as they were, and no good call fails", async () => {
  await using backend = new GatedBackend({ open: true });
  await using sidecar = await SidecarProcess.start({
    BACKEND_ADDRESS: `127.0.0.1:${backend.port}`,
    DENO_COVERAGE_DIR: undefined,
  });
  await using client = await clientOf(sidecar.grpcPort);
  assertEquals((await ask(client, HELLO_PATHS.createGreeting)).status, 0);
  await sidecar.ask("/metrics");
  const open = await descriptors(sidecar);
  const good = goodCalls(() => ask(client, HELLO_PATHS.createGreeting));
  const bytes: number[] = [];
  for (let batch = 0; batch < 2; batch++) {
    await rounds(sidecar.grpcPort, batch);
    await until(async () => await descriptors(sidecar) === open, "the descriptors it began with");
    bytes.push(await residentBytes(sidecar));
  }
  const statuses = await good.stop();
  assert(statuses.length > 3 && statuses.every((status) => status === 0), `${statuses}`);
  const [first, second] = [bytes[0]!, bytes[1]!];
  assertLess(second, Math.max(first * (1 + SLACK_SHARE), first + SLACK_BYTES));
  assertEquals(sidecar.log.filter(({ level }) => level === "error"), []);
  assertEquals(sidecar.errorLines.filter((line) => !line.startsWith("{")), []);
  const { text } = await sidecar.ask("/metrics");
  assertMatch(text, /^collapser_connections 1$/m);
  assertMatch(text, /^collapser_inflight_requests 0$/m);
});

Deno.test("Scenario 14: strays that were reset before anybody looked hold up no caller, and are no trouble", async () => {
  await using backend = new GatedBackend({ open: true });
  await using sidecar = await SidecarProcess.start({
    BACKEND_ADDRESS: `127.0.0.1:${backend.port}`,
  });
  await sidecar.becomes(200);
  sidecar.signal("SIGSTOP");
  await Promise.all(Array.from({ length: 100 }, () => reset(sidecar.grpcPort)));
  sidecar.signal("SIGCONT");
  await using client = await clientOf(sidecar.grpcPort);
  assertEquals((await ask(client, HELLO_PATHS.getGreeting)).status, 0);
  const troubled = sidecar.log.filter(({ level }) => level === "warn" || level === "error");
  assertEquals(troubled, []);
});

Deno.test("Scenario 14: an HTTP/1.1 request is answered in HTTP/1.1 whatever its size and however it comes", async () => {
  await withSockets(async (rig) => {
    const { backend, local } = rig;
    const caller = await rig.caller();
    const call = caller.call(PUT, "1");
    const request = await rig.request(0);
    const body = "x".repeat(300_000);
    const upload = `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const upgrade = HTTP1.replace(
      "\r\n\r\n",
      "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
    );
    for (const said of [HTTP1, upload, upgrade, HTTP1 + HTTP1, "GET /x HTTP/1.0\r\n\r\n"]) {
      const text = await answer(local.port, ascii(said));
      assertMatch(text, /^HTTP\/1\.1 400 /, said.slice(0, 20));
      assertEquals(text.split("HTTP/1.1 400").length, 2, "one answer, however many requests");
    }
    const wire = await connect(local.port);
    const ended = readToEnd(wire);
    for (const byte of ascii(HTTP1)) {
      if (await wire.write(Uint8Array.of(byte)).catch(() => 0) === 0) break; // answered
      await new Promise((resume) => setTimeout(resume, 0));
    }
    await within(ended, "the end of a request that comes byte by byte");
    wire.close();
    request.replies(["fine"]);
    await until(() => call.status !== undefined, "the call beside them");
    call.expects(0, "fine");
    assertEquals(backend.ends.length, 1);
  });
});

Deno.test("Scenario 14: strays on a port with TLS, on a unix socket and on the admin's leave nothing behind", async () => {
  using folder = new CertificateFolder();
  const authority = await Authority.make();
  const { cert, key } = folder.writePair("server", await authority.server());
  const path = folder.free("own.sock");
  await using backend = new GatedBackend({ open: true });
  await using withTls = await LocalSidecar.before(backend, {
    GRPC_TLS_CERT: cert,
    GRPC_TLS_KEY: key,
  });
  await using atPath = await LocalSidecar.before(backend, { GRPC_HOST: `unix:${path}` });
  const open = await openDescriptors();
  const random = rng(7);
  for (let round = 0; round < 30; round++) {
    const bytes = Uint8Array.from({ length: 40 }, () => Math.floor(random() * 256));
    await answer(withTls.port, ascii(HTTP1));
    await answer(withTls.port, bytes);
    await answer(withTls.port, concat(PREFACE, settings()));
    await reset(withTls.port);
    const half = await connect(withTls.port);
    await half.write(Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3)); // a ClientHello begins so
    half.close();
    for (const said of [ascii(HTTP1), bytes, PREFACE.subarray(0, 9)]) {
      const wire = await Deno.connect({ transport: "unix", path });
      await wire.write(said);
      wire.close();
    }
    const { metricsPort } = atPath.sidecar;
    await reset(metricsPort);
    const admin = await connect(metricsPort);
    await admin.write(round % 2 === 0 ? bytes : PREFACE);
    admin.close();
  }
  await until(async () => await openDescriptors() <= open, "the descriptors there were before");
  for (const local of [withTls, atPath]) {
    await until(() => local.sidecar.proxy.counters.connections === 0, "no connections");
    assertEquals((await local.ask("/health")).status, 200);
    assertEquals(local.log.filter((line) => line.includes('"level":"error"')), []);
  }
});

async function rounds(port: number, seed: number): Promise<void> {
  const lane = async (index: number) => {
    const random = rng(seed * LANES + index + 1);
    for (let round = index; round < ROUNDS; round += LANES) {
      for (const [what, stray] of Object.entries(STRAYS)) await within(stray(port, random), what);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
}

/** All that is answered until the other side closes. */
async function answer(port: number, said: Uint8Array): Promise<string> {
  const wire = await connect(port);
  const reading = readToEnd(wire);
  for (let at = 0; at < said.length;) {
    const written = await wire.write(said.subarray(at)).catch(() => 0);
    if (written === 0) break; // it is answered and closed before all was sent
    at += written;
  }
  const bytes = await within(reading, "an end from the other side");
  wire.close();
  return latin1(bytes, 0, bytes.length);
}

/** Everything that comes until the other side closes, in order or not. */
async function readToEnd(wire: Deno.TcpConn): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const into = new Uint8Array(65_536);
  for (;;) {
    const count = await wire.read(into).catch(() => null);
    if (count === null) return concat(...pieces);
    pieces.push(into.slice(0, count));
  }
}

async function connect(port: number): Promise<Deno.TcpConn> {
  const wire = await Deno.connect({ hostname: "127.0.0.1", port });
  wire.setNoDelay(true);
  return wire;
}

function reset(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectNode(port, "127.0.0.1", () => socket.resetAndDestroy());
    socket.on("error", reject);
    socket.on("close", () => resolve());
  });
}

function goodCalls(call: () => Promise<{ status: number }>): { stop(): Promise<number[]> } {
  const calls: Promise<{ status: number }>[] = [];
  const timer = setInterval(() => calls.push(call()), GOOD_EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      return (await within(Promise.all(calls), "the good calls")).map(({ status }) => status);
    },
  };
}

function descriptors({ pid }: { pid: number }): Promise<number> {
  return Array.fromAsync(Deno.readDir(`/proc/${pid}/fd`)).then(({ length }) => length);
}

function openDescriptors(): Promise<number> {
  return descriptors({ pid: Deno.pid });
}

async function residentBytes(sidecar: SidecarProcess): Promise<number> {
  const { text } = await sidecar.ask("/metrics");
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)![1]);
}

function textOf(bytes: Uint8Array): string {
  return latin1(bytes, 0, bytes.length);
}
