import { Connection, type ReceivedHeaders, type Stream } from "../../lib/connection/mod.ts";
import { decodeGrpcMessage, formatTimeout } from "../../lib/grpc/mod.ts";
import { Pump, type PumpOwner, type Socket, Turn } from "../../lib/transport/mod.ts";
import { ERROR_CODE, errorCodeName, Field, HeaderCache } from "../../lib/wire/mod.ts";
import { METHODS, SHARD_HEADER, TENANT_HEADER } from "./content.ts";
import type { CallCarrier, SoakCall } from "./soak_call.ts";

const turn = new Turn();
const headers = new HeaderCache();

/** One connection of ours to a sidecar, with calls of all four kinds under way. */
export class CallerLink implements PumpOwner, CallCarrier {
  /** Resolves when the connection is gone. */
  readonly gone: Promise<void>;
  readonly #connection: Connection<SoakCall>;
  readonly #pump: Pump<SoakCall>;
  #isCut = false;
  #isLeaving = false;
  #isGone = false;
  #why = "the sidecar closed the connection";

  constructor(socket: Socket) {
    const nobody = () => {};
    this.#connection = new Connection<SoakCall>({
      role: "client",
      headerCache: headers,
      sink: {
        headers: (stream, received, endStream) => this.#headers(stream, received, endStream),
        data: (stream, bytes, from, to, endStream) => {
          this.#connection.consumed(stream, to - from);
          stream.owner?.receive(bytes, from, to);
          if (endStream) stream.owner?.finish({ how: "broken", why: "DATA ended the stream" });
        },
        reset: (stream, code, fault) => {
          const why = fault?.why ?? `RST_STREAM ${errorCodeName(code)}`;
          stream.owner?.finish({ how: "broken", why });
        },
        writable: (stream) => {
          if (stream.owner !== undefined) this.relay(stream.owner);
        },
        settings: nobody,
        goAway: (lastStreamId, code) => {
          this.#why = `GOAWAY ${errorCodeName(code)} up to ${lastStreamId}`;
        },
        pong: nobody,
        failed: ({ why }) => {
          this.#why = `the sidecar broke the protocol: ${why}`;
        },
      },
    });
    this.#pump = new Pump(socket, this.#connection, {
      owner: this,
      turn,
      now: () => performance.now(),
    });
    this.gone = this.#pump.run();
  }

  get canOpen(): boolean {
    return !this.#isGone && !this.#isLeaving && this.#connection.ready && this.#connection.canOpen;
  }

  open(call: SoakCall): void {
    const { name, tenant, shard, deadlineMs, cacheControl, wantsDebug } = call.choice;
    const head = headers.list([
      [":method", "POST"],
      [":scheme", "http"],
      [":path", METHODS[name].path],
      [":authority", "soak.test"],
      ["te", "trailers"],
      ["content-type", "application/grpc"],
      [TENANT_HEADER, tenant],
      ...shard === undefined ? [] : [[SHARD_HEADER, shard] as const],
    ]);
    const extra: Field[] = [];
    const add = (name: string, value: string) =>
      extra.push(new Field(name, value, { perCall: true }));
    if (deadlineMs !== undefined) add("grpc-timeout", formatTimeout(deadlineMs));
    if (cacheControl !== undefined) add("cache-control", cacheControl);
    if (wantsDebug) add("x-collapser-debug", "1");
    const stream = this.#connection.openStream(head, { extra, endStream: false });
    call.stream = stream;
    stream.owner = call;
    this.#pump.flushSoon();
    void call.send();
  }

  relay(call: SoakCall): void {
    if (call.stream === undefined || call.stream.closed || this.#isGone) return;
    this.#connection.relay(call.stream, call.body);
    this.#pump.flushSoon();
  }

  cancel(call: SoakCall): void {
    if (call.end !== undefined || call.stream === undefined || this.#isGone) return;
    this.#connection.reset(call.stream, ERROR_CODE.cancel);
    call.finish({ how: "cancelled" });
    this.#pump.flushSoon();
  }

  /** Cuts the connection, whatever is under way on it. */
  cut(): void {
    this.#isCut = true;
    this.#pump.abort();
  }

  /** Takes no more calls, and ends when those it has are over. */
  leave(): void {
    this.#isLeaving = true;
    this.#closeWhenIdle();
  }

  // ---- what the pump tells

  received(): void {
    this.#closeWhenIdle();
  }

  closed(trouble: Error | undefined): void {
    this.#isGone = true;
    const why = trouble?.message ?? this.#why;
    for (const stream of [...this.#connection.streams()]) {
      stream.owner?.finish(this.#isCut ? { how: "cut" } : { how: "lost", why });
    }
  }

  #headers(stream: Stream<SoakCall>, { list }: ReceivedHeaders, endStream: boolean): void {
    const call = stream.owner;
    if (call === undefined) return;
    if (call.headers++ === 0 && list.get(":status") !== "200") {
      return call.finish({ how: "broken", why: `HTTP status ${list.get(":status")}` });
    }
    if (!endStream) return;
    call.outcome = list.get("x-collapser") ?? "";
    const status = list.get("grpc-status");
    if (status === undefined) return call.finish({ how: "broken", why: "no grpc-status" });
    const message = decodeGrpcMessage(list.get("grpc-message") ?? "");
    call.finish({ how: "status", status: Number(status), message });
  }

  #closeWhenIdle(): void {
    if (this.#isLeaving && this.#connection.openStreams === 0) this.#pump.close();
  }
}
