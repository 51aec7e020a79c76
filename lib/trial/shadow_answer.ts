import type { Flight, Reply } from "../collapse/mod.ts";
import type { AnswerPrint } from "../trust/mod.ts";
import type { Asker } from "./asker.ts";

/** What would be kept of an answer: everything but the answer, of which there is a print. */
export class ShadowAnswer implements Reply {
  /** Set right after it was made, since each needs the other. */
  flight!: Flight<ShadowAnswer>;
  /** With what it was asked for: who would have led the flight. */
  asker: Asker;
  /** The backend that gave it; "" before the end. */
  backend = "";
  /** Undefined before the end, and where there was none. */
  print: AnswerPrint | undefined = undefined;
  /** Time of the answer's end; 0 before. */
  endedMs = 0;
  /** Bytes that the answer would take if it were stored. */
  heldBytes = 0;
  /** Calls that it answers or would. */
  group = 1;

  constructor(asker: Asker) {
    this.asker = asker;
  }

  forget(): void {}
}
