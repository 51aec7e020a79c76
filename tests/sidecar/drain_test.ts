/**
 * A sidecar that is told to end while much is under way, as a process of its own: nothing is lost, nobody is told
 * anything wrong, and those who have nothing to wait for hold nothing up.
 *
 * @module
 */

import { assert, assertEquals, assertGreater } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { dialPlain, dialTls, type Socket } from "../../lib/transport/mod.ts";
import { SETTING } from "../../lib/wire/mod.ts";
import { CallerLink } from "../soak/caller_link.ts";
import { keyOfMany, keyOnce, type MethodName, planOf } from "../soak/content.ts";
import { judge } from "../soak/judge.ts";
import { KeyedBackend } from "../soak/keyed_backend.ts";
import { type CallChoice, SoakCall } from "../soak/soak_call.ts";
import { bridge } from "../support/bridge.ts";
import { requestHead } from "../support/caller_end.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";
import { ask, clientOf } from "../support/client.ts";
import { parseExposition } from "../support/exposition.ts";
import type { SeenFrame } from "../support/frame_parser.ts";
import {
  ascii,
  block,
  concat,
  data,
  headers,
  ping,
  PREFACE,
  settings,
  settingsAck,
} from "../support/frames.ts";
import { GATED_REPLY, GatedBackend } from "../support/gated_backend.ts";
import { hex } from "../support/hex.ts";
import { framed, message, PeerEnd, valueOf } from "../support/peer_end.ts";
import { SidecarProcess } from "../support/process.ts";
import { until, within } from "../support/waiting.ts";

const { getGreeting, createGreeting } = HELLO_PATHS;

/** More than a sidecar needs to end when nothing holds it up, on a busy machine. */
const PROMPT_MS = 10_000;

/** Longer than any of these tests: a limit that must not be what ends them. */
const NOT_IN_THIS_TEST = "1m";

const DIAL = { timeoutMs: 10_000 };

const CALLS = 1_000;
const LINKS = 8;

/** How many of a hundred calls each method has, and how many keys they share; 0 where each has its own. */
const MIX: readonly (readonly [name: MethodName, share: number, keys: number])[] = [
  ["get", 40, 20],
  ["list", 20, 5],
  ["watch", 12, 0],
  ["post", 10, 0],
  ["upload", 9, 0],
  ["exchange", 9, 0],
];

/** Longer calls than these make the test slow and no better. */
const MAX_CALL_BYTES = 20_000;

const HELLO = concat(PREFACE, settings(), settingsAck());

function start(
  { port }: { port: number },
  variables: Record<string, string> = {},
): Promise<SidecarProcess> {
  const BACKEND_ADDRESS = `127.0.0.1:${port}`;
  return SidecarProcess.start({ BACKEND_ADDRESS, ...variables });
}

function dial({ grpcPort }: SidecarProcess): Promise<Socket> {
  return dialPlain({ host: "127.0.0.1", port: grpcPort }, DIAL);
}

Deno.test("runSidecar loses none of a thousand calls of all kinds when it drains", async () => {
  await using backend = new KeyedBackend();
  await using sidecar = await start(backend, { DRAIN_TIMEOUT: NOT_IN_THIS_TEST });
  await using newcomer = await clientOf(sidecar.grpcPort);
  const links = await Promise.all(
    Array.from({ length: LINKS }, async () => new CallerLink(await dial(sidecar))),
  );
  await until(() => links.every(({ canOpen }) => canOpen), "connections");
  const choices = choicesOfAll();
  const calls = choices.map((choice, n) => callOn(links[n % LINKS]!, choice));
  const keys = new Set(choices.map(({ key }) => key));
  await backend.holds(keys.size);
  const shared = choices.filter(({ name }) => name === "get" || name === "list");
  await until(async () => await waitersOf(sidecar) === shared.length, "all that share to wait");

  sidecar.signal("SIGTERM");
  await sidecar.becomes(503);
  await until(() => links.every(({ canOpen }) => !canOpen), "GOAWAY on every connection");
  const late = await ask(newcomer, getGreeting);
  assertEquals(late.status, 14, late.message);
  const refused = await dial(sidecar).then((socket) => socket.close(), (error) => error);
  assert(refused instanceof Deno.errors.ConnectionRefused, String(refused));
  assertEquals(backend.held, keys.size, "calls that were still held when others were refused");
  backend.release();

  const verdicts = (await within(Promise.all(calls), "the end of all calls")).map(verdictOf);
  assertEquals(verdicts.filter((verdict) => verdict !== "good"), []);
  assertEquals(verdicts.length, CALLS);
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
  assertEquals(sidecar.logged("Ended calls that did not finish in time"), undefined);
  assertEquals(backend.calls, keys.size, "calls at the backend: none was made twice");
  await Promise.all(links.map(({ gone }) => gone));
});

