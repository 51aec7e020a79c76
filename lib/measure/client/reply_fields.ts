import { isGrpcContentType, parseStatus } from "../../grpc/mod.ts";
import type { HeaderList } from "../../wire/mod.ts";

/** The fields of a reply's head or trailers that a client reads, worked out once for a list. */
export interface ReplyFields {
  /** `:status`; 0 in trailers. */
  readonly httpStatus: number;
  /** An interim response (RFC 9110 §15.2): not the reply yet. */
  readonly interim: boolean;
  /** HTTP 200 with a gRPC content-type. */
  readonly isGrpc: boolean;
  /** `grpc-status`; undefined where there is none that can be read. */
  readonly grpcStatus: number | undefined;
  readonly grpcMessage: string;
  /** `x-collapser`: how the sidecar came by the reply; "" where it does not say. */
  readonly outcome: string;
}

export function replyFields(list: HeaderList): ReplyFields {
  return (list.memo as ReplyFields | undefined) ?? (list.memo = read(list)) as ReplyFields;
}

function read(list: HeaderList): ReplyFields {
  const httpStatus = Number(list.get(":status") ?? 0);
  const status = list.get("grpc-status");
  return {
    httpStatus,
    interim: httpStatus >= 100 && httpStatus < 200,
    isGrpc: httpStatus === 200 && isGrpcContentType(list.get("content-type") ?? ""),
    grpcStatus: status === undefined ? undefined : parseStatus(status),
    grpcMessage: list.get("grpc-message") ?? "",
    outcome: list.get("x-collapser") ?? "",
  };
}
