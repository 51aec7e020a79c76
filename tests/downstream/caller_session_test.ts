import { assertEquals } from "@std/assert";
import { ERROR_CODE, FRAME, HeaderCache, HpackDecoder } from "../../lib/wire/mod.ts";
import { requestHead } from "../support/caller_end.ts";
import { splitFrames } from "../support/frame_parser.ts";
import { ascii, block, concat, data, goAway, headers, type Pairs, raw } from "../support/frames.ts";
import { framed, type PeerEnd, valueOf } from "../support/peer_end.ts";
import { GET, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

Deno.test("CallerSession passes the request head on as it came, leader or not (scenarios 24, 25)", async () => {
  const metadata: Pairs = [
    ["user-agent", "grpc-test/1.0"],
    ["x-tag", "a"],
    ["x-tag", "b"],
    ["k-bin", "AP8"],
    ["k-bin", "AP8="],
    ["k-bin", "AP8,/wA="],
    ["empty", ""],
    ["grpc-accept-encoding", "gzip,identity"],
    ["x-forwarded-for", "10.0.0.1"],
  ];
  await withRig(async (rig) => {
    const caller = await rig.caller();
    for (const path of [GET, PUT]) {
      caller.call(path, "1", { metadata });
      await rig.settle();
      assertEquals(rig.request(-1).fields, [...requestHead(path), ...metadata]);
      rig.request(-1).replies(["x"]);
      await rig.settle();
    }
    // Fields that differ from call to call come last, since they are not part of what is interned.
    const perCall: Pairs = [["x-request-id", "7"], ["cache-control", "no-cache"]];
    caller.call(GET, "1", { metadata: [...perCall, ...metadata] });
    await rig.settle();
    assertEquals(rig.request(-1).fields, [...requestHead(GET), ...metadata, ...perCall]);
    rig.request(-1).replies(["x"]);
    await rig.settle();
  });
});

Deno.test("CallerSession counts a caller's GOAWAY, tells of one with a code, and serves the calls that are left", async () => {
  const told: unknown[] = [];
  const observer: RigOptions["observer"] = { goneAway: (...said) => void told.push(said) };
  await withRig({ observer }, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1");
    await rig.settle();
    caller.sends(goAway(0, ERROR_CODE.noError));
    caller.sends(goAway(0, ERROR_CODE.enhanceYourCalm, "too_many_pings"));
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
    const said = { code: ERROR_CODE.enhanceYourCalm, debug: "too_many_pings" };
    assertEquals(told, [["caller", said, "caller-1"]]);
    assertEquals([...rig.proxy.counters.goAways.caller], [
      [ERROR_CODE.noError, 1],
      [ERROR_CODE.enhanceYourCalm, 1],
    ]);
  });
});

Deno.test("CallerSession keeps a reply's content-length to itself, since the reply may end before that", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [GET, PUT].map((path) => caller.call(path, "1"));
    await rig.settle();
    const headers: Pairs = [["content-length", "12"], ["x-kept", "1"]];
    for (const request of rig.requests) {
      request.begins(["x"], { headers });
      request.resets(ERROR_CODE.internalError);
    }
    await rig.settle();
    for (const call of calls) {
      assertEquals(call.status, 13);
      assertEquals(valueOf(call.reply.blocks[0], "content-length"), undefined);
      assertEquals(valueOf(call.reply.blocks[0], "x-kept"), "1");
    }
  });
});

Deno.test("CallerSession passes a request's content-length on that fits, and refuses one that does not (scenario 24)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const metadata: Pairs = [["content-length", "6"]];
    const calls = [GET, PUT].map((path) => caller.call(path, "1", { metadata }));
    await rig.settle();
    for (const request of rig.requests) {
      assertEquals(valueOf(request.fields, "content-length"), "6");
      assertEquals(request.seen.text.length, 6);
      request.replies(["x"]);
    }
    await rig.settle();
    for (const call of calls) call.expects(0, "x");
    const wrong = caller.call(PUT, "2", { metadata: [["content-length", "9"]] });
    await rig.settle();
    assertEquals(wrong.reply.reset, "PROTOCOL_ERROR");
    assertEquals(rig.request(2).seen.reset, "CANCEL");
  });
});

