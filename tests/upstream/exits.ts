/**
 * Every way in which a call can leave an endpoint, and what is left of it: see `settle_test.ts`, which plays them.
 *
 * @module
 */

import { assertEquals, assertStrictEquals } from "@std/assert";
import { Connection } from "../../lib/connection/mod.ts";
import type { RefusalReason } from "../../lib/observe/mod.ts";
import { type Exchange, type Failure } from "../../lib/upstream/mod.ts";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { data, goAway, headers, type Pairs, RESPONSE } from "../support/frames.ts";
import { framed, valueOf, WIDE } from "../support/peer_end.ts";
import { EndpointRig, type EndpointRigOptions, type Made } from "./endpoint_rig.ts";
import { type Asked } from "./exchange_fixture.ts";

/** Between the moment a call is sent and its end. */
export const TAKES_MS = 40;

/** A head that a backend with {@linkcode SMALL_HEADS} does not take. */
const LARGE: Asked = { perCall: [["x-large", "v".repeat(1_000)]] };
const SMALL_HEADS: EndpointRigOptions = {
  backendSettings: [...WIDE, [SETTING.maxHeaderListSize, 1_000]],
};

/** What an exit is played with. */
export interface Play {
  readonly rig: EndpointRig;
  /** The call that leaves. */
  readonly subject: Made;
  /** The one that came after it, where that waits or has a place too. */
  readonly next: Made | undefined;
  /** The subject's request, where it was sent. */
  readonly request: BackendRequest;
  /** Calls that were started at another endpoint. */
  readonly elsewhere: Exchange[];
}

export interface Exit {
  readonly name: string;
  /**
   * Where the subject stands: it has the only place; it waits, since another one has that; or it has been made and not
   * started. A call behind it waits in the first two.
   */
  readonly from: "sent" | "queued" | "new";
  readonly options?: EndpointRigOptions;
  readonly asked?: Asked;
  readonly happens: (play: Play) => void | Promise<void>;
  /** What the owner heard; by default the end. */
  readonly heard?: readonly string[];
  /** The status of the reply, where it has ended. */
  readonly status?: number;
  /** Why the reply ended, where that is not the backend's word. */
  readonly failure?: Failure["kind"];
  /** Times it counts as sent, by default those that the backend saw. */
  readonly calls?: number;
  /** Its answer is counted, with this latency. */
  readonly latencyMs?: number;
  /** Why it, and whoever waited with it, were refused. */
  readonly refused?: Partial<Record<RefusalReason, number>>;
  /** Times that it was started here. @default 1 */
  readonly starts?: number;
  /** How its streams ended, as the backend saw them. */
  readonly wire: readonly ("whole" | "CANCEL" | "PROTOCOL_ERROR")[];
  /** What comes of the call behind it. @default "is sent" */
  readonly next?: "is sent" | "fails" | "was sent before";
  readonly faults?: readonly string[];
}

const NOT_GRPC: Pairs = [[":status", "503"], ["content-type", "text/html"]];

