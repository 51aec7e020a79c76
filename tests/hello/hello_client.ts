import { Buffer } from "node:buffer";
import { type ClientHttp2Session, connect } from "node:http2";
import { Client, credentials, Metadata, type StatusObject } from "@grpc/grpc-js";
import {
  decodeGreetingReply,
  encodeGreetingRequest,
  type GreetingReply,
  type GreetingRequest,
  type HelloOptions,
  startHello,
} from "../../lib/hello/mod.ts";

const UNTIL_LIMIT_MS = 10_000;

/** A backend and a grpc-js client of it, both closed when the test's scope ends. */
export async function helloPair(options: HelloOptions = {}) {
  const backend = await startHello(options);
  const client = new HelloClient(backend.port);
  return {
    backend,
    client,
    /** `postCall` on a connection of its own. */
    async post(path: string, requests: GreetingRequest[]) {
      const session = connect(`http://127.0.0.1:${backend.port}`);
      const outcome = await postCall(session, { path, requests });
      await new Promise<void>((resolve) => session.close(resolve));
      return outcome;
    },
    [Symbol.dispose]() {
      client.close();
      // No GOAWAY: a grpc-js client on Deno may not survive one.
      backend.kill();
    },
  };
}

/** All that came back for one call. */
export interface Outcome<Reply> {
  readonly replies: Reply[];
  readonly head: Metadata | undefined;
  readonly status: StatusObject;
}

/** Makes calls with the project's own message helpers, and gives back everything that is answered. */
export class HelloClient extends Client {
  constructor(port: number) {
    super(`127.0.0.1:${port}`, credentials.createInsecure());
  }

  /** A call with one request, whether it is answered once or in a stream. */
  ask(
    path: string,
    request: GreetingRequest,
    options: { metadata?: Metadata; cancel?: AbortSignal } = {},
  ): Promise<Outcome<GreetingReply>> {
    return this.askRaw(path, encodeGreetingRequest(request), {
      ...options,
      decode: decodeGreetingReply,
    });
  }

  /** The same for any service: bytes out, `decode` for what comes back. */
  askRaw<Reply>(
    path: string,
    request: Uint8Array,
    options: {
      decode: (bytes: Uint8Array) => Reply;
      metadata?: Metadata;
      cancel?: AbortSignal;
    },
  ): Promise<Outcome<Reply>> {
    const { decode, metadata = new Metadata(), cancel } = options;
    const call = this.makeServerStreamRequest(path, Buffer.from, decode, request, metadata);
    cancel?.addEventListener("abort", () => call.cancel(), { once: true });
    return outcomeOf<Reply>(call);
  }

  /** A call with several requests, and its half-close. */
  askMany(path: string, requests: GreetingRequest[]): Promise<Outcome<GreetingReply>> {
    const call = this.openChat(path);
    const outcome = outcomeOf<GreetingReply>(call);
    for (const request of requests) call.write(request);
    call.end();
    return outcome;
  }

  /** A stream both ways, for the caller to use as it likes. */
  openChat(path: string) {
    return this.makeBidiStreamRequest<GreetingRequest, GreetingReply>(
      path,
      (request) => Buffer.from(encodeGreetingRequest(request)),
      decodeGreetingReply,
      new Metadata(),
    );
  }
}

/** Reads a call to its end. Its status is a result here, good or bad. grpc-js drops unread replies when it is bad. */
export function outcomeOf<Reply>(call: {
  // deno-lint-ignore no-explicit-any
  on(event: string, listener: (value: any) => void): unknown;
}): Promise<Outcome<Reply>> {
  return new Promise((resolve) => {
    const replies: Reply[] = [];
    let head: Metadata | undefined;
    call.on("metadata", (metadata: Metadata) => head = metadata);
    call.on("data", (reply: Reply) => replies.push(reply));
    call.on("error", () => {}); // the same is in the status
    call.on("status", (status: StatusObject) => resolve({ replies, head, status }));
  });
}

/**
 * The same over node:http2 alone, for what grpc-js as a client cannot show: replies before a failure, which it
 * drops, and a GOAWAY, which it may not survive on Deno. The status is "" when the call was cut off.
 */
export async function postCall(
  session: ClientHttp2Session,
  { path, requests }: { path: string; requests: GreetingRequest[] },
): Promise<{ replies: GreetingReply[]; status: string }> {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    "te": "trailers",
  });
  let status = "";
  const chunks: Uint8Array[] = [];
  stream.on("trailers", (trailers) => status = String(trailers["grpc-status"]));
  stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
  stream.on("error", () => {}); // cut off: the status stays empty
  const closed = new Promise((resolve) => stream.on("close", resolve));
  for (const request of requests) {
    const message = encodeGreetingRequest(request);
    stream.write(Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]));
  }
  stream.end();
  await closed;
  return { replies: [...messagesIn(Buffer.concat(chunks))].map(decodeGreetingReply), status };
}

function* messagesIn(body: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < body.length;) {
    const length = body.readUInt32BE(at + 1);
    yield body.subarray(at + 5, at += 5 + length);
  }
}

/** Resolves when `holds` does; throws when it takes longer than any machine should need. */
export async function until(holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + UNTIL_LIMIT_MS;
  while (!holds()) {
    if (performance.now() > giveUpAt) throw new Error(`Waited ${UNTIL_LIMIT_MS} ms for ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
