import { assert } from "@std/assert";
import { ERROR_CODE } from "../../../lib/wire/mod.ts";
import type { BackendEnd, BackendRequest } from "../../support/backend_end.ts";
import { block, data, goAway, headers, type Pairs, raw } from "../../support/frames.ts";
import { valueOf } from "../../support/peer_end.ts";
import type { ProxyRig } from "../../support/proxy_rig.ts";
import type { Draws } from "../draws.ts";
import type { Timeline } from "./asked.ts";

/** What the proxy announces (see `lib/connection/limits.ts`), and what the protocol begins with. */
const STREAM_WINDOW_BYTES = 262_144;
const FIRST_WINDOW_BYTES = 65_535;

const MESSAGE_PREFIX_BYTES = 5;

/** What a reply's head may say of its keeping. */
const REPLY_HEADERS: readonly Pairs[] = [
  [["cache-control", "private"]],
  [["cache-control", "no-store"]],
  [["cache-control", "max-age=1"]],
];

/** How far the scripted backend has come with a request. */
interface Answer {
  /** When its request was there, as a place among all that happened. */
  readonly place: number;
  isBegun: boolean;
  messages: number;
  /** DATA of the reply. */
  sentBytes: number;
  isOver: boolean;
}

/** A backend that answers in parts, out of order, wrongly or not at all; what it says names whose it is. */
export class FickleBackend {
  readonly #draws: Draws;
  readonly #rig: ProxyRig;
  readonly #timeline: Timeline;
  readonly #answers = new Map<BackendRequest, Answer>();

  constructor(draws: Draws, rig: ProxyRig, timeline: Timeline) {
    this.#draws = draws;
    this.#rig = rig;
    this.#timeline = timeline;
    rig.onRequest = (request) => void this.#answerOf(request);
  }

  any(): BackendRequest | undefined {
    const open = this.#rig.requests.filter((request) => this.#isOpen(request));
    return open.length === 0 ? undefined : this.#draws.pick(open);
  }

