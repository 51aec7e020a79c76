import { healthRequest } from "../../../lib/grpc/mod.ts";
import { latin1, SETTING } from "../../../lib/wire/mod.ts";
import { type CallerEnd, requestHead } from "../../support/caller_end.ts";
import { block, headers, type Pairs, raw, windowUpdate } from "../../support/frames.ts";
import { GET, type ProxyRig, PUT } from "../../support/proxy_rig.ts";
import { type Asked, CALL_ID, HEALTH, placeOf, type Question } from "./asked.ts";
import { nameAt, routingHeader } from "./hosts.ts";
import { LIST } from "./rules.ts";
import type { Scene } from "./scene.ts";

const MOST_CALLERS = 4;

/** More than a measurement of latency is made of (see `GradientLimit`), and than a small queue holds. */
const FLOOD_CALLS = 40;

/** What is asked, what is shared most often. */
const ASKED = [GET, GET, LIST, PUT];

/** What may be said of a call, beside what it asks. */
const METADATA: readonly Pairs[] = [
  [["cache-control", "no-cache"]],
  [["cache-control", "no-store"]],
  [["cache-control", "max-age=0"]],
  [["cache-control", "only-if-cached"]],
  [["x-collapser-debug", "1"]],
  [["grpc-timeout", "50m"]],
  [["grpc-timeout", "2S"]],
  [["grpc-timeout", "0S"]],
  [["grpc-accept-encoding", "gzip, identity"]],
];

