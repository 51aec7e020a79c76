/**
 * A drain with work in flight. The rig's side of it (GOAWAY twice, who is let go when, what a caller sent before it
 * heard) stands in `tests/proxy/proxy_test.ts`, that of the process with stock clients in
 * `tests/sidecar/run_sidecar_test.ts` and `tests/interop/grpc_go_test.ts`; here all of it happens at once, frame by frame.
 *
 * @module
 */

import { assert, assertEquals, assertGreater } from "@std/assert";
import { frameMessage, healthReply, healthRequest } from "../../lib/grpc/mod.ts";
import { dialTls } from "../../lib/transport/mod.ts";
import { latin1, SETTING } from "../../lib/wire/mod.ts";
import type { CallerEnd } from "../support/caller_end.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";
import { DialledCaller } from "../support/dialled_caller.ts";
import { FrameParser } from "../support/frame_parser.ts";
import { concat, data, PREFACE, settings } from "../support/frames.ts";
import { ListeningBackend } from "../support/listening_backend.ts";
import { MemorySocket } from "../support/memory_socket.ts";
import { SidecarProcess } from "../support/process.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until, within } from "../support/waiting.ts";

const CHECK = "/grpc.health.v1.Health/Check";

/** The field's limit of 5 s, shortened: what must come before it is answered when the test says so. */
const LIMIT_MS = 2_500;

/** The most that an exit takes after the last call has ended, on a busy machine. */
const PROMPT_MS = 10_000;

const TO_GO = [2 ** 31 - 1, "NO_ERROR"] as const;

Deno.test("Scenario 16: on SIGTERM what is under way ends well, the endless with 14 at the limit, new calls are refused, the exit code is 0", async () => {
  await using backend = new ListeningBackend();
  await using sidecar = await SidecarProcess.start({
    BACKEND_ADDRESS: `127.0.0.1:${backend.port}`,
    DRAIN_TIMEOUT: `${LIMIT_MS}ms`,
  });
  await sidecar.becomes(200);
  await using busy = await DialledCaller.at(sidecar.grpcPort);
  await using other = await DialledCaller.at(sidecar.grpcPort);
  await using idle = await DialledCaller.at(sidecar.grpcPort);
  const flight = [busy.call(GET, "1"), busy.call(GET, "1"), other.call(GET, "1")];
  await backend.request(0);
  const stream = busy.call(LIST, "long");
  const longRequest = await backend.request(1);
  const endless = busy.call(LIST, "endless");
  (await backend.request(2)).begins(["a"]);
  longRequest.begins(["first"]);
  await until(() => endless.messages.length + stream.messages.length === 2, "both streams");
  await until(() => idle.seen("SETTINGS").length === 1, "a caller without calls");

  const signalledMs = performance.now();
  sidecar.signal("SIGTERM");
  await sidecar.becomes(503);
  assertEquals((await sidecar.ask("/health")).status, 200);
  for (const caller of [busy, other, idle]) {
    await until(() => goAways(caller).length === 2, "the last stream named");
    assertEquals(goAways(caller)[0], [...TO_GO]);
    assertEquals(goAways(caller)[1]![1], "NO_ERROR");
  }
  assertEquals(await within(idle.closed, "the end of an idle connection"), "in order");
  const late = busy.call(GET, "late");
  await until(() => late.reply.reset !== undefined, "a call on an old connection");
  assertEquals(late.reply.reset, "REFUSED_STREAM");
  const refused = await DialledCaller.at(sidecar.grpcPort).then(() => "taken", (error) => error);
  assert(refused instanceof Deno.errors.ConnectionRefused);

  backend.requests[0]!.replies(["one"]);
  await until(() => flight.every(({ status }) => status !== undefined), "the flight's answer");
  for (const call of flight) call.expects(0, "one");
  assertEquals(await within(other.closed, "the end of who has no more calls"), "in order");
  longRequest.sends("second");
  longRequest.ends();
  await until(() => stream.status !== undefined, "the end of the stream");
  stream.expects(0, "first", "second");
  assertEquals([endless.status, sidecar.isRunning], [undefined, true]);

  assertEquals(await within(busy.closed, "the end of the last connection"), "in order");
  endless.expects(14, "a");
  assertEquals([endless.grpcMessage, endless.reply.endedBy], [
    "collapser: shutting down",
    "HEADERS",
  ]);
  assertGreater(performance.now() - signalledMs, LIMIT_MS - 10);
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
  assertEquals(backend.requests.map(({ seen }) => seen.reset), [undefined, undefined, "CANCEL"]);
  assertEquals(backend.requests.length, 3);
});

