/**
 * The calls by which a client might tell the sidecar from the backend. Each of them costs the backend one call.
 *
 * @module
 */

import { encodeGreetingRequest, type GreetingRequest, HELLO_PATHS } from "../../lib/hello/mod.ts";
import { healthRequest } from "../../lib/grpc/mod.ts";
import type { Kind, Plan } from "./seen.ts";

const { getGreeting, listGreetings, createGreeting, uploadGreetings, chat } = HELLO_PATHS;

/** Long enough for an equal call, sent right after, to meet this one. */
const MEETING_MS = 60;

/** Longer than anybody waits here. */
const NEVER_MS = 600_000;

const MEBIBYTE = 2 ** 20;

/** Text that HTTP/2 cannot carry as it is, and that looks as if it were encoded already. */
const AWKWARD = "nicht – gefunden\n100 % schon\t%41 \u{1f600}";

/** A google.rpc.Status with this code and message, and a detail, as `grpc-status-details-bin` carries one. */
function richStatus(code: number, message: string): Uint8Array {
  const detail = [...textField(1, "type.googleapis.com/hello.v1.Detail"), 0x12, 2, 0x08, 0x7f];
  return Uint8Array.of(0x08, code, ...textField(2, message), 0x1a, detail.length, ...detail);
}

/** A protobuf field of less than 128 bytes. */
function textField(number: number, text: string): number[] {
  const bytes = new TextEncoder().encode(text);
  return [number << 3 | 2, bytes.length, ...bytes];
}

function hello(
  name: string,
  call: { kind: Kind; path: string; ask: readonly GreetingRequest[] } & Partial<Plan>,
): Plan {
  const { ask, ...rest } = call;
  return { ...rest, name, messages: ask.map(encodeGreetingRequest) };
}

function get(name: string, request: GreetingRequest, rest: Partial<Plan> = {}): Plan {
  return hello(name, { kind: "unary", path: getGreeting, ask: [request], ...rest });
}

function list(name: string, request: GreetingRequest, rest: Partial<Plan> = {}): Plan {
  return hello(name, { kind: "server", path: listGreetings, ask: [request], ...rest });
}

const METADATA = [
  ["authorization", "Bearer ada"],
  ["x-twice", "one"],
  ["x-twice", "two, three"],
  ["x-twice", "one"],
  ["x-odd", "~!@#$%^&*()_+ `-={}|[]\\:\";'<>?,./"],
  ["x-long", "long ".repeat(800) + "end"],
  ["x-raw-bin", Uint8Array.of(0, 1, 127, 128, 255)],
  ["x-raw-bin", Uint8Array.of(44, 61)],
] as const;

const ECHO = [":authority", "authorization", "x-twice", "x-odd", "x-long", "x-raw-bin", "x-absent"];

/** Calls whose answer equal callers share: sent together, and once more, they cost the backend one call. */
export const SHARED: readonly Plan[] = [
  get("one greeting", { name: "Ada", delayMs: MEETING_MS }),
  get("a greeting with metadata", { delayMs: MEETING_MS, echoMetadata: ECHO }, {
    metadata: METADATA,
  }),
  get("a reply of 3 MiB", { delayMs: MEETING_MS, replyBytes: 3 * MEBIBYTE }),
  list("a stream of greetings", { name: "Ada", count: 40, delayMs: MEETING_MS, intervalMs: 1 }),
  list("a stream of nothing", { count: 0 }, { metadata: [["x-nothing", "1"]] }),
];

/** The same, but an answer that is not kept: the second round costs the backend one more. */
export const SHARED_FAILURES: readonly Plan[] = [
  get("a failure with details", {
    delayMs: MEETING_MS,
    failWith: { code: 5, message: AWKWARD, details: richStatus(5, AWKWARD) },
  }),
];

/** The same for streams, for clients that hand over the messages before a failure: grpc-js does not always. */
export const SHARED_STREAM_FAILURES: readonly Plan[] = [
  list("a stream that fails", {
    delayMs: MEETING_MS,
    count: 3,
    failWith: { code: 9, message: AWKWARD, details: richStatus(9, AWKWARD) },
  }),
];

