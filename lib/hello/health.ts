import {
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  status,
  type UntypedServiceImplementation,
} from "./grpc.ts";

/** grpc.health.v1.HealthCheckResponse.ServingStatus */
const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;

type Asked = { readonly service: string };
type Told = { readonly status: number };
type WatchCall = ServerWritableStream<Asked, Told>;

/** The state behind grpc.health.v1: one yes or no for all the services it knows. */
export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #watchers = new Set<WatchCall>();
  #status = SERVING;

  /** `services` are the names that can be asked for; "" stands for the server as a whole. */
  constructor(services: readonly string[]) {
    this.#services = new Set(services);
  }

  /** Changes the answer, and tells those who watch. */
  setServing(serving: boolean): void {
    const status = serving ? SERVING : NOT_SERVING;
    if (status === this.#status) return;
    this.#status = status;
    for (const call of this.#watchers) {
      if (this.#services.has(call.request.service)) call.write({ status });
    }
  }

  /** Ends every watch: a server that stops must not wait for streams that have no end of their own. */
  close(): void {
    for (const call of this.#watchers) call.end();
    this.#watchers.clear();
  }

  handlers(): UntypedServiceImplementation {
    return {
      Check: (call: ServerUnaryCall<Asked, Told>, reply: sendUnaryData<Told>) => {
        const { service } = call.request;
        if (this.#services.has(service)) reply(null, { status: this.#status });
        else reply({ code: status.NOT_FOUND, details: `Unknown service "${service}"` });
      },
      Watch: (call: WatchCall) => {
        // The protocol keeps a watch on an unknown name open: the service may come.
        const known = this.#services.has(call.request.service);
        call.write({ status: known ? this.#status : SERVICE_UNKNOWN });
        this.#watchers.add(call);
        call.once("cancelled", () => this.#watchers.delete(call));
      },
    };
  }
}