Deno.test("runSidecar answers all up to the last stream that it names, and refuses those beyond as not begun", async () => {
  await using backend = new GatedBackend();
  await using sidecar = await start(backend, { DRAIN_TIMEOUT: NOT_IN_THIS_TEST });
  await using caller = new ManualCaller(await dial(sidecar));
  caller.sends(HELLO, requestOf(1));
  await backend.holds(1);
  sidecar.signal("SIGTERM");
  const warning = await caller.sees("GOAWAY");
  assertEquals(warning.lastStreamId, 2 ** 31 - 1);
  caller.sends(requestOf(3)); // it was sent before its sender heard
  const { opaque } = await caller.sees("PING");
  caller.sends(ping(hex(opaque), { ack: true }));
  const last = await caller.sees("GOAWAY", 1);
  assertEquals([last.lastStreamId, last.code], [3, "NO_ERROR"]);
  caller.sends(requestOf(5));
  assertEquals((await caller.sees("RST_STREAM")).code, "REFUSED_STREAM");
  backend.release();
  await caller.ends();
  for (const id of [1, 3]) {
    const [body] = caller.frames.filter((frame) => frame.type === "DATA" && frame.streamId === id);
    assertEquals(body?.type === "DATA" ? ascii(body.text) : body, framed(GATED_REPLY));
  }
  assertEquals(caller.statuses, [[1, "0"], [3, "0"]]);
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
  assertEquals(backend.calls, 2);
});

Deno.test("runSidecar tells nobody to go during DRAIN_DELAY, and drains after it without a loss", async () => {
  await using backend = new GatedBackend();
  await using sidecar = await start(backend, {
    DRAIN_DELAY: "2s",
    DRAIN_TIMEOUT: NOT_IN_THIS_TEST,
  });
  await using caller = new ManualCaller(await dial(sidecar));
  caller.sends(HELLO, requestOf(1));
  await backend.holds(1);
  sidecar.signal("SIGTERM");
  await sidecar.becomes(503);
  const toldBefore = caller.frames.some(({ type }) => type === "GOAWAY");
  caller.sends(requestOf(3));
  await backend.holds(2);
  await caller.sees("GOAWAY");
  const { opaque } = await caller.sees("PING");
  caller.sends(ping(hex(opaque), { ack: true }));
  backend.release();
  await caller.ends();
  assertEquals([toldBefore, caller.statuses], [false, [[1, "0"], [3, "0"]]]);
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
});

/** What peers without a call under way have said when the sidecar is told to end; then they neither read nor speak. */
const IDLERS: Readonly<Record<string, Uint8Array>> = {
  "nothing": new Uint8Array(),
  "half a preface": PREFACE.subarray(0, 10),
  "a preface": PREFACE,
  "a preface and SETTINGS": HELLO,
  "half a frame": concat(HELLO, headers(1, block(requestHead(getGreeting))).subarray(0, 20)),
  "half a block": concat(
    HELLO,
    headers(1, block(requestHead(getGreeting)).subarray(0, 20), { endHeaders: false }),
  ),
  "half of HTTP/1": ascii("GET / HT"),
  "a call that was answered": concat(HELLO, requestOf(1, "/grpc.health.v1.Health/Nothing")),
};

Deno.test("runSidecar is held up by no peer that has no call under way", async () => {
  await using backend = new GatedBackend({ open: true });
  await using sidecar = await start(backend, { DRAIN_TIMEOUT: NOT_IN_THIS_TEST });
  await using stack = new AsyncDisposableStack();
  for (const said of Object.values(IDLERS)) {
    const peer = stack.adopt(await dial(sidecar), close);
    if (said.length > 0) await peer.write(said);
  }
  await until(() => backend.calls === 1, "the last one's call");
  sidecar.signal("SIGTERM");
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
});

Deno.test("runSidecar is held up by no TLS peer, whether its handshake is done or not", async () => {
  using folder = new CertificateFolder();
  const authority = await Authority.make();
  const { cert, key } = folder.writePair("server", await authority.server());
  await using backend = new GatedBackend({ open: true });
  await using sidecar = await start(backend, {
    GRPC_TLS_CERT: cert,
    GRPC_TLS_KEY: key,
    DRAIN_TIMEOUT: NOT_IN_THIS_TEST,
  });
  await using stack = new AsyncDisposableStack();
  // A ClientHello that announces more than comes, and not even that.
  for (const said of [hex("16 03 01 02 00 01 00 01 fc 03 03"), new Uint8Array()]) {
    const peer = stack.adopt(await dial(sidecar), close);
    if (said.length > 0) await peer.write(said);
  }
  const certificates = { cert: undefined, key: undefined, ca: authority.cert };
  const dialSafely = dialTls({ certificates: () => certificates, serverName: undefined });
  for (const said of Object.values(IDLERS)) {
    const address = { host: "localhost", port: sidecar.grpcPort };
    const peer = stack.adopt(await dialSafely(address, DIAL), close);
    if (said.length > 0) await peer.write(said);
  }
  await until(() => backend.calls === 1, "the last one's call");
  sidecar.signal("SIGTERM");
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
});

