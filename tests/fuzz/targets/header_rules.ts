import { assertEquals } from "@std/assert";
import { Connection } from "../../../lib/connection/mod.ts";
import { ERROR_CODE, HeaderCache } from "../../../lib/wire/mod.ts";
import {
  concat,
  headers,
  PREFACE,
  REQUEST,
  RESPONSE,
  settings,
  splitBlock,
} from "../../support/frames.ts";
import { RecordingSink } from "../../support/recording_sink.ts";
import { randomFields } from "../fields.ts";
import { declaredLength, isLegalBlock } from "../models/header_rules.ts";
import { ModelEncoder, type ModelField } from "../models/hpack.ts";
import type { Target } from "../run.ts";

/** Shared by all cases: verdicts are kept on the lists. */
const cache = new HeaderCache();

/** Fields in any order, some that are forbidden: the stream fails for exactly those that are. */
export const headerRules: Target = {
  name: "header-rules",
  about: "which header lists may stand where (RFC 9113 §8)",
  run(draws) {
    const role = draws.pick(["server", "client"] as const);
    const kind = role === "server" ? "request" : "response";
    const sink = new RecordingSink();
    const connection = new Connection({ role, sink, headerCache: cache });
    connection.receive(concat(role === "server" ? PREFACE : new Uint8Array(0), settings()), 1);
    if (role === "client") {
      connection.openStream(cache.list(REQUEST), { extra: [], endStream: true });
    }
    const encoder = new ModelEncoder(draws);
    const isTrailers = draws.chance(0.3);
    const head = role === "server" ? REQUEST : RESPONSE;
    sink.take();
    if (isTrailers) connection.receive(headers(1, head), 1);
    const fields = isTrailers || draws.chance(0.3) ? randomFields(draws, 4) : mixed(
      head.map(([name, value]) => ({ name, value })),
      randomFields(draws, 3),
      draws.below(9),
    );
    draws.note(`${isTrailers ? "trailers" : kind} ${JSON.stringify(fields)}`);
    const endStream = draws.chance(isTrailers ? 0.9 : 0.3);
    const encoded = encoder.encode(fields);
    const frames = encoded.length === 0
      ? headers(1, encoded, { endStream })
      : splitBlock(1, encoded, { endStream });
    connection.receive(frames, 1);
    const isLegal = isTrailers
      ? endStream && isLegalBlock("trailers", fields)
      : isLegalBlock(kind, fields) && mayBegin(fields, endStream);
    assertEquals(connection.failed, undefined);
    const told = sink.take().at(-1);
    assertEquals(told?.event, isLegal ? "headers" : "reset", sink.whys.join());
    if (told?.event === "reset") assertEquals(told.code, "PROTOCOL_ERROR");
    connection.takeOutput().clear();
    connection.fail(ERROR_CODE.noError, "the case is over");
  },
};

/** An interim response ends nothing, and an end agrees with content-length (RFC 9113 §8.1). */
function mayBegin(fields: readonly ModelField[], endStream: boolean): boolean {
  const isInterim = fields.some(({ name, value }) => name === ":status" && value.startsWith("1"));
  if (isInterim) return !endStream;
  const declared = declaredLength(fields);
  return declared !== "illegal" && !(endStream && (declared ?? 0) !== 0);
}

function mixed(head: ModelField[], more: readonly ModelField[], at: number): ModelField[] {
  const fields = [...head];
  fields.splice(Math.min(at, fields.length), 0, ...more);
  return fields;
}
