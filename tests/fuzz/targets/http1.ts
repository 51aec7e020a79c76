import { assert, assertEquals } from "@std/assert";
import { Connection } from "../../../lib/connection/mod.ts";
import { ERROR_CODE, HeaderCache, latin1 } from "../../../lib/wire/mod.ts";
import { ascii, concat, PREFACE } from "../../support/frames.ts";
import { RecordingSink } from "../../support/recording_sink.ts";
import type { Draws } from "../draws.ts";
import type { Target } from "../run.ts";

const METHODS = ["GET", "POST", "PRI", "OPTIONS", "get", "G", "PROPFIND"];
const TARGETS = ["/", "*", "/a?b=c", "http://a/b", "https://a", "a", "", "//\x00"];
const VERSIONS = [
  " HTTP/1.1\r\n",
  " HTTP/1.0\r\n",
  " HTTP/2.0\r\n\r\n",
  "",
  "\r\n",
  " HTTP/1.9\r\n",
];

/** What comes in place of the preface: answered in HTTP/1, or with GOAWAY, and never taken for HTTP/2. */
export const http1: Target = {
  name: "http1",
  about: "first bytes that are no preface, or nearly one",
  run(draws) {
    const cache = new HeaderCache();
    const sink = new RecordingSink();
    const connection = new Connection({ role: "server", sink, headerCache: cache });
    const bytes = firstBytes(draws);
    draws.note(JSON.stringify(latin1(bytes, 0, bytes.length)));
    const hasGreeted = draws.chance(0.2);
    if (hasGreeted) connection.takeOutput().clear();
    for (const piece of draws.cuts(bytes, draws.pick([100, 1, 7]))) {
      connection.receive(concat(piece, Uint8Array.of(0)), 1, piece.length);
    }
    const out = connection.takeOutput();
    const said = latin1(out.bytes, 0, out.length);
    const matched = Math.min(bytes.length, PREFACE.length);
    const isPreface = bytes.subarray(0, matched).every((byte, i) => byte === PREFACE[i]);
    assertEquals(connection.failed === undefined, isPreface, connection.failed?.why);
    if (isPreface) return;
    const isHttp1 = connection.failed!.code === ERROR_CODE.http11Required;
    assertEquals(said.startsWith("HTTP/1.1 400 "), isHttp1);
    assert(!isHttp1 || !hasGreeted, "two languages on one connection");
    assert(!isHttp1 || /^[A-Z]{3,20} /.test(latin1(bytes, 0, bytes.length)), "no request line");
    assertEquals(sink.take().map(({ event }) => event), ["failed"]);
    connection.receive(bytes, 2);
    assertEquals(connection.outputBytes, 0, "output after the end");
  },
};

function firstBytes(draws: Draws): Uint8Array {
  if (draws.chance(0.2)) return draws.bytes(draws.below(40));
  if (draws.chance(0.3)) {
    const bytes = PREFACE.slice(0, draws.below(PREFACE.length + 1));
    if (bytes.length > 0 && draws.chance(0.7)) bytes[draws.below(bytes.length)] = draws.below(256);
    return bytes;
  }
  const line = draws.pick(METHODS) + draws.pick([" ", "  ", "\t"]) + draws.pick(TARGETS) +
    draws.pick(VERSIONS);
  const bytes = ascii(`${line}host: a\r\n${"x".repeat(draws.small(300))}`);
  if (draws.chance(0.2)) bytes[draws.below(bytes.length)] = draws.below(256);
  return bytes;
}
