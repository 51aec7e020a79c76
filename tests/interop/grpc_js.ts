import { Buffer } from "node:buffer";
import { Client, credentials, Metadata, type StatusObject } from "@grpc/grpc-js";
import { within } from "../support/waiting.ts";
import { type Caller, entriesOf, type Plan, type Seen, show } from "./seen.ts";

/** What the calls are addressed to, whichever port they go to. */
const AUTHORITY = "hello.test";

/** grpc-js numbers the codings of messages. */
const GZIP = 2;

/** What every grpc-js call has, whatever its kind. */
interface AnyCall {
  cancel(): void;
  // deno-lint-ignore no-explicit-any
  on(event: string, listener: (value: any) => void): unknown;
}

/** A grpc-js client. On Deno it may not survive a GOAWAY: no test may drain in front of it. */
export class GrpcJs implements Caller {
  readonly #plain: Client;
  readonly #gzip: Client;

  constructor(port: number) {
    this.#plain = clientOf(port, {});
    this.#gzip = clientOf(port, { "grpc.default_compression_algorithm": GZIP });
  }

  async see(plan: Plan, cancel?: Promise<void>): Promise<Seen> {
    const replies: Uint8Array[] = [];
    const call = this.#begin(plan, (reply) => replies.push(reply));
    const { cancelAfter } = plan;
    if (cancelAfter) call.on("data", () => replies.length === cancelAfter && call.cancel());
    cancel?.then(() => call.cancel());
    const { head, status } = await within(endOf(call), `the end of "${plan.name}"`);
    return {
      head: head === undefined ? null : entriesOf(head.toJSON()),
      messages: replies.slice(0, cancelAfter).map(show),
      code: status.code,
      message: status.details,
      trailers: entriesOf(status.metadata.toJSON()),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#plain.close();
    this.#gzip.close();
    return Promise.resolve();
  }

  #begin(plan: Plan, onReply: (reply: Uint8Array) => void): AnyCall {
    const { path, kind, messages, deadlineMs } = plan;
    const client = plan.gzip ? this.#gzip : this.#plain;
    const given = [path, toBuffer, toBuffer] as const;
    const metadata = metadataOf(plan);
    const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
    const done = (_error: unknown, reply?: Buffer) => reply !== undefined && onReply(reply);
    const [first = new Uint8Array()] = messages;
    switch (kind) {
      case "unary":
        return client.makeUnaryRequest(...given, first, metadata, options, done);
      case "client": {
        const call = client.makeClientStreamRequest(...given, metadata, options, done);
        return sendAll(call, messages);
      }
      case "server": {
        const call = client.makeServerStreamRequest(...given, first, metadata, options);
        return call.on("data", onReply);
      }
      case "bidi": {
        const call = client.makeBidiStreamRequest(...given, metadata, options);
        return sendAll(call.on("data", onReply), messages);
      }
    }
  }
}

function clientOf(port: number, options: Record<string, number>): Client {
  return new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.default_authority": AUTHORITY,
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    // Each client has connections of its own, so that closing it closes them.
    "grpc.use_local_subchannel_pool": 1,
    ...options,
  });
}

function sendAll<Call extends { write(message: Uint8Array): unknown; end(): void }>(
  call: Call,
  messages: readonly Uint8Array[],
): Call {
  for (const message of messages) call.write(message);
  call.end();
  return call;
}

function metadataOf({ metadata = [] }: Plan): Metadata {
  const sent = new Metadata();
  for (const [name, value] of metadata) {
    sent.add(name, typeof value === "string" ? value : Buffer.from(value));
  }
  return sent;
}

function endOf(call: AnyCall): Promise<{ head: Metadata | undefined; status: StatusObject }> {
  return new Promise((resolve) => {
    let head: Metadata | undefined;
    call.on("metadata", (metadata: Metadata) => head = metadata);
    call.on("error", () => {}); // the same is in the status
    call.on("status", (status: StatusObject) => {
      // A unary call's message is handed over after its status.
      setTimeout(() => resolve({ head, status }));
    });
  });
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes);
}
