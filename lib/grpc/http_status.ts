import { STATUS } from "./status.ts";

/**
 * The gRPC status of a response that carries no `grpc-status`, by its HTTP status
 * (http-grpc-status-mapping). Only for that case: a `grpc-status` that is present wins. 200 is
 * UNKNOWN like every code the table does not list, since success would have said so.
 */
export function statusOfHttp(httpStatus: number): number {
  switch (httpStatus) {
    case 400: // Bad Request
    case 431: // Request Header Fields Too Large
      return STATUS.internal;
    case 401: // Unauthorized
      return STATUS.unauthenticated;
    case 403: // Forbidden
      return STATUS.permissionDenied;
    case 404: // Not Found
      return STATUS.unimplemented;
    case 429: // Too Many Requests
    case 502: // Bad Gateway
    case 503: // Service Unavailable
    case 504: // Gateway Timeout
      return STATUS.unavailable;
    default:
      return STATUS.unknown;
  }
}
