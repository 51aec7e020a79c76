/**
 * Frames as a peer would write them (RFC 9113 §6), built without any help from `lib/` but its names
 * for numbers: who shares an encoder with the code under test shares its mistakes.
 *
 * @module
 */

import { CLIENT_PREFACE, type Field, FLAG, FRAME } from "../../lib/wire/mod.ts";

/** Names and values of a header block, in order. */
export type Pairs = readonly (readonly [name: string, value: string])[];

/** A legal request head of a gRPC call. */
export const REQUEST: Pairs = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/test.Service/Method"],
  [":authority", "service.test"],
  ["te", "trailers"],
  ["content-type", "application/grpc"],
];

/** A legal response head. */
export const RESPONSE: Pairs = [[":status", "200"], ["content-type", "application/grpc"]];

/** The trailers of a call that went well. */
export const TRAILERS: Pairs = [["grpc-status", "0"]];

/** What a client sends first (RFC 9113 §3.4). */
export const PREFACE: Uint8Array = ascii(CLIENT_PREFACE);

const NOTHING = new Uint8Array(0);

/** Any frame at all, legal or not. */
export function raw(
  type: number,
  { flags = 0, streamId = 0 }: { flags?: number; streamId?: number },
  payload: Uint8Array = NOTHING,
): Uint8Array {
  return concat(
    uint32(payload.length).subarray(1),
    Uint8Array.of(type, flags),
    uint32(streamId),
    payload,
  );
}

/** DATA; `padding` is the number of bytes after the payload and adds one for its length. */
export function data(
  streamId: number,
  payload: string | Uint8Array,
  { endStream = false, padding }: { endStream?: boolean; padding?: number } = {},
): Uint8Array {
  const bytes = typeof payload === "string" ? ascii(payload) : payload;
  const flags = (endStream ? FLAG.endStream : 0) | (padding === undefined ? 0 : FLAG.padded);
  return raw(FRAME.data, { flags, streamId }, padded(bytes, padding));
}

export interface HeadersOptions {
  readonly endStream?: boolean;
  /** False when CONTINUATION follows. */
  readonly endHeaders?: boolean;
  readonly padding?: number;
  readonly dependsOn?: number;
}

/** HEADERS with these fields as literals, or with a block that is there already. */
export function headers(
  streamId: number,
  fields: Pairs | Uint8Array,
  { endStream = false, endHeaders = true, padding, dependsOn }: HeadersOptions = {},
): Uint8Array {
  const flags = (endStream ? FLAG.endStream : 0) | (endHeaders ? FLAG.endHeaders : 0) |
    (padding === undefined ? 0 : FLAG.padded) | (dependsOn === undefined ? 0 : FLAG.priority);
  const dependency = dependsOn === undefined
    ? NOTHING
    : concat(uint32(dependsOn), Uint8Array.of(15));
  const fragment = fields instanceof Uint8Array ? fields : block(fields);
  return raw(FRAME.headers, { flags, streamId }, padded(concat(dependency, fragment), padding));
}

/** CONTINUATION with a piece of a block. */
export function continuation(
  streamId: number,
  fragment: Uint8Array,
  { endHeaders = true }: { endHeaders?: boolean } = {},
): Uint8Array {
  return raw(FRAME.continuation, { flags: endHeaders ? FLAG.endHeaders : 0, streamId }, fragment);
}

/** PRIORITY, which nobody heeds any more. */
export function priority(streamId: number, dependsOn = 0): Uint8Array {
  return raw(FRAME.priority, { streamId }, concat(uint32(dependsOn), Uint8Array.of(15)));
}

/** RST_STREAM. */
export function rstStream(streamId: number, code: number): Uint8Array {
  return raw(FRAME.rstStream, { streamId }, uint32(code));
}

