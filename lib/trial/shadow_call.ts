import { type Flight, tellsApart, Waiter } from "../collapse/mod.ts";
import {
  endsStale,
  hasOutgrown,
  isForOneAlone,
  keptMs,
  pauseRefresh,
  staleIfErrorMs,
  staleMs,
  standIn,
} from "../freshness/mod.ts";
import { STATUS } from "../grpc/mod.ts";
import type { ShadowOutcome } from "../observe/mod.ts";
import { type AnswerPrint, likeness } from "../trust/mod.ts";
import type { GatheredReply } from "../upstream/mod.ts";
import type { FrameLog } from "../wire/mod.ts";
import { AnswerReader } from "./answer_reader.ts";
import { namesThatDiffer } from "./asker.ts";
import { Inquiry } from "./inquiry.ts";
import type { ShadowAnswer } from "./shadow_answer.ts";
import { accountOf, type OwnAnswer } from "./shadow_account.ts";
import type { Plan, ShadowParts, ShadowQuestion } from "./shadow_parts.ts";

/**
 * A caller's call in shadow, beside the backend call that it has to itself: its answer is read while it comes by, stands
 * for the answer of the flight it would lead, or is compared with the one it would have been given.
 */
export class ShadowCall extends Waiter<ShadowAnswer> {
  readonly startedMs: number;
  readonly question: ShadowQuestion;
  /** How the call would have been answered, known for certain once it is counted. */
  outcome: ShadowOutcome;
  readonly #shadow: ShadowParts;
  /** Reads what has come of the answer; made with the first of it, since most answers come at once. */
  #reader: AnswerReader | undefined = undefined;
  readonly #hash: number;
  /** Times of what-if for which the call would be saved, as bits. */
  readonly wouldSave: number;
  #leads: ShadowAnswer | undefined;
  /** The answer that it would be given, or be one of those who are. */
  #shared: ShadowAnswer | undefined;
  #own: OwnAnswer | undefined = undefined;
  #message: FrameLog | undefined = undefined;
  #messageBytes = 0;
  #isCounted = false;
  /** The backend knows the method. */
  knowsMethod = false;
  /** The call would have been made all the same, to fetch anew what is stale. */
  readonly isRefresh: boolean;

