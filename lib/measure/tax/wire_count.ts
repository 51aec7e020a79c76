import { type Address, dialTcp, type Socket } from "../../transport/mod.ts";

/** Counts what goes over a client's sockets, both ways: HTTP/2 framing included, TCP and IP headers not. */
export class WireCount {
  sentBytes = 0;
  receivedBytes = 0;

  /** Dials over TCP as a client does by itself, and counts. */
  readonly dial = async (address: Address, options: { timeoutMs: number }): Promise<Socket> => {
    const socket = await dialTcp(address, options);
    return {
      read: async (into) => {
        const bytes = await socket.read(into);
        this.receivedBytes += bytes ?? 0;
        return bytes;
      },
      write: async (bytes) => {
        const written = await socket.write(bytes);
        this.sentBytes += written;
        return written;
      },
      close: () => socket.close(),
    };
  };
}
