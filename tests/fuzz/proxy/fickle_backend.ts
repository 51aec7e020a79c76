import { parseTimeout } from "../../../lib/grpc/mod.ts";
import { ERROR_CODE } from "../../../lib/wire/mod.ts";
import type { BackendRequest } from "../../support/backend_end.ts";
import { block, data, headers, type Pairs } from "../../support/frames.ts";
import { valueOf } from "../../support/peer_end.ts";
import { CALL_ID } from "./asked.ts";
import type { Scene } from "./scene.ts";
import { isSidecars, SidecarsQuestions } from "./sidecars_questions.ts";

const MESSAGE_PREFIX_BYTES = 5;

/** What a reply's head may say of its keeping. */
const REPLY_HEADERS: readonly Pairs[] = [
  [["cache-control", "private"]],
  [["cache-control", "no-store"]],
  [["cache-control", "max-age=1"]],
  [["cache-control", "no-cache"]],
  [["set-cookie", "sid=1"]],
  [["vary", "user-agent"]],
];

/** What a host does with requests: what chance says, one by one; nothing; or the same with each as it comes. */
type Mood = "fickle" | "mute" | "well" | "ill";
const MOODS: readonly Mood[] = ["fickle", "ill", "ill", "mute", "well"];

/** Backends that answer in parts, out of order, wrongly or not at all; what they say names whose it is. */
export class FickleBackend {
  readonly questions: SidecarsQuestions;
  readonly #scene: Scene;
  readonly #moods = new Map<string, Mood>();

  constructor(scene: Scene) {
    this.#scene = scene;
    this.questions = new SidecarsQuestions(scene);
    scene.rig.onRequest = (request) => this.#comes(request);
    if (scene.draws.chance(0.5)) this.changeMood();
  }

  /** A request of a caller's that is open, at a host that answers when it is asked to. */
  any(): BackendRequest | undefined {
    const { draws, rig, answers } = this.#scene;
    const open = rig.requests.filter((request) =>
      !isSidecars(request) && this.#moodAt(request) !== "mute" && answers.isOpen(request)
    );
    return open.length === 0 ? undefined : draws.pick(open);
  }

  /** A host is of another mood from now on. */
  changeMood(): void {
    const { draws, hosts } = this.#scene;
    const host = draws.pick(hosts.addresses);
    const mood = draws.pick(MOODS);
    draws.note(`${host} is ${mood}`);
    this.#moods.set(host, mood);
  }

