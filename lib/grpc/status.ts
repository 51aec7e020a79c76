/** The seventeen gRPC status codes (grpc/grpc doc/statuscodes.md). */
export const STATUS = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** Names of the codes, spelled as go-grpc-middleware labels its metrics, so that existing dashboards fit. */
const NAMES: readonly string[] = [
  "OK",
  "Canceled",
  "Unknown",
  "InvalidArgument",
  "DeadlineExceeded",
  "NotFound",
  "AlreadyExists",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Aborted",
  "OutOfRange",
  "Unimplemented",
  "Internal",
  "Unavailable",
  "DataLoss",
  "Unauthenticated",
];

/**
 * Most digits of a `grpc-status` that are read. The codes end at 16; applications that invent
 * larger ones stay well inside five digits, and the number stays a small integer.
 */
const MAX_STATUS_DIGITS = 5;

/**
 * The metric label of a status code: `OK`, `Canceled`, … `Unauthenticated`, and `Code(99)` for a
 * number that gRPC does not define. Unbounded as a label: whoever counts per name bounds it.
 */
export function statusName(code: number): string {
  return NAMES[code] ?? `Code(${code})`;
}

/**
 * Reads the value of `grpc-status` (PROTOCOL-HTTP2 "Responses": `1*DIGIT`). Numbers that gRPC does
 * not define are returned as they are. Leading zeros, which a sender must not write, are read as
 * other implementations read them.
 *
 * @returns undefined for anything but one to five decimal digits
 */
export function parseStatus(text: string): number | undefined {
  const digits = text.length;
  if (digits === 0 || digits > MAX_STATUS_DIGITS) return undefined;
  let code = 0;
  for (let i = 0; i < digits; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return undefined;
    code = code * 10 + digit;
  }
  return code;
}
