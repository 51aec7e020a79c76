import { dialTcp, type Socket } from "../transport/mod.ts";

/** An answer, as far as a probe or a command needs it. */
export interface HttpAnswer {
  readonly status: number;
  /** The body, cut where it is longer than anybody here has to read. */
  readonly text: string;
}

/** What is asked beside the URL. */
export interface HttpQuestion {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest for the whole of it. */
  readonly timeoutMs: number;
  /** Bytes of the answer that are read. @default 64 KiB */
  readonly maxBytes?: number;
}

/** More than an answer of ours that most commands read: a state, or why not. */
const MAX_ANSWER_BYTES = 64 * 1_024;

/** Bytes read at once. */
const FIRST_BYTES = 4 * 1_024;

/** Status line (RFC 9112 §4), headers, and an empty line. */
const HEAD = /^HTTP\/1\.[01] (\d{3})[^\n]*\n(?:[^\r\n]+\r?\n)*\r?\n/;

/**
 * Asks over a connection of its own, which is closed with the answer, and past every proxy: `fetch` goes by HTTP_PROXY,
 * which a pod may have in its environment, even to the loopback address. Rejects with what the system says, with a
 * TimeoutError, or when the answer is none of HTTP.
 */
export async function askHttp(url: URL, question: HttpQuestion): Promise<HttpAnswer> {
  const { method = "GET", headers = {}, timeoutMs, maxBytes = MAX_ANSWER_BYTES } = question;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const started = performance.now();
  const socket = await dialTcp({ host, port: Number(url.port || "80") }, { timeoutMs });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    socket.close(); // what is read then fails
  }, Math.max(1, timeoutMs - (performance.now() - started)));
  try {
    // By HTTP/1.0 no answer comes in chunks, and its end is the connection's.
    const lines = [
      `${method} ${url.pathname}${url.search} HTTP/1.0`,
      `host: ${url.host}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(method === "POST" ? ["content-length: 0"] : []),
    ];
    await writeAll(socket, new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`));
    return parse(await readAll(socket, maxBytes));
  } catch (error) {
    if (late) throw new DOMException(`no answer within ${timeoutMs} ms`, "TimeoutError");
    throw error;
  } finally {
    clearTimeout(timer);
    if (!late) socket.close();
  }
}

function parse(text: string): HttpAnswer {
  const head = HEAD.exec(text);
  if (head === null) throw new Error("its answer is not HTTP");
  return { status: Number(head[1]), text: text.slice(head[0].length) };
}

async function writeAll(socket: Socket, bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length;) from += await socket.write(bytes.subarray(from));
}

async function readAll(socket: Socket, maxBytes: number): Promise<string> {
  let bytes = new Uint8Array(Math.min(FIRST_BYTES, maxBytes));
  let end = 0;
  while (end < maxBytes) {
    if (end === bytes.length) {
      const grown = new Uint8Array(Math.min(2 * end, maxBytes));
      grown.set(bytes);
      bytes = grown;
    }
    const read = await socket.read(bytes.subarray(end));
    if (read === null) break;
    end += read;
  }
  return new TextDecoder().decode(bytes.subarray(0, end));
}