  constructor(shadow: ShadowParts, question: ShadowQuestion, plan: Plan) {
    super();
    const { method, head, bodyKey } = question;
    const { nowMs } = shadow.context.timers;
    this.#shadow = shadow;
    this.question = question;
    this.startedMs = nowMs;
    this.outcome = plan.outcome;
    this.isRefresh = plan.outcome === "stale" && plan.leads !== undefined;
    this.#leads = plan.leads;
    this.#shared = plan.joins ?? plan.takes;
    if (this.#shared !== undefined) this.#shared.group++;
    const flight = (plan.leads ?? plan.joins)?.flight;
    if (flight !== undefined) shadow.map.join(flight, this);
    this.#hash = shadow.hashes.of(head, bodyKey);
    const { generation } = method.scope;
    this.wouldSave = shadow.whatIf.begins(this.#hash, generation, this, nowMs);
  }

  /** The hash of the key, for those who count keys. */
  get keyHash(): number {
    return this.#hash;
  }

  /** Keeps the question, where answers may come to differ. */
  holdQuestion(message: FrameLog): void {
    if (this.#shared === undefined) return;
    this.#messageBytes = message.heldBytes;
    this.#message = this.#shadow.questions.take(message);
  }

  // ---- the call's own answer

  get #read(): AnswerReader {
    return this.#reader ??= new AnswerReader(this.question.method.trial?.ignored);
  }

  /** More of it has come. */
  grew(reply: GatheredReply): void {
    this.#read.read(reply);
    const flight = this.#leads?.flight;
    if (flight === undefined) return;
    if (hasOutgrown(reply.log, this.question.method.settings)) flight.sealed = true;
    this.#heedWords(flight, reply);
  }

  /** The answer is whole, or has failed; `backend` gave it. */
  ended(reply: GatheredReply, backend: string): void {
    const { timers: { nowMs } } = this.#shadow.context;
    const print = this.#read.end(reply);
    this.#reader = undefined;
    this.#own = { print, ms: nowMs - this.startedMs, bytes: reply.receivedBytes };
    this.knowsMethod = reply.knowsMethod;
    const isGood = reply.status === STATUS.ok && !reply.isBrokenOff;
    this.#shadow.whatIf.ends(this.#hash, this, nowMs, isGood);
    if (this.#leads !== undefined) this.#land(this.#leads, reply, backend);
    this.#settleIfKnown();
  }

  /** The caller has gone, and its call with it. */
  left(): void {
    if (this.#isCounted) return;
    const { whatIf, map, context } = this.#shadow;
    whatIf.ends(this.#hash, this, context.timers.nowMs, false);
    if (this.#leads !== undefined) this.#handOn(this.#leads);
    map.leave(this);
    this.#dropMessage();
    this.#count();
  }

  // ---- leading

  /** The answer of the flight is there: it is kept as an answer would be, and those who wait for it compare theirs. */
  #land(answer: ShadowAnswer, reply: GatheredReply, backend: string): void {
    const { flight } = answer;
    const { map, context: { timers: { nowMs }, random } } = this.#shadow;
    const { settings } = this.question.method;
    const { cache } = reply;
    answer.print = this.#own?.print;
    answer.backend = backend;
    answer.endedMs = nowMs;
    answer.heldBytes = reply.log.end;
    this.#heedWords(flight, reply);
    if (hasOutgrown(reply.log, settings)) flight.sealed = true;
    const isGood = !reply.isBrokenOff &&
      (reply.status === STATUS.ok || settings.cacheErrors && reply.failure === undefined);
    const ttlMs = isGood ? keptMs(cache, settings, random) : 0;
    const stale = flight.refreshes;
    const instead = standIn(
      flight,
      { status: reply.status, codes: settings.staleIfErrorCodes },
      nowMs,
    );
    map.keep(flight, nowMs, ttlMs, staleMs(cache, settings), staleIfErrorMs(cache, settings));
    if (stale?.stored && endsStale(reply.status)) map.stored.remove(stale);
    else if (stale?.stored && this.isRefresh) pauseRefresh(stale, nowMs);
    if (instead !== undefined && this.outcome === "led") this.outcome = "stale";
    for (const waiter of followersOf(flight)) {
      if (waiter === this) continue;
      if (instead !== undefined) waiter.#standsAlone("stale");
      else waiter.#settleIfKnown();
    }
    map.leave(this);
  }

  /** Does what the reply's metadata says so far about sharing it. */
  #heedWords(flight: Flight<ShadowAnswer>, { cache, ended, failure }: GatheredReply): void {
    const { map, context: { timers } } = this.#shadow;
    const { inKey, hitForPassMs } = this.question.method.settings;
    if (isForOneAlone(cache, (name) => tellsApart(inKey, name))) {
      map.makePrivate(flight, hitForPassMs > 0 ? timers.nowMs + hitForPassMs : undefined);
      for (const waiter of followersOf(flight)) if (waiter !== this) waiter.#standsAlone("passed");
      return;
    }
    if (cache?.isNoCache) flight.sealed = true;
    if (ended && failure === undefined) map.endTrial(flight);
  }

  /**
   * The flight goes on without its leader, as long as the call of another who waits for it goes on. Where none does, all
   * have answers of their own already, and nothing to compare them with.
   */
  #handOn(answer: ShadowAnswer): void {
    this.#leads = undefined;
    const others = followersOf(answer.flight).filter((other) => other !== this);
    const next = others.find((other) => other.#own === undefined);
    if (next === undefined) {
      for (const other of others) other.#standsAlone(other.outcome);
      return;
    }
    next.#leads = answer;
    next.#shared = undefined;
    next.#dropMessage();
    answer.asker = next.question.asker;
  }

  // ---- following

  /** The flight has no answer for it: the call is counted as this once it has its own, and compared with nothing. */
  #standsAlone(outcome: ShadowOutcome): void {
    this.outcome = outcome;
    this.#shared = undefined;
    this.#dropMessage();
    this.#shadow.map.leave(this);
    if (this.#own !== undefined) this.#count();
  }

  /** Counts the call once both answers are known, its own and the one that it would have been given. */
  #settleIfKnown(): void {
    const [own, shared] = [this.#own, this.#shared];
    if (own === undefined || shared !== undefined && shared.endedMs === 0) return;
    this.#count();
    if (shared?.print !== undefined) this.#compare(own.print, shared, shared.print);
    else this.#dropMessage();
  }

  #compare(own: AnswerPrint, answer: ShadowAnswer, shared: AnswerPrint): void {
    const { context } = this.#shadow;
    const { method, asker } = this.question;
    const { trial, counters, path } = method;
    const isSuspect = likeness(shared, own) === "different";
    const kind = isSuspect && trial?.takeFirst() ? "first" : "sampled";
    const message = this.#message;
    this.#message = undefined;
    const leader = answer.asker;
    const suspicion = { method, leader, follower: asker, message, shared, own, kind } as const;
    const { flight, backend } = answer;
    const { generation } = flight;
    const more = { key: flight, backend, generation, patienceMs: context.backendTimeoutMs };
    new Inquiry(context, { ...suspicion, ...more }, (verdict) => {
      if (message !== undefined) this.#shadow.questions.released(this.#messageBytes);
      counters.onTrial().compared[verdict]++;
      context.record.method(path).compared(context.timers.nowMs, verdict);
      if (verdict !== "mismatch") return;
      context.observer.dependsOnCaller(path, namesThatDiffer(leader, asker), "shadow");
    }).go();
  }

  #count(): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    accountOf(this.#shadow.context, this, { own: this.#own, shared: this.#shared });
    this.#shadow.map.leave(this);
  }

  #dropMessage(): void {
    if (this.#message === undefined) return;
    this.#shadow.questions.released(this.#messageBytes);
    this.#message.clear();
    this.#message = undefined;
  }
}

function followersOf(flight: Flight<ShadowAnswer>): ShadowCall[] {
  const calls: ShadowCall[] = [];
  for (let waiter = flight.lastWaiter; waiter !== undefined; waiter = waiter.previousWaiter) {
    calls.push(waiter as ShadowCall);
  }
  return calls;
}
