import { type CollapseMap, headKey, type KeyHead } from "../collapse/mod.ts";
import { isGrpcContentType } from "../grpc/mod.ts";
import type { HeaderList } from "../wire/mod.ts";
import type { Method, MethodTable } from "./method_table.ts";
import type { SharedCall } from "./shared_call.ts";

const HEALTH_CHECK = "/grpc.health.v1.Health/Check";

/** What a request head means, worked out once for each list that callers send. */
export interface RequestRoute {
  readonly epoch: number;
  /** The fields as they are sent on, those that differ from call to call left out. */
  readonly list: HeaderList;
  readonly method: Method;
  /** Set when this is no gRPC call: the HTTP status that says so. */
  readonly httpStatus: number;
  /** Whose answers may be shared; undefined when the method's may not. */
  readonly keyHead: KeyHead<SharedCall> | undefined;
  /** A question about health, which the sidecar answers when it is the one that is asked about. */
  readonly asksHealth: boolean;
}

/** Finds the route of a list, on the list itself when it was asked for before. */
export class Router {
  #methods: MethodTable;
  #map: CollapseMap<SharedCall>;
  #inKey: (name: string) => boolean;
  #collapses: boolean;

  constructor(options: {
    methods: MethodTable;
    map: CollapseMap<SharedCall>;
    inKey: (name: string) => boolean;
    /** Whether anything is collapsed at all (COLLAPSER_MODE). */
    collapses: boolean;
  }) {
    this.#methods = options.methods;
    this.#map = options.map;
    this.#inKey = options.inKey;
    this.#collapses = options.collapses;
  }

  route(list: HeaderList): RequestRoute {
    const known = list.memo as RequestRoute | undefined;
    if (known !== undefined && known.epoch === this.#methods.epoch && !known.keyHead?.retired) {
      return known;
    }
    const made = this.#make(list);
    list.memo = made;
    return made;
  }

  #make(list: HeaderList): RequestRoute {
    const httpStatus = httpStatusOf(list);
    const method = httpStatus === 0
      ? this.#methods.method(list.get(":path") ?? "")
      : this.#methods.none;
    const shares = this.#collapses && method.verdict.eligible;
    const keyHead = shares
      ? this.#map.head(headKey(list.fields, { inKey: this.#inKey, identity: "" }), method.service)
      : undefined;
    const asksHealth = method.path === HEALTH_CHECK;
    return { epoch: this.#methods.epoch, list, method, httpStatus, keyHead, asksHealth };
  }
}

/** 0 for a gRPC request (PROTOCOL-HTTP2, "Requests"), else the HTTP status that turns it away. */
function httpStatusOf(list: HeaderList): number {
  if (list.get(":method") !== "POST") return 405;
  return isGrpcContentType(list.get("content-type") ?? "") ? 0 : 415;
}
