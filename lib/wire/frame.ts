import type { OutputBuffer } from "./output_buffer.ts";

/** Length of a frame header (RFC 9113 §4.1). */
export const FRAME_HEADER_BYTES = 9;

/** The frame size every peer must accept (RFC 9113 §4.2); logs are cut to it, so that they fit anybody. */
export const DEFAULT_MAX_FRAME_BYTES = 16_384;

/** Largest value of SETTINGS_MAX_FRAME_SIZE (RFC 9113 §6.5.2). */
export const LARGEST_MAX_FRAME_BYTES = 2 ** 24 - 1;

/** Largest flow-control window (RFC 9113 §6.9.1). */
export const MAX_WINDOW_BYTES = 2 ** 31 - 1;

/** Initial flow-control window of streams and connection (RFC 9113 §6.9.2). */
export const DEFAULT_WINDOW_BYTES = 65_535;

/** What a client sends first (RFC 9113 §3.4). */
export const CLIENT_PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** Frame types (RFC 9113 §6). */
export const FRAME = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goAway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

/** Frame flags (RFC 9113 §6); ACK shares its bit with END_STREAM. */
export const FLAG = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

/** Settings identifiers (RFC 9113 §6.5.2). */
export const SETTING = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
} as const;

/** Error codes (RFC 9113 §7). */
export const ERROR_CODE = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  connectError: 0xa,
  enhanceYourCalm: 0xb,
  inadequateSecurity: 0xc,
  http11Required: 0xd,
} as const;

const ERROR_CODE_NAMES = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];

/** The RFC's name of an error code; `UNKNOWN_99` for one that it does not define. */
export function errorCodeName(code: number): string {
  return ERROR_CODE_NAMES[code] ?? `UNKNOWN_${code}`;
}

/** Reads 32 bits, big-endian and unsigned. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! * 0x1000000) +
    ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!);
}

/** Reads a stream id or a window increment: 31 bits, the reserved one ignored (RFC 9113 §4.1). */
export function readUint31(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! & 0x7f) << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) |
    bytes[at + 3]!;
}

/** Reads a frame's length: 24 bits. */
export function readUint24(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
}

/** Writes 32 bits, big-endian. */
export function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Writes a frame header at `at`; the nine bytes must be there already. */
export function putFrameHeader(
  bytes: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): void {
  bytes[at] = length >>> 16;
  bytes[at + 1] = length >>> 8;
  bytes[at + 2] = length;
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  putUint32(bytes, at + 5, streamId);
}

/** Appends SETTINGS with the given identifier/value pairs (RFC 9113 §6.5). */
export function writeSettings(
  out: OutputBuffer,
  settings: readonly (readonly [id: number, value: number])[],
): void {
  let at = out.extend(FRAME_HEADER_BYTES + 6 * settings.length);
  putFrameHeader(out.bytes, at, 6 * settings.length, FRAME.settings, 0, 0);
  at += FRAME_HEADER_BYTES;
  for (const [id, value] of settings) {
    out.bytes[at] = id >>> 8;
    out.bytes[at + 1] = id;
    putUint32(out.bytes, at + 2, value);
    at += 6;
  }
}

/** Appends the acknowledgement of the peer's SETTINGS (RFC 9113 §6.5.3). */
export function writeSettingsAck(out: OutputBuffer): void {
  const at = out.extend(FRAME_HEADER_BYTES); // may replace the storage, so before it is named
  putFrameHeader(out.bytes, at, 0, FRAME.settings, FLAG.ack, 0);
}

/** Appends PING with eight opaque bytes taken from `opaque` at `from` (RFC 9113 §6.7). */
export function writePing(out: OutputBuffer, ack: boolean, opaque: Uint8Array, from = 0): void {
  const at = out.extend(FRAME_HEADER_BYTES + 8);
  putFrameHeader(out.bytes, at, 8, FRAME.ping, ack ? FLAG.ack : 0, 0);
  for (let i = 0; i < 8; i++) out.bytes[at + FRAME_HEADER_BYTES + i] = opaque[from + i]!;
}

/** Appends GOAWAY; `debug` is ASCII (RFC 9113 §6.8). */
export function writeGoAway(
  out: OutputBuffer,
  lastStreamId: number,
  code: number,
  debug = "",
): void {
  const at = out.extend(FRAME_HEADER_BYTES + 8 + debug.length);
  putFrameHeader(out.bytes, at, 8 + debug.length, FRAME.goAway, 0, 0);
  putUint32(out.bytes, at + 9, lastStreamId);
  putUint32(out.bytes, at + 13, code);
  for (let i = 0; i < debug.length; i++) out.bytes[at + 17 + i] = debug.charCodeAt(i) & 0x7f;
}

/** Appends RST_STREAM (RFC 9113 §6.4). */
export function writeRstStream(out: OutputBuffer, streamId: number, code: number): void {
  const at = out.extend(FRAME_HEADER_BYTES + 4);
  putFrameHeader(out.bytes, at, 4, FRAME.rstStream, 0, streamId);
  putUint32(out.bytes, at + 9, code);
}

/** Appends WINDOW_UPDATE; stream 0 is the connection (RFC 9113 §6.9). */
export function writeWindowUpdate(out: OutputBuffer, streamId: number, increment: number): void {
  const at = out.extend(FRAME_HEADER_BYTES + 4);
  putFrameHeader(out.bytes, at, 4, FRAME.windowUpdate, 0, streamId);
  putUint32(out.bytes, at + 9, increment);
}
