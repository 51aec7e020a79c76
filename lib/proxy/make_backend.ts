import type { Resolve } from "../transport/mod.ts";
import { AddressBackend, type BackendOptions } from "./backend.ts";
import type { BackendContext } from "./backend_context.ts";
import { Backends } from "./backends.ts";
import type { CallBackend } from "./call_context.ts";
import { BackendCounters } from "./counters.ts";
import type { BackendReport } from "./inspection.ts";
import { type Located, NameWatch } from "./name_watch.ts";
import type { ProxyOptions } from "./options.ts";
import { SharedPool } from "./shared_pool.ts";

/** All that stands behind the proxy, as the proxy sees it. */
export interface ProxyBackend extends CallBackend {
  /** Why no call can be sent now; "" when one can. */
  readonly trouble: string;
  /** The name of the only backend; "" where there may be several, and a call knows its own. */
  readonly onlyName: string;
  /** How each backend is. */
  reports(): readonly BackendReport[];
  /** Connects, and keeps doing so. */
  open(): void;
  /** Lets go of every connection; calls under way get 14. */
  stop(): void;
}

/** What backends are made with. */
export interface BackendParts {
  readonly context: BackendContext;
  readonly resolve: Resolve;
  readonly scheme: "http" | "https";
}

/** One backend by itself where there is only ever one, so that nothing is paid for several. */
export function makeBackend(options: ProxyOptions, parts: BackendParts): ProxyBackend {
  const [first, ...others] = options.backends;
  if (first === undefined) throw new Error("Cannot make a proxy without a backend");
  if (others.length > 0 || first.resolves) return new ResolvedBackends(options, parts);
  const counters = new BackendCounters(first.name);
  parts.context.counters.backends.push(counters);
  return new AddressBackend(optionsFor(first, options), parts.context, { counters });
}

/** Several backends, with the names among them followed. */
class ResolvedBackends extends Backends implements ProxyBackend {
  #watch: NameWatch;

  constructor(options: ProxyOptions, { context, resolve, scheme }: BackendParts) {
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
    this.#watch = new NameWatch(options.backends, {
      ...{ resolve, timers },
      onChange: (located) =>
        this.become(located.map((backend) => ({ ...optionsFor(backend, options), pool }))),
    });
  }

  override get trouble(): string {
    if (this.members.length > 0) return super.trouble;
    return this.#watch.trouble === "" ? "its name is being looked up" : this.#watch.trouble;
  }

  override open(): void {
    super.open();
    this.#watch.start();
  }

  override stop(): void {
    this.#watch.stop();
    super.stop();
  }

  override reaches(backend: AddressBackend): void {
    super.reaches(backend);
    if (backend.isDown) this.#watch.doubt();
  }
}

function optionsFor({ name, address }: Located, options: ProxyOptions): BackendOptions {
  return {
    name,
    address,
    connectTimeoutMs: options.backendConnectTimeoutMs,
    maxConcurrent: options.backendMaxConcurrent,
    maxPending: options.backendMaxPending,
    connections: options.backendConnections,
    adapts: options.backendAdaptiveConcurrency,
  };
}

function sharedPool(options: ProxyOptions): SharedPool {
  return new SharedPool({
    maxConcurrent: options.backendMaxConcurrent,
    maxPending: options.backendMaxPending,
  });
}
