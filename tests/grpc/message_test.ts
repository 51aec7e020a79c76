import { assertEquals, assertThrows } from "@std/assert";
import { frameMessage, isOneMessage, MessageScanner } from "../../lib/grpc/mod.ts";
import { everyCut, randomCuts, rng } from "../support/cuts.ts";

interface Seen {
  messages: number;
  started: number;
  partial: boolean;
  messageBytes: number;
}

Deno.test("MessageScanner counts nothing before the first byte", () => {
  const scanner = new MessageScanner();
  scanner.scan(new Uint8Array(4), 2, 2);
  assertEquals(seen(scanner), { messages: 0, started: 0, partial: false, messageBytes: 0 });
});

Deno.test("MessageScanner.missingBytes is what is left of a message whose length is known", () => {
  const scanner = new MessageScanner();
  const wire = concat(frame(2), frame(0), frame(1));
  const missing = Array.from(wire, (_, at) => {
    scanner.scan(wire, at, at + 1);
    return scanner.missingBytes;
  });
  assertEquals(missing, [0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
});

Deno.test("MessageScanner tells after each byte where it is", () => {
  const scanner = new MessageScanner();
  const wire = concat(frame(2), frame(0), frame(1));
  const expected: [messages: number, started: number, partial: boolean, messageBytes: number][] = [
    [0, 1, true, 0], // flag of the first
    [0, 1, true, 0],
    [0, 1, true, 0],
    [0, 1, true, 0],
    [0, 1, true, 2], // its length is known
    [0, 1, true, 2],
    [1, 1, false, 2], // its last byte
    [1, 2, true, 2], // flag of the empty one: the length is still that of the first
    [1, 2, true, 2],
    [1, 2, true, 2],
    [1, 2, true, 2],
    [2, 2, false, 0], // complete with its prefix
    [2, 3, true, 0],
    [2, 3, true, 0],
    [2, 3, true, 0],
    [2, 3, true, 0],
    [2, 3, true, 1],
    [3, 3, false, 1],
  ];
  for (const [at, [messages, started, partial, messageBytes]] of expected.entries()) {
    scanner.scan(wire, at, at + 1);
    assertEquals(seen(scanner), { messages, started, partial, messageBytes }, `byte ${at}`);
  }
});

Deno.test("MessageScanner gives the same wherever its input is cut in two or in bytes", () => {
  const wire = concat(frame(3), frame(0), frame(0), frame(300), frame(1), frame(7).subarray(0, 9));
  const expected = { messages: 5, started: 6, partial: true, messageBytes: 7 };
  for (const pieces of everyCut(wire)) {
    assertEquals(scanAll(pieces), expected, `cut at ${pieces[0]?.length}`);
  }
});

Deno.test("MessageScanner agrees with a reader that splits whole input, at random cuts", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = rng(seed);
    const frames = Array.from({ length: 1 + Math.floor(random() * 6) }, () =>
      // Flags other than 0 and 1 are the peers' business.
      frame(Math.floor(random() * 40), Math.floor(random() * 256)));
    const whole = concat(...frames);
    const wire = whole.subarray(0, whole.length - Math.floor(random() * 8));
    assertEquals(scanAll(randomCuts(wire, seed)), splitWhole(wire), `seed ${seed}`);
  }
});

Deno.test("MessageScanner looks only at the range it is given", () => {
  const scanner = new MessageScanner();
  const wire = concat(Uint8Array.of(9, 9, 9), frame(4), Uint8Array.of(9, 9));
  scanner.scan(wire, 3, wire.length - 2);
  assertEquals(seen(scanner), { messages: 1, started: 1, partial: false, messageBytes: 4 });
});

Deno.test("MessageScanner takes lengths as unsigned 32 bit", () => {
  const scanner = new MessageScanner();
  scanner.scan(Uint8Array.of(255, 255, 255, 255, 255), 0, 5);
  scanner.scan(new Uint8Array(1000), 0, 1000);
  assertEquals(seen(scanner), {
    messages: 0,
    started: 1,
    partial: true,
    messageBytes: 4_294_967_295,
  });
});

