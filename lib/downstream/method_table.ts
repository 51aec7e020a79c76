import { type Eligibility, neverCollapses, type Service, type Verdict } from "../collapse/mod.ts";
import { type IdempotencyLevel, splitMethod } from "../grpc/mod.ts";
import {
  type CallObserver,
  MethodCounters,
  OTHER_LABEL,
  type ProxyCounters,
} from "../observe/mod.ts";
import { Behaviour } from "./behaviour.ts";
import { BoundedPaths } from "./bounded_paths.ts";
import { type Freshness, freshnessOf } from "./call_limits.ts";
import type { NamedPolicy } from "./method_policy.ts";
import { type MethodPolicy, NO_POLICY, PolicyIndex } from "./policy_index.ts";
import type { RecentCalls } from "./recent_calls.ts";
import { Services } from "./services.ts";

/**
 * Methods that a backend has answered, with something other than UNIMPLEMENTED, and what their paths may take together:
 * far more than any backend has, unless it answers whatever it is asked.
 */
const MAX_CONFIRMED = 10_000;
const MAX_CONFIRMED_CHARS = 2 ** 21;

/** Methods that callers name and no backend has answered yet; beyond it those that came first are forgotten. */
const MAX_STRANGERS = 1_000;
const MAX_STRANGER_CHARS = 2 ** 18;

/** A method as the proxy knows it. */
export interface Method {
  readonly path: string;
  readonly service: Service;
  readonly verdict: Verdict;
  readonly policy: MethodPolicy;
  /** What becomes of its answers for those who come later. */
  readonly freshness: Freshness;
  /** Counters of the method's own; they have a label once a backend has answered it. */
  counters: MethodCounters;
  /** A backend has answered it with something other than UNIMPLEMENTED. */
  isConfirmed: boolean;
  readonly behaviour: Behaviour;
  readonly recent: RecentCalls;
}

/** What a method table is made with. */
export interface MethodTableOptions {
  /** What holds for methods whose policy says nothing else. */
  readonly freshness: Freshness;
  readonly eligibility: Eligibility;
  readonly counters: ProxyCounters;
  readonly observer: CallObserver;
  /** What is known of a method's descriptor. */
  readonly levelOf?: (service: string, method: string) => IdempotencyLevel | undefined;
  /** A backend has answered a method of this service for the first time. */
  readonly onConfirm?: (service: string) => void;
  /** Every verdict was forgotten: what was shared by one must not be any more. */
  readonly onForget: () => void;
}

/**
 * Methods and services by name, judged once. Callers name them, so strangers can fill the table: those that no backend
 * has answered are forgotten first, and have no label of their own.
 */
export class MethodTable {
  /** Raised when every verdict was forgotten: what refers to a method of an earlier epoch must ask again. */
  epoch = 0;
  /** Stands in where a request is no gRPC call at all: nobody judges it, and it takes no label. */
  readonly none: Method;
  readonly #confirmed = new BoundedPaths<Method>(MAX_CONFIRMED, MAX_CONFIRMED_CHARS);
  readonly #strangers = new BoundedPaths<Method>(
    MAX_STRANGERS,
    MAX_STRANGER_CHARS,
    (method) => this.#dismiss(method),
  );
  readonly #services = new Services();
  readonly #options: MethodTableOptions;
  #policies = new PolicyIndex([]);

  constructor(options: MethodTableOptions) {
    this.#options = options;
    this.none = {
      path: "",
      service: { name: "", generation: 0 },
      verdict: { eligible: false, why: "it is no gRPC call" },
      policy: NO_POLICY,
      freshness: options.freshness,
      counters: new MethodCounters(OTHER_LABEL),
      isConfirmed: false,
      behaviour: new Behaviour(),
      recent: {},
    };
  }

  method(path: string): Method {
    const known = this.known(path);
    if (known !== undefined) return known;
    // What is no path of gRPC's goes to the backend all the same: saying 12 is its privilege.
    const { service, method } = splitMethod(path) ?? { service: "", method: path };
    const policy = this.#policies.policyOf(service, method);
    const verdict = this.#judge(service, method, policy);
    const made: Method = {
      path,
      service: this.#services.get(service),
      verdict,
      policy,
      freshness: policy === NO_POLICY
        ? this.#options.freshness
        : freshnessOf(policy, this.#options.freshness),
      counters: new MethodCounters(path),
      isConfirmed: false,
      behaviour: new Behaviour(),
      recent: {},
    };
    this.#options.counters.unnamed.add(made.counters);
    this.#strangers.add(path, made);
    this.#options.observer.methodJudged(path, verdict);
    return made;
  }

  /** The method when it was called before, and is remembered. */
  known(path: string): Method | undefined {
    return this.#confirmed.get(path) ?? this.#strangers.get(path);
  }

  /** A backend knows the method. */
  confirm(method: Method): void {
    method.isConfirmed = true;
    method.counters = this.#options.counters.name(method.counters);
    this.#strangers.delete(method.path);
    this.#confirmed.add(method.path, method);
    this.#options.onConfirm?.(method.service.name);
  }

  /** A call of a method that no backend has confirmed is over. */
  ended(method: Method): void {
    this.#options.counters.countAsOther(method.counters);
  }

  /** What the policy file says from now on; every method is looked at anew. */
  setPolicies(policies: readonly NamedPolicy[]): void {
    this.#policies = new PolicyIndex(policies);
    this.#forget();
  }

  /** More is known of a service: when that changes a verdict, every method is looked at anew. */
  reconsider(service: string): void {
    for (const methods of [this.#confirmed, this.#strangers]) {
      for (const { path, verdict, policy, service: { name } } of methods.values()) {
        if (name !== service) continue;
        const { method = "" } = splitMethod(path) ?? {};
        const { eligible } = this.#judge(service, method, policy);
        if (eligible !== verdict.eligible) return this.#forget();
      }
    }
  }

  #judge(service: string, method: string, { collapse }: MethodPolicy): Verdict {
    const { eligibility, levelOf } = this.#options;
    if (collapse === undefined || neverCollapses(service)) {
      return eligibility(service, method, { level: levelOf?.(service, method) });
    }
    return { eligible: collapse, why: "the policy file says so" };
  }

  /** A stranger is forgotten: what it has counted must not be. */
  #dismiss({ counters }: Method): void {
    this.#options.counters.countAsOther(counters);
    this.#options.counters.unnamed.delete(counters);
  }

  #forget(): void {
    for (const stranger of this.#strangers.values()) this.#dismiss(stranger);
    this.#confirmed.clear();
    this.#strangers.clear();
    this.epoch++;
    this.#options.onForget();
  }
}
