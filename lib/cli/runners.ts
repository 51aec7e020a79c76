import type { Origin, Settings } from "../config/mod.ts";
import type {
  DemoOptions,
  LoadOptions,
  ProbeResult,
  ProbeTarget,
  StallOptions,
  TaxOptions,
} from "../measure/mod.ts";
import type { Explanation } from "../sidecar/mod.ts";
import type { Signals } from "./signals.ts";

/** What the demo's backend is and how slow. */
export interface BackendOptions {
  readonly host: string;
  readonly port: number;
  /** How long each answer takes. */
  readonly delayMs: number;
}

/** Where the message of a measured call is from, before anybody has read or encoded it. */
export type MessageSource =
  | { readonly from: "bytes"; readonly bytes: Uint8Array }
  | { readonly from: "file"; readonly path: string }
  /** A hello.v1.GreetingRequest. */
  | { readonly from: "greeting"; readonly greeting: Greeting };

/** The fields of a greeting that shape how much work it is. */
export interface Greeting {
  readonly name?: string;
  readonly delayMs?: number;
  readonly replyBytes?: number;
}

/** What is measured, with the message as it was given. */
export type TaxRequest = Omit<TaxOptions, "message"> & {
  readonly data: MessageSource | undefined;
  /** How long a backend stands still for the third bill; 0 leaves it out. */
  readonly blastMs: number;
};

export type { ProbeTarget };

/** What manifests are injected into, and how. */
export interface InjectRequest {
  /** Paths; `-` is standard input. */
  readonly files: readonly string[];
  /** Undefined is the image of this version. */
  readonly image: string | undefined;
  readonly services: "name" | "number" | false;
}

/**
 * The work behind the commands. It lives in other rooms, and `rooms.ts` fetches it from
 * there; here is only what the commands ask of it. Numbers that come back are exit codes.
 */
export interface Runners {
  /** Runs a sidecar; resolves when the process should end. */
  sidecar(
    settings: Settings,
    surroundings: {
      readonly warnings: readonly string[];
      /** Variable -> where its value is from. */
      readonly origins: ReadonlyMap<string, Origin>;
      readonly signals: Signals;
    },
  ): Promise<number>;
  /** What is wrong with the files that the settings name. */
  fileProblems(settings: Settings): Promise<readonly string[]>;
  /** What is right in those files and may surprise. */
  fileWarnings(settings: Settings): Promise<readonly string[]>;
  /** Explains a method as a sidecar with these settings would, or says what is wrong with its policy file. */
  explain(
    path: string,
    names: readonly string[],
    configuration: { settings: Settings; origins: ReadonlyMap<string, Origin> },
  ): Promise<{ readonly explanation: Explanation } | { readonly problems: readonly string[] }>;
  /** Runs the demo backend; resolves when the process should end. */
  backend(options: BackendOptions, surroundings: { signals: Signals }): Promise<number>;
  /** Plays the demo of a burst, or that of a trial. */
  demo(options: DemoOptions & { readonly shadow: boolean }): Promise<number>;
  load(options: LoadOptions): Promise<number>;
  tax(request: TaxRequest): Promise<number>;
  stall(options: StallOptions): Promise<number>;
  inject(request: InjectRequest): Promise<number>;
  drain(
    target: {
      readonly url: string;
      readonly token: string | undefined;
      readonly tokenPath: string | undefined;
    },
    options: { timeoutMs: number },
  ): Promise<{ readonly drained: boolean; readonly detail: string }>;
  /** What a sidecar's admin page at this URL says, as JSON, or why that cannot be had. */
  readAdmin(
    url: string,
    options: { timeoutMs: number },
  ): Promise<{ readonly value: unknown } | { readonly why: string }>;
  probe(target: ProbeTarget, options: { timeoutMs: number }): Promise<ProbeResult>;
}
