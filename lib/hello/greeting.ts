import { Buffer } from "node:buffer";
import { Metadata, type ServerErrorResponse, status } from "./grpc.ts";
import type { Visit } from "./visit.ts";

/** Longest reply that a request may ask for: several times what collapser shares, and no danger to the process. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** Longest delay or interval that a request may ask for; a timer would take at most 2^31 - 1 ms. */
const MAX_DELAY_MS = 3_600_000;

/** What ListGreetings sends to those who do not say. */
const DEFAULT_COUNT = 3;

/** A request as proto-loader hands it over: every field is there but the optional ones that were not sent. */
export interface ReceivedRequest {
  readonly name: string;
  readonly delayMs?: number;
  readonly replyBytes: number;
  readonly echoMetadata: readonly string[];
  readonly failWith: { code: number; message: string; details: Uint8Array } | null;
  readonly count?: number;
  readonly intervalMs: number;
}

/** A reply as proto-loader takes it. */
export interface Reply {
  readonly text: string;
  readonly from: number;
  readonly metadata: Record<string, string>;
  readonly sequence: number;
  readonly padding?: Uint8Array;
}

/** The part of a grpc-js server call that a greeting is made from. */
export interface Caller {
  readonly metadata: Metadata;
  getHost(): string;
}

/** A request's wishes with the defaults filled in. */
export interface Wishes {
  readonly delayMs: number;
  readonly intervalMs: number;
  readonly count: number;
}

/** The wishes of a request. One that is refused has its answer at once, and no greetings. */
export function wishesOf(request: ReceivedRequest, defaultDelayMs: number): Wishes {
  if (refusalOf(request) !== undefined) return { delayMs: 0, intervalMs: 0, count: 0 };
  const { delayMs = defaultDelayMs, intervalMs, count = DEFAULT_COUNT } = request;
  return { delayMs, intervalMs, count };
}

/** The reply to `request`; `serialize` tells how long it is when it must be padded. */
export function greet(
  caller: Caller,
  request: ReceivedRequest,
  options: {
    from: number;
    sequence: number;
    text?: string;
    serialize: (reply: Reply) => Uint8Array;
  },
): Reply {
  const { from, sequence, text = `Hello, ${request.name}`, serialize } = options;
  const reply = { text, from, metadata: echo(caller, request.echoMetadata), sequence };
  if (request.replyBytes === 0) return reply;
  const room = request.replyBytes - serialize(reply).length;
  const padding = Buffer.alloc(paddingLength(room));
  return padding.length === 0 ? reply : { ...reply, padding };
}

/** How the call ends when it does not end well: as its caller wished, or because the wish itself is refused. */
export function failureOf(request: ReceivedRequest, visit: Visit): ServerErrorResponse | undefined {
  const refusal = refusalOf(request);
  const failure = refusal === undefined
    ? request.failWith
    : { code: status.INVALID_ARGUMENT, message: refusal, details: new Uint8Array() };
  if (failure === null || failure.code === status.OK) return undefined;
  const metadata = visit.trailers;
  if (failure.details.length > 0) {
    metadata.set("grpc-status-details-bin", Buffer.from(failure.details));
  }
  const { code, message: details } = failure;
  return { name: "Error", message: details, code, details, metadata };
}

/** Why a request's numbers are out of bounds, if they are. */
export function refusalOf(request: ReceivedRequest): string | undefined {
  const { replyBytes, delayMs = 0, intervalMs } = request;
  if (replyBytes > MAX_REPLY_BYTES) {
    return `Cannot make a reply of ${replyBytes} bytes: the limit is ${MAX_REPLY_BYTES}`;
  }
  const longest = Math.max(delayMs, intervalMs);
  if (longest > MAX_DELAY_MS) return `Cannot wait ${longest} ms: the limit is ${MAX_DELAY_MS}`;
  return undefined;
}

function echo(caller: Caller, names: readonly string[]): Record<string, string> {
  const echoed: Record<string, string> = {};
  for (const name of names) {
    const values = name === ":authority" ? [caller.getHost()] : caller.metadata.get(name);
    if (values.length > 0) {
      echoed[name] = values.map((v) => typeof v === "string" ? v : v.toString("base64")).join(", ");
    }
  }
  return echoed;
}

/** The longest padding that fits in `room` bytes together with its tag and its length, a varint of 7 bits a byte. */
function paddingLength(room: number): number {
  for (let prefix = 2; prefix < room; prefix++) {
    const length = room - prefix;
    if (length < 2 ** (7 * (prefix - 1))) return length;
  }
  return 0;
}