  #moodAt({ backend }: BackendRequest): Mood {
    return this.#moods.get(this.#scene.rig.hostOf(backend)) ?? "fickle";
  }

  #comes(request: BackendRequest): void {
    const { draws, answers } = this.#scene;
    answers.of(request); // it has come now
    if (!answers.isOpen(request)) return;
    if (draws.chance(0.5)) this.#keepDeadline(request);
    const mood = this.#moodAt(request);
    if (mood === "well") this.#endWell(request);
    else if (isSidecars(request)) {
      if (draws.chance(0.5)) this.questions.answer(request); // they are not asked for long
    } else if (mood === "ill") this.#failIll(request);
  }

  /** It gives up when the time is over that it was given, as a backend should. */
  #keepDeadline(request: BackendRequest): void {
    const { draws, rig, answers } = this.#scene;
    const timeout = valueOf(request.fields, "grpc-timeout");
    if (timeout === undefined) return;
    rig.clock.after(parseTimeout(timeout), () => {
      if (!answers.isOpen(request)) return;
      draws.note(`${this.#where(request)} gives up`);
      const answer = answers.of(request);
      answer.isOver = true;
      if (answer.isBegun) request.ends({ status: 4 });
      else if (draws.chance(0.3)) request.resets(ERROR_CODE.cancel);
      else request.fails(4);
    });
  }

  answer(request: BackendRequest): void {
    const { draws, answers } = this.#scene;
    const answer = answers.of(request);
    const most = draws.chance(0.3) ? 60_000 : 3_000;
    const size = draws.chance(0.15) ? draws.below(most) : 0;
    draws.note(`${this.#where(request)} gets a part of ${size}`);
    if (!answer.isBegun) {
      if (draws.chance(0.1)) request.backend.sends(headers(request.id, [[":status", "103"]]));
      answer.isBegun = true;
      request.begins([], { headers: draws.chance(0.15) ? draws.pick(REPLY_HEADERS) : [] });
    }
    let times = draws.chance(0.8) ? 1 : 0;
    if (size > 3_000) times = 5;
    for (; times > 0; times--) this.#say(request, size);
    if (size > 3_000 || !draws.chance(0.6)) return;
    const status = draws.pick([0, 0, 0, 5, 14]);
    draws.note(`${this.#where(request)} gets status ${status}`);
    this.#end(request, status);
  }

  /** One more message, where the windows have room for it. */
  #say(request: BackendRequest, size: number): void {
    const { answers } = this.#scene;
    const answer = answers.of(request);
    const auth = valueOf(request.fields, "authorization");
    const said = (request.messages[0] ?? "").replace(/\.+$/, "");
    const text = `${request.path} ${auth} ${said} #${answer.messages} ${"~".repeat(size)}`;
    const bytes = text.length + MESSAGE_PREFIX_BYTES;
    if (bytes > answers.windowOf(request)) return;
    answer.messages++;
    answer.saidMs = this.#scene.rig.clock.now();
    answer.sentBytes += bytes;
    request.sends(text);
  }

  #end(request: BackendRequest, status: number): void {
    const { rig, timeline, answers } = this.#scene;
    const answer = answers.of(request);
    answer.isOver = true;
    request.ends({
      status,
      trailers: [
        ["x-count", String(answer.messages)],
        ["x-began", String(answer.place)],
        ["x-ended", String(timeline.next())],
        ["x-at", String(rig.clock.now())],
        ["x-answers", valueOf(request.fields, CALL_ID) ?? ""],
      ],
    });
  }

  fail(request: BackendRequest): void {
    const { draws, answers } = this.#scene;
    const answer = answers.of(request);
    answer.isOver = true;
    draws.note(`${this.#where(request)} fails`);
    const { backend, id } = request;
    draws.pick([
      () =>
        this.#reset(request, draws.pick([ERROR_CODE.cancel, ERROR_CODE.refusedStream, 0, 2, 11])),
      () => backend.sends(data(id, "half a message", { endStream: true })),
      () => backend.sends(headers(id, [[":status", "503"]], { endStream: draws.chance(0.5) })),
      () => backend.sends(headers(id, [["Illegal", "1"]], { endStream: true })),
      () => backend.sends(headers(id, block([]), { endStream: true })),
      () => answer.isBegun ? request.resets(8) : request.fails(draws.pick([4, 1, 7, 14])),
    ])();
  }

  #reset(request: BackendRequest, code: number): void {
    const answer = this.#scene.answers.of(request);
    answer.isRefused = code === ERROR_CODE.refusedStream && !answer.isBegun;
    request.resets(code);
  }

  /** What a host that is ill does with all that comes. */
  #failIll(request: BackendRequest): void {
    const { draws, answers } = this.#scene;
    const { backend, id } = request;
    if (draws.chance(0.2)) return; // nothing comes of it for now
    const [what, fail] = draws.pick<[what: string, fail: () => void]>([
      ["14", () => request.fails(14)],
      ["a reset", () => this.#reset(request, ERROR_CODE.internalError)],
      ["a refusal", () => this.#reset(request, ERROR_CODE.refusedStream)],
      ["503", () => backend.sends(headers(id, [[":status", "503"]], { endStream: true }))],
      ["the end of its connection", () => answers.end(backend)],
      ["GOAWAY that leaves it out", () => answers.goAway(backend, id - 1)],
    ]);
    draws.note(`${this.#where(request)} gets ${what}`);
    answers.of(request).isOver = true;
    fail();
  }

  #where({ backend, id }: BackendRequest): string {
    return `${this.#scene.rig.hostOf(backend)}: ${id}`;
  }

  // ---- the end

  /** Everybody is well from now on, whatever comes. */
  heal(): void {
    for (const host of this.#scene.hosts.addresses) this.#moods.set(host, "well");
  }

  /** All that is open is answered; those that waited for a place are sent then, and answered as they come. */
  async answerAll(): Promise<void> {
    const { rig, answers } = this.#scene;
    for (const request of rig.requests) if (answers.isOpen(request)) this.#endWell(request);
    await rig.settle();
  }

  #endWell(request: BackendRequest): void {
    if (isSidecars(request)) return this.questions.answerWell(request);
    const answer = this.#scene.answers.of(request);
    if (!answer.isBegun) request.begins([]);
    answer.isBegun = true;
    this.#end(request, 0);
  }
}
