import { BackendCounters } from "../observe/mod.ts";
import {
  type Backend,
  type BackendReport,
  Endpoint,
  type EndpointGroup,
  type EndpointOptions,
  type Exchange,
  type Failure,
  healthProbe,
  type InternalCall,
  type Upstream,
  type UpstreamContext,
} from "../upstream/mod.ts";
import { Host } from "./host.ts";
import { type DetectionOwner, OutlierDetection } from "./outlier_detection.ts";
import { type Picker, pickerFor, type Routing } from "./picker.ts";

/** When fewer of the replicas than this share can be reached and are healthy, the others are used as well (A50, "panic"). */
const PANIC_SHARE = 0.5;

/** What several addresses are (BACKEND_KIND): any can answer, or only one has the data. */
export type BackendKind = "replicas" | "shards";

/** How several backends are used. */
export interface BalanceOptions {
  readonly kind: BackendKind;
  readonly routing: Routing;
  /** Whether those that fail while others do not are left out for a while. */
  readonly ejects: boolean;
  readonly scheme: "http" | "https";
}

/**
 * Several backends, each behind a bulkhead of its own: its connections, its calls under way, its queue, its credit. A
 * call is placed once, by the routing, among those that can take it.
 */
export class BalancedCluster implements Upstream, DetectionOwner {
  hosts: readonly Host[] = [];
  readonly areReplicas: boolean;
  readonly #context: UpstreamContext;
  readonly #options: BalanceOptions;
  readonly #pickFrom: Picker;
  readonly #detection: OutlierDetection;
  readonly #probes = new Map<Host, InternalCall>();
  #opened = false;
  #stopped = false;

  constructor(options: BalanceOptions, context: UpstreamContext) {
    this.areReplicas = options.kind === "replicas";
    this.#options = options;
    this.#context = context;
    this.#pickFrom = pickerFor(options.routing);
    this.#detection = new OutlierDetection(this, context.timers);
  }

  /** Why no call can be sent now; "" when one can. */
  get trouble(): string {
    let first = "";
    for (const { endpoint } of this.hosts) {
      if (endpoint.trouble === "") return "";
      if (first === "") first = `${endpoint.name}: ${endpoint.trouble}`;
    }
    return first;
  }

  /** Makes these the backends. Those that stay keep all they have; those that go finish their calls. */
  become(options: readonly EndpointOptions[]): void {
    if (this.#stopped) return;
    const { counters } = this.#context;
    const known = new Map(this.hosts.map((host) => [host.endpoint.name, host]));
    this.hosts = options.map((wanted) => {
      const host = known.get(wanted.name);
      known.delete(wanted.name);
      return host ?? this.#add(wanted);
    });
    for (const host of known.values()) {
      this.#forget(host);
      const own = host.endpoint.counters;
      counters.backendLeaves(own);
      host.endpoint.retire(() => counters.backendIsGone(own));
    }
    this.#judgeAll();
  }

  /** Connects, and keeps doing so. */
  open(): void {
    this.#opened = true;
    for (const { endpoint } of this.hosts) endpoint.open();
    if (this.#options.ejects) this.#detection.start();
  }

  /** Lets go of every connection, and resolves when all are gone; calls under way get 14. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#detection.stop();
    for (const probe of this.#probes.values()) probe.stop();
    this.#probes.clear();
    await Promise.all(this.hosts.map(({ endpoint }) => endpoint.stop()));
  }

  reports(): readonly BackendReport[] {
    return this.hosts.map(({ endpoint: { counters, trouble }, standing, why }) => ({
      ...{ counters, trouble, standing, why },
    }));
  }

  // ---- calls

  start(exchange: Exchange): void {
    const host = this.#pick(exchange);
    if (host === undefined) return this.#refuse(exchange);
    const { endpoint } = host;
    if (!this.areReplicas && host.isLeftOut) return endpoint.refuse(exchange, outOf(host));
    if (!this.areReplicas && endpoint.isDown) {
      return endpoint.refuse(exchange, { kind: "unreachable", why: endpoint.trouble });
    }
    if (exchange.mayQueue !== "yes" && isFull(host)) {
      return endpoint.refuse(exchange, { kind: "callerCrowded", backend: endpoint.name });
    }
    this.#give(host, exchange);
  }

  bodyGrew(exchange: Exchange): void {
    exchange.at?.bodyGrew(exchange);
  }

  cancel(exchange: Exchange): void {
    exchange.at?.cancel(exchange);
  }

  settle(exchange: Exchange, failure: Failure): void {
    exchange.at?.settle(exchange, failure);
  }

  #give(host: Host, exchange: Exchange): void {
    this.#detection.begins(host, exchange);
    host.endpoint.start(exchange);
  }

  /**
   * By the routing, among those that take calls; when none does, among those that may be reached in a moment; when none
   * may, among all, whose trouble then is the call's.
   */
  #pick(exchange: Exchange): Host | undefined {
    const { hosts } = this;
    if (!this.areReplicas) return this.#pickFrom(exchange, hosts, anyone);
    return this.#pickFrom(exchange, hosts, takesCalls) ??
      this.#pickFrom(exchange, hosts, mayBeReached) ??
      this.#pickFrom(exchange, hosts, anyone);
  }

  #elsewhere(from: Host, exchange: Exchange): Pick<Backend, "start"> | undefined {
    if (!this.areReplicas) return undefined;
    const { hosts } = this;
    const next = this.#pickFrom(exchange, hosts, (host) => takesCalls(host) && host !== from) ??
      this.#pickFrom(exchange, hosts, (host) => mayBeReached(host) && host !== from);
    return next && { start: (moved) => this.#give(next, moved) };
  }

  #refuse(exchange: Exchange): void {
    const { timers, observer } = this.#context;
    exchange.reply.fail({ kind: "unreachable", why: this.trouble });
    exchange.tell(timers.nowMs, observer);
  }