Deno.test("CallerSession keeps fields that must never be indexed so, both ways (RFC 7541 §7.1.3)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const secret = neverIndexed("authorization", "T1");
    for (const path of [GET, PUT, GET, PUT]) { // often enough for a place in a table
      const call = caller.begins((id) => [
        headers(id, concat(block(requestHead(path)), secret)),
        data(id, framed("1"), { endStream: true }),
      ]);
      await rig.settle();
      const request = rig.request(-1);
      if (!request.isOver) {
        const reply: Pairs = [[":status", "200"], ["content-type", "application/grpc"]];
        rig.backend.sends(
          headers(request.id, concat(block(reply), neverIndexed("x-secret", "S"))),
          headers(request.id, concat(block([["grpc-status", "0"]]), neverIndexed("x-late", "L")), {
            endStream: true,
          }),
        );
      }
      await rig.settle();
      call.expects(0);
      await rig.advance(200);
    }
    rig.expectsRequests(4);
    assertEquals(sensitiveFields(rig.backend, 24), Array(4).fill("authorization: T1"));
    assertEquals(sensitiveFields(caller, 0), Array(4).fill(["x-secret: S", "x-late: L"]).flat());
  });
});

Deno.test("CallerSession takes every content-type of gRPC's and answers 415 to others (scenario 26)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const good = ["", "+proto", "+json", "+custom", ";charset=utf-8"].map((rest) =>
      `application/grpc${rest}`
    );
    const calls = good.map((type) => caller.call(GET, "1", { head: headOf(type) }));
    await rig.settle();
    rig.expectsRequests(good.length); // each type asks for another answer
    assertEquals(rig.requests.map(({ fields }) => valueOf(fields, "content-type")), good);
    for (const { id, fields } of rig.requests) {
      rig.backend.sends(
        headers(id, [[":status", "200"], ["content-type", valueOf(fields, "content-type")!]]),
        data(id, framed("x")),
        headers(id, [["grpc-status", "0"]], { endStream: true }),
      );
    }
    await rig.settle();
    for (const [i, call] of calls.entries()) {
      call.expects(0, "x");
      assertEquals(valueOf(call.reply.blocks[0], "content-type"), good[i]);
    }
    const bad = [
      "text/plain",
      undefined,
      "application/grpc-web+proto",
      "application/grpc-web-text",
    ];
    for (const type of bad) {
      const call = caller.call(GET, "1", { head: headOf(type) });
      const open = caller.call(PUT, undefined, { head: headOf(type), ends: false });
      await rig.settle();
      for (const { reply } of [call, open]) {
        assertEquals(reply.blocks, [[[":status", "415"]]]);
        assertEquals(reply.endedBy, "HEADERS");
      }
      open.sends("more of it");
    }
    await rig.settle();
    rig.uncounted = 2 * bad.length;
    rig.expectsRequests(good.length);
  });
});

Deno.test("CallerSession answers 405 to what is no POST", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const rest = requestHead("/").slice(1);
    const calls = [
      caller.call("/", undefined, { head: [[":method", "GET"], ...rest] }),
      caller.call("/", "1", { head: [[":method", "PUT"], ...rest] }),
      caller.call("/", undefined, {
        head: [[":method", "CONNECT"], [":authority", "service.test:443"]],
        ends: false,
      }),
    ];
    await rig.settle();
    for (const { reply } of calls) assertEquals(reply.blocks, [[[":status", "405"]]]);
    assertEquals(rig.proxy.counters.methods.size, 0); // what a scanner asks for is no method
    rig.uncounted = calls.length;
    rig.expectsRequests(0);
  });
});

Deno.test("CallerSession leaves it to the backend to say that a path is nothing (scenario 43)", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.fails(12, [["grpc-message", `no ${request.path}`]]);
    const caller = await rig.caller();
    const paths = ["/.env", "/", "//", "/x", "*", `/${"x".repeat(4_096)}`, "/a.B/GetC", "/a.B/"];
    for (const path of paths) {
      const calls = [caller.call(path, "1"), caller.call(path, "1")];
      await rig.settle();
      for (const call of calls) {
        call.expects(12);
        assertEquals(call.grpcMessage, `no ${path}`);
      }
    }
  });
});

