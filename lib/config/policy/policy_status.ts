import type { Fault } from "./json.ts";

/** The policy in force, and what there is to say of the file by now. */
export interface PolicyStatus {
  readonly path: string;
  /** The text in force, as it was written. */
  readonly text: string;
  /** Beginning of the text's SHA-256. */
  readonly hash: string;
  /** When the text was last found good, in ms since 1970. */
  readonly appliedAtMs: number;
  /** The file as it is now; `hash` is undefined for one that cannot be read. */
  readonly file: { readonly hash: string | undefined; readonly problems: readonly Fault[] };
  /** How often the file was found to have changed, and its text taken or refused. */
  readonly taken: number;
  readonly refused: number;
}
