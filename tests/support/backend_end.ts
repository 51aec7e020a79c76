import { assertEquals } from "@std/assert";
import { STATUS } from "../../lib/grpc/mod.ts";
import type { SeenFrame } from "./frame_parser.ts";
import {
  block,
  headers,
  type Pairs,
  ping,
  PREFACE,
  RESPONSE,
  rstStream,
  settings,
  settingsAck,
  splitBlock,
  windowUpdate,
} from "./frames.ts";
import { hex } from "./hex.ts";
import {
  message,
  PeerEnd,
  SeenStream,
  type SettingPairs,
  valueOf,
  WIDE,
  WIDE_CONNECTION,
} from "./peer_end.ts";
import { isQuestion } from "./questions.ts";

/** How a scripted backend ends a call: by default well. */
export interface Ending {
  readonly status?: number;
  /** Fields after the status. */
  readonly trailers?: Pairs;
  /** Fields after :status and content-type. */
  readonly headers?: Pairs;
}

/** A backend's connection. */
export class BackendEnd extends PeerEnd {
  /** Callers' calls and questions about health, in order. */
  readonly requests: BackendRequest[] = [];
  /** What the sidecar asks by itself about descriptors, in order. */
  readonly questions: BackendRequest[] = [];
  /** Hears of each request once it is complete. */
  onRequest: ((request: BackendRequest) => void) | undefined = undefined;
  /** Hears of each question once it is complete: by default this backend knows nothing of reflection (12). */
  onQuestion: (question: BackendRequest) => void = (question) => {
    if (this.answersPings) question.fails(STATUS.unimplemented);
  };
  /** It answers PINGs, as it must; that and the answer to questions are all that it does by itself. */
  answersPings = true;
  /** False makes it say by itself that it knows nothing of reflection (12), as most backends do. */
  hasReflection = true;
  #all: BackendRequest[];
  /** Requests and questions; each stream id is used, in order. */
  #streams: BackendRequest[] = [];
  #prefaceSeen = false;

  /** Requests, and no questions, are noted in `all` too, where those of several connections stand in their order. */
  constructor(all: BackendRequest[], pairs: SettingPairs | "silent" = WIDE) {
    super();
    this.#all = all;
    if (pairs === "silent") return;
    this.sends(settings(...pairs), settingsAck());
    if (pairs === WIDE) this.grants(WIDE_CONNECTION);
  }

  /** Requests that have neither ended nor been reset. */
  get open(): BackendRequest[] {
    return this.requests.filter((request) => !request.isOver);
  }

  protected override preface(bytes: Uint8Array): Uint8Array {
    if (this.#prefaceSeen) return bytes;
    assertEquals(bytes.subarray(0, PREFACE.length), PREFACE);
    this.#prefaceSeen = true;
    return bytes.subarray(PREFACE.length);
  }

  protected override see(frame: SeenFrame): void {
    if (frame.type === "PING" && this.answersPings) {
      this.sends(ping(hex(frame.opaque), { ack: true }));
    }
    if (!("streamId" in frame) || frame.streamId === 0) return;
    const known = this.#streams[(frame.streamId - 1) / 2];
    const request = known ?? new BackendRequest(this, frame.streamId);
    request.seen.see(frame);
    if (known === undefined) this.#note(request);
    if (!("endStream" in frame) || !frame.endStream) return;
    if (request.isQuestion) this.onQuestion(request);
    else this.onRequest?.(request);
  }

  #note(request: BackendRequest): void {
    this.#streams.push(request);
    if (request.isQuestion) {
      this.questions.push(request);
    } else {
      this.requests.push(request);
      this.#all.push(request);
    }
  }
}

/** A call as its backend sees it. */
export class BackendRequest {
  readonly id: number;
  readonly seen: SeenStream;
  readonly backend: BackendEnd;
  #answered = false;
  #begun = false;

  constructor(backend: BackendEnd, id: number) {
    this.backend = backend;
    this.id = id;
    this.seen = new SeenStream(id);
  }

  get fields(): Pairs {
    return this.seen.blocks[0] ?? [];
  }

  get path(): string | undefined {
    return valueOf(this.fields, ":path");
  }

  /** The sidecar asks this by itself. */
  get isQuestion(): boolean {
    return isQuestion((name) => valueOf(this.fields, name));
  }

  get messages(): string[] {
    return this.seen.messages;
  }

  /** The request is complete. */
  get ended(): boolean {
    return this.seen.endedBy !== undefined;
  }

  get isOver(): boolean {
    return this.#answered || this.seen.reset !== undefined;
  }

  /** A whole reply: HEADERS, a message each, trailers. */
  replies(messages: readonly (string | Uint8Array)[], ending: Ending = {}): void {
    const frames = messages.map((said) => message(this.id, said));
    this.backend.sends(this.#head(ending), ...frames, this.#tail(ending));
  }

  /** The initial metadata, and messages that come with it. */
  begins(messages: readonly (string | Uint8Array)[] = [], ending: Ending = {}): void {
    const frames = messages.map((said) => message(this.id, said));
    this.backend.sends(this.#head(ending), ...frames);
  }

  sends(said: string | Uint8Array): void {
    this.backend.sends(message(this.id, said));
  }

  ends(ending: Ending = {}): void {
    this.backend.sends(this.#tail(ending));
  }

  /** A status at once, in the only HEADERS. */
  fails(status: number, trailers: Pairs = []): void {
    this.#answered = true;
    const fields: Pairs = [...RESPONSE, ["grpc-status", String(status)], ...trailers];
    this.backend.sends(headers(this.id, fields, { endStream: true }));
  }

  resets(code: number): void {
    this.#answered = true;
    this.backend.sends(rstStream(this.id, code));
  }

  /** More DATA of the request may come. */
  grants(bytes: number): void {
    this.backend.sends(windowUpdate(this.id, bytes));
  }

  /** It echoes: one message, what it was asked. */
  echoes(prefix = "re:"): void {
    this.replies(this.messages.map((asked) => prefix + asked));
  }

  #head({ headers: fields = [] }: Ending): Uint8Array {
    this.#begun = true;
    return splitBlock(this.id, block([...RESPONSE, ...fields]));
  }

  #tail({ status = 0, trailers = [] }: Ending): Uint8Array {
    this.#answered = true;
    assertEquals(this.#begun, true, "trailers before headers");
    const fields: Pairs = [["grpc-status", String(status)], ...trailers];
    return splitBlock(this.id, block(fields), { endStream: true });
  }
}
