import type { Address } from "../../transport/mod.ts";
import type { EmbeddedParts } from "../demo/mod.ts";
import type { Arrivals, BackendCount } from "../load/mod.ts";
import type { Screen } from "../report/mod.ts";
import type { BlastResult } from "../stall/mod.ts";
import type { Prices } from "./money.ts";
import type { UsageSource } from "./usage.ts";

/** One that is measured. */
export interface TaxTarget extends UsageSource {
  readonly name: string;
  readonly address: Address;
}

/** What `collapser tax` measures, and how. */
export interface TaxOptions {
  /** The backend; undefined starts one in this process, and a sidecar in front of it. */
  readonly direct: TaxTarget | undefined;
  /** At least one, unless `direct` is undefined. */
  readonly proxies: readonly TaxTarget[];
  /** Path of the method: unary. */
  readonly method: string;
  /** The request, with `{n}` where its number goes; undefined for a first field of text. */
  readonly message: Uint8Array | undefined;
  readonly metadata: readonly (readonly [name: string, value: string])[];
  /** Calls a second, ascending, at least one. */
  readonly rates: readonly number[];
  readonly rounds: number;
  /** Of one measurement. */
  readonly segmentMs: number;
  readonly arrivals: Arrivals;
  readonly seed: number;
  /** At saturation. */
  readonly callers: number;
  readonly connections: number;
  /** Different questions among the repeats; 0 leaves the repeats out. */
  readonly keys: number;
  readonly prices: Prices;
  /** Where the result goes as JSON, as a page; "-" is standard output, instead of the text. */
  readonly jsonFile: string | undefined;
  readonly htmlFile: string | undefined;
}

/** What surrounds a run. */
export interface TaxSurroundings {
  /** For a run without addresses. */
  readonly embedded: EmbeddedParts;
  /** How the backend is asked what it counted; unless given, nobody is asked. */
  readonly backendCount?: BackendCount;
  /** Measures the third bill; unless given, the report says that it was not. */
  readonly runBlastRadius?: () => Promise<BlastResult>;
  /** @default the terminal */
  readonly screen?: Screen;
}
