import { Buffer } from "node:buffer";
import {
  type CallOptions,
  Client,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from "@grpc/grpc-js";
import { within } from "./waiting.ts";

/** What a grpc-js client shows of a call. */
export interface JsAnswer {
  readonly messages: string[];
  readonly head: Metadata | undefined;
  readonly status: StatusObject;
}

/** A grpc-js client without retries of its own. On Deno it may not survive a GOAWAY: no test may drain in front of it. */
export class JsCaller implements Disposable {
  readonly #client: Client;

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      "grpc.default_authority": "service.test",
      "grpc.enable_retries": 0,
      "grpc.use_local_subchannel_pool": 1,
    });
  }

  /** A call with one message whose answer streams, as far as the client knows; `messages` fills as it goes. */
  call(path: string, said: string, {
    metadata = {},
    deadlineMs,
    messages = [],
  }: {
    metadata?: Record<string, string>;
    deadlineMs?: number;
    messages?: string[];
  } = {}): Promise<JsAnswer> {
    const sent = new Metadata();
    for (const [name, value] of Object.entries(metadata)) sent.add(name, value);
    const asBuffer = (bytes: Buffer) => bytes;
    const options: CallOptions = deadlineMs === undefined
      ? {}
      : { deadline: Date.now() + deadlineMs };
    const call = this.#client.makeServerStreamRequest(
      path,
      asBuffer,
      asBuffer,
      Buffer.from(said),
      sent,
      options,
    );
    let head: Metadata | undefined;
    call.on("data", (bytes: Buffer) => messages.push(bytes.toString("latin1")));
    call.on("metadata", (metadata: Metadata) => head = metadata);
    call.on("error", (_: ServiceError) => {}); // the same is in the status
    const over = new Promise<JsAnswer>((resolve) => {
      call.on("status", (status: StatusObject) => {
        setTimeout(() => resolve({ messages, head, status })); // messages may come after it
      });
    });
    return within(over, `the end of a grpc-js call to ${path}`);
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}
