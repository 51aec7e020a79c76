import { MALFORMED_TIMEOUT, parseTimeout } from "../grpc/mod.ts";
import type { Field } from "../wire/mod.ts";
import type { Failure } from "../upstream/mod.ts";

/** What the fields of one call alone ask of the sidecar itself. */
export interface RequestFields {
  /** From grpc-timeout; undefined without one. */
  timeoutMs: number | undefined;
  /** `cache-control: no-cache`: no stored result, and no flight that is under way. */
  isFresh: boolean;
  /** `cache-control: no-store`: a call that nobody shares. */
  isAlone: boolean;
  /** `x-collapser-debug: 1`: the trailers say how the call was answered. */
  wantsDebug: boolean;
}

/** A call that asks for nothing: most of them. */
export const NO_FIELDS: Readonly<RequestFields> = {
  timeoutMs: undefined,
  isFresh: false,
  isAlone: false,
  wantsDebug: false,
};

/** Reads them, or says why the call cannot be taken. */
export function readRequestFields(fields: readonly Field[]): RequestFields | { failure: Failure } {
  const read: RequestFields = { ...NO_FIELDS };
  for (const { name, value } of fields) {
    if (name === "grpc-timeout") {
      read.timeoutMs = parseTimeout(value);
      if (read.timeoutMs === MALFORMED_TIMEOUT) {
        return { failure: { kind: "malformedTimeout", value } };
      }
      if (read.timeoutMs === 0) return { failure: { kind: "deadline" } };
    } else if (name === "cache-control") {
      const directives = value.toLowerCase();
      read.isFresh ||= directives.includes("no-cache");
      read.isAlone ||= directives.includes("no-store");
    } else if (name === "x-collapser-debug") {
      read.wantsDebug = value === "1";
    }
  }
  return read;
}
