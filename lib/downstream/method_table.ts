import {
  type Eligibility,
  neverCollapses,
  onlyAsks,
  type Service,
  type Verdict,
} from "../collapse/mod.ts";
import { type MethodDescriptor, splitMethod } from "../grpc/mod.ts";
import {
  type CallObserver,
  MethodCounters,
  OTHER_LABEL,
  type ProxyCounters,
} from "../observe/mod.ts";
import { Behaviour } from "./behaviour.ts";
import { BoundedPaths } from "./bounded_paths.ts";
import type { NamedPolicy } from "./method_policy.ts";
import type { MethodSettings, SettingsCompiler } from "./method_settings.ts";
import { type MethodPolicy, NO_POLICY, PolicyIndex } from "./policy_index.ts";
import type { RecentCalls } from "./recent_calls.ts";
import { Services } from "./services.ts";
import type { MethodTrial } from "../trial/mod.ts";

/**
 * Methods that a backend has answered, with something other than UNIMPLEMENTED, and what their paths may take together:
 * far more than any backend has, unless it answers whatever it is asked.
 */
const MAX_CONFIRMED = 10_000;
const MAX_CONFIRMED_CHARS = 2 ** 21;

/** Methods that callers name and no backend has answered yet; beyond it those that came first are forgotten. */
const MAX_STRANGERS = 1_000;
const MAX_STRANGER_CHARS = 2 ** 18;

/** Whether a method's answers make older results stale: always, never, or those alone that come in several messages. */
export type Invalidates = "yes" | "no" | "streaming";

/** A method as the proxy knows it. */
export interface Method {
  readonly path: string;
  /** The table's epoch when the method was judged: of an earlier one it is known no more. */
  epoch: number;
  readonly service: Service;
  /** What its calls make stale, and what its results are made stale with (COLLAPSER_INVALIDATE). */
  readonly scope: Service;
  /** Whether answers to its calls, where they are not shared, make older results stale. */
  readonly invalidates: Invalidates;
  verdict: Verdict;
  readonly policy: MethodPolicy;
  /** What is in force for its calls. */
  readonly settings: MethodSettings;
  /** Counters of the method's own; they have a label once a backend has answered it. */
  counters: MethodCounters;
  /** A backend has answered it with something other than UNIMPLEMENTED. */
  isConfirmed: boolean;
  readonly behaviour: Behaviour;
  /** An answer was seen to be several messages. */
  streams: boolean;
  readonly recent: RecentCalls;
  /** What is found out of sharing its answers; undefined for a method that is not on trial. */
  readonly trial: MethodTrial | undefined;
}

/** What a method table is made with. */
export interface MethodTableOptions {
  readonly settings: SettingsCompiler;
  readonly eligibility: Eligibility;
  readonly counters: ProxyCounters;
  readonly observer: CallObserver;
  /** What is found out of sharing answers, where somebody does. */
  readonly trials?: {
    of(path: string, settings: MethodSettings, policy: unknown): MethodTrial | undefined;
  };
  /** What is known of a method's descriptor. */
  readonly descriptorOf?: (service: string, method: string) => MethodDescriptor | undefined;
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
  /** Methods that were seen to answer with several messages. */
  readonly #streaming = new BoundedPaths<true>(MAX_STRANGERS, MAX_STRANGER_CHARS);
  readonly #services = new Services();
  readonly #scopes: Services;
  readonly #options: MethodTableOptions;
  #policies = new PolicyIndex([]);

  constructor(options: MethodTableOptions) {
    this.#options = options;
    this.#scopes = options.settings.invalidate === "service" ? this.#services : new Services();
    this.none = {
      path: "",
      epoch: 0,
      ...{ service: NO_SERVICE, scope: NO_SERVICE, invalidates: "no" },
      verdict: { eligible: false, why: "it is no gRPC call" },
      policy: NO_POLICY,
      settings: options.settings.common,
      counters: new MethodCounters(OTHER_LABEL),
      isConfirmed: false,
      behaviour: new Behaviour(),
      recent: {},
      streams: false,
      trial: undefined,
    };
  }

