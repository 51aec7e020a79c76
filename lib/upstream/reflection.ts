import {
  MESSAGE_PREFIX_BYTES,
  type MethodDescriptor,
  methodsIn,
  reflectionRequest,
  STATUS,
  statusName,
} from "../grpc/mod.ts";
import type { UpstreamObserver } from "../observe/mod.ts";
import { CallbackAlarm } from "../transport/mod.ts";
import type { Exchange } from "./exchange.ts";
import { statusOfFailure } from "./failure.ts";
import { InternalCall, type InternalCallWorld } from "./internal_call.ts";

/** The services of server reflection, newest first. */
const REFLECTIONS = ["grpc.reflection.v1", "grpc.reflection.v1alpha"];

/** A backend that needs longer than this to describe a service is asked again later. */
const PATIENCE_MS = 5_000;

/** Services that are asked about: each costs the backend a call. A backend has answered each, so strangers add none. */
const MAX_SERVICES = 1_000;

/** How long after its first answer a service is asked about: until then its names decide, and the backend has calls to answer. */
const ASK_AFTER_MS = 1_000;

/** A backend that could not be asked, since it is not up yet, is asked again after so long, and then after twice as long each time. */
const FIRST_RETRY_MS = 1_000;

/** A backend may be replaced by one whose descriptors say something else. */
const ASK_AGAIN_MS = 300_000;

/** A backend that answers so wants to know who asks, and would say the same of every service. */
const WANTS_CREDENTIALS: readonly number[] = [STATUS.unauthenticated, STATUS.permissionDenied];

/** What the backend's descriptors say of methods, asked for a service once it has answered, and again now and then. */
export class Reflection {
  readonly #world: InternalCallWorld;
  readonly #authority: string;
  readonly #changed: (service: string) => void;
  readonly #described: (service: string, response: Uint8Array) => void;
  readonly #observer: UpstreamObserver;
  /** What is known; undefined for a service that nobody describes. */
  #methods = new Map<string, ReadonlyMap<string, MethodDescriptor> | undefined>();
  #waiting: string[] = [];
  #call: InternalCall | undefined = undefined;
  /** Index into the services of reflection; past the last one when the backend has none. */
  #version = 0;
  #again = new CallbackAlarm(() => this.#waiting.length > 0 ? this.#askNext() : this.#askAgain());
  #retryMs = FIRST_RETRY_MS;
  #stopped = false;

  /**
   * `changed` hears that what is known of a service is not what it was, `described` what the backend said of one, a
   * ServerReflectionResponse.
   */
  constructor(
    world: InternalCallWorld,
    options: {
      authority: string;
      observer: UpstreamObserver;
      changed: (service: string) => void;
      described?: (service: string, response: Uint8Array) => void;
    },
  ) {
    this.#world = world;
    this.#authority = options.authority;
    this.#observer = options.observer;
    this.#changed = options.changed;
    this.#described = options.described ?? (() => {});
  }

  /** What is known of a method now. */
  descriptorOf(service: string, method: string): MethodDescriptor | undefined {
    return this.#methods.get(service)?.get(method);
  }

  /** Asks about a service that the backend has answered, in a while. */
  learn(service: string): void {
    if (this.#methods.has(service) || this.#methods.size >= MAX_SERVICES) return;
    this.#methods.set(service, undefined);
    this.#waiting.push(service);
    if (this.#waiting.length === 1) this.#askIn(ASK_AFTER_MS); // else the one before it is on its way
  }

  stop(): void {
    this.#stopped = true;
    this.#world.timers.cancel(this.#again);
    this.#call?.stop();
  }

  #askAgain(): void {
    this.#version = 0;
    this.#waiting = [...this.#methods.keys()];
    this.#askNext();
  }

  /** One at a time, so that a caller of many services costs the backend one call at once. */
  #askNext(): void {
    const [service] = this.#waiting;
    const reflection = REFLECTIONS[this.#version];
    if (this.#stopped || this.#call !== undefined) return;
    if (service === undefined || reflection === undefined) {
      this.#waiting = [];
      return this.#askIn(ASK_AGAIN_MS);
    }
    const call = {
      path: `/${reflection}.ServerReflection/ServerReflectionInfo`,
      authority: this.#authority,
      message: reflectionRequest(service),
      patienceMs: PATIENCE_MS,
    };
    this.#call = new InternalCall(
      this.#world,
      call,
      (exchange) => this.#answered(service, exchange),
    );
    this.#call.start();
  }

  #askIn(ms: number): void {
    const { timers } = this.#world;
    timers.set(this.#again, timers.nowMs + ms);
  }

  /** The service is asked about again, after the others: it may be its description that cannot be had. */
  #retry(service: string): void {
    this.#waiting.push(service);
    this.#askIn(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, ASK_AGAIN_MS);
  }

  #answered(service: string, { reply }: Exchange): void {
    this.#call = undefined;
    if (this.#stopped) return;
    const { status, failure, log } = reply;
    const isAnswer = failure === undefined || failure.kind === "notGrpc"; // HTTP's status has become gRPC's
    if (isAnswer && status === STATUS.unimplemented) {
      this.#version++;
      return this.#askNext();
    }
    this.#waiting.shift();
    if (status === STATUS.ok && failure === undefined) {
      this.#retryMs = FIRST_RETRY_MS;
      const response = log.data().subarray(MESSAGE_PREFIX_BYTES);
      this.#described(service, response);
      this.#heard(service, methodsIn(response, service));
    } else {
      // What could not be asked is not known, which is no reason to forget what was.
      const wantsCredentials = isAnswer && WANTS_CREDENTIALS.includes(status);
      const why = wantsCredentials
        ? "its reflection wants credentials, which the sidecar has none of"
        : failure === undefined
        ? statusName(status)
        : statusOfFailure(failure).message;
      this.#observer.notDescribed(service, why);
      if (!isAnswer) return this.#retry(service);
      if (wantsCredentials) this.#version = REFLECTIONS.length; // it would say so of each service
    }
    this.#askNext();
  }

  #heard(service: string, methods: ReadonlyMap<string, MethodDescriptor> | undefined): void {
    const before = this.#methods.get(service);
    this.#methods.set(service, methods);
    if (!isSame(before, methods)) this.#changed(service);
  }
}

function isSame(
  one: ReadonlyMap<string, MethodDescriptor> | undefined,
  other: ReadonlyMap<string, MethodDescriptor> | undefined,
): boolean {
  const [a, b] = [one ?? new Map(), other ?? new Map()];
  return a.size === b.size && [...a].every(([name, { level, takesStream, streams }]) => {
    const now = b.get(name);
    return now?.level === level && now.takesStream === takesStream && now.streams === streams;
  });
}
