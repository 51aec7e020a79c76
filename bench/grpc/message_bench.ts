/**
 * What following the message framing costs per DATA frame, with a scanner for each stream, and what
 * asking "is it one message" costs per request. Run with `deno bench bench/grpc/`.
 *
 * @module
 */

import { frameMessage, isOneMessage, MessageScanner } from "../../lib/grpc/mod.ts";

/** Bytes of a usual unary request. */
const REQUEST_BYTES = 100;
/** Payload of a DATA frame at the default SETTINGS_MAX_FRAME_SIZE. */
const FRAME_BYTES = 16_384;

const request = frameMessage(new Uint8Array(REQUEST_BYTES));
const empties = new Uint8Array(FRAME_BYTES - FRAME_BYTES % 5);
const large = frameMessage(new Uint8Array(4 * 1024 * 1024));

Deno.bench({
  group: "one request of 100 bytes",
  name: "isOneMessage",
  baseline: true,
  fn() {
    isOneMessage(request, 0, request.length);
  },
});

Deno.bench({
  group: "one request of 100 bytes",
  name: "MessageScanner",
  fn() {
    const scanner = new MessageScanner();
    scanner.scan(request, 0, request.length);
  },
});

Deno.bench({
  group: "one request of 100 bytes",
  name: "MessageScanner, cut into bytes",
  fn() {
    const scanner = new MessageScanner();
    for (let at = 0; at < request.length; at++) scanner.scan(request, at, at + 1);
  },
});

Deno.bench({
  group: "frames of 16 KiB",
  name: "MessageScanner, 257 frames of one message of 4 MiB",
  baseline: true,
  fn() {
    const scanner = new MessageScanner();
    for (let at = 0; at < large.length; at += FRAME_BYTES) {
      scanner.scan(large, at, Math.min(at + FRAME_BYTES, large.length));
    }
  },
});

Deno.bench({
  group: "frames of 16 KiB",
  name: "MessageScanner, one frame of 3,276 empty messages",
  fn() {
    const scanner = new MessageScanner();
    scanner.scan(empties, 0, empties.length);
  },
});