  method(path: string): Method {
    const known = this.known(path);
    if (known !== undefined) return known;
    // What is no path of gRPC's goes to the backend all the same: saying 12 is its privilege.
    const { service, method } = splitMethod(path) ?? { service: "", method: path };
    const policy = this.#policies.policyOf(service, method);
    const verdict = this.#judge(service, method, policy);
    const settings = this.#options.settings.of(policy);
    const made: Method = {
      path,
      epoch: this.epoch,
      service: this.#services.get(service),
      scope: this.#scopes.get(this.#scopeOf(service)),
      invalidates: invalidates(method, verdict, settings),
      verdict,
      policy,
      settings,
      counters: new MethodCounters(path),
      isConfirmed: false,
      behaviour: new Behaviour(),
      recent: {},
      streams: this.#streaming.get(path) === true,
      trial: this.#options.trials?.of(path, settings, policy),
    };
    made.behaviour.describe(this.#options.descriptorOf?.(service, method)?.takesStream);
    this.#options.counters.unnamed.add(made.counters);
    this.#strangers.add(path, made);
    this.#options.observer.methodJudged(path, verdict, settings.mode);
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
    if (method.epoch !== this.epoch) return; // its call began under an earlier policy
    this.#strangers.delete(method.path);
    this.#confirmed.add(method.path, method);
    if (method.settings.mode !== "off") this.#options.onConfirm?.(method.service.name);
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

  /** The counters of the methods that share answers, and have a label. */
  *sharing(): Iterable<MethodCounters> {
    for (const { verdict, settings: { mode }, counters, path } of this.#confirmed.values()) {
      const shares = verdict.eligible && (mode === "collapse" || mode === "verify");
      if (shares && counters.label === path) yield counters;
    }
  }

  /** Something has changed that decides where calls go: what is remembered of routes is looked at anew. */
  reroute(): void {
    this.epoch++;
    for (const methods of [this.#confirmed, this.#strangers]) {
      for (const method of methods.values()) method.epoch = this.epoch;
    }
  }

  /** More is known of a service: when that changes a verdict, every method is looked at anew. */
  reconsider(service: string): void {
    for (const methods of [this.#confirmed, this.#strangers]) {
      for (const known of methods.values()) {
        if (known.service.name !== service) continue;
        const { method = "" } = splitMethod(known.path) ?? {};
        known.behaviour.describe(this.#options.descriptorOf?.(service, method)?.takesStream);
        const verdict = this.#judge(service, method, known.policy);
        if (verdict.eligible !== known.verdict.eligible) return this.#forget();
        if (verdict.why === known.verdict.why) continue;
        known.verdict = verdict;
        this.#options.observer.methodJudged(known.path, verdict, known.settings.mode);
      }
    }
  }

  /** An answer to the method was a second message: it streams, whatever its descriptor says. */
  streams(method: Method): void {
    const { path, service: { name }, verdict } = method;
    method.streams = true;
    if (!verdict.eligible || this.#streaming.get(path) !== undefined) return;
    this.#streaming.add(path, true);
    this.reconsider(name);
  }

  #judge(service: string, method: string, { collapse }: MethodPolicy): Verdict {
    const { eligibility, descriptorOf } = this.#options;
    if (collapse !== undefined && !neverCollapses(service)) {
      return { eligible: collapse, why: "the policy file says so" };
    }
    const { level, streams } = descriptorOf?.(service, method) ?? {};
    const wasSeenTo = this.#streaming.get(`/${service}/${method}`) !== undefined;
    return eligibility(service, method, { level, streams: streams === true || wasSeenTo });
  }

  /** How far a write of this service reaches. */
  #scopeOf(service: string): string {
    switch (this.#options.settings.invalidate) {
      case "package":
        return service.slice(0, Math.max(0, service.lastIndexOf(".")));
      case "backend":
        return "";
      default:
        return service;
    }
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

/** What is no method is of no service. */
const NO_SERVICE: Service = { name: "", generation: 0 };

function invalidates(
  method: string,
  { eligible }: Verdict,
  settings: Pick<MethodSettings, "invalidates">,
): Invalidates {
  if (eligible || settings.invalidates === false) return "no";
  return settings.invalidates === undefined && onlyAsks(method) ? "streaming" : "yes";
}