Deno.test("CallerSession carries request metadata of any size that is allowed, and makes 8 of more (scenario 3)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const healthy = caller.call(PUT, "healthy");
    await rig.settle();
    for (const kilobytes of [4, 8, 12, 16, 17, 20, 60, 200]) {
      for (const path of [GET, PUT]) {
        const value = "v".repeat(kilobytes * 1_000);
        const large = caller.call(path, "1", { metadata: [["x-filler", value]] });
        await rig.settle();
        if (kilobytes < 65) {
          assertEquals(valueOf(rig.request(-1).fields, "x-filler"), value, `${kilobytes} KB`);
          rig.request(-1).replies(["x"]);
          await rig.settle();
          large.expects(0, "x");
        } else {
          large.expectsFailure(8, "the request's metadata is too large");
        }
      }
    }
    rig.request(0).replies(["fine"]);
    await rig.settle();
    healthy.expects(0, "fine");
    assertEquals(rig.outcomes, { led: 7, passed: 8, rejected: 2 });
  });
});

Deno.test("CallerSession refuses one malformed request and goes on with the others (scenario 22)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const healthy = caller.call(PUT, "healthy");
    await rig.settle();
    const illegal: Pairs[] = [
      [["te", "gzip"]],
      [["x", "a\x01b"]],
      [["X-Upper", "1"]],
      [["connection", "close"]],
      [["x", "a\r\nb: c"]],
    ];
    for (const fields of illegal) {
      const head = requestHead(GET).filter(([name]) => name !== fields[0]![0]);
      const bad = caller.call(GET, "1", { head: [...head, ...fields] });
      await rig.settle();
      assertEquals(bad.reply.reset, "PROTOCOL_ERROR");
    }
    rig.uncounted = illegal.length;
    rig.expectsRequests(1);
    rig.request(0).replies(["fine"]);
    await rig.settle();
    healthy.expects(0, "fine");
    assertEquals(caller.seen("GOAWAY"), []);
  });
});

Deno.test("CallerSession ends calls whose connection breaks the protocol, and no others", async () => {
  await withRig(async (rig) => {
    const [bad, good] = [await rig.caller(), await rig.caller()];
    bad.call(PUT, "1");
    bad.call(GET, "1");
    const follower = good.call(GET, "1");
    await rig.settle();
    bad.sends(raw(FRAME.ping, {}, new Uint8Array(3)));
    await rig.settle();
    assertEquals(bad.socket.isClosed, true);
    assertEquals(bad.seen("GOAWAY").at(-1)?.code, "FRAME_SIZE_ERROR");
    assertEquals(rig.request(0).seen.reset, "CANCEL");
    assertEquals(rig.request(1).seen.reset, undefined);
    rig.request(1).replies(["one"]);
    await rig.settle();
    follower.expects(0, "one");
    assertEquals([...rig.proxy.counters.connectionErrors.caller], [[ERROR_CODE.frameSizeError, 1]]);
    assertEquals(rig.heard.at(-1), "caller failed: PING of a wrong size");
    assertEquals(rig.gauges.connections, 1);
  });
});

Deno.test("CallerSession closes a connection that does not speak HTTP/2, and nothing else happens", async () => {
  await withRig(async (rig) => {
    const call = (await rig.caller()).call(PUT, "1");
    for (const bytes of ["GET / HTTP/1.1\r\nhost: x\r\n\r\n", "\x16\x03\x01\x02\0\x01\0\x01", ""]) {
      const stray = await rig.stray();
      stray.sends(ascii(bytes));
      await rig.settle();
      if (bytes === "") stray.ends();
      await rig.settle();
      assertEquals(stray.isClosed, true, bytes);
    }
    assertEquals(rig.gauges.connections, 1);
    rig.request(0).replies(["x"]);
    await rig.settle();
    call.expects(0, "x");
  });
});

/** A literal that no hop may put into a table (RFC 7541 §6.2.3). */
function neverIndexed(name: string, value: string): Uint8Array {
  return concat(
    Uint8Array.of(0x10, name.length),
    ascii(name),
    Uint8Array.of(value.length),
    ascii(value),
  );
}

/** The fields that came as never indexed, in order; `preface` bytes are no frames. */
function sensitiveFields(end: PeerEnd, preface: number): string[] {
  const decoder = new HpackDecoder(new HeaderCache(), { maxListBytes: Infinity });
  const found: string[] = [];
  for (const { type, payload } of splitFrames(concat(...end.wire).subarray(preface))) {
    if (type !== FRAME.headers) continue;
    assertEquals(decoder.decode(payload, 0, payload.length), "");
    for (const { name, value, sensitive } of decoder.list.fields) {
      if (sensitive) found.push(`${name}: ${value}`);
    }
  }
  return found;
}

function headOf(contentType: string | undefined): Pairs {
  const head = requestHead(GET).filter(([name]) => name !== "content-type");
  return contentType === undefined ? head : [...head, ["content-type", contentType]];
}