  #isOpen(request: BackendRequest): boolean {
    return !this.#answerOf(request).isOver && request.seen.reset === undefined &&
      !request.backend.socket.isClosed;
  }

  #answerOf(request: BackendRequest): Answer {
    let answer = this.#answers.get(request);
    if (answer === undefined) {
      answer = {
        place: this.#timeline.next(),
        isBegun: false,
        messages: 0,
        sentBytes: 0,
        isOver: false,
      };
      this.#answers.set(request, answer);
    }
    return answer;
  }

  answer(request: BackendRequest): void {
    const draws = this.#draws;
    const answer = this.#answerOf(request);
    const most = draws.chance(0.3) ? 60_000 : 3_000;
    const size = draws.chance(0.15) ? draws.below(most) : 0;
    draws.note(`backend: on ${request.id} a part of ${size}`);
    if (!answer.isBegun) {
      if (draws.chance(0.1)) request.backend.sends(headers(request.id, [[":status", "103"]]));
      answer.isBegun = true;
      request.begins([], { headers: draws.chance(0.15) ? draws.pick(REPLY_HEADERS) : [] });
    }
    let times = draws.chance(0.8) ? 1 : 0;
    if (size > 3_000) times = 5;
    for (; times > 0; times--) this.#say(request, size);
    if (size <= 3_000 && draws.chance(0.6)) this.#end(request, draws.pick([0, 0, 0, 5, 14]));
  }

  /** One more message, where the windows have room for it. */
  #say(request: BackendRequest, size: number): void {
    const answer = this.#answerOf(request);
    const auth = valueOf(request.fields, "authorization");
    const said = (request.messages[0] ?? "").replace(/\.+$/, "");
    const text = `${request.path} ${auth} ${said} #${answer.messages} ${"~".repeat(size)}`;
    const bytes = text.length + MESSAGE_PREFIX_BYTES;
    if (bytes > this.#windowOf(request) || bytes > this.#connectionWindow(request.backend)) return;
    answer.messages++;
    answer.sentBytes += bytes;
    request.sends(text);
  }

  #windowOf(request: BackendRequest): number {
    return STREAM_WINDOW_BYTES + request.seen.granted - this.#answerOf(request).sentBytes;
  }

  #connectionWindow(backend: BackendEnd): number {
    const sent = backend.requests.reduce((sum, each) => sum + this.#answerOf(each).sentBytes, 0);
    const grants = backend.seen("WINDOW_UPDATE").filter(({ streamId }) => streamId === 0);
    return grants.reduce((sum, { increment }) => sum + increment, FIRST_WINDOW_BYTES) - sent;
  }

  /** Nobody is given credit for what was not sent; and where all that was sent is read, there is room for more. */
  checkCredit({ isAllRead }: { isAllRead: boolean }): void {
    for (const request of this.#rig.requests) {
      const { id, seen } = request;
      const { sentBytes } = this.#answerOf(request);
      assert(
        seen.granted <= sentBytes,
        `request ${id} got credit for ${seen.granted} of ${sentBytes}`,
      );
      if (!isAllRead || !this.#isOpen(request)) continue;
      const window = this.#windowOf(request);
      assert(window > STREAM_WINDOW_BYTES / 2, `a window of ${window} is left to request ${id}`);
    }
  }

  #end(request: BackendRequest, status: number): void {
    const answer = this.#answerOf(request);
    answer.isOver = true;
    this.#draws.note(`backend: on ${request.id} status ${status}`);
    request.ends({
      status,
      trailers: [
        ["x-count", String(answer.messages)],
        ["x-began", String(answer.place)],
        ["x-ended", String(this.#timeline.next())],
        ["x-at", String(this.#rig.clock.now())],
      ],
    });
  }

  fail(request: BackendRequest): void {
    const draws = this.#draws;
    const answer = this.#answerOf(request);
    answer.isOver = true;
    draws.note(`backend: ${request.id} fails`);
    const { backend, id } = request;
    draws.pick([
      () => request.resets(draws.pick([ERROR_CODE.cancel, ERROR_CODE.refusedStream, 0, 2, 11])),
      () => backend.sends(data(id, "half a message", { endStream: true })),
      () => backend.sends(headers(id, [[":status", "503"]], { endStream: draws.chance(0.5) })),
      () => backend.sends(headers(id, [["Illegal", "1"]], { endStream: true })),
      () => backend.sends(headers(id, block([]), { endStream: true })),
      () => answer.isBegun ? request.resets(8) : request.fails(draws.pick([4, 1, 7])),
    ])();
  }

  breakConnection(): void {
    const { backends } = this.#rig;
    if (backends.length === 0) return;
    const draws = this.#draws;
    const backend = draws.pick(backends);
    draws.note("a backend's connection comes to its end");
    draws.pick([
      () => backend.sends(goAway(draws.below(20), 0)),
      () => backend.sends(goAway(2 ** 31 - 1, 0)),
      () => backend.socket.ends(),
      () => backend.socket.ends(new Deno.errors.ConnectionReset("gone")),
      () => backend.sends(raw(0, {}, draws.bytes(3))),
      () => this.#sendsAnything(backend),
    ])();
  }

  /** Frames of any kind but those that replies are made of. */
  #sendsAnything(backend: BackendEnd): void {
    const draws = this.#draws;
    for (let left = draws.between(1, 4); left > 0; left--) {
      const streamId = draws.below(2 * backend.requests.length + 4);
      const payload = draws.bytes(draws.below(12));
      backend.sends(raw(draws.between(2, 11), { flags: draws.below(64), streamId }, payload));
    }
  }

  /** Those that waited for a place are sent when others have ended. */
  async answerAll(): Promise<void> {
    for (let sent = -1; sent !== this.#rig.requests.length;) {
      sent = this.#rig.requests.length;
      for (const request of this.#rig.requests) if (this.#isOpen(request)) this.#endWell(request);
      await this.#rig.settle();
    }
  }

  #endWell(request: BackendRequest): void {
    const answer = this.#answerOf(request);
    if (!answer.isBegun) request.begins([]);
    answer.isBegun = true;
    this.#end(request, 0);
  }
}
