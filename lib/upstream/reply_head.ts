import { type CachePolicy, cachePolicy } from "../freshness/mod.ts";
import { isGrpcContentType, parseStatus } from "../grpc/mod.ts";
import type { HeaderList } from "../wire/mod.ts";

/** How a reply's messages are written. */
export interface MessageFormat {
  /** What compressed messages are compressed with (`grpc-encoding`); undefined where none is. */
  readonly encoding: string | undefined;
  /** Messages are protobuf, as they are where the content-type names nothing else. */
  readonly isProtobuf: boolean;
}

/** What a list of the backend's says, read once for a list. */
export interface ReplyHead {
  /** 0 in trailers. */
  readonly httpStatus: number;
  /** An interim response (RFC 9110 §15.2): not the reply yet. */
  readonly interim: boolean;
  /** HTTP 200 and a gRPC content-type. */
  readonly isGrpc: boolean;
  readonly format: MessageFormat;
  /** undefined where there is none, or none that can be read. */
  readonly grpcStatus: number | undefined;
  /** undefined where nothing is said about keeping it. */
  readonly cache: CachePolicy | undefined;
}

export function replyHead(list: HeaderList): ReplyHead {
  return (list.memo as ReplyHead | undefined) ?? (list.memo = read(list)) as ReplyHead;
}

function read(list: HeaderList): ReplyHead {
  const httpStatus = Number(list.get(":status") ?? 0);
  const status = list.get("grpc-status");
  return {
    httpStatus,
    interim: httpStatus >= 100 && httpStatus < 200,
    isGrpc: httpStatus === 200 && isGrpcContentType(list.get("content-type") ?? ""),
    format: {
      encoding: list.get("grpc-encoding"),
      isProtobuf: !/^application\/grpc\+(?!proto\b)/i.test(list.get("content-type") ?? ""),
    },
    grpcStatus: status === undefined ? undefined : parseStatus(status),
    cache: cachePolicy(list),
  };
}
