import { Buffer } from "node:buffer";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** What every reply holds. */
export const PRESSED: Uint8Array = new TextEncoder().encode("press ".repeat(1_000));

/**
 * A server whose replies are compressed, whatever is called. grpc-js compresses requests, and replies not at all, so
 * this one is written on node:http2 by hand.
 */
export async function startGzipServer(): Promise<{ readonly port: number } & Disposable> {
  const pressed = gzipSync(PRESSED);
  const prefix = Buffer.alloc(5);
  prefix[0] = 1; // Compressed-Flag
  prefix.writeUInt32BE(pressed.length, 1);
  const message = Buffer.concat([prefix, pressed]);
  const head = {
    ":status": 200,
    "content-type": "application/grpc",
    "grpc-encoding": "gzip",
    "grpc-accept-encoding": "gzip",
  };

  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.resume();
    stream.on("end", () => {
      stream.respond(head, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(message);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.dispose]() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}