Deno.test("MessageScanner follows a message of 4 GiB to its end", () => {
  const scanner = new MessageScanner();
  scanner.scan(Uint8Array.of(0, 255, 255, 255, 255), 0, 5);
  // The body is never read, so its bytes need not exist.
  const body = new Uint8Array(0);
  for (let i = 0; i < 4; i++) scanner.scan(body, 0, 2 ** 30 - 1);
  assertEquals(scanner.messages, 0);
  scanner.scan(body, 0, 3);
  assertEquals(seen(scanner), {
    messages: 1,
    started: 1,
    partial: false,
    messageBytes: 4_294_967_295,
  });
});

Deno.test("isOneMessage is true for exactly one whole message", () => {
  for (const length of [0, 1, 255, 256, 70_000]) {
    const wire = concat(Uint8Array.of(1, 2, 3), frame(length, 1), Uint8Array.of(4, 5, 6));
    const [start, end] = [3, wire.length - 3];
    assertEquals(isOneMessage(wire, start, end), true, `${length}`);
    assertEquals(isOneMessage(wire, start, end - 1), false, `${length} and one byte less`);
    assertEquals(isOneMessage(wire, start, end + 1), false, `${length} and one byte more`);
  }
});

Deno.test("isOneMessage is false for nothing, part of a prefix, and two messages", () => {
  for (let length = 0; length < 5; length++) {
    assertEquals(isOneMessage(new Uint8Array(5), 0, length), false);
  }
  assertEquals(isOneMessage(concat(frame(2), frame(2)), 0, 14), false);
  assertEquals(isOneMessage(concat(frame(0), frame(0)), 0, 10), false);
});

Deno.test("isOneMessage takes the length as unsigned", () => {
  assertEquals(isOneMessage(Uint8Array.of(0, 255, 255, 255, 255), 0, 5), false);
  // The body is never read, so its bytes need not exist.
  assertEquals(isOneMessage(Uint8Array.of(0, 255, 255, 255, 255), 0, 5 + 0xffffffff), true);
});

Deno.test("isOneMessage agrees with MessageScanner on any bytes", () => {
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = rng(seed);
    const wire = Uint8Array.from(
      { length: Math.floor(random() * 12) },
      (_, at) => at < 4 ? 0 : Math.floor(random() * 6),
    );
    const { messages, started, partial } = scanAll([wire]);
    assertEquals(
      isOneMessage(wire, 0, wire.length),
      messages === 1 && started === 1 && !partial,
      `seed ${seed}: ${wire}`,
    );
  }
});

Deno.test("frameMessage writes flag, big-endian length and body", () => {
  assertEquals(frameMessage(Uint8Array.of(7, 8)), Uint8Array.of(0, 0, 0, 0, 2, 7, 8));
  assertEquals(frameMessage(Uint8Array.of(7), true), Uint8Array.of(1, 0, 0, 0, 1, 7));
  assertEquals(frameMessage(new Uint8Array(0)), new Uint8Array(5));
  assertEquals([...frameMessage(new Uint8Array(0x010203)).subarray(0, 5)], [0, 0, 1, 2, 3]);
});

Deno.test("frameMessage throws for a body that four bytes cannot measure", () => {
  const tooLong = { length: 2 ** 32 } as Uint8Array;
  assertThrows(() => frameMessage(tooLong), RangeError, "4294967296 bytes");
});

function seen({ messages, started, partial, messageBytes }: MessageScanner): Seen {
  return { messages, started, partial, messageBytes };
}

function scanAll(pieces: Iterable<Uint8Array>): Seen {
  const scanner = new MessageScanner();
  for (const piece of pieces) scanner.scan(piece, 0, piece.length);
  return seen(scanner);
}

/** The plain way, on input that is all there. */
function splitWhole(wire: Uint8Array): Seen {
  const view = new DataView(wire.buffer, wire.byteOffset, wire.byteLength);
  const result = { messages: 0, started: 0, partial: false, messageBytes: 0 };
  for (let at = 0; at < wire.length;) {
    result.started++;
    if (at + 5 <= wire.length) result.messageBytes = view.getUint32(at + 1);
    const next = at + 5 + result.messageBytes;
    result.partial = at + 5 > wire.length || next > wire.length;
    if (result.partial) break;
    result.messages++;
    at = next;
  }
  return result;
}

/** A message whose body looks like nothing but prefixes, so that losing step shows. */
function frame(length: number, flag = 0): Uint8Array {
  const framed = frameMessage(Uint8Array.from({ length }, (_, at) => at % 5 === 4 ? 3 : 0));
  framed[0] = flag;
  return framed;
}

function concat(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
