import { statusName } from "../grpc/mod.ts";
import { OTHER_LABEL, OTHER_STATUS, type StatusCounts } from "../observe/mod.ts";
import { errorCodeName } from "../wire/mod.ts";

/**
 * Longest method or service that is a label. Names of real services stay far below it; callers can send paths of many
 * KiB, which 200 labels in a dozen series each would make megabytes of every scrape.
 */
export const MAX_LABEL_CHARS = 256;

/** How a status that gRPC does not define is labelled, whatever its number. */
const OTHER_CODE = "Other";

/** The label of something that callers name: itself, or `other` when it is too long to be one. */
export function nameLabel(name: string): string {
  return name.length <= MAX_LABEL_CHARS ? name : OTHER_LABEL;
}

/** The label of an HTTP/2 error code: the RFC's name, or `other` for one that it does not define. */
export function errorCodeLabel(code: number): string {
  const name = errorCodeName(code);
  return name.startsWith("UNKNOWN") ? OTHER_LABEL : name;
}

/** Visits the statuses that were seen: 18 for each of 200 methods would be mostly zeros. */
export function forCodes(
  statuses: StatusCounts,
  visit: (label: string, count: number) => void,
): void {
  statuses.counts.forEach((count, status) => {
    if (count > 0) visit(status === OTHER_STATUS ? OTHER_CODE : statusName(status), count);
  });
}
