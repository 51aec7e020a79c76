import type { Flight, Reply } from "../collapse/mod.ts";
import type { SkipReason } from "../observe/mod.ts";
import type { AnswerPrint, Verdict } from "../trust/mod.ts";
import { NO_DEADLINE, type ReplySource } from "../upstream/mod.ts";
import type { FrameLog } from "../wire/mod.ts";
import { AnswerReader } from "./answer_reader.ts";
import { type Asker, namesThatDiffer } from "./asker.ts";
import { Inquiry } from "./inquiry.ts";
import type { TrialMethod } from "./method_trial.ts";
import { Run } from "./run.ts";
import type { TrialContext } from "./trial_context.ts";

/** Largest question that is kept to be asked again, in bytes: as many as may wait hold some 12 MiB of them for a backend. */
export const MAX_QUESTION_BYTES = 1 << 16;

/** An answer that was shared, as far as it is compared. */
export interface SharedReply extends Reply, ReplySource {
  /** With what its leader asked; undefined where nobody noted that, since the method was not on trial. */
  readonly asker: Asker | undefined;
  /** The backend that gave it. */
  readonly backendName: string;
  /** Made when it is first compared. */
  print: AnswerPrint | undefined;
}

/** A caller who is answered with what another one's question brought. */
export interface Follower {
  readonly method: TrialMethod;
  readonly asker: Asker;
  /** What the caller has left, in ms of the timers. */
  readonly deadlineMs: number;
}

/**
 * Asks a sample of followers' questions once more, after they have been answered, and takes a method out that is found to
 * answer by who asks.
 */
export class Verifier {
  readonly #context: TrialContext;

  constructor(context: TrialContext) {
    this.#context = context;
  }

  /**
   * Whether a follower's own answer is asked for once this one is told; `takeMessage` gives its question, for as long as
   * it takes.
   */
  follow<R extends SharedReply>(
    flight: Flight<R>,
    follower: Follower,
    takeMessage: () => FrameLog,
  ): FollowedAnswer | undefined {
    const { method: { trial, counters }, asker } = follower;
    const leader = flight.reply.asker;
    if (trial === undefined || leader === undefined) return undefined;
    const names = namesThatDiffer(leader, asker);
    const kind = trial.sampler.choose(names, this.#context.random());
    if (kind === undefined) return undefined;
    const message = takeMessage();
    if (message.dataBytes > MAX_QUESTION_BYTES) {
      message.clear();
      this.#skip(counters, "size");
      return undefined;
    }
    return new FollowedAnswer(this, { flight, follower, leader, names, kind, message });
  }

  /** The follower has its answer. */
  check(followed: Followed): void {
    const { flight: { reply }, follower: { method, deadlineMs }, kind, message } = followed;
    const { backendTimeoutMs, places, timers } = this.#context;
    const leftMs = deadlineMs === NO_DEADLINE ? Infinity : deadlineMs - timers.nowMs;
    const patienceMs = Math.min(backendTimeoutMs, leftMs);
    // Who waits for a place must not find the answer gone; who does not wait need not read it in vain.
    const early = kind === "first" ? this.#printOf(reply, method) : undefined;
    const skip = (reason: SkipReason) => {
      message.clear();
      this.#skip(method.counters, reason);
    };
    if (patienceMs <= 0) return skip("deadline");
    const backend = reply.backendName;
    const start = () => {
      const shared = early ?? this.#printOf(reply, method);
      if (shared !== undefined) return this.#run(followed, shared, patienceMs);
      skip("size");
      places.ended(backend);
    };
    places.ask({ kind, backend, start, skipped: skip });
  }

  /**
   * The print of a shared answer; undefined of one that is not there as a whole any more, and after a fault of ours, which
   * costs the caller nothing.
   */
  #printOf(reply: SharedReply, { trial }: TrialMethod): AnswerPrint | undefined {
    if (reply.print !== undefined) return reply.print;
    if (!reply.ended || reply.log.start > 0 || reply.log.end === 0) return undefined;
    try {
      return reply.print = new AnswerReader(trial?.ignored).end(reply);
    } catch (error) {
      this.#context.observer.faultOfOurs("reading a shared answer", error);
      return undefined;
    }
  }

  #run(followed: Followed, shared: AnswerPrint, patienceMs: number): void {
    const { flight, follower: { method, asker }, leader, names, kind, message } = followed;
    const backend = flight.reply.backendName;
    method.trial?.sampler.ran(names);
    const ignored = method.trial?.ignored;
    const question = { method, asker, message, patienceMs, key: flight, ignored };
    new Run(this.#context, question, (own) => {
      if (typeof own !== "string") {
        const suspicion = {
          ...{ method, backend, leader, message, shared, own, kind, patienceMs },
        };
        const more = { key: flight, follower: asker, generation: flight.generation };
        new Inquiry(this.#context, { ...suspicion, ...more }, (verdict) => {
          this.#judged(method, verdict, names);
        }).go();
      } else {
        message.clear();
        if (own === "size") this.#skip(method.counters, own);
        else method.counters.onTrial().verified.error++;
      }
      this.#context.places.ended(backend);
    }).start();
  }

  #judged(method: TrialMethod, verdict: Verdict, names: readonly string[]): void {
    const { record, timers, observer, changed } = this.#context;
    method.counters.onTrial().verified[verdict]++;
    record.method(method.path).compared(timers.nowMs, verdict);
    const { trial } = method;
    if (verdict !== "mismatch" || trial === undefined || trial.off !== undefined) return;
    trial.off = names;
    observer.dependsOnCaller(method.path, names, "verify");
    changed(method.path);
  }

  #skip(counters: TrialMethod["counters"], reason: SkipReason): void {
    counters.onTrial().verified.skipped++;
    this.#context.counters.verifySkipped[reason]++;
  }
}

interface Followed {
  readonly flight: Flight<SharedReply>;
  readonly follower: Follower;
  readonly leader: Asker;
  readonly names: readonly string[];
  readonly kind: "first" | "sampled";
  readonly message: FrameLog;
}

/** A follower that was chosen, until it has its answer or goes without. */
export class FollowedAnswer {
  readonly #verifier: Verifier;
  readonly #followed: Followed;

  constructor(verifier: Verifier, followed: Followed) {
    this.#verifier = verifier;
    this.#followed = followed;
  }

  /** The caller has the whole answer; the flight's log still holds it. */
  told(): void {
    this.#verifier.check(this.#followed);
  }

  /** The caller goes without it. */
  drop(): void {
    this.#followed.message.clear();
  }
}
