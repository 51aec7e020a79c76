import type { Origin, PolicyStatus, Settings } from "../config/mod.ts";
import type { Proxy } from "../proxy/mod.ts";
import type { Logger } from "../telemetry/mod.ts";

/** Where the pages come from; asked on every request. */
export interface AdminSources {
  readonly metrics: {
    text(): Promise<string>;
    /** Content type of the metrics' text. */
    readonly contentType: string;
  };
  /** Whether the sidecar is ready; `reason` says in words why it is not. */
  readonly readiness: () => { readonly ready: boolean; readonly reason: string };
  readonly proxy: Pick<Proxy, "buffered" | "counters" | "explain" | "inspection" | "map" | "trial">;
  readonly configuration: {
    readonly settings: Settings;
    /** Variable -> where its value is from; what is not in it is not known. */
    readonly origins: ReadonlyMap<string, Origin>;
    readonly warnings: readonly string[];
  };
  /** The policy in force and what there is to say of its file; undefined when there is none. */
  readonly policy: () => PolicyStatus | undefined;
  /** The sidecar's way out. */
  readonly drain: {
    readonly state: "serving" | "draining" | "drained";
    /** Begins, if nobody has. */
    begin(): void;
  };
  /** The token that calls which change something must bring, as it is now; without one no such call exists. */
  readonly adminToken: () => string | undefined;
  readonly version: string;
  readonly commit: string;
  readonly log: Logger;
}
