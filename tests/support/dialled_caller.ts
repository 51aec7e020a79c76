import { type Address, type Dial, dialPlain, type Socket } from "../../lib/transport/mod.ts";
import { bridge, type Closing } from "./bridge.ts";
import { CallerEnd } from "./caller_end.ts";
import type { SettingPairs } from "./peer_end.ts";
import { within } from "./waiting.ts";

const DIAL_MS = 10_000;

/** A caller that a test plays frame by frame, on a connection of its own. It leaves with the scope. */
export class DialledCaller extends CallerEnd implements AsyncDisposable {
  /** How the other side closed, once the connection is gone. */
  readonly closed: Promise<Closing>;

  constructor(socket: Socket, settings?: SettingPairs) {
    super(settings);
    this.closed = bridge(this, socket);
  }

  /** One that has dialled a port of the loopback address, or another address, plainly or otherwise. */
  static async at(
    where: number | Address,
    { settings, dial = dialPlain }: { settings?: SettingPairs | undefined; dial?: Dial } = {},
  ): Promise<DialledCaller> {
    const address = typeof where === "number" ? { host: "127.0.0.1", port: where } : where;
    return new DialledCaller(await dial(address, { timeoutMs: DIAL_MS }), settings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leaves();
    await within(this.closed, "the end of a caller's connection");
    this.expectsNoTrouble();
  }
}