  // ---- what the detection of outliers tells

  ejected(host: Host): void {
    this.#context.observer.backendEjected(host.endpoint.name, host.why);
    this.#judgeAll();
    if (this.areReplicas) host.endpoint.handOver();
    else host.endpoint.refuseWaiting(outOf(host));
  }

  returned(host: Host): void {
    this.#context.observer.backendReturned(host.endpoint.name);
    this.#judgeAll();
  }

  gateChanged(): void {
    this.#judgeAll();
  }

  asksHealth(host: Host): void {
    if (this.#stopped || this.#probes.has(host)) return;
    const { timers } = this.#context;
    const { endpoint } = host;
    const { instance } = this.#context;
    const world = { backend: endpoint, timers, scheme: this.#options.scheme, instance };
    const probe = healthProbe(world, endpoint.authority, (recovery) => {
      this.#probes.delete(host);
      this.#detection.recovers(host, recovery);
    });
    this.#probes.set(host, probe);
    probe.start();
  }

  // ---- hosts

  #add(options: EndpointOptions): Host {
    const counters = new BackendCounters(options.name);
    this.#context.counters.backends.push(counters);
    const detection = this.#options.ejects ? this.#detection : undefined;
    const group: EndpointGroup = {
      answers: (exchange) => detection?.answers(host, exchange),
      leaves: (exchange, nowMs) => detection?.leaves(host, exchange, nowMs),
      reaches: () => this.reaches(host),
      elsewhere: (exchange) => this.#elsewhere(host, exchange),
    };
    const endpoint = new Endpoint(options, this.#context, { counters, group });
    const host = new Host(endpoint, {
      ejectionEnd: () => this.asksHealth(host),
      leaseEnd: () => this.#detection.leaseEnds(host),
    });
    if (this.#opened) endpoint.open();
    return host;
  }

  /** The host can be reached, or no longer. */
  protected reaches(host: Host): void {
    this.#judgeAll();
    // It came back, and need not wait for its time to be over to say that it is well.
    if (host.standing === "ejected" && host.endpoint.trouble === "") this.asksHealth(host);
  }

  #forget(host: Host): void {
    this.#detection.forget(host);
    this.#probes.get(host)?.stop();
    this.#probes.delete(host);
  }

  /** Which hosts take calls from now on. */
  #judgeAll(): void {
    const { hosts, areReplicas } = this;
    const isWell = (host: Host) => host.endpoint.trouble === "" && !host.isLeftOut;
    const well = hosts.filter(isWell).length;
    const panics = areReplicas && well < hosts.length * PANIC_SHARE;
    for (const host of hosts) {
      host.takesCalls = panics ? host.endpoint.trouble === "" : isWell(host);
      host.endpoint.counters.ejected = host.standing === "ejected";
    }
  }
}

function takesCalls(host: Host): boolean {
  return host.takesCalls;
}

/** The host is being connected to, and has not failed. */
function mayBeReached({ endpoint, standing }: Host): boolean {
  return !endpoint.isDown && standing === "healthy";
}

function anyone(): boolean {
  return true;
}

function outOf({ endpoint, why }: Host): Failure {
  return { kind: "ejected", backend: endpoint.name, why };
}

/** Whether a call would have to wait for a place. */
function isFull({ endpoint: { counters: { inflight, limit, pending } } }: Host): boolean {
  return pending > 0 || inflight >= limit;
}
