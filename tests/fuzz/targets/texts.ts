import { assert, assertEquals } from "@std/assert";
import {
  acceptEncodingKey,
  decodeGrpcMessage,
  encodeGrpcMessage,
  formatTimeout,
  healthReply,
  healthRequest,
  healthService,
  healthStatus,
  isGrpcContentType,
  isIgnoredInKey,
  MALFORMED_TIMEOUT,
  parseStatus,
  parseTimeout,
  splitMethod,
} from "../../../lib/grpc/mod.ts";
import type { Draws } from "../draws.ts";
import type { Target } from "../run.ts";

/** The small readers of gRPC's texts: nothing throws, and what is written reads as what it was. */
export const texts: Target = {
  name: "texts",
  about: "grpc-timeout, grpc-message, grpc-status, paths, content types, health messages",
  run(draws) {
    const text = randomText(draws);
    draws.note(JSON.stringify(text));
    assertEquals(decodeGrpcMessage(encodeGrpcMessage(text)), text.toWellFormed());
    assert(/^[\x20-\x7e]*$/.test(encodeGrpcMessage(text)), "a message that no header may carry");
    decodeGrpcMessage(text);
    checkTimeouts(text, draws);
    assertEquals(parseStatus(text), /^\d{1,5}$/.test(text) ? Number(text) : undefined);
    checkPath(text);
    isGrpcContentType(text);
    isGrpcContentType(`application/grpc${text}`);
    isIgnoredInKey(text);
    const key = acceptEncodingKey(text);
    assertEquals(acceptEncodingKey(key), key);
    checkHealth(text, draws);
  },
};

function randomText(draws: Draws): string {
  const alphabet = draws.pick([
    "0123456789HMSmun",
    "%0aF é\u{1f600}\ufeff\ud800",
    "/a.B",
    ", \tgzip",
    "+;grpc-web \x00",
  ]);
  const units = [...alphabet];
  return Array.from({ length: draws.below(14) }, () => draws.pick(units)).join("");
}

function checkTimeouts(text: string, draws: Draws): void {
  const read = parseTimeout(text);
  assertEquals(read === MALFORMED_TIMEOUT, !/^\d{1,8}[HMSmun]$/.test(text), "the grammar");
  const leftMs = draws.chance(0.5) ? read : draws.next() * 10 ** draws.between(-7, 14);
  const written = formatTimeout(leftMs);
  const again = parseTimeout(written);
  draws.note(`${leftMs} ms is ${written}`);
  if (leftMs <= 0 || leftMs < 1e-6) return assertEquals(written, "1n");
  assert(again <= leftMs, "more than what is left");
  // Within a millisecond and a thousandth, or a unit of the finest that fits in eight digits.
  const coarsest = leftMs <= 99_999_999_000 ? 1_000 : leftMs <= 99_999_999 * 6e4 ? 6e4 : 36e5;
  const loss = leftMs - again;
  const isFine = loss < 1 && loss < Math.max(leftMs / 1_000, 1e-6);
  assert(
    isFine || leftMs > 99_999_999 && loss < coarsest || again === 99_999_999 * 36e5,
    "too little",
  );
}

function checkPath(text: string): void {
  const split = splitMethod(text);
  if (split === undefined) return;
  assertEquals(`/${split.service}/${split.method}`, text);
  assert(split.service !== "" && split.method !== "" && !split.method.includes("/"));
}

function checkHealth(text: string, draws: Draws): void {
  const name = text.toWellFormed();
  assertEquals(healthService(healthRequest(name)), name);
  assertEquals(healthStatus(healthReply(true)), 1);
  const bytes = draws.chance(0.5) ? draws.bytes(draws.below(20)) : healthRequest(name).slice();
  if (bytes.length > 0) bytes[draws.below(bytes.length)] = draws.below(256);
  healthService(bytes);
  healthStatus(bytes);
}
