import { AddressBackend, type BackendOptions } from "./backend.ts";
import type { BackendContext } from "./backend_context.ts";
import type { CallBackend } from "./call_context.ts";
import { BackendCounters } from "./counters.ts";
import type { Exchange } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import { healthProbe } from "./health_probe.ts";
import type { BackendReport } from "./inspection.ts";
import { Member } from "./member.ts";
import type { OwnCall } from "./own_call.ts";
import { Outliers, type OutliersOwner } from "./outliers.ts";
import { type Placement, placementFor, type Routing } from "./placement.ts";
import { signOf } from "./sign.ts";

/** When fewer of the replicas than this share can be reached and are in, those that are out are used as well (A50, "panic"). */
const PANIC_SHARE = 0.5;

/** What a backend tells whoever has several. */
export interface BackendGroup {
  /** A call of its has ended. */
  ended(backend: AddressBackend, exchange: Exchange, nowMs: number): void;
  /** It can be reached, or no longer. */
  reaches(backend: AddressBackend): void;
  /** A call that it was not sent, or that it did not look at: another one may take it. Returns whether one has. */
  takesOver(exchange: Exchange, from: AddressBackend): boolean;
}

export interface BackendsOptions {
  /** What several addresses are (BACKEND_KIND): any can answer, or only one has the data. */
  readonly kind: "replicas" | "shards";
  readonly routing: Routing;
  /** Whether those that fail while others do not are left out for a while. */
  readonly ejects: boolean;
  readonly scheme: "http" | "https";
}

/**
 * Several backends, each behind a wall of its own: its connections, its calls under way, its queue, its credit. A call
 * is placed once, by the routing, among those that can take it.
 */
export class Backends implements CallBackend, BackendGroup, OutliersOwner {
  members: readonly Member[] = [];
  readonly areReplicas: boolean;
  #context: BackendContext;
  #options: BackendsOptions;
  #place: Placement;
  #outliers: Outliers;
  #probes = new Map<Member, OwnCall>();
  #opened = false;
  #stopped = false;

  constructor(options: BackendsOptions, context: BackendContext) {
    this.areReplicas = options.kind === "replicas";
    this.#options = options;
    this.#context = context;
    this.#place = placementFor(options.routing);
    this.#outliers = new Outliers(this, context.timers);
  }

  /** Why no call can be sent now; "" when one can. */
  get trouble(): string {
    let first = "";
    for (const { backend } of this.members) {
      if (backend.trouble === "") return "";
      if (first === "") first = `${backend.name}: ${backend.trouble}`;
    }
    return first;
  }

