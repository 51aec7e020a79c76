import { type BackendEntry, type Cluster, makeCluster } from "../balance/mod.ts";
import {
  CollapseMap,
  compileEligibility,
  heedsDescriptors,
  withRecentKeys,
} from "../collapse/mod.ts";
import {
  BufferGuard,
  type Call,
  type CallerContext,
  CallerContexts,
  CallerSession,
  ConnectionAge,
  type FlightCall,
  FlightTime,
  MethodTable,
  MissedSharing,
  type NamedPolicy,
  Router,
  type RouterOptions,
  SettingsCompiler,
} from "../downstream/mod.ts";
import { containedObserver, ProxyCounters } from "../observe/mod.ts";
import { Trial } from "../trial/mod.ts";
import { CallbackAlarm, type Socket, type Timers, Turn } from "../transport/mod.ts";
import {
  authorityOf,
  BackendInstances,
  Reflection,
  type UpstreamContext,
} from "../upstream/mod.ts";
import { BufferedBytes, ERROR_CODE, HeaderCache } from "../wire/mod.ts";
import { CallerGate } from "./caller_gate.ts";
import { CallerSessions } from "./caller_sessions.ts";
import { explainMethod, type MethodExplanation } from "./explanation.ts";
import { Inspection } from "./inspection.ts";
import type { ProxyEnvironment, ProxyOptions } from "./options.ts";
import { requestHeaderCache } from "./request_headers.ts";

/**
 * Callers' connections at once; more are closed as they come. A caller has one for each of its processes, so this is
 * more than a service has peers, and idle they take 10 to 20 KiB each.
 */
const MAX_CALLER_CONNECTIONS = 10_000;

/** The data plane: callers' connections on one side, a backend on the other, and what they share in between. */
export class Proxy {
  readonly counters = new ProxyCounters();
  readonly map: CollapseMap<FlightCall>;
  /** What is held for peers. */
  readonly buffered: BufferedBytes;
  /** The data plane for people to look at. */
  readonly inspection: Inspection;
  #backend: Cluster;
  #methods: MethodTable;
  #reflection: Reflection | undefined = undefined;
  #context: CallerContext;
  #contexts: CallerContexts;
  readonly #sessions: CallerSessions;
  #guard: BufferGuard;
  /** Resolves, once the proxy was closed, when what was written to backends is sent and their connections are gone. */
  closed: Promise<void> = Promise.resolve();
  /** Not ready any more. */
  #ending = false;
  /** Callers are told to go. */
  #draining = false;
  /** What is found out of sharing, while callers are served. */
  readonly trial: Trial;
  readonly #age: ConnectionAge;
  readonly #gate: CallerGate;
  readonly #timers: Timers;
  readonly #options: ProxyOptions;
  #policies: readonly NamedPolicy[] = [];
  #sweep: CallbackAlarm;