/** Callers that ask a few things over and over, give up, hang, leave, or do what nobody may. */
export class FickleCallers {
  readonly asked: Asked[] = [];
  /** Those that broke the protocol, or left: what becomes of their calls is nobody's business. */
  readonly lost = new Set<CallerEnd>();
  /** Frames of any kind, each of which may have been a call. */
  strays = 0;
  readonly #scene: Scene;
  readonly #identities = new Map<CallerEnd, string>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  get #draws(): Scene["draws"] {
    return this.#scene.draws;
  }

  get #rig(): ProxyRig {
    return this.#scene.rig;
  }

  ask(): void {
    this.#call(this.#ask());
  }

  /** Whoever asks how the sidecar itself is, or the backend. */
  askHealth(): void {
    const body = healthRequest(this.#draws.pick(["collapser", ""]));
    this.#call({ path: HEALTH, auth: "a", said: latin1(body, 0, body.length), shard: "" });
  }

  /** Windows are opened wide, and requests that go on are ended. */
  finish(): void {
    for (const caller of this.#rig.callers) {
      if (this.lost.has(caller)) continue;
      caller.grants(2 ** 27);
      for (const call of caller.calls) caller.sends(windowUpdate(call.id, 2 ** 27));
    }
    for (const asked of this.asked) {
      if (!asked.hasEnded && this.#isHeard(asked)) asked.call.ends();
      asked.hasEnded = true;
    }
  }

  async add(): Promise<void> {
    if (this.#rig.callers.length >= MOST_CALLERS) return;
    const small = this.#draws.chance(0.3);
    this.#draws.note(`a caller${small ? " with small windows" : ""}`);
    const windowBytes = small ? this.#draws.pick([100, 0, 3_000]) : 2 ** 20;
    const identity = this.#draws.pick(["", "", "ann", "bob"]);
    const caller = await this.#rig.caller([[SETTING.initialWindowSize, windowBytes]], {
      connectionBytes: small ? this.#draws.pick([0, 1_000_000]) : 2 ** 24,
      identity,
    });
    this.#identities.set(caller, identity);
  }

  #anyCaller(): CallerEnd | undefined {
    const there = this.#rig.callers.filter((caller) => !this.lost.has(caller));
    return there.length === 0 ? undefined : this.#draws.pick(there);
  }

  /** Something to ask, out of a few things. */
  #ask(): Question {
    const draws = this.#draws;
    return {
      path: draws.pick(ASKED),
      auth: draws.chance(0.2) ? "b" : "a",
      said: `${draws.below(3)}`.padEnd(draws.chance(0.05) ? draws.below(6_000) : 1, "."),
      shard: this.#shard(),
    };
  }

  /** A backend by its name, a word that has to be hashed, or nothing. */
  #shard(): string {
    const { draws, hosts } = this.#scene;
    if (routingHeader(hosts) === undefined) return "";
    return draws.pick([...hosts.addresses.map((host) => nameAt(host, hosts)), "word", ""]);
  }

  /** Several ask the same. */
  burst(): void {
    const question = this.#ask();
    for (let left = this.#draws.between(2, 6); left > 0; left--) this.#call(question);
  }

  /** Many ask, each something else. */
  flood(): void {
    this.#draws.note("a flood");
    const question = this.#ask();
    for (let n = 0; n < FLOOD_CALLS; n++) this.#call({ ...question, said: `flood ${n}` });
  }

  #call(question: Question): void {
    const caller = this.#anyCaller();
    if (caller === undefined || caller.seen("GOAWAY").length > 0) return;
    const { draws, rig, timeline } = this.#scene;
    const { path, said } = question;
    const id = draws.chance(0.75) ? `c${this.asked.length}` : "";
    const special = draws.chance(0.2) ? draws.pick(METADATA) : [];
    const metadata = this.#metadata(question, id, special);
    const isHeadOnly = draws.chance(0.04);
    const ends = draws.chance(0.92);
    const hasMessage = draws.chance(0.97);
    const call = isHeadOnly
      ? caller.begins((id) => [headers(id, [...requestHead(path), ...metadata])])
      : caller.call(path, hasMessage ? said : undefined, { metadata, ends });
    draws.note(`call ${call.id} ${path} ${said.slice(0, 3)} ${metadata.join(" ")}`);
    this.asked.push({
      ...{ ...question, caller, call, id },
      identity: this.#identities.get(caller)!,
      hasEnded: ends && !isHeadOnly,
      isFresh: special.some(([, value]) => value === "no-cache"),
      atMs: rig.clock.now(),
      place: timeline.next(),
      writePlace: this.#lastWriteSeen(),
    });
  }

  #metadata({ auth, shard }: Question, id: string, special: Pairs): Pairs {
    const header = routingHeader(this.#scene.hosts);
    return [
      ["authorization", auth],
      ...header === undefined || shard === "" ? [] : [[header, shard] as const],
      ...id === "" ? [] : [[CALL_ID, id] as const],
      ...special,
    ];
  }

  /** The place of the last write that was answered, as far as callers can know. */
  #lastWriteSeen(): number {
    const seen = this.asked.filter(({ path }) => path === PUT).map(({ call }) =>
      placeOf(call, "x-ended")
    );
    return Math.max(0, ...seen);
  }

  /** A call whose request goes on gets its message, another one, a piece of one, or its end. */
  goOn(): void {
    const open = this.asked.filter((asked) => !asked.hasEnded && this.#isHeard(asked));
    if (open.length === 0) return;
    const draws = this.#draws;
    const asked = draws.pick(open);
    asked.hasEnded = draws.chance(0.5);
    draws.note(`call ${asked.call.id} goes on${asked.hasEnded ? " and ends" : ""}`);
    if (asked.hasEnded && draws.chance(0.4)) asked.call.ends();
    else asked.call.sends(asked.said, { ends: asked.hasEnded });
  }

  #isHeard({ caller, call }: Asked): boolean {
    return !this.lost.has(caller) && !call.cancelled && call.reply.reset === undefined &&
      call.reply.endedBy === undefined;
  }

  cancel(): void {
    const open = this.asked.filter((asked) => this.#isHeard(asked));
    if (open.length === 0) return;
    const { call } = this.#draws.pick(open);
    this.#draws.note(`call ${call.id} is cancelled`);
    call.cancels();
  }

  leave(): void {
    const caller = this.#anyCaller();
    if (caller === undefined) return;
    this.#draws.note("a caller leaves");
    this.lost.add(caller);
    caller.leaves(this.#draws.chance(0.5) ? new Deno.errors.ConnectionReset("gone") : undefined);
  }

  window(): void {
    const caller = this.#anyCaller();
    if (caller === undefined) return;
    if (caller.calls.length > 0 && this.#draws.chance(0.7)) {
      this.#draws.pick(caller.calls).grants(1 + this.#draws.below(5_000));
    } else caller.grants(1 + this.#draws.below(50_000));
  }

  /** Frames of any kind, after which most connections are over; who survives goes on as if nothing had been. */
  breakOne(): void {
    const caller = this.#anyCaller();
    if (caller === undefined) return;
    const draws = this.#draws;
    draws.note("a caller breaks the protocol");
    this.lost.add(caller);
    for (let left = draws.between(1, 6); left > 0; left--) {
      const streamId = draws.below(2 * caller.calls.length + 4);
      const payload = draws.chance(0.3)
        ? block([...requestHead(draws.pick(ASKED)), ["authorization", "a"]])
        : draws.bytes(draws.below(14));
      caller.sends(raw(draws.below(11), { flags: draws.below(64), streamId }, payload));
      this.strays++;
    }
    if (draws.chance(0.5)) caller.sends(raw(0, {}, draws.bytes(3)));
  }
}