Deno.test("Scenario 16: an upload and a two-way stream go on in both directions while the sidecar drains", async () => {
  await withSockets({ variables: { DRAIN_TIMEOUT: "1m" } }, async (rig) => {
    const { backend, local } = rig;
    const caller = await rig.caller();
    const upload = caller.call(PUT, "1", { ends: false });
    const request = await backend.begun(0);
    const chat = caller.call("/test.Service/Chat", "hello", { ends: false });
    const talk = await backend.begun(1);
    talk.begins(["you too"]);
    const half = caller.call(GET, undefined, { ends: false });
    caller.sends(data(half.id, frameMessage(new Uint8Array(10)).subarray(0, 7)));
    await until(() => chat.messages.length === 1, "the first word");
    const left = local.stop();
    await until(() => goAways(caller).length === 2, "the last stream named");

    for (const word of ["2", "3"]) {
      upload.sends(word);
      chat.sends(word);
      talk.sends(`re:${word}`);
    }
    await until(() => request.messages.length === 3 && talk.messages.length === 3, "all words");
    upload.ends();
    await until(() => request.ended, "the upload's half-close");
    request.replies(["thanks"]);
    chat.ends();
    await until(() => talk.ended, "the other half-close");
    talk.ends({ status: 3 });
    caller.sends(data(half.id, new Uint8Array(8), { endStream: true })); // the rest of its message
    (await rig.request(2)).replies(["whole"]);
    assertEquals(await within(caller.closed, "the end of the connection"), "in order");
    upload.expects(0, "thanks");
    chat.expects(3, "you too", "re:2", "re:3");
    half.expects(0, "whole");
    assertEquals(await left, 0);
  });
});

Deno.test("Scenario 16: callers over TLS are told to go and lose no byte either", async () => {
  using folder = new CertificateFolder();
  const authority = await Authority.make();
  const { cert, key } = folder.writePair("server", await authority.server());
  const variables = {
    GRPC_TLS_CERT: cert,
    GRPC_TLS_KEY: key,
    DRAIN_TIMEOUT: "300ms",
  };
  const certificates = { cert: undefined, key: undefined, ca: authority.cert };
  const dial = dialTls({ certificates: () => certificates, serverName: undefined });
  await withSockets({ variables, dial }, async (rig) => {
    const { local } = rig;
    const caller = await rig.caller();
    const call = caller.call(GET, "1");
    const request = await rig.request(0);
    const endless = caller.call(LIST, "endless");
    const open = await rig.request(1);
    open.begins(["a"]);
    await until(() => endless.messages.length === 1, "the stream");
    const left = local.stop();
    await until(() => goAways(caller).length === 2, "the last stream named");
    const reply = "x".repeat(100_000);
    request.replies([reply]);
    assertEquals(await within(caller.closed, "the end of the connection"), "in order");
    call.expects(0, reply);
    endless.expects(14, "a");
    assertEquals(await left, 1);
  });
});

Deno.test("Scenario 16: a caller that goes on to send, or whose windows are shut, reads its 14 before the connection ends", async () => {
  await withSockets({ variables: { DRAIN_TIMEOUT: "200ms" } }, async (rig) => {
    const { backend, local } = rig;
    const eager = await rig.caller();
    const shut = await rig.caller([[SETTING.initialWindowSize, 0]]);
    const upload = eager.call(PUT, "1", { ends: false });
    await backend.begun(0);
    const unread = shut.call(LIST, "1");
    (await rig.request(1)).begins(["never read"]);
    await until(() => unread.reply.blocks.length === 1, "the reply's head");
    const left = local.stop();
    const more = setInterval(() => upload.sends("x".repeat(1_000)), 1);
    await within(Promise.all([eager.closed, shut.closed]), "the end of both connections");
    clearInterval(more);
    for (const call of [upload, unread]) {
      assertEquals([call.status, call.reply.endedBy], [14, "HEADERS"]);
    }
    assertEquals(await left, 2);
  });
});

Deno.test("Scenario 16: a drain that may take no time ends calls with 14 at once", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(GET, "1"), caller.call(PUT, "1")];
    await rig.settle();
    const drained = rig.proxy.drain(0);
    await rig.advance(8);
    for (const call of calls) call.expectsFailure(14, "shutting down");
    assertEquals([await drained, caller.socket.isClosed], [3, true]);
  });
});

Deno.test("Scenario 16: the sidecar's own health says NOT_SERVING to calls that come before the last stream is named", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.answersPings = false;
    void rig.proxy.drain(5_000);
    await rig.settle();
    const call = caller.call(CHECK, healthRequest("collapser"));
    await rig.settle();
    const reply = healthReply(false);
    call.expects(0, latin1(reply, 0, reply.length));
    await rig.advance(600);
  });
});

Deno.test("Scenario 16: a connection that has said nothing yet hears SETTINGS first, then GOAWAY", async () => {
  await withRig(async (rig) => {
    const wire: Uint8Array[] = [];
    const socket = new MemorySocket({ written: (bytes) => wire.push(bytes) });
    void rig.proxy.serve(socket, "slow");
    await rig.settle();
    void rig.proxy.drain(5_000);
    await rig.settle();
    socket.sends(concat(PREFACE, settings()));
    await rig.advance(600);
    const types = new FrameParser().read(concat(...wire)).map(({ type }) => type);
    assertEquals(types[0], "SETTINGS", types.join(", "));
    assert(types.includes("GOAWAY"));
    assertEquals(socket.isClosed, true);
  });
});

function goAways(caller: CallerEnd): [number, string][] {
  return caller.seen("GOAWAY").map(({ lastStreamId, code }) => [lastStreamId, code]);
}