  constructor(options: ProxyOptions, environment: ProxyEnvironment) {
    const { timers, codec, resolve, random } = environment;
    const { counters } = this;
    this.#options = options;
    this.#gate = new CallerGate(options, timers, (isOpen) => {
      if (!isOpen) this.#sessions.sendElsewhere();
      environment.onGate?.(isOpen);
    });
    const observer = this.#gate.observing(containedObserver(environment.observer, counters));
    const turn = new Turn();
    this.#timers = timers;
    this.#sessions = new CallerSessions(timers);
    this.map = new CollapseMap<FlightCall>(options);
    const buffered = new BufferedBytes(options.maxBufferedBytes, () => this.#guard.overflowed());
    this.buffered = buffered;
    this.#guard = new BufferGuard({
      ...{ buffered, counters, timers, turn },
      sessions: () => this.#sessions,
    });
    const { backendRouting: routed } = options;
    const routingHeader = routed.by === "header" ? routed.name : undefined;
    const scheme = options.backendUseTls ? "https" : "http";
    const instance = 1 + Math.floor(environment.random() * (2 ** 32 - 1));
    const instances = new BackendInstances();
    const backendContext: UpstreamContext = {
      ...{ ...environment, observer, turn, counters, instance, instances, buffered },
      replyHeaders: new HeaderCache(),
    };
    this.#backend = makeCluster(options, { context: backendContext, resolve, scheme });
    this.trial = new Trial(options, {
      ...{ backend: this.#backend, timers, counters, observer, random },
      changed: (path) => this.#onTrialChanged(path),
    });
    const settings = new SettingsCompiler(options, routingHeader);
    const { inKey } = settings.common;
    const methods = new MethodTable({
      eligibility: compileEligibility(options.methods),
      settings,
      counters,
      observer,
      descriptorOf: (service, method) => this.#reflection?.descriptorOf(service, method),
      onConfirm: (service) => this.#reflection?.learn(service),
      onForget: () => [this.map, this.trial.shadow.map].forEach((map) => map.forgetAll()),
      trials: this.trial.methods,
    });
    this.#methods = methods;
    this.setPolicies(options.policies ?? []);
    if (options.asksDescriptors && heedsDescriptors(options.methods)) {
      const world = { backend: this.#backend, timers, scheme, instance } as const;
      const [{ address }] = options.backends as [BackendEntry];
      this.#reflection = new Reflection(world, {
        authority: authorityOf(address, options.backendTlsServerName),
        observer,
        changed: (service) => methods.reconsider(service),
        described: (service, response) => this.trial.methods.described(service, response),
      });
    }
    const missed = new MissedSharing(observer);
    this.inspection = new Inspection({
      ...{ map: this.map, backend: this.#backend, trial: this.trial },
      ...{ counters, methods, missed, timers, codec },
      calls: () => this.#calls(),
    });
    const routing: RouterOptions = {
      ...{ methods, map: this.map, shadowMap: this.trial.shadow.map, codec, scheme, instance },
    };
    this.#context = {
      map: this.map,
      backend: this.#backend,
      buffered,
      timers,
      counters,
      observer,
      codec: withRecentKeys(codec),
      turn,
      methods,
      missed,
      shadow: this.trial.shadow,
      verifier: this.trial.verifier,
      limits: options,
      flightTime: new FlightTime({ map: this.map, timers, limits: options }),
      isServing: () => this.readiness.ready,
      router: new Router(routing),
      requestHeaders: requestHeaderCache(inKey),
      ...{ instance, instances, random },
      sessionClosed: (session) => this.#forget(session),
    };
    this.#age = new ConnectionAge(options, timers, random);
    this.#contexts = new CallerContexts(this.#context, routing);
    const everyMs = options.cleanupIntervalMs;
    this.#sweep = new CallbackAlarm((nowMs) => {
      timers.set(this.#sweep, nowMs + everyMs);
      this.map.sweep(nowMs);
      this.trial.sweep(nowMs, methods.sharing());
    });
    timers.set(this.#sweep, timers.refresh() + everyMs);
  }

  /** Begins to connect to the backend. */
  open(): void {
    this.#backend.open();
  }

  /**
   * Takes a caller's connection, and serves it until it ends. `identity` is whom its certificate names, when it was
   * asked for one: it is part of the key.
   */
  async serve(socket: Socket, remote: string, { identity = "" } = {}): Promise<void> {
    if (this.#sessions.size >= MAX_CALLER_CONNECTIONS) return this.#turnAway(socket, remote);
    if (this.#gate.isShut) return socket.close(); // it was under way when the port was closed
    const session = new CallerSession(socket, { context: this.#contexts.of(identity), remote });
    this.#sessions.add(session);
    this.counters.connections++;
    const forget = this.#age.watch(session);
    if (this.#draining) session.drain();
    await session.run();
    forget?.();
  }

  /** A caller's connection came to nothing, since its TLS handshake failed. */
  refused(why: string, remote: string): void {
    this.#connectionFailed(ERROR_CODE.inadequateSecurity, { why, remote });
  }

  /** Whether calls can be answered, and if not, why. */
  get readiness(): { ready: boolean; reason: string } {
    if (this.#ending) return { ready: false, reason: "shutting down" };
    const trouble = this.#backend.trouble || this.#gate.why;
    if (trouble === "") return { ready: true, reason: "" };
    return { ready: false, reason: `the backend cannot be reached: ${trouble}` };
  }

  /** How a method is judged and what holds for its calls; `names` are those of metadata that it may come with. */
  explain(path: string, names: readonly string[]): MethodExplanation {
    return explainMethod(path, names, {
      options: this.#options,
      policies: this.#policies,
      descriptorOf: (service, method) => this.#reflection?.descriptorOf(service, method),
      verdict: this.#methods.known(path)?.verdict,
      off: this.trial.methods.off().find(([off]) => off === path)?.[1],
    });
  }

  /** What the policy file says from now on. What is stored is forgotten; calls under way go on as they began. */
  setPolicies(policies: readonly NamedPolicy[]): void {
    this.#policies = policies;
    this.#gate.setPolicies(policies);
    this.#methods.setPolicies(policies);
  }

  /** A method was taken out, or put back: nobody is given what is stored of it. */
  #onTrialChanged(path: string): void {
    this.map.purge(path);
    this.#methods.reroute();
  }

  /** From now on not ready, though everything is still served. */
  announceEnd(): void {
    this.#ending = true;
  }

  /**
   * Tells every caller to go, and resolves when all calls have ended or `timeoutMs` is over; what is left then has
   * been ended with 14. Returns how many calls that were.
   */
  async drain(timeoutMs: number): Promise<number> {
    this.#ending = this.#draining = true;
    const left = await this.#sessions.drain(timeoutMs);
    this.close();
    return left;
  }

  /** Lets go of the backend and of time, not of callers' connections. */
  close(): void {
    this.#reflection?.stop();
    this.trial.stop();
    this.closed = this.#backend.stop();
    this.#timers.cancel(this.#sweep);
    this.#guard.stop();
    this.#gate.stop();
  }

  /** Callers' connections that are open, for who looks at what they hold. */
  get sessions(): Iterable<CallerSession> {
    return this.#sessions;
  }

  *#calls(): Iterable<Call> {
    for (const { connection } of this.#sessions) {
      for (const { owner } of connection.streams()) if (owner !== undefined) yield owner;
    }
  }

  #turnAway(socket: Socket, remote: string): void {
    const why = `more than ${MAX_CALLER_CONNECTIONS} connections of callers`;
    this.#connectionFailed(ERROR_CODE.enhanceYourCalm, { why, remote });
    socket.close();
  }

  #connectionFailed(code: number, { why, remote }: { why: string; remote: string }): void {
    this.counters.countConnectionError("caller", code);
    const fault = { scope: "connection", streamId: 0, code, why } as const;
    this.#context.observer.connectionFailed("caller", fault, remote);
  }

  #forget(session: CallerSession): void {
    if (!this.#sessions.delete(session)) return;
    this.counters.connections--;
  }
}
