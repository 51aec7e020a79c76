import { assert } from "@std/assert";
import { ERROR_CODE } from "../../../lib/wire/mod.ts";
import type { BackendEnd, BackendRequest } from "../../support/backend_end.ts";
import { goAway } from "../../support/frames.ts";
import type { ProxyRig } from "../../support/proxy_rig.ts";
import type { Timeline } from "./asked.ts";

/** What the proxy announces (see `lib/connection/limits.ts`), and what the protocol begins with. */
const STREAM_WINDOW_BYTES = 131_072;
const FIRST_WINDOW_BYTES = 65_535;

/** How far the scripted backends have come with a request. */
export interface Answer {
  /** When its request was there, as a place among all that happened. */
  readonly place: number;
  isBegun: boolean;
  messages: number;
  /** When the last message was sent. */
  saidMs: number;
  /** DATA of the reply. */
  sentBytes: number;
  isOver: boolean;
  /** It was refused before anything was answered: no application has looked at it (RFC 9113 §8.7). */
  isRefused: boolean;
}

/** What backends have said so far, request by request and connection by connection. */
export class Answers {
  readonly #rig: ProxyRig;
  readonly #timeline: Timeline;
  readonly #all = new Map<BackendRequest, Answer>();
  /** The streams that a connection's GOAWAY leaves to it end here. */
  readonly #lastIds = new Map<BackendEnd, number>();
  readonly #ended = new Set<BackendEnd>();

  constructor(rig: ProxyRig, timeline: Timeline) {
    this.#rig = rig;
    this.#timeline = timeline;
  }

  of(request: BackendRequest): Answer {
    let answer = this.#all.get(request);
    if (answer === undefined) {
      answer = {
        ...{ place: this.#timeline.next(), isBegun: false, messages: 0 },
        ...{ saidMs: 0, sentBytes: 0, isOver: false, isRefused: false },
      };
      this.#all.set(request, answer);
    }
    return answer;
  }

  /** Something can still be said to it. */
  isOpen(request: BackendRequest): boolean {
    return !this.of(request).isOver && request.seen.reset === undefined &&
      !request.backend.socket.isClosed;
  }

  // ---- what was not looked at

  /** A connection's backend goes away, and looks at no stream above this one. */
  goAway(backend: BackendEnd, lastStreamId: number): void {
    if (!this.#ended.has(backend)) this.#leaveAbove(backend, lastStreamId);
    backend.sends(goAway(lastStreamId, ERROR_CODE.noError));
  }

  /** A backend sends frames of any kind: it may refuse what it likes. */
  sayAnything(backend: BackendEnd, frames: readonly Uint8Array[]): void {
    this.#leaveAbove(backend, 0);
    backend.sends(...frames);
  }

  /** A connection comes to its end, in order or not so; nothing more is said on it. */
  end(backend: BackendEnd, why?: Error): void {
    this.#ended.add(backend);
    backend.socket.ends(why);
  }

  #leaveAbove(backend: BackendEnd, lastStreamId: number): void {
    this.#lastIds.set(backend, Math.min(lastStreamId, this.#lastIds.get(backend) ?? Infinity));
  }

  /** Provably no application has looked at the request. */
  isUnseen(request: BackendRequest): boolean {
    return this.of(request).isRefused ||
      request.id > (this.#lastIds.get(request.backend) ?? Infinity);
  }

  // ---- windows

  /** DATA that may be sent to a request now. */
  windowOf(request: BackendRequest): number {
    return Math.min(this.#streamWindow(request), this.#connectionWindow(request.backend));
  }

  #streamWindow(request: BackendRequest): number {
    return STREAM_WINDOW_BYTES + request.seen.granted - this.of(request).sentBytes;
  }

  #connectionWindow(backend: BackendEnd): number {
    const sent = backend.requests.reduce((sum, each) => sum + this.of(each).sentBytes, 0);
    const grants = backend.seen("WINDOW_UPDATE").filter(({ streamId }) => streamId === 0);
    return grants.reduce((sum, { increment }) => sum + increment, FIRST_WINDOW_BYTES) - sent;
  }

  /** Nobody is given credit for what was not sent; and where all that was sent is read, there is room for more. */
  checkCredit({ isAllRead }: { isAllRead: boolean }): void {
    for (const request of this.#rig.requests) {
      const { id, seen } = request;
      const { sentBytes } = this.of(request);
      assert(
        seen.granted <= sentBytes,
        `request ${id} got credit for ${seen.granted} of ${sentBytes}`,
      );
      if (!isAllRead || !this.isOpen(request)) continue;
      const window = this.#streamWindow(request);
      assert(window > STREAM_WINDOW_BYTES / 2, `a window of ${window} is left to request ${id}`);
    }
  }

  /** No backend works for nobody. */
  checkNoneOpen(): void {
    const open = this.#rig.requests.filter((request) => this.isOpen(request));
    const texts = open.map(({ id, path, backend }) =>
      `${id} ${path} at ${this.#rig.hostOf(backend)}`
    );
    assert(open.length === 0, `requests are open for nobody: ${texts.join(", ")}`);
  }
}
