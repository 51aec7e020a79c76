import type { Wishes } from "../collapse/mod.ts";
import { MALFORMED_TIMEOUT, parseCacheControl, parseTimeout } from "../grpc/mod.ts";
import type { Field } from "../wire/mod.ts";
import type { Failure } from "../upstream/mod.ts";

/** What the fields of one call alone ask of the sidecar itself. */
export interface RequestFields extends Wishes {
  /** From grpc-timeout; undefined without one. */
  timeoutMs: number | undefined;
  isFresh: boolean;
  /** `cache-control: no-store`: a call that nobody shares. */
  isAlone: boolean;
  isOnlyIfCached: boolean;
  maxAgeMs: number;
  /** `x-collapser-debug: 1`: the trailers say how the call was answered. */
  wantsDebug: boolean;
}

/** A call that asks for nothing: most of them. */
export const NO_FIELDS: Readonly<RequestFields> = {
  timeoutMs: undefined,
  isFresh: false,
  isAlone: false,
  isOnlyIfCached: false,
  maxAgeMs: Infinity,
  wantsDebug: false,
};

/** Reads the fields of a request that are meant for the sidecar, or says why the call cannot be taken. */
export function readRequestFields(fields: readonly Field[]): RequestFields | { failure: Failure } {
  const read: RequestFields = { ...NO_FIELDS };
  let words: string[] | undefined;
  for (const { name, value } of fields) {
    if (name === "grpc-timeout") {
      read.timeoutMs = parseTimeout(value);
      if (read.timeoutMs === MALFORMED_TIMEOUT) {
        return { failure: { kind: "malformedTimeout", value } };
      }
      if (read.timeoutMs === 0) return { failure: { kind: "deadline" } };
    } else if (name === "cache-control") {
      (words ??= []).push(value);
    } else if (name === "x-collapser-debug") {
      read.wantsDebug = value === "1";
    }
  }
  if (words !== undefined) readWords(words, read);
  return read;
}

function readWords(words: readonly string[], read: RequestFields): void {
  const { isNoCache, isNoStore, isOnlyIfCached, maxAgeMs } = parseCacheControl(words);
  read.isFresh = isNoCache;
  read.isAlone = isNoStore;
  read.isOnlyIfCached = isOnlyIfCached;
  read.maxAgeMs = maxAgeMs;
}
