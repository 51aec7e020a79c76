import { BackendCounters } from "../observe/mod.ts";
import {
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
import { classify } from "./classify.ts";
import { Host } from "./host.ts";
import { type DetectionOwner, OutlierDetection } from "./outlier_detection.ts";
import { type Picker, pickerFor, type Routing } from "./picker.ts";

/** When fewer of the replicas than this share can be reached and are in, those that are out are used as well (A50, "panic"). */
const PANIC_SHARE = 0.5;

export interface BalanceOptions {
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
export class BalancedCluster implements Upstream, EndpointGroup, DetectionOwner {
  hosts: readonly Host[] = [];
  readonly areReplicas: boolean;
  #context: UpstreamContext;
  #options: BalanceOptions;
  #place: Picker;
  #outliers: OutlierDetection;
  #probes = new Map<Host, InternalCall>();
  #opened = false;
  #stopped = false;

  constructor(options: BalanceOptions, context: UpstreamContext) {
    this.areReplicas = options.kind === "replicas";
    this.#options = options;
    this.#context = context;
    this.#place = pickerFor(options.routing);
    this.#outliers = new OutlierDetection(this, context.timers);
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
      this.#forgets(host);
      const at = counters.backends.indexOf(host.endpoint.counters);
      if (at >= 0) counters.backends.splice(at, 1);
      host.endpoint.retire();
    }
    this.#judgeAll();
  }

  /** Connects, and keeps doing so. */
  open(): void {
    this.#opened = true;
    for (const { endpoint } of this.hosts) endpoint.open();
    if (this.#options.ejects) this.#outliers.start();
  }

  /** Lets go of every connection; calls under way get 14. */
  stop(): void {
    this.#stopped = true;
    this.#outliers.stop();
    for (const probe of this.#probes.values()) probe.stop();
    this.#probes.clear();
    for (const { endpoint } of this.hosts) endpoint.stop();
  }

  // ---- how they are

  readonly onlyName = "";

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
    exchange.backend = endpoint;
    if (!this.areReplicas && isOut(host)) return endpoint.refuse(exchange, outOf(host));
    if (!this.areReplicas && endpoint.isDown) {
      return endpoint.refuse(exchange, { kind: "unreachable", why: endpoint.trouble });
    }
    if (host.standing === "half-open" && !exchange.isProbe) {
      host.trial = exchange;
      this.#judgeAll();
    }
    endpoint.start(exchange);
  }

  bodyGrew(exchange: Exchange): void {
    exchange.backend?.bodyGrew(exchange);
  }

  cancel(exchange: Exchange, failure?: Failure): void {
    exchange.backend?.cancel(exchange, failure);
  }

  // ---- what backends tell

  ended(endpoint: Endpoint, exchange: Exchange, nowMs: number): void {
    if (!this.#options.ejects) return;
    const host = this.#hostOf(endpoint);
    if (host === undefined) return;
    const wasTrial = exchange === host.trial;
    this.#outliers.observe(host, exchange, classify(exchange, nowMs));
    if (wasTrial) this.#judgeAll();
  }

  reaches(endpoint: Endpoint): void {
    const host = this.#hostOf(endpoint);
    this.#judgeAll();
    // It came back, and need not wait for its time to be over to say that it is well.
    if (host?.standing === "ejected" && endpoint.trouble === "") this.asksHealth(host);
  }

  takesOver(exchange: Exchange, from: Endpoint): boolean {
    if (!this.areReplicas) return false;
    const { hosts } = this;
    const isOther = ({ endpoint }: Host) => endpoint !== from;
    const next = this.#place(exchange, hosts, (host) => takesCalls(host) && isOther(host)) ??
      this.#place(exchange, hosts, (host) => mayBeReached(host) && isOther(host));
    if (next === undefined) return false;
    exchange.backend = next.endpoint;
    next.endpoint.start(exchange);
    return true;
  }

  // ---- what the detection of outliers tells

  ejected(host: Host): void {
    this.#context.observer.backendEjected(host.endpoint.name, host.why);
    this.#judgeAll();
    if (this.areReplicas) host.endpoint.handOver();
    else host.endpoint.refuseWaiting(outOf(host));
  }

  returned(host: Host): void {
    if (host.standing === "healthy") this.#context.observer.backendReturned(host.endpoint.name);
    this.#judgeAll();
  }

  asksHealth(host: Host): void {
    if (this.#stopped || this.#probes.has(host)) return;
    const { timers } = this.#context;
    const { endpoint } = host;
    const world = { backend: endpoint, timers, scheme: this.#options.scheme };
    const probe = healthProbe(world, endpoint.name, (recovery) => {
      this.#probes.delete(host);
      this.#outliers.recovered(host, recovery);
    });
    this.#probes.set(host, probe);
    probe.start();
  }

  // ---- hosts

  #add(options: EndpointOptions): Host {
    const { counters } = this.#context;
    const own = new BackendCounters(options.name);
    counters.backends.push(own);
    const endpoint = new Endpoint(options, this.#context, { counters: own, group: this });
    if (this.#opened) endpoint.open();
    return new Host(endpoint, (host) => this.asksHealth(host));
  }

  #forgets(host: Host): void {
    this.#outliers.forget(host);
    this.#probes.get(host)?.stop();
    this.#probes.delete(host);
  }

  #hostOf(endpoint: Endpoint): Host | undefined {
    return this.hosts.find((host) => host.endpoint === endpoint);
  }

  /** Who takes calls from now on. */
  #judgeAll(): void {
    const { hosts, areReplicas } = this;
    const isWell = (host: Host) => host.endpoint.trouble === "" && !isOut(host);
    const well = hosts.filter(isWell).length;
    const panics = areReplicas && well < hosts.length * PANIC_SHARE;
    for (const host of hosts) {
      host.takesCalls = panics ? host.endpoint.trouble === "" : isWell(host);
      host.endpoint.counters.ejected = host.standing === "ejected";
    }
  }

  /**
   * By the routing, among those that take calls; when none does, among those that may be reached in a moment; when none
   * may, among all, whose trouble then is the call's.
   */
  #pick(exchange: Exchange): Host | undefined {
    const { hosts } = this;
    if (!this.areReplicas) return this.#place(exchange, hosts, anyone);
    return this.#place(exchange, hosts, takesCalls) ??
      this.#place(exchange, hosts, mayBeReached) ??
      this.#place(exchange, hosts, anyone);
  }

  #refuse(exchange: Exchange): void {
    const { timers, observer } = this.#context;
    exchange.fail({ kind: "unreachable", why: this.trouble });
    exchange.tell(timers.nowMs, observer);
  }
}

function takesCalls(host: Host): boolean {
  return host.takesCalls;
}

/** It is being connected to, and has not failed. */
function mayBeReached({ endpoint, standing }: Host): boolean {
  return !endpoint.isDown && standing === "healthy";
}

function anyone(): boolean {
  return true;
}

/** It is given no calls: it was ejected, or is on trial and has the call that decides. */
function isOut({ standing, trial }: Host): boolean {
  return standing === "ejected" || standing === "half-open" && trial !== undefined;
}

function outOf({ endpoint, why }: Host): Failure {
  return { kind: "ejected", backend: endpoint.name, why };
}
