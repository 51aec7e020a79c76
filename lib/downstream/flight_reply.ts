import type { Asker, SharedReply } from "../trial/mod.ts";
import { NO_STATUS, type ReplySource } from "../upstream/mod.ts";
import { FrameLog } from "../wire/mod.ts";

/** Stands in for a request that is not needed any more. */
const NO_BODY = new FrameLog();

/** What a flight gathers for all who wait, and what is left of it when its backend call is over. */
export abstract class FlightReply implements SharedReply {
  /** The reply as far as it has come. */
  log = NO_BODY;
  ended = false;
  status = NO_STATUS;
  largestListBytes = 0;
  knowsMethod = false;
  format: ReplySource["format"] = undefined;
  failure: ReplySource["failure"] = undefined;
  isStream = false;
  asker: Asker | undefined = undefined;
  backendName = "";
  print: SharedReply["print"] = undefined;

  get heldBytes(): number {
    return this.log.heldBytes;
  }

  abstract forget(): void;

  /** Keeps what waiters ask of the reply: it may be read when nothing else is left of the exchange. */
  protected note(source: ReplySource): void {
    this.largestListBytes = source.largestListBytes;
    this.knowsMethod = source.knowsMethod;
    this.format = source.format;
    this.failure = source.failure;
    this.isStream = source.isStream ?? false;
  }
}
