import type { Socket } from "../transport/mod.ts";
import { IDLE_MS, LINGER_MS, MAX_HEAD_BYTES, REQUEST_MS, WRITE_MS } from "./limits.ts";
import { type BadHead, parseRequestHead, type RequestHead } from "./request_head.ts";
import { chunkOf, type Framing, responseHead } from "./response_head.ts";

/** Answers one request. Must not reject. `address` is the client's, without its port. */
export type HttpHandler = (request: Request, address: string) => Promise<Response>;

const HEAD_END = "\r\n\r\n";
const EVENTS = "text/event-stream";
const latin1 = new TextDecoder("latin1");
const encoder = new TextEncoder();

/** One client's connection, from its first byte to its end: request after request. */
export class HttpConnection {
  /** When the client's time is up, on the clock of whoever sweeps; infinite while we are the ones who are waited for. */
  deadlineMs: number;
  /** Whether no request is being answered: then a newcomer may have this one's place. */
  isWaiting = true;
  readonly #socket: Socket;
  readonly #address: string;
  readonly #now: () => number;
  #unread = new Uint8Array(0);
  #hasHead = false;
  #isLast = false;
  #isClosed = false;

  constructor(socket: Socket, address: string, now: () => number) {
    this.#socket = socket;
    this.#address = address;
    this.#now = now;
    this.deadlineMs = now() + REQUEST_MS;
  }

  /** Answers requests until the connection ends; then the socket is closed. Never rejects, as long as the handler does not. */
  async serve(handler: HttpHandler): Promise<void> {
    while (await this.#serveOne(handler));
    this.close();
  }

  /** The answer under way is the last one. */
  finish(): void {
    this.#isLast = true;
    if (this.isWaiting) this.close();
  }

  /** Ends the connection now. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.close();
  }

  /** The client's time is up. A request of which a part has come is told so (RFC 9110 §15.5.9). */
  async expire(): Promise<void> {
    const isHalf = this.isWaiting && (this.#hasHead || this.#unread.length > 0);
    this.#allow(WRITE_MS);
    if (isHalf) await this.#refuse({ status: 408, why: "Request timeout" });
    this.close();
  }

  /** Whether another request may follow. */
  async #serveOne(handler: HttpHandler): Promise<boolean> {
    const head = await this.#readHead();
    if (head === undefined) return false;
    if (!("method" in head)) return await this.#refuse(head);
    this.#hasHead = true;
    const body = await this.#readBody(head.bodyBytes);
    if (body === undefined) return false;
    this.#hasHead = false;
    this.isWaiting = false;
    this.deadlineMs = Infinity;
    const response = await handler(requestOf(head, body), this.#address);
    const keepsOpen = head.keepsOpen && !this.#isLast;
    const isSent = await this.#respond(response, head, keepsOpen);
    if (isSent && !keepsOpen) await this.#linger();
    this.isWaiting = true;
    this.#allow(IDLE_MS);
    return isSent && keepsOpen && !this.#isLast;
  }

  async #readHead(): Promise<RequestHead | BadHead | undefined> {
    if (this.#unread.length > 0) this.#allow(REQUEST_MS);
    for (;;) {
      const text = latin1.decode(this.#unread);
      const end = text.indexOf(HEAD_END);
      if (end > MAX_HEAD_BYTES || end < 0 && text.length > MAX_HEAD_BYTES) {
        return { status: 431, why: `No head of more than ${MAX_HEAD_BYTES} bytes` };
      }
      if (end >= 0) {
        this.#unread = this.#unread.subarray(end + HEAD_END.length);
        return parseRequestHead(text.slice(0, end));
      }
      const began = text.length > 0;
      if (!await this.#readMore()) return undefined;
      if (!began) this.#allow(REQUEST_MS);
    }
  }

  async #readBody(bytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (this.#unread.length < bytes) if (!await this.#readMore()) return undefined;
    const body = this.#unread.slice(0, bytes);
    this.#unread = this.#unread.slice(bytes);
    return body;
  }

  /** Whether there was more to read; none comes from a client that has gone, or has sent all. */
  async #readMore(): Promise<boolean> {
    const room = new Uint8Array(4_096);
    const count = await this.#socket.read(room).catch(() => null); // reset: gone is gone
    if (count === null || this.#isClosed) return false;
    const joined = new Uint8Array(this.#unread.length + count);
    joined.set(this.#unread);
    joined.set(room.subarray(0, count), this.#unread.length);
    this.#unread = joined;
    return true;
  }

  async #refuse({ status, why }: BadHead): Promise<false> {
    this.isWaiting = false;
    const body = encoder.encode(`${why}\n`);
    const response = new Response(null, { status, headers: { "content-type": "text/plain" } });
    const framing = { length: body.length };
    const isSent = await this.#write(responseHead(response, { framing, keepsOpen: false })) &&
      await this.#write(body);
    if (isSent) await this.#linger();
    return false;
  }

  /** Whether all of the answer was taken. */
  async #respond(response: Response, head: RequestHead, keepsOpen: boolean): Promise<boolean> {
    const isHead = head.method === "HEAD";
    if (response.headers.get("content-type") === EVENTS && response.body !== null && !isHead) {
      return await this.#stream(response, head.takesChunks);
    }
    // Whole before its head goes out, so that the head can say its length.
    const body = await response.bytes();
    const framing: Framing = response.status === 304 ? "none" : { length: body.length };
    if (!await this.#write(responseHead(response, { framing, keepsOpen }))) return false;
    return isHead || body.length === 0 || await this.#write(body);
  }

  /** Sends a body as it comes; afterwards the connection ends, whatever was agreed. */
  async #stream(response: Response, takesChunks: boolean): Promise<boolean> {
    const framing = takesChunks ? "chunked" : "until close";
    let isTaken = await this.#write(responseHead(response, { framing, keepsOpen: false }));
    const reader = response.body!.getReader();
    while (isTaken) {
      this.deadlineMs = Infinity; // the next part is ours to give
      const { value } = await reader.read();
      if (value === undefined) break;
      isTaken = await this.#write(takesChunks ? chunkOf(value) : value);
    }
    if (!isTaken) await reader.cancel();
    else if (takesChunks) await this.#write(chunkOf(new Uint8Array(0)));
    this.#isLast = true;
    return isTaken;
  }

  /** Whether the client took the bytes. */
  async #write(bytes: Uint8Array): Promise<boolean> {
    this.#allow(WRITE_MS);
    try {
      for (let sent = 0; sent < bytes.length;) {
        sent += await this.#socket.write(bytes.subarray(sent));
        this.#allow(WRITE_MS); // each part it takes shows that it reads
      }
      return true;
    } catch {
      return false; // gone: there is nobody to tell
    }
  }

  /** Says that no more comes, and hears the client out for a moment, so that a reset does not take back what was sent. */
  async #linger(): Promise<void> {
    this.#allow(LINGER_MS);
    try {
      await this.#socket.closeWrite?.();
      const room = new Uint8Array(4_096);
      while (!this.#isClosed && await this.#socket.read(room) !== null);
    } catch { /* gone: that is what was waited for */ }
  }

  #allow(ms: number): void {
    this.deadlineMs = this.#now() + ms;
  }
}

function requestOf({ method, url, headers }: RequestHead, body: Uint8Array<ArrayBuffer>): Request {
  const hasBody = method !== "GET" && method !== "HEAD" && body.length > 0;
  return new Request(url, { method, headers, ...(hasBody && { body }) });
}
