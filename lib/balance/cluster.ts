import { BackendCounters } from "../observe/mod.ts";
import type { Resolve } from "../transport/mod.ts";
import {
  type BackendReport,
  Endpoint,
  type EndpointOptions,
  SharedPool,
  type Upstream,
  type UpstreamContext,
} from "../upstream/mod.ts";
import { type BackendKind, BalancedCluster } from "./balanced_cluster.ts";
import type { Host } from "./host.ts";
import { type BackendEntry, type Located, NameResolver } from "./name_resolver.ts";
import type { Routing } from "./picker.ts";

/** What the backends are, how a call picks one, and what bounds each. */
export interface ClusterOptions {
  /** At least one. */
  readonly backends: readonly BackendEntry[];
  readonly backendKind: BackendKind;
  readonly backendRouting: Routing;
  /** Name to expect in the backends' certificates (BACKEND_TLS_SERVER_NAME). */
  readonly backendTlsServerName?: string | undefined;
  readonly backendConnections: number;
  /** Connections to one backend at most, when its stream limit leaves calls waiting. */
  readonly backendMaxConnections: number;
  readonly backendOutlierDetection: boolean;
  readonly backendAdaptiveConcurrency: boolean;
  readonly backendConnectTimeoutMs: number;
  readonly backendMaxConcurrent: number;
  readonly backendMaxPending: number;
  /** Longest a call without a deadline waits for a place, too. */
  readonly backendTimeoutMs: number;
  /**
   * One pool for all backends in place of a bulkhead around each, to measure what the bulkheads are worth:
   * `backendMaxConcurrent` and `backendMaxPending` are then those of all together. @default false
   */
  readonly sharedPool?: boolean;
}

/** All that stands behind the proxy, as the proxy sees it. */
export interface Cluster extends Upstream {
  /** Why no call can be sent now; "" when one can. */
  readonly trouble: string;
  /** How each backend is. */
  reports(): readonly BackendReport[];
  /** Connects, and keeps doing so. */
  open(): void;
  /** Lets go of every connection, and resolves when all are gone; calls under way get 14. */
  stop(): Promise<void>;
}

/** What backends are made with. */
export interface ClusterParts {
  readonly context: UpstreamContext;
  readonly resolve: Resolve;
  readonly scheme: "http" | "https";
}

/** One backend by itself where there is only ever one, so that nothing is paid for several. */
export function makeCluster(options: ClusterOptions, parts: ClusterParts): Cluster {
  const [first, ...others] = options.backends;
  if (first === undefined) throw new Error("Cannot make a proxy without a backend");
  if (others.length > 0 || first.resolves) return new ResolvedCluster(options, parts);
  const counters = new BackendCounters(first.name);
  parts.context.counters.backends.push(counters);
  return new Endpoint(optionsFor(first, options), parts.context, { counters });
}

/** Several backends, with the names among them followed. */
class ResolvedCluster extends BalancedCluster implements Cluster {
  #watch: NameResolver;

  constructor(options: ClusterOptions, { context, resolve, scheme }: ClusterParts) {
    super(
      {
        kind: options.backendKind,
        routing: options.backendRouting,
        ejects: options.backendOutlierDetection,
        scheme,
      },
      context,
    );
    const { timers } = context;
    const pool = options.sharedPool ? sharedPool(options) : undefined;
    this.#watch = new NameResolver(options.backends, {
      ...{ resolve, timers },
      onChange: (located) =>
        this.become(located.map((backend) => ({ ...optionsFor(backend, options), pool }))),
      isDown: (name) =>
        this.hosts.some(({ endpoint }) => endpoint.name === name && endpoint.isDown),
    });
  }

  override get trouble(): string {
    if (this.hosts.length > 0) return super.trouble;
    return this.#watch.trouble === "" ? "its name is being looked up" : this.#watch.trouble;
  }

  override open(): void {
    super.open();
    this.#watch.start();
  }

  override stop(): Promise<void> {
    this.#watch.stop();
    return super.stop();
  }

  protected override reaches(host: Host): void {
    super.reaches(host);
    if (host.endpoint.isDown) this.#watch.doubt();
  }
}

function optionsFor({ name, address }: Located, options: ClusterOptions): EndpointOptions {
  return {
    name,
    address,
    tlsName: options.backendTlsServerName,
    connectTimeoutMs: options.backendConnectTimeoutMs,
    maxConcurrent: options.backendMaxConcurrent,
    maxPending: options.backendMaxPending,
    queueTimeoutMs: options.backendTimeoutMs,
    connections: options.backendConnections,
    maxConnections: options.backendMaxConnections,
    adapts: options.backendAdaptiveConcurrency,
  };
}

function sharedPool(options: ClusterOptions): SharedPool {
  return new SharedPool({
    maxConcurrent: options.backendMaxConcurrent,
    maxPending: options.backendMaxPending,
  });
}