/** SETTINGS with identifier and value pairs. */
export function settings(
  ...pairs: (readonly [id: number, value: number])[]
): Uint8Array {
  const payload = pairs.map(([id, value]) => concat(Uint8Array.of(id >> 8, id), uint32(value)));
  return raw(FRAME.settings, {}, concat(...payload));
}

/** The acknowledgement of SETTINGS. */
export function settingsAck(): Uint8Array {
  return raw(FRAME.settings, { flags: FLAG.ack });
}

/** PUSH_PROMISE of the stream `promisedId`. */
export function pushPromise(streamId: number, promisedId: number, fields: Pairs): Uint8Array {
  const payload = concat(uint32(promisedId), block(fields));
  return raw(FRAME.pushPromise, { flags: FLAG.endHeaders, streamId }, payload);
}

/** PING of eight bytes; a number stands for that many in the last byte. */
export function ping(
  opaque: Uint8Array | number,
  { ack = false }: { ack?: boolean } = {},
): Uint8Array {
  const bytes = typeof opaque === "number" ? Uint8Array.of(0, 0, 0, 0, 0, 0, 0, opaque) : opaque;
  return raw(FRAME.ping, { flags: ack ? FLAG.ack : 0 }, bytes);
}

/** GOAWAY. */
export function goAway(lastStreamId: number, code: number, debug = ""): Uint8Array {
  return raw(FRAME.goAway, {}, concat(uint32(lastStreamId), uint32(code), ascii(debug)));
}

/** WINDOW_UPDATE; stream 0 is the connection. */
export function windowUpdate(streamId: number, increment: number): Uint8Array {
  return raw(FRAME.windowUpdate, { streamId }, uint32(increment));
}

/** A header block of literals without indexing (RFC 7541 §6.2.2), which needs no table. */
export function block(fields: Pairs): Uint8Array {
  return concat(
    ...fields.map(([name, value]) => concat(Uint8Array.of(0), text(name), text(value))),
  );
}

/** A block with one value so long that the block has exactly `length` bytes. */
export function blockOf(length: number, fields: Pairs, name = "x-filler"): Uint8Array {
  const around = block([...fields, [name, ""]]).length;
  // A length past 126 takes one to four bytes more than the one that the empty value has.
  for (let extra = 0; extra <= 4; extra++) {
    const bytes = block([...fields, [name, "v".repeat(length - around - extra)]]);
    if (bytes.length === length) return bytes;
  }
  throw new Error(`Cannot make a block of ${length} bytes`);
}

/** The block as HEADERS and CONTINUATION frames of at most `size` bytes each. */
export function splitBlock(
  streamId: number,
  bytes: Uint8Array,
  { size = 16_384, endStream = false }: { size?: number; endStream?: boolean } = {},
): Uint8Array {
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    const endHeaders = at + size >= bytes.length;
    frames.push(
      at === 0
        ? headers(streamId, piece, { endStream, endHeaders })
        : continuation(streamId, piece, { endHeaders }),
    );
  }
  return concat(...frames);
}

/** The names and values of fields as they are decoded. */
export function pairsOf(fields: readonly Field[]): [name: string, value: string][] {
  return fields.map(({ name, value }) => [name, value]);
}

/** One after another, as one. */
export function concat(...pieces: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The low byte of each character. */
export function ascii(characters: string): Uint8Array {
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

/** `length` bytes that differ from their neighbours and do not repeat soon. */
export function pattern(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = at * 31 + (at >> 8);
  return bytes;
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function padded(payload: Uint8Array, padding: number | undefined): Uint8Array {
  if (padding === undefined) return payload;
  return concat(Uint8Array.of(padding), payload, new Uint8Array(padding));
}

/** A string literal that is not coded (RFC 7541 §5.2). */
function text(characters: string): Uint8Array {
  const length: number[] = [];
  if (characters.length < 127) {
    length.push(characters.length);
  } else {
    let rest = characters.length - 127;
    length.push(127);
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return concat(Uint8Array.from(length), ascii(characters));
}
