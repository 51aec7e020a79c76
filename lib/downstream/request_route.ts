import {
  type CollapseMap,
  headKey,
  type KeyCodec,
  type KeyHead,
  type Reply,
} from "../collapse/mod.ts";
import { isGrpcContentType } from "../grpc/mod.ts";
import type { ShadowAnswer } from "../trial/mod.ts";
import { INSTANCE_HEADER } from "../upstream/mod.ts";
import { Field, HeaderList } from "../wire/mod.ts";
import type { Method, MethodTable } from "./method_table.ts";
import type { FlightCall } from "./flight_call.ts";

const HEALTH_CHECK = "/grpc.health.v1.Health/Check";

/** Routes remembered for one identity before they are forgotten at once: some 200 KiB. */
const MAX_ROUTES = 1_024;

/** What a request head means, worked out once for each list that callers send. */
export interface RequestRoute {
  readonly epoch: number;
  /** The fields as they are sent on, those that differ from call to call left out. */
  readonly list: HeaderList;
  readonly method: Method;
  /** Set when this is no gRPC call: the HTTP status that says so. */
  readonly httpStatus: number;
  /** The head of the key under which the answer may be shared; undefined when the method's answers may not. */
  readonly keyHead: KeyHead<FlightCall> | undefined;
  /** The head under which it would be shared, were the method's sharing not only on paper. */
  readonly shadowHead: KeyHead<ShadowAnswer> | undefined;
  /** Whichever of the two there is: once it is retired, the route must be worked out anew. */
  readonly head: { readonly retired: boolean } | undefined;
  /** The call's message is awaited before anything else: what becomes of it depends on that. */
  readonly awaitsMessage: boolean;
  /** One of the sidecar's own calls has come back to it. */
  readonly isCircular: boolean;
  /** A question about health, which the sidecar answers when it is the one that is asked about. */
  readonly asksHealth: boolean;
}

export interface RouterOptions {
  readonly methods: MethodTable;
  readonly map: CollapseMap<FlightCall>;
  readonly shadowMap: CollapseMap<ShadowAnswer>;
  readonly codec: Pick<KeyCodec, "digestText">;
  /** What this process says to tell itself from others. @default 0, nothing */
  readonly instance?: number;
  /** What requests are sent on with; as they came when left out. */
  readonly scheme?: "http" | "https";
}

/** Finds the route of a list, on the list itself when it was asked for before. */
export class Router {
  #methods: MethodTable;
  #map: CollapseMap<FlightCall>;
  #shadowMap: CollapseMap<ShadowAnswer>;
  #codec: Pick<KeyCodec, "digestText">;
  #scheme: Field | undefined;
  #instance: string;

  constructor(options: RouterOptions) {
    this.#methods = options.methods;
    this.#map = options.map;
    this.#shadowMap = options.shadowMap;
    this.#codec = options.codec;
    const { scheme, instance = 0 } = options;
    this.#instance = String(instance);
    this.#scheme = scheme === undefined ? undefined : new Field(":scheme", scheme);
  }

  route(list: HeaderList): RequestRoute {
    const known = list.memo as RequestRoute | undefined;
    if (known !== undefined && known.epoch === this.#methods.epoch && !known.head?.retired) {
      return known;
    }
    const made = this.make(list, "");
    list.memo = made;
    return made;
  }

  /** Whether what was worked out earlier still holds. */
  protected holds({ epoch, head }: RequestRoute): boolean {
    return epoch === this.#methods.epoch && !head?.retired;
  }

  protected make(list: HeaderList, identity: string): RequestRoute {
    const httpStatus = httpStatusOf(list);
    const method = httpStatus === 0
      ? this.#methods.method(list.get(":path") ?? "")
      : this.#methods.none;
    const { mode } = method.settings;
    const isOn = method.verdict.eligible && method.trial?.off === undefined;
    const shares = isOn && (mode === "collapse" || mode === "verify");
    const keyHead = shares ? this.#keyHead(this.#map, list, method, identity) : undefined;
    const shadowHead = isOn && mode === "shadow"
      ? this.#keyHead(this.#shadowMap, list, method, identity)
      : undefined;
    const asksHealth = method.path === HEALTH_CHECK;
    const isCircular = list.get(INSTANCE_HEADER) === this.#instance;
    const { epoch } = this.#methods;
    const sent = this.#scheme === undefined ? list : withScheme(list, this.#scheme);
    const head = keyHead ?? shadowHead;
    const awaitsMessage = head !== undefined || asksHealth;
    return {
      ...{ epoch, list: sent, method, httpStatus, keyHead, shadowHead, head },
      ...{ isCircular, asksHealth, awaitsMessage },
    };
  }

  #keyHead<R extends Reply>(
    map: CollapseMap<R>,
    list: HeaderList,
    { settings, scope }: Method,
    identity: string,
  ): KeyHead<R> {
    const text = headKey(list.fields, { inKey: settings.inKey, identity, codec: this.#codec });
    return map.head(text, scope, settings);
  }
}

/**
 * The routes of callers whose certificate gave them an identity, which is in the key. Lists are shared by all callers,
 * so what is remembered on a list would be another's: these have a memory of their own.
 */
export class IdentityRouter extends Router {
  #identity: string;
  #routes = new WeakMap<HeaderList, RequestRoute>();
  #count = 0;

  constructor(identity: string, options: RouterOptions) {
    super(options);
    this.#identity = identity;
  }

  override route(list: HeaderList): RequestRoute {
    const known = this.#routes.get(list);
    if (known !== undefined && this.holds(known)) return known;
    const made = this.make(list, this.#identity);
    if (this.#count++ % MAX_ROUTES === 0) this.#routes = new WeakMap();
    this.#routes.set(list, made);
    return made;
  }
}

/** A backend may refuse a scheme that is not that of its own transport, which need not be the caller's. */
function withScheme(list: HeaderList, scheme: Field): HeaderList {
  if (list.get(":scheme") === scheme.value) return list;
  let sent = new HeaderList();
  for (const field of list.fields) {
    sent = new HeaderList(sent, field.name === ":scheme" ? scheme : field);
  }
  return sent;
}

/** 0 for a gRPC request (PROTOCOL-HTTP2, "Requests"), else the HTTP status that turns it away. */
function httpStatusOf(list: HeaderList): number {
  if (list.get(":method") !== "POST") return 405;
  return isGrpcContentType(list.get("content-type") ?? "") ? 0 : 415;
}