export const EXITS: readonly Exit[] = [
  {
    name: "answered OK",
    from: "sent",
    happens: ({ request }) => request.echoes(),
    status: 0,
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "answered with an error",
    from: "sent",
    happens: ({ request }) => {
      request.begins();
      request.ends({ status: 5 });
    },
    status: 5,
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "answered Trailers-Only",
    from: "sent",
    happens: ({ request }) => request.fails(9),
    status: 9,
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "answered in several reads",
    from: "sent",
    happens: async ({ rig, request }) => {
      request.begins(["a"]);
      await rig.settle();
      request.ends();
    },
    heard: ["grew", "ended"],
    status: 0,
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "answered after it has begun to stream, which gave its place away",
    from: "sent",
    happens: async ({ rig, request }) => {
      request.begins(["a", "b"]);
      await rig.settle();
      assertEquals(rig.held, { inflight: 1, pending: 0 });
      assertEquals(rig.requests.length, 2);
      request.ends();
    },
    heard: ["grew", "ended"],
    status: 0,
    latencyMs: TAKES_MS,
    wire: ["whole"],
    next: "was sent before",
  },
  {
    name: "answered after its request has begun to stream, which gave its place away",
    from: "sent",
    asked: { ends: false },
    happens: async ({ rig, subject: { exchange }, request }) => {
      const second = framed("second");
      exchange.body.appendData(second, 0, second.length, true);
      exchange.isStreaming = true;
      rig.endpoint.bodyGrew(exchange);
      assertEquals(rig.held, { inflight: 1, pending: 0 }); // at once: nothing may be read for long
      await rig.settle();
      assertEquals(request.messages, ["subject", "second"]);
      request.replies(["a"]);
    },
    status: 0,
    latencyMs: TAKES_MS,
    wire: ["whole"],
    next: "was sent before",
  },
  {
    name: "answered, of a method whose calls are bounded",
    from: "sent",
    asked: { maxConcurrent: 1 },
    happens: ({ subject: { exchange: { place } }, request }) => {
      assertEquals([place.state, place.countsForMethod], ["held", true]);
      request.echoes();
    },
    status: 0,
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "reset",
    from: "sent",
    happens: ({ request }) => request.resets(ERROR_CODE.internalError),
    status: 13,
    failure: "backendReset",
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "answered with something that is not gRPC",
    from: "sent",
    happens: ({ request: { backend, id } }) => backend.sends(headers(id, NOT_GRPC)),
    status: 14,
    failure: "notGrpc",
    latencyMs: TAKES_MS,
    wire: ["CANCEL"],
  },
  {
    name: "answered without a status",
    from: "sent",
    happens: ({ request: { backend, id } }) =>
      backend.sends(headers(id, RESPONSE), data(id, "", { endStream: true })),
    status: 13,
    failure: "noStatus",
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "answered with more metadata than is taken",
    from: "sent",
    happens: ({ request }) => request.begins([], { headers: [["x-large", "v".repeat(70_000)]] }),
    status: 8,
    failure: "headersTooLarge",
    latencyMs: TAKES_MS,
    wire: ["CANCEL"],
  },
  {
    name: "answered against the rules of HTTP",
    from: "sent",
    happens: ({ request: { backend, id } }) =>
      backend.sends(headers(id, [...RESPONSE, ["connection", "close"]])),
    status: 13,
    failure: "malformedReply",
    latencyMs: TAKES_MS,
    wire: ["PROTOCOL_ERROR"],
  },
  {
    name: "refused twice",
    from: "sent",
    happens: async ({ rig, request }) => {
      request.resets(ERROR_CODE.refusedStream);
      await rig.settle();
      rig.request(-1).resets(ERROR_CODE.refusedStream);
    },
    status: 14,
    failure: "backendReset",
    latencyMs: 0, // the second sending's own
    starts: 2,
    wire: ["whole", "whole"],
  },
  {
    name: "refused once, then answered",
    from: "sent",
    happens: async ({ rig, request }) => {
      request.resets(ERROR_CODE.refusedStream);
      await rig.settle();
      rig.request(-1).echoes();
    },
    status: 0,
    latencyMs: 0,
    starts: 2,
    wire: ["whole", "whole"],
  },
  {
    name: "refused when its time is up",
    from: "sent",
    asked: { deadlineMs: 1_000_001 },
    happens: ({ request }) => request.resets(ERROR_CODE.refusedStream),
    status: 4,
    failure: "deadline",
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "refused when nothing of it can be sent once more",
    from: "sent",
    happens: ({ request, subject: { exchange } }) => {
      exchange.body.dropBefore(exchange.body.end);
      request.resets(ERROR_CODE.refusedStream);
    },
    status: 14,
    failure: "backendReset",
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "above the id of a GOAWAY, then answered",
    from: "sent",
    happens: async ({ rig, request: { backend } }) => {
      backend.sends(goAway(0, ERROR_CODE.noError));
      await rig.settle();
      assertEquals(rig.requests.map(({ messages }) => messages[0]), ["subject", "next"]);
      rig.request(1).echoes();
      await rig.settle();
      rig.request(2).echoes();
    },
    status: 0,
    latencyMs: 0,
    starts: 2,
    wire: ["CANCEL", "whole"],
    next: "was sent before",
  },
  {
    name:
      "above the id of a GOAWAY, then past its deadline (settle) while it waits to be sent again",
    from: "sent",
    happens: async ({ rig, subject: { exchange }, request: { backend } }) => {
      rig.dialling = "hangs";
      backend.sends(goAway(0, ERROR_CODE.noError));
      await rig.settle();
      assertEquals(rig.held, { inflight: 0, pending: 2 });
      rig.endpoint.settle(exchange, { kind: "deadline" });
      assertEquals(rig.held, { inflight: 0, pending: 1 });
      rig.dialling = "accepts";
      rig.answerDials();
    },
    status: 4,
    failure: "deadline",
    starts: 2,
    wire: ["CANCEL"], // and no answer
  },
  {
    name: "below the id of a GOAWAY, and answered",
    from: "sent",
    happens: async ({ rig, request }) => {
      request.backend.sends(goAway(1, ERROR_CODE.noError));
      await rig.settle();
      request.echoes();
    },
    status: 0,
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "connection lost",
    from: "sent",
    happens: ({ request }) => request.backend.socket.ends(),
    status: 14,
    failure: "connectionLost",
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "connection failed",
    from: "sent",
    happens: ({ request }) => request.backend.sends(data(0, "x")),
    status: 14,
    failure: "connectionLost",
    latencyMs: TAKES_MS,
    wire: ["whole"],
  },
  {
    name: "cancelled after it was sent",
    from: "sent",
    happens: ({ rig, subject }) => rig.endpoint.cancel(subject.exchange),
    heard: [],
    status: 1,
    failure: "callerGone",
    latencyMs: TAKES_MS,
    wire: ["CANCEL"],
  },
  {
    name: "cancelled when its end is in and has not been told",
    from: "sent",
    options: { maxConcurrent: 2 },
    happens: ({ rig, subject, next, request }) => {
      const [, other] = rig.requests;
      next!.owner.onEnd = () => rig.endpoint.cancel(subject.exchange);
      other!.echoes();
      request.echoes(); // in the same read
    },
    heard: [],
    status: 0,
    latencyMs: TAKES_MS,
    wire: ["whole"],
    next: "was sent before",
  },
  {
    name: "past its deadline (settle)",
    from: "sent",
    happens: ({ rig, subject }) => rig.endpoint.settle(subject.exchange, { kind: "deadline" }),
    status: 4,
    failure: "deadline",
    latencyMs: TAKES_MS,
    wire: ["CANCEL"],
  },
  {
    name: "past its deadline (settle), and then ended otherwise",
    from: "sent",
    happens: ({ rig, subject: { exchange } }) => {
      rig.endpoint.settle(exchange, { kind: "deadline" });
      rig.endpoint.settle(exchange, { kind: "faultOfOurs" });
      rig.endpoint.repeat(exchange, { kind: "faultOfOurs" });
      rig.endpoint.cancel(exchange);
    },
    status: 4,
    failure: "deadline",
    latencyMs: TAKES_MS,
    wire: ["CANCEL"],
  },
  {
    name: "repeated elsewhere",
    from: "sent",
    happens: async (play) => {
      hasAnother(play);
      play.request.resets(ERROR_CODE.refusedStream);
      await play.rig.settle();
      assertEquals(play.elsewhere.length, 1);
    },
    heard: [],
    wire: ["whole"],
  },
  {
    name: "above the id of a GOAWAY, and repeated elsewhere",
    from: "sent",
    happens: async (play) => {
      hasAnother(play);
      play.request.backend.sends(goAway(0, ERROR_CODE.noError));
      await play.rig.settle();
      assertEquals(play.elsewhere.length, 1);
    },
    heard: [],
    wire: ["CANCEL"],
  },
  {
    name: "retired, and answered",
    from: "sent",
    happens: async ({ rig, request }) => {
      rig.endpoint.retire(() => {});
      await rig.settle();
      assertEquals(rig.held, { inflight: 1, pending: 0 });
      request.echoes();
      await rig.settle();
      assertEquals(rig.backend.socket.isClosed, true);
    },
    status: 0,
    latencyMs: TAKES_MS,
    wire: ["whole"],
    next: "fails",
  },
  {
    name: "stopped",
    from: "sent",
    happens: ({ rig }) => rig.endpoint.stop(),
    status: 14,
    failure: "draining",
    latencyMs: TAKES_MS,
    wire: ["whole"],
    next: "fails",
  },
  {
    name: "answered to an owner that throws",
    from: "sent",
    happens: ({ subject: { owner }, request }) => {
      owner.onEnd = () => {
        throw new Error("no reader");
      };
      request.echoes();
    },
    heard: ["ended", "faulted"],
    status: 0,
    latencyMs: TAKES_MS,
    wire: ["whole"],
    faults: ["passing a reply on"],
  },
  {
    name: "cancelled while queued",
    from: "queued",
    happens: ({ rig, subject }) => rig.endpoint.cancel(subject.exchange),
    heard: [],
    status: 1,
    failure: "callerGone",
    wire: [],
  },
  {
    name: "past its deadline (settle) while queued",
    from: "queued",
    happens: ({ rig, subject }) => rig.endpoint.settle(subject.exchange, { kind: "deadline" }),
    status: 4,
    failure: "deadline",
    wire: [],
  },
  {
    name: "handed over while queued",
    from: "queued",
    happens: (play) => {
      hasAnother(play, (exchange) => exchange === play.subject.exchange);
      play.rig.endpoint.handOver();
      assertStrictEquals(play.elsewhere[0], play.subject.exchange);
      assertEquals(play.elsewhere.length, 1);
    },
    heard: [],
    wire: [],
  },
  {
    name: "head too large, found out when its turn comes",
    from: "queued",
    options: SMALL_HEADS,
    asked: LARGE,
    happens: ({ rig }) => rig.request(0).echoes(),
    status: 8,
    failure: "headersTooLarge",
    wire: [],
    next: "was sent before",
  },
  {
    name: "refused while queued, since the backend is ejected",
    from: "queued",
    happens: ({ rig }) => rig.endpoint.refuseWaiting({ kind: "ejected", backend: "main", why: "" }),
    status: 14,
    failure: "ejected",
    refused: { ejected: 2 }, // the one behind it too
    wire: [],
    next: "fails",
  },
  {
    name: "unreachable while queued",
    from: "queued",
    happens: async ({ rig }) => {
      rig.dialling = "refuses";
      rig.backend.socket.ends();
      await rig.settle();
    },
    status: 14,
    failure: "unreachable",
    wire: [],
    next: "fails",
  },
  {
    name: "retired while queued",
    from: "queued",
    happens: ({ rig }) => rig.endpoint.retire(() => {}),
    status: 14,
    failure: "unreachable",
    wire: [],
    next: "fails",
  },
  {
    name: "stopped while queued",
    from: "queued",
    happens: ({ rig }) => rig.endpoint.stop(),
    status: 14,
    failure: "draining",
    wire: [],
    next: "fails",
  },
  {
    name: "queue full",
    from: "new",
    options: { maxPending: 0 },
    happens: ({ rig, subject }) => {
      rig.call("holder");
      rig.endpoint.start(subject.exchange);
    },
    status: 8,
    failure: "pendingFull",
    refused: { pending_full: 1 },
    wire: [],
  },
  {
    name: "method full",
    from: "new",
    options: { maxConcurrent: 10 },
    asked: { maxConcurrent: 1 },
    happens: ({ rig, subject }) => {
      rig.call("holder", { maxConcurrent: 1 });
      rig.endpoint.start(subject.exchange);
    },
    status: 8,
    failure: "methodFull",
    refused: { method_full: 1 },
    wire: [],
  },
  {
    name: "unreachable",
    from: "new",
    options: { dialling: "refuses" },
    happens: ({ rig, subject }) => rig.endpoint.start(subject.exchange),
    status: 14,
    failure: "unreachable",
    refused: { unreachable: 1 },
    wire: [],
    next: "fails",
  },
  {
    name: "refused by who places calls",
    from: "new",
    happens: ({ rig, subject: { exchange } }) =>
      rig.endpoint.refuse(exchange, { kind: "ejected", backend: "main", why: "" }),
    status: 14,
    failure: "ejected",
    refused: { ejected: 1 },
    wire: [],
  },
  {
    name: "head too large",
    from: "new",
    options: SMALL_HEADS,
    asked: LARGE,
    happens: ({ rig, subject }) => rig.endpoint.start(subject.exchange),
    status: 8,
    failure: "headersTooLarge",
    wire: [],
  },
  {
    name: "fault of ours in sending",
    from: "new",
    happens: ({ rig, subject }) => {
      failsOnce("openStream");
      rig.endpoint.start(subject.exchange);
    },
    status: 13,
    failure: "faultOfOurs",
    calls: 1, // it was on its way, and how much of it went out is not known
    wire: [],
    faults: ["sending a call"],
  },
  {
    name: "fault of ours in sending, after its head",
    from: "new",
    happens: ({ rig, subject }) => {
      failsOnce("relay");
      rig.endpoint.start(subject.exchange);
    },
    status: 13,
    failure: "faultOfOurs",
    calls: 1,
    latencyMs: 0,
    wire: ["CANCEL"],
    faults: ["sending a call"],
  },
];

/** There is another endpoint, which takes these calls. */
function hasAnother(
  { rig, elsewhere }: Play,
  takes: (exchange: Exchange) => boolean = () => true,
): void {
  const other = { start: (moved: Exchange) => void elsewhere.push(moved) };
  rig.group.otherFor = (exchange) => takes(exchange) ? other : undefined;
}

export function subjectsOf({ requests }: EndpointRig): BackendRequest[] {
  return requests.filter(({ fields }) => valueOf(fields, "x-call") === "subject");
}

/** Makes the next call of a connection's method throw. */
function failsOnce(name: "openStream" | "relay"): void {
  const real = Connection.prototype[name];
  Connection.prototype[name] = (() => {
    Connection.prototype[name] = real as never;
    throw new Error(`${name} failed`);
  }) as never;
}
