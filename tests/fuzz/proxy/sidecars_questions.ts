import { ERROR_CODE } from "../../../lib/wire/mod.ts";
import type { BackendRequest } from "../../support/backend_end.ts";
import { describe } from "../../support/descriptors.ts";
import { headers } from "../../support/frames.ts";
import { valueOf } from "../../support/peer_end.ts";
import { HEALTH } from "./asked.ts";
import type { Scene } from "./scene.ts";

const REFLECTION = "/grpc.reflection.";

/** HealthCheckResponse, by its only field. */
const SERVING = Uint8Array.of(0x08, 1);
const NOT_SERVING = Uint8Array.of(0x08, 2);

/** Callers say it; the sidecar's own calls name something else. */
const CALLERS_AUTHORITY = "service.test";

/** The sidecar asks it by itself: how a backend is, or what its methods are. */
export function isSidecars({ path, fields }: BackendRequest): boolean {
  return valueOf(fields, ":authority") !== CALLERS_AUTHORITY &&
    (path === HEALTH || path?.startsWith(REFLECTION) === true);
}

/** What backends say to the sidecar's own questions. */
export class SidecarsQuestions {
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** One that is open. */
  any(): BackendRequest | undefined {
    const { draws, rig, answers } = this.#scene;
    const open = rig.requests.filter((request) =>
      isSidecars(request) && request.ended && answers.isOpen(request)
    );
    return open.length === 0 ? undefined : draws.pick(open);
  }

  /** Any of the answers that there are, silence among them: then it stays open. */
  answer(request: BackendRequest): void {
    const { draws, rig } = this.#scene;
    const ways = request.path === HEALTH ? this.#health : this.#reflection;
    const [what, answer] = draws.pick([...ways, ...this.#eitherWay]);
    draws.note(`${rig.hostOf(request.backend)}: to ${request.path} ${what}`);
    answer(request);
  }

  /** One who is well, and has neither to be called healthy nor to describe anything. */
  answerWell(request: BackendRequest): void {
    const isHealth = request.path === HEALTH;
    if (isHealth && this.#scene.draws.chance(0.5)) return this.#reply(request, SERVING);
    this.#fail(request, isHealth ? this.#scene.draws.pick([12, 5, 7, 16]) : 12);
  }

  get #health(): [what: string, (request: BackendRequest) => void][] {
    return [
      ["SERVING", (request) => this.#reply(request, SERVING)],
      ["NOT_SERVING", (request) => this.#reply(request, NOT_SERVING)],
    ];
  }

  get #reflection(): [what: string, (request: BackendRequest) => void][] {
    return [
      ["levels", (request) => this.#describe(request)],
      ["levels", (request) => this.#describe(request)],
      ["levels", (request) => this.#describe(request)],
      ["levels", (request) => this.#describe(request)],
      ["another service", (request) => this.#reply(request, describe("test.Other", { Get: 1 }))],
      ["no such file", (request) => this.#fail(request, 5)],
    ];
  }

  get #eitherWay(): [what: string, (request: BackendRequest) => void][] {
    return [
      ["12", (request) => this.#fail(request, 12)],
      ["16", (request) => this.#fail(request, 16)],
      ["14", (request) => this.#fail(request, 14)],
      ["HTTP 404", (request) => this.#notGrpc(request)],
      ["a reset", (request) => this.#reset(request, ERROR_CODE.internalError)],
      ["a refusal", (request) => this.#reset(request, ERROR_CODE.refusedStream)],
      ["nonsense", (request) => this.#reply(request, this.#scene.draws.bytes(5))],
      ["nothing at all", (request) => this.#reply(request)],
      ["a beginning", (request) => this.#begin(request)],
      ["silence", () => {}],
    ];
  }

  #describe(request: BackendRequest): void {
    const { draws, rules } = this.#scene;
    const level = () => draws.below(3);
    const levels = { GetItem: level(), ListItems: level(), PutItem: level() };
    if (levels.PutItem === 1) rules.isWriteShared = true;
    this.#reply(request, describe("test.Service", levels));
  }

  #reply(request: BackendRequest, ...messages: Uint8Array[]): void {
    const answer = this.#scene.answers.of(request);
    if (answer.isBegun) return this.#fail(request, 13);
    for (const message of messages) answer.sentBytes += message.length + 5;
    answer.isOver = true;
    request.replies(messages);
  }

  #fail(request: BackendRequest, status: number): void {
    const answer = this.#scene.answers.of(request);
    answer.isOver = true;
    if (answer.isBegun) request.ends({ status });
    else request.fails(status);
  }

  #notGrpc(request: BackendRequest): void {
    const { backend, id } = request;
    const answer = this.#scene.answers.of(request);
    if (answer.isBegun) return this.#fail(request, 12);
    answer.isOver = true;
    backend.sends(headers(id, [[":status", "404"], ["content-type", "text/plain"]], {
      endStream: true,
    }));
  }

  #reset(request: BackendRequest, code: number): void {
    const answer = this.#scene.answers.of(request);
    answer.isOver = true;
    request.resets(code);
  }

  #begin(request: BackendRequest): void {
    const answer = this.#scene.answers.of(request);
    if (!answer.isBegun) request.begins();
    answer.isBegun = true;
  }
}
