import { assertEquals } from "@std/assert";
import { frameMessage, isOneMessage, MessageScanner } from "../../../lib/grpc/mod.ts";
import { concat, pattern } from "../../support/frames.ts";
import type { Target } from "../run.ts";

const MOST_MESSAGES = 8;

/** Messages cut anywhere are counted as they are. */
export const messages: Target = {
  name: "messages",
  about: "gRPC messages cut anywhere, and lengths that lie (PROTOCOL-HTTP2)",
  run(draws) {
    for (let streams = draws.between(1, 3); streams > 0; streams--) {
      const scanner = new MessageScanner();
      const bodies = Array.from({ length: draws.below(MOST_MESSAGES) }, () => draws.small(2_000));
      const whole = concat(...bodies.map((n) => frameMessage(pattern(n), draws.chance(0.5))));
      if (whole.length > 0 && draws.chance(0.2)) {
        whole[draws.below(whole.length)] = draws.below(256); // a length that lies, most likely
      }
      const bytes = whole.subarray(0, draws.chance(0.5) ? whole.length : draws.below(whole.length));
      const expected = readPlainly(bytes);
      draws.note(`${bytes.length} bytes: ${JSON.stringify(expected)}`);
      for (const piece of draws.cuts(bytes, draws.pick([4, 1, 300]))) {
        scanner.scan(concat(Uint8Array.of(9), piece, Uint8Array.of(9)), 1, 1 + piece.length);
      }
      const { messages: count, started, messageBytes, partial } = scanner;
      assertEquals({ messages: count, started, messageBytes, partial }, expected);
      const isOne = expected.messages === 1 && expected.started === 1 && !expected.partial;
      assertEquals(isOneMessage(concat(Uint8Array.of(9), bytes), 1, 1 + bytes.length), isOne);
    }
  },
};

function readPlainly(bytes: Uint8Array) {
  const seen = { messages: 0, started: 0, messageBytes: 0, partial: false };
  for (let at = 0; at < bytes.length;) {
    seen.started++;
    seen.partial = true;
    if (at + 5 > bytes.length) break;
    seen.messageBytes = new DataView(bytes.buffer, bytes.byteOffset + at + 1).getUint32(0);
    at += 5 + seen.messageBytes;
    if (at > bytes.length) break;
    seen.messages++;
    seen.partial = false;
  }
  return seen;
}