/** One call at a time. */
export const SINGLE: readonly Plan[] = [
  get("a message of no bytes", {}),
  get("a request and a reply of 3 MiB", { name: "x".repeat(3 * MEBIBYTE) }),
  get("a reply of 8 MiB", { replyBytes: 8 * MEBIBYTE }),
  get("a compressed request", { name: "press ".repeat(10_000) }, { gzip: true }),
  list("a stream of 500", { count: 500, name: "Ada" }),
  list("a stream of large messages", { count: 12, replyBytes: MEBIBYTE / 2 }),
  hello("a write", { kind: "unary", path: createGreeting, ask: [{ name: "Ada" }] }),
  hello("a write of 3 MiB", {
    kind: "unary",
    path: createGreeting,
    ask: [{ name: "y".repeat(3 * MEBIBYTE) }],
  }),
  hello("a compressed write", {
    kind: "unary",
    path: createGreeting,
    ask: [{ name: "press ".repeat(10_000) }],
    gzip: true,
  }),
  hello("a write with metadata", {
    kind: "unary",
    path: createGreeting,
    ask: [{ echoMetadata: ECHO }],
    metadata: METADATA,
  }),
  hello("an upload", {
    kind: "client",
    path: uploadGreetings,
    ask: ["Ada", "Grace", "Mary"].map((name) => ({ name })),
  }),
  hello("an upload of one", { kind: "client", path: uploadGreetings, ask: [{ name: "Ada" }] }),
  hello("an upload of nothing", { kind: "client", path: uploadGreetings, ask: [] }),
  hello("an upload of 6 MiB", {
    kind: "client",
    path: uploadGreetings,
    ask: Array.from({ length: 12 }, () => ({ name: "z".repeat(MEBIBYTE / 2) })),
  }),
  hello("an upload that fails", {
    kind: "client",
    path: uploadGreetings,
    ask: [{ failWith: { code: 9, message: AWKWARD } }, {}],
  }),
  hello("a chat", {
    kind: "bidi",
    path: chat,
    ask: Array.from({ length: 50 }, (_, n) => ({ name: `caller ${n}`, echoMetadata: ["x-odd"] })),
    metadata: METADATA,
  }),
  hello("a chat without a word", { kind: "bidi", path: chat, ask: [] }),
  hello("a method that is not there", {
    kind: "unary",
    path: "/hello.v1.Hello/GetNothing",
    ask: [{}],
  }),
  hello("a write that is not there", { kind: "unary", path: "/hello.v1.Hello/Nothing", ask: [{}] }),
  hello("a service that is not there", { kind: "bidi", path: "/no.Such/Thing", ask: [{}, {}] }),
];

/** Every status that gRPC has but OK, on a read and on a write. */
export const STATUSES: readonly Plan[] = Array.from({ length: 16 }, (_, i) => i + 1).flatMap(
  (code) => {
    const failWith = { code, message: `code ${code}: ${AWKWARD}`, details: richStatus(code, "?") };
    const ask = [{ name: `code ${code}`, failWith }];
    return [
      get(`a read with status ${code}`, ask[0]!),
      hello(`a write with status ${code}`, { kind: "unary", path: createGreeting, ask }),
    ];
  },
);

const HURRIED = { deadlineMs: 100, ownWords: true };

/** Calls that their caller ends; last those that may be over before they have reached a backend. */
export const CUT_SHORT: readonly Plan[] = [
  get("a read within its deadline", { name: "in time" }, { deadlineMs: NEVER_MS }),
  get("a read that is cancelled", { name: "cancelled", delayMs: NEVER_MS }, { cancelAfter: 0 }),
  hello("a write that is cancelled", {
    kind: "unary",
    path: createGreeting,
    ask: [{ delayMs: NEVER_MS }],
    cancelAfter: 0,
  }),
  list("a stream that is cancelled", { count: 9, intervalMs: 5 }, { cancelAfter: 3 }),
  hello("a chat that is cancelled", {
    kind: "bidi",
    path: chat,
    ask: [{ name: "Ada" }, { name: "Grace" }, { delayMs: NEVER_MS }],
    cancelAfter: 2,
  }),
  get("a read past its deadline", { delayMs: NEVER_MS }, HURRIED),
  hello("a write past its deadline", {
    kind: "unary",
    path: createGreeting,
    ask: [{ delayMs: NEVER_MS }],
    ...HURRIED,
  }),
  list("a stream past its deadline", { count: 2, intervalMs: NEVER_MS }, HURRIED),
  hello("a chat past its deadline", {
    kind: "bidi",
    path: chat,
    ask: [{ name: "Ada" }, { delayMs: NEVER_MS }],
    ...HURRIED,
  }),
];

const bytesOf = (...bytes: number[]) => Uint8Array.from(bytes);
const HEALTH = "/grpc.health.v1.Health";

/** What tools and probes ask. None of it is counted by the backend. */
export const TOOLS: readonly Plan[] = [
  ...["", "hello.v1.Hello", "no.Such"].map((service): Plan => ({
    name: `health of "${service}"`,
    kind: "unary",
    path: `${HEALTH}/Check`,
    messages: [healthRequest(service)],
  })),
  {
    name: "a watch on health",
    kind: "server",
    path: `${HEALTH}/Watch`,
    messages: [healthRequest("")],
    cancelAfter: 1,
  },
  ...["v1", "v1alpha"].map((version): Plan => ({
    name: `reflection ${version}`,
    kind: "bidi",
    path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    // list_services = "", file_containing_symbol = "hello.v1.Hello", = "x"
    messages: [
      bytesOf(0x3a, 0),
      bytesOf(0x22, 14, ...new TextEncoder().encode("hello.v1.Hello")),
      bytesOf(0x22, 1, 0x78),
    ],
  })),
];
