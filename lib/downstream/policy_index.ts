import type { CollapserPolicy, NamedPolicy } from "./method_policy.ts";

/** What the policy file says of a method: its `collapser` settings, and what bounds its calls. */
export interface MethodPolicy extends CollapserPolicy {
  readonly maxConcurrent?: number;
  readonly timeoutMs?: number;
}

/** The entries that hold for a method; undefined where none says anything. */
export interface Holding {
  readonly collapser: NamedPolicy | undefined;
  readonly timeout: NamedPolicy | undefined;
  readonly maxConcurrent: NamedPolicy | undefined;
}

/** Nothing is said of a method. */
export const NO_POLICY: MethodPolicy = {};

/** The policy file by name, so that ten thousand entries cost a look-up no more than ten. */
export class PolicyIndex {
  readonly #named = new Map<string, NamedPolicy[]>();

  constructor(policies: readonly NamedPolicy[]) {
    for (const policy of policies) {
      const key = keyOf(policy);
      const same = this.#named.get(key);
      if (same === undefined) this.#named.set(key, [policy]);
      else same.push(policy);
    }
  }

  /** The entries that name the method, its service, or all; those that name it most closely come first. */
  matching(service: string, method: string): readonly NamedPolicy[] {
    if (this.#named.size === 0) return [];
    const names = [{ service, method }, { service, method: "" }, { service: "", method: "" }];
    return [...new Set(names.map(keyOf))].flatMap((key) => this.#named.get(key) ?? []);
  }

  /** Which entries hold for a method: for its `collapser` object, and for each key beside that. */
  holding(service: string, method: string): Holding {
    const matching = this.matching(service, method);
    const [closest] = matching;
    const isClosest = (other: NamedPolicy) => keyOf(other) === keyOf(closest!);
    return {
      collapser: matching.find(({ collapser }) => collapser !== undefined),
      timeout: matching.find((each) => isClosest(each) && each.timeoutMs !== undefined),
      maxConcurrent: matching.find((each) => each.maxConcurrent !== undefined),
    };
  }

  /**
   * What holds for a method. Each of gRPC's own settings is that of the closest entry (gRPC, doc/service_config.md), and
   * the `collapser` object that of the closest entry which has one, whole: files in use name every method for its
   * time-out, which must not hide what is said of its service.
   */
  policyOf(service: string, method: string): MethodPolicy {
    if (this.matching(service, method).length === 0) return NO_POLICY;
    const { collapser, timeout, maxConcurrent: bound } = this.holding(service, method);
    const timeoutMs = timeout?.timeoutMs;
    const maxConcurrent = bound?.maxConcurrent;
    return {
      ...collapser?.collapser,
      ...(maxConcurrent !== undefined && { maxConcurrent }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
  }
}

function keyOf({ service, method }: { service: string; method: string }): string {
  return `${service}/${method}`;
}
