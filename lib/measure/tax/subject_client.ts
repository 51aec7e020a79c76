import { STATUS, statusName } from "../../grpc/mod.ts";
import { type Client, type Method, openClient } from "../client/mod.ts";
import type { TaxOptions, TaxTarget } from "./options.ts";
import { readMetrics, savedShareSoFar } from "./proxy_metrics.ts";
import { readUsage, type Usage } from "./usage.ts";
import { WireCount } from "./wire_count.ts";

/** Asks a collapser to say in each reply's trailers how it came by it. */
const ASK_OUTCOME = ["x-collapser-debug", "1"] as const;

/** Longest that the first call may take. */
const FIRST_CALL_TIMEOUT_MS = 5_000;

/** A system that is measured, with the client that calls it and what is known of it so far. */
export class SubjectClient {
  readonly target: TaxTarget;
  readonly client: Client;
  readonly wire: WireCount;
  readonly method: Method;
  /** The method with a wish to be told how the reply came about. */
  readonly askingMethod: Method;
  callsMade = 0;
  usageMissing: string | undefined = undefined;
  lastUsage: Usage | undefined = undefined;
  savedShareSoFar: number | undefined = undefined;

  private constructor(target: TaxTarget, client: Client, wire: WireCount, options: TaxOptions) {
    const { method: path, metadata } = options;
    this.target = target;
    this.client = client;
    this.wire = wire;
    this.method = client.method({ path, metadata });
    this.askingMethod = client.method({ path, metadata: [...metadata, ASK_OUTCOME] });
  }

  /** Connects to the system. Rejects, in words for whoever gave the address, when it cannot. */
  static async open(target: TaxTarget, options: TaxOptions): Promise<SubjectClient> {
    const wire = new WireCount();
    const { connections } = options;
    const client = await openClient(target.address, { connections, dial: wire.dial });
    return new SubjectClient(target, client, wire, options);
  }

  /** Makes one call, and finds out what can be known of the process. Returns what is wrong, if anything. */
  async tryOut(
    message: Uint8Array,
    { method: path, metadata }: TaxOptions,
  ): Promise<string | undefined> {
    const { metricsUrl } = this.target;
    const history = metricsUrl === undefined ? undefined : await readMetrics(metricsUrl);
    if (history !== undefined && "exposition" in history) {
      this.savedShareSoFar = savedShareSoFar(history.exposition, path);
    }
    await this.readUsage();
    this.callsMade++;
    const deadlineMs = FIRST_CALL_TIMEOUT_MS;
    const reply = await this.client.callOnce({ path, metadata, deadlineMs, message });
    if (reply.status === STATUS.ok) return undefined;
    const said = reply.message === "" ? "" : `: ${reply.message}`;
    return `Cannot measure ${this.target.name}: ${path} ended with ${
      statusName(reply.status)
    }${said}`;
  }

  /** Reads what the system's process has used; undefined where that cannot be read. */
  async readUsage(): Promise<Usage | undefined> {
    if (this.usageMissing !== undefined) return undefined;
    const reading = await readUsage(this.target);
    if ("missing" in reading) {
      this.usageMissing = reading.missing;
      return undefined;
    }
    return this.lastUsage = reading.usage;
  }
}