/** What peers have said whose calls never end. */
const NEVER_ENDING: Readonly<Record<string, Uint8Array>> = {
  "half a request": concat(HELLO, headers(1, block(requestHead(createGreeting)))),
  "half a message": concat(
    HELLO,
    headers(1, block(requestHead(createGreeting))),
    data(1, framed("half of it").subarray(0, 8)),
  ),
  "half a message that others might share": concat(
    HELLO,
    headers(1, block(requestHead(getGreeting))),
    data(1, framed("half of it").subarray(0, 8)),
  ),
  "a call whose answer it takes none of": concat(
    PREFACE,
    settings([SETTING.initialWindowSize, 0]),
    settingsAck(),
    requestOf(1),
  ),
};

Deno.test("runSidecar is held up until DRAIN_TIMEOUT, and no longer, by calls that never end", async () => {
  await using backend = new GatedBackend({ open: true });
  await using sidecar = await start(backend, { DRAIN_TIMEOUT: "300ms", LOG_LEVEL: "debug" });
  await using stack = new AsyncDisposableStack();
  for (const said of Object.values(NEVER_ENDING)) {
    await stack.adopt(await dial(sidecar), close).write(said);
  }
  const expected = Object.keys(NEVER_ENDING).length;
  await until(async () => await callsOf(sidecar) === expected, "the calls");
  await until(() => backend.calls === 1, "the one that is answered");
  const signalledMs = performance.now();
  sidecar.signal("SIGTERM");
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
  assertGreater(performance.now() - signalledMs, 299);
  assertEquals(sidecar.logged("Ended calls that did not finish in time")?.calls, expected);
  assertEquals(sidecar.logged("Left behind")?.alarms, 0);
});

/** A caller of whose frames each one is the test's own, from the preface on. */
class ManualCaller extends PeerEnd implements AsyncDisposable {
  readonly #closed: Promise<unknown>;

  constructor(socket: Socket) {
    super();
    this.#closed = bridge(this, socket);
  }

  /** The frame of that type that came as number `index`, from 0, once it has. */
  async sees<T extends SeenFrame["type"]>(
    type: T,
    index = 0,
  ): Promise<Extract<SeenFrame, { type: T }>> {
    const found = () => this.seen(type)[index];
    await until(() => found() !== undefined, `${type} number ${index}`);
    return found()!;
  }

  /** Resolves when the other side has closed. */
  async ends(): Promise<void> {
    await within(this.#closed, "the end of the connection");
  }

  /** gRPC statuses by stream. */
  get statuses(): [number, string | undefined][] {
    return this.seen("HEADERS").flatMap(({ streamId, fields, endStream }) =>
      endStream ? [[streamId, valueOf(fields, "grpc-status")]] : []
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.ends();
    await this.ends();
    this.expectsNoTrouble();
  }

  protected override see(): void {} // it does nothing by itself
}

function requestOf(id: number, path: string = createGreeting): Uint8Array {
  return concat(headers(id, block(requestHead(path))), message(id, `${id}`, { endStream: true }));
}

function close(socket: Socket): void {
  try {
    socket.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error; // the sidecar was faster
  }
}

/** A thousand calls as {@linkcode MIX} has them, none of whose replies is large or for its caller alone. */
function choicesOfAll(): CallChoice[] {
  return MIX.flatMap(([name, share, keys]) => {
    const calls = share * CALLS / 100;
    const count = keys === 0 ? calls : keys;
    const usable = keysOf(name, { isOnce: keys === 0, count });
    return Array.from({ length: calls }, (_, n): CallChoice => ({
      ...{ name, key: usable[n % count]!, tenant: "a" },
      ...{ deadlineMs: undefined, cancelAfterMs: undefined, cacheControl: undefined },
      ...{ wantsDebug: n % 2 === 0, isSlow: false },
    }));
  });
}

function keysOf(
  name: MethodName,
  { isOnce, count }: { isOnce: boolean; count: number },
): string[] {
  const found: string[] = [];
  for (let n = 0; found.length < count; n++) {
    const key = isOnce ? keyOnce(name, `${n}`) : keyOfMany(name, n);
    const { ending, requests, replies, isPrivate } = planOf(key);
    const bytes = [...requests, ...replies].reduce((sum, size) => sum + size, 0);
    const isAnswered = ending.how === "ok" || ending.how === "status";
    if (isAnswered && !isPrivate && bytes < MAX_CALL_BYTES) found.push(key);
  }
  return found;
}

/** Makes the call; resolves when it has ended. */
function callOn(link: CallerLink, choice: CallChoice): Promise<SoakCall> {
  return new Promise((resolve) =>
    link.open(new SoakCall(choice, { carrier: link, onEnd: resolve }))
  );
}

function verdictOf(call: SoakCall): string {
  const { outcome, fault } = judge(call, { overlap: () => false, mayBeShut: () => false });
  if (outcome === "OK" || outcome === "failed as planned") return "good";
  return `${call.choice.key}: ${fault ?? outcome}`;
}

async function seriesOf(sidecar: SidecarProcess): Promise<Map<string, number>> {
  return parseExposition((await sidecar.ask("/metrics")).text);
}

async function waitersOf(sidecar: SidecarProcess): Promise<number> {
  return (await seriesOf(sidecar)).get("collapser_waiters")!;
}

/** Calls that have got as far as being counted. */
async function callsOf(sidecar: SidecarProcess): Promise<number> {
  return (await seriesOf(sidecar)).get("collapser_requests_total")!;
}