  /** Makes these the backends. Those that stay keep all they have; those that go finish their calls. */
  become(options: readonly BackendOptions[]): void {
    if (this.#stopped) return;
    const { counters } = this.#context;
    const known = new Map(this.members.map((member) => [member.backend.name, member]));
    this.members = options.map((wanted) => {
      const member = known.get(wanted.name);
      known.delete(wanted.name);
      return member ?? this.#add(wanted);
    });
    for (const member of known.values()) {
      this.#forgets(member);
      const at = counters.backends.indexOf(member.backend.counters);
      if (at >= 0) counters.backends.splice(at, 1);
      member.backend.retire();
    }
    this.#judgeAll();
  }

  /** Connects, and keeps doing so. */
  open(): void {
    this.#opened = true;
    for (const { backend } of this.members) backend.open();
    if (this.#options.ejects) this.#outliers.start();
  }

  /** Lets go of every connection; calls under way get 14. */
  stop(): void {
    this.#stopped = true;
    this.#outliers.stop();
    for (const probe of this.#probes.values()) probe.stop();
    this.#probes.clear();
    for (const { backend } of this.members) backend.stop();
  }

  // ---- how they are

  readonly onlyName = "";

  reports(): readonly BackendReport[] {
    return this.members.map(({ backend: { counters, trouble }, standing, why }) => ({
      ...{ counters, trouble, standing, why },
    }));
  }

  // ---- calls

  start(exchange: Exchange): void {
    const member = this.#pick(exchange);
    if (member === undefined) return this.#refuse(exchange);
    const { backend } = member;
    exchange.backend = backend;
    if (!this.areReplicas && isOut(member)) return backend.refuse(exchange, outOf(member));
    if (!this.areReplicas && backend.isDown) {
      return backend.refuse(exchange, { kind: "unreachable", why: backend.trouble });
    }
    if (member.standing === "trial" && !exchange.isProbe) {
      member.trial = exchange;
      this.#judgeAll();
    }
    backend.start(exchange);
  }

  bodyGrew(exchange: Exchange): void {
    exchange.backend?.bodyGrew(exchange);
  }

  cancel(exchange: Exchange, failure?: Failure): void {
    exchange.backend?.cancel(exchange, failure);
  }

  // ---- what backends tell

  ended(backend: AddressBackend, exchange: Exchange, nowMs: number): void {
    if (!this.#options.ejects) return;
    const member = this.#memberOf(backend);
    if (member === undefined) return;
    const wasTrial = exchange === member.trial;
    this.#outliers.observe(member, exchange, signOf(exchange, nowMs));
    if (wasTrial) this.#judgeAll();
  }

  reaches(backend: AddressBackend): void {
    const member = this.#memberOf(backend);
    this.#judgeAll();
    // It came back, and need not wait for its time to be over to say that it is well.
    if (member?.standing === "out" && backend.trouble === "") this.asksHealth(member);
  }

  takesOver(exchange: Exchange, from: AddressBackend): boolean {
    if (!this.areReplicas) return false;
    const { members } = this;
    const isOther = ({ backend }: Member) => backend !== from;
    const next =
      this.#place(exchange, members, (member) => takesCalls(member) && isOther(member)) ??
        this.#place(exchange, members, (member) => mayBeReached(member) && isOther(member));
    if (next === undefined) return false;
    exchange.backend = next.backend;
    next.backend.start(exchange);
    return true;
  }

  // ---- what the detection of outliers tells

  ejected(member: Member): void {
    this.#context.observer.backendEjected(member.backend.name, member.why);
    this.#judgeAll();
    if (this.areReplicas) member.backend.handOver();
    else member.backend.refuseWaiting(outOf(member));
  }

  returned(member: Member): void {
    if (member.standing === "in") this.#context.observer.backendReturned(member.backend.name);
    this.#judgeAll();
  }

  asksHealth(member: Member): void {
    if (this.#stopped || this.#probes.has(member)) return;
    const { timers } = this.#context;
    const { backend } = member;
    const world = { backend, timers, scheme: this.#options.scheme };
    const probe = healthProbe(world, backend.name, (recovery) => {
      this.#probes.delete(member);
      this.#outliers.recovered(member, recovery);
    });
    this.#probes.set(member, probe);
    probe.start();
  }

  // ---- members

  #add(options: BackendOptions): Member {
    const { counters } = this.#context;
    const own = new BackendCounters(options.name);
    counters.backends.push(own);
    const backend = new AddressBackend(options, this.#context, { counters: own, group: this });
    if (this.#opened) backend.open();
    return new Member(backend, (member) => this.asksHealth(member));
  }

  #forgets(member: Member): void {
    this.#outliers.forget(member);
    this.#probes.get(member)?.stop();
    this.#probes.delete(member);
  }

  #memberOf(backend: AddressBackend): Member | undefined {
    return this.members.find((member) => member.backend === backend);
  }

  /** Who takes calls from now on. */
  #judgeAll(): void {
    const { members, areReplicas } = this;
    const isWell = (member: Member) => member.backend.trouble === "" && !isOut(member);
    const well = members.filter(isWell).length;
    const panics = areReplicas && well < members.length * PANIC_SHARE;
    for (const member of members) {
      member.takesCalls = panics ? member.backend.trouble === "" : isWell(member);
      member.backend.counters.ejected = member.standing === "out";
    }
  }

  /**
   * By the routing, among those that take calls; when none does, among those that may be reached in a moment; when none
   * may, among all, whose trouble then is the call's.
   */
  #pick(exchange: Exchange): Member | undefined {
    const { members } = this;
    if (!this.areReplicas) return this.#place(exchange, members, anyone);
    return this.#place(exchange, members, takesCalls) ??
      this.#place(exchange, members, mayBeReached) ??
      this.#place(exchange, members, anyone);
  }

  #refuse(exchange: Exchange): void {
    const { timers, observer } = this.#context;
    exchange.fail({ kind: "unreachable", why: this.trouble });
    exchange.tell(timers.nowMs, observer);
  }
}

function takesCalls(member: Member): boolean {
  return member.takesCalls;
}

/** It is being connected to, and has not failed. */
function mayBeReached({ backend, standing }: Member): boolean {
  return !backend.isDown && standing === "in";
}

function anyone(): boolean {
  return true;
}

/** It is given no calls: it was ejected, or is on trial and has the call that decides. */
function isOut({ standing, trial }: Member): boolean {
  return standing === "out" || standing === "trial" && trial !== undefined;
}

function outOf({ backend, why }: Member): Failure {
  return { kind: "ejected", backend: backend.name, why };
}
