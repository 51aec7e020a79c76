import type { Address } from "../../transport/mod.ts";
import type { EmbeddedParts } from "../demo/mod.ts";
import type { Arrivals, BackendCount } from "../load/mod.ts";
import type { Screen } from "../report/mod.ts";
import type { BlastResult } from "../stall/mod.ts";
import type { Prices } from "./money.ts";
import type { UsageSource } from "./usage.ts";

/** A system that is measured, by its name in the report. */
export interface TaxTarget extends UsageSource {
  readonly name: string;
  readonly address: Address;
}

/** The options of `collapser tax`. */
export interface TaxOptions {
  /** The backend; undefined starts one in this process, and a sidecar in front of it. */
  readonly direct: TaxTarget | undefined;
  /** The proxies in front of the backend; at least one, unless `direct` is undefined. */
  readonly proxies: readonly TaxTarget[];
  /** Path of the method: unary. */
  readonly method: string;
  /** The request, with `{n}` where its number goes; undefined for a first field of text. */
  readonly message: Uint8Array | undefined;
  readonly metadata: readonly (readonly [name: string, value: string])[];
  /** Calls a second, ascending, at least one. */
  readonly rates: readonly number[];
  readonly rounds: number;
  /** Length of one measurement. */
  readonly segmentMs: number;
  readonly arrivals: Arrivals;
  readonly seed: number;
  /** Calls under way at saturation. */
  readonly callers: number;
  readonly connections: number;
  /** Different questions among the repeats; 0 leaves the repeats out. */
  readonly keys: number;
  readonly prices: Prices;
  /** Files for the result as JSON and as a page; "-" is standard output, instead of the text. */
  readonly jsonFile: string | undefined;
  readonly htmlFile: string | undefined;
}

/** The surroundings of a run: what it may use, and where it shows its result. */
export interface TaxSurroundings {
  /** The backend and the sidecar of a run without addresses. */
  readonly embedded: EmbeddedParts;
  /** The way to ask the backend what it counted; unless given, nobody is asked. */
  readonly backendCount?: BackendCount;
  /** Measures the third bill; unless given, the report says that it was not. */
  readonly runBlastRadius?: () => Promise<BlastResult>;
  /** @default the terminal */
  readonly screen?: Screen;
}
