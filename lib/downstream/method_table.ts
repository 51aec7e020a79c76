import { type Eligibility, neverCollapses, type Service, type Verdict } from "../collapse/mod.ts";
import { type IdempotencyLevel, splitMethod } from "../grpc/mod.ts";
import {
  type CallObserver,
  MethodCounters,
  OTHER_LABEL,
  type ProxyCounters,
} from "../observe/mod.ts";
import type { RecentCalls } from "./recent_calls.ts";

/** Methods remembered before all are forgotten: far more than any backend has, so this is a scanner at work. */
const MAX_METHODS = 10_000;

/** What callers of a method were seen to do: it decides how long a call is waited for before it passes. */
export type Behaviour = "unknown" | "unary" | "streaming";

/** What the policy file says of a method. */
export interface MethodPolicy {
  /** Whether its calls collapse, whatever COLLAPSER_METHODS says. */
  readonly collapse?: boolean;
  /** In place of COLLAPSER_CACHE_DURATION. */
  readonly cacheDurationMs?: number;
  /** Calls of it at one backend at once, those that wait there included. */
  readonly maxConcurrent?: number;
}

/** What the policy file says of the methods of one name; "" stands for all services, and for all methods of a service. */
export interface NamedPolicy extends MethodPolicy {
  readonly service: string;
  readonly method: string;
}

/** Nothing is said of a method. */
export const NO_POLICY: MethodPolicy = {};

/** A method as the proxy knows it. */
export interface Method {
  readonly path: string;
  readonly service: Service;
  readonly verdict: Verdict;
  readonly policy: MethodPolicy;
  readonly counters: MethodCounters;
  behaviour: Behaviour;
  readonly recent: RecentCalls;
}

/** Methods and services by name, judged once. */
export class MethodTable {
  /** Raised when everything was forgotten: what refers to a method of an earlier epoch must ask again. */
  epoch = 0;
  /** Stands in where a request is no gRPC call at all: nobody judges it, and it takes no label. */
  readonly none: Method = {
    path: "",
    service: { name: "", generation: 0 },
    verdict: { eligible: false, why: "it is no gRPC call" },
    policy: NO_POLICY,
    counters: new MethodCounters(OTHER_LABEL),
    behaviour: "unknown",
    recent: {},
  };
  #methods = new Map<string, Method>();
  #services = new Map<string, Service>();
  #eligibility: Eligibility;
  #counters: ProxyCounters;
  #observer: CallObserver;
  #onForget: () => void;
  #policies: readonly NamedPolicy[] = [];
  #levelOf: (service: string, method: string) => IdempotencyLevel | undefined;

  constructor(options: {
    eligibility: Eligibility;
    counters: ProxyCounters;
    observer: CallObserver;
    /** What is known of a method's descriptor. */
    levelOf?: (service: string, method: string) => IdempotencyLevel | undefined;
    /** Flights and results refer to services by identity, so they have to go as well. */
    onForget: () => void;
  }) {
    this.#eligibility = options.eligibility;
    this.#counters = options.counters;
    this.#observer = options.observer;
    this.#onForget = options.onForget;
    this.#levelOf = options.levelOf ?? (() => undefined);
  }

  method(path: string): Method {
    const known = this.#methods.get(path);
    if (known !== undefined) return known;
    if (this.#methods.size >= MAX_METHODS) this.#forget();
    // What is no path of gRPC's goes to the backend all the same: saying 12 is its privilege.
    const { service, method } = splitMethod(path) ?? { service: "", method: path };
    const policy = this.#policyFor(service, method);
    const verdict = this.#judge(service, method, policy);
    const made: Method = {
      path,
      service: this.#service(service),
      verdict,
      policy,
      counters: this.#counters.method(path),
      behaviour: "unknown",
      recent: {},
    };
    this.#methods.set(path, made);
    this.#observer.methodJudged(path, verdict);
    return made;
  }

  /** What the policy file says from now on; every method is looked at anew. */
  setPolicies(policies: readonly NamedPolicy[]): void {
    this.#policies = policies;
    this.#forget();
  }

  /** More is known of a service: when that changes a verdict, every method is looked at anew. */
  reconsider(service: string): void {
    for (const { path, verdict, policy, service: { name } } of this.#methods.values()) {
      if (name !== service) continue;
      const { method = "" } = splitMethod(path) ?? {};
      if (this.#judge(service, method, policy).eligible !== verdict.eligible) return this.#forget();
    }
  }

  #judge(service: string, method: string, { collapse }: MethodPolicy): Verdict {
    if (collapse === undefined || neverCollapses(service)) {
      return this.#eligibility(service, method, this.#levelOf(service, method));
    }
    return { eligible: collapse, why: "the policy file says so" };
  }

  /** The entry that names it most closely (gRPC, doc/service_config.md). */
  #policyFor(service: string, method: string): MethodPolicy {
    const find = (wanted: { service: string; method: string }) =>
      this.#policies.find((policy) =>
        policy.service === wanted.service && policy.method === wanted.method
      );
    return find({ service, method }) ?? find({ service, method: "" }) ??
      find({ service: "", method: "" }) ?? NO_POLICY;
  }

  /** The method when it was called before. */
  known(path: string): Method | undefined {
    return this.#methods.get(path);
  }

  #service(name: string): Service {
    const known = this.#services.get(name);
    if (known !== undefined) return known;
    const made = { name, generation: 0 };
    this.#services.set(name, made);
    return made;
  }

  #forget(): void {
    this.#methods.clear();
    this.#services.clear();
    this.epoch++;
    this.#onForget();
  }
}
