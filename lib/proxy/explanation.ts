import {
  compileEligibility,
  CONTROL_FIELDS,
  isKeyMetadata,
  type Verdict,
} from "../collapse/mod.ts";
import {
  type Holding,
  type MethodSettings,
  MethodTable,
  type MethodTableOptions,
  type NamedPolicy,
  PolicyIndex,
  SettingsCompiler,
} from "../downstream/mod.ts";
import { splitMethod } from "../grpc/mod.ts";
import { ProxyCounters, SILENT } from "../observe/mod.ts";
import type { ProxyOptions } from "./options.ts";

/** Why metadata of a name is in a method's key, or is not. */
export type KeyReason =
  | "position"
  | "routing"
  | "own"
  | "control"
  | "named"
  | "not named"
  | "usual";

/** Request metadata of one name, and whether it tells calls of the method apart. */
export interface KeyName {
  readonly name: string;
  readonly inKey: boolean;
  readonly why: KeyReason;
}

/** How one method is judged and what holds for its calls, with where that is from. */
export interface MethodExplanation {
  readonly path: string;
  readonly verdict: Verdict;
  readonly settings: MethodSettings;
  /** The entries that hold. */
  readonly holding: Holding;
  /** All entries that name it, the closest first. */
  readonly matching: readonly NamedPolicy[];
  readonly names: readonly KeyName[];
  /** Metadata in which callers differed, when its answers were found to depend on who asks. */
  readonly off: readonly string[] | undefined;
}

/** What an explanation is made from: of a sidecar that runs, or of one that would. */
export interface Explained {
  readonly options:
    & Pick<ProxyOptions, "methods" | "backendRouting">
    & ConstructorParameters<typeof SettingsCompiler>[0];
  readonly policies: readonly NamedPolicy[];
  readonly descriptorOf?: NonNullable<MethodTableOptions["descriptorOf"]>;
  /** What is known of the method by its calls, where there were any. */
  readonly verdict?: Verdict | undefined;
  readonly off?: readonly string[] | undefined;
}

/** Explains a method, in a table of its own: the one that calls are judged by does not notice. */
export function explainMethod(
  path: string,
  names: readonly string[],
  { options, policies, descriptorOf, verdict, off }: Explained,
): MethodExplanation {
  const { backendRouting: routed } = options;
  const routingHeader = routed.by === "header" ? routed.name : undefined;
  const table = new MethodTable({
    eligibility: compileEligibility(options.methods),
    settings: new SettingsCompiler(options, routingHeader),
    counters: new ProxyCounters(),
    observer: SILENT,
    ...(descriptorOf && { descriptorOf }),
    onForget() {},
  });
  table.setPolicies(policies);
  const method = table.method(path);
  const index = new PolicyIndex(policies);
  const { service, method: own } = splitMethod(path) ?? { service: "", method: path };
  const ignored = method.policy.ignoreHeaders ?? options.ignoreHeaders;
  const nameOf = (name: string): KeyName => {
    const inKey = !CONTROL_FIELDS.has(name) &&
      (!isKeyMetadata(name) || method.settings.inKey(name));
    const why = CONTROL_FIELDS.has(name)
      ? "control"
      : !isKeyMetadata(name)
      ? "position"
      : name === routingHeader
      ? "routing"
      : inKey
      ? "own"
      : ignored.includes(name)
      ? "named"
      : (method.policy.keyHeaders ?? options.keyHeaders) !== undefined
      ? "not named"
      : "usual";
    return { name, inKey, why };
  };
  return {
    path,
    verdict: verdict ?? method.verdict,
    settings: method.settings,
    holding: index.holding(service, own),
    matching: index.matching(service, own),
    names: [...new Set(names)].map(nameOf),
    off,
  };
}
