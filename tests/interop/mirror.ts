import { Buffer } from "node:buffer";
import {
  Metadata,
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
} from "@grpc/grpc-js";

/** Method paths of the mirror. By their names the first two only read. */
export const MIRROR_PATHS = {
  getBack: "/mirror.v1.Mirror/GetBack",
  listBack: "/mirror.v1.Mirror/ListBack",
  postBack: "/mirror.v1.Mirror/PostBack",
} as const;

const COPIES = 3;

/** A service that sends back what it was sent: what Hello cannot show, any metadata and any bytes. */
export interface Mirror extends Disposable {
  readonly port: number;
  /** Calls it has had. */
  readonly total: number;
}

/**
 * Starts one. Metadata `x-head-…` comes back in the initial metadata, `x-tail-…` in the trailers. Calls of one message
 * are answered once `opened` is resolved.
 */
export async function startMirror(opened: Promise<void> = Promise.resolve()): Promise<Mirror> {
  const server = new Server({ "grpc.max_receive_message_length": -1 });
  let total = 0;
  const one = async (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
    total++;
    await opened;
    call.sendMetadata(pick(call.metadata, "x-head-"));
    done(null, call.request, pick(call.metadata, "x-tail-"));
  };
  const many = (call: ServerWritableStream<Buffer, Buffer>) => {
    total++;
    call.sendMetadata(pick(call.metadata, "x-head-"));
    for (let copy = 0; copy < COPIES; copy++) call.write(call.request);
    call.end(pick(call.metadata, "x-tail-"));
  };
  const service: ServiceDefinition = {
    getBack: methodAt(MIRROR_PATHS.getBack, false),
    listBack: methodAt(MIRROR_PATHS.listBack, true),
    postBack: methodAt(MIRROR_PATHS.postBack, false),
  };
  server.addService(service, { getBack: one, listBack: many, postBack: one });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(
      "127.0.0.1:0",
      ServerCredentials.createInsecure(),
      (error, port) => error === null ? resolve(port) : reject(error),
    )
  );
  return {
    port,
    get total() {
      return total;
    },
    [Symbol.dispose]: () => server.forceShutdown(),
  };
}

function methodAt(path: string, responseStream: boolean) {
  const asIs = (bytes: Buffer) => bytes;
  return {
    path,
    requestStream: false,
    responseStream,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
}

/** The metadata whose names begin so. */
function pick(metadata: Metadata, prefix: string): Metadata {
  const picked = new Metadata();
  for (const name of Object.keys(metadata.getMap())) {
    if (!name.startsWith(prefix)) continue;
    for (const value of metadata.get(name)) picked.add(name, value);
  }
  return picked;
}
