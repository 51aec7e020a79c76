import {
  CLIENT_PREFACE,
  DEFAULT_WINDOW_BYTES,
  ERROR_CODE,
  latin1,
  type OutputBuffer,
  putLatin1,
  SETTING,
  writeSettings,
  writeWindowUpdate,
} from "../wire/mod.ts";
import type { Core } from "./core.ts";
import { looksLikeHttp1 } from "./http1.ts";
import {
  CONNECTION_WINDOW_BYTES,
  MAX_CONCURRENT_STREAMS,
  MAX_HEADER_LIST_BYTES,
  STREAM_WINDOW_BYTES,
} from "./limits.ts";
import { INSTANCE_SETTING } from "./settings.ts";

/**
 * How a connection begins (RFC 9113 §3.4): what we say first is in the output from the start, and a client's preface is
 * read byte by byte, however it is cut. Whoever speaks HTTP/1 in its place is answered in HTTP/1.
 */
export class Preface<Owner> {
  /** Nothing of the output has been taken to be written. */
  isGreetingUnsent = true;
  readonly #core: Core<Owner>;
  /** Bytes of the client's preface that are still to come. */
  #left: number;

  /** `instance` is what we say in {@linkcode INSTANCE_SETTING}, unless it is 0. */
  constructor(core: Core<Owner>, instance: number) {
    this.#core = core;
    this.#left = core.isServer ? CLIENT_PREFACE.length : 0;
    writeFirst(core.send.out, core.isServer, instance);
  }

  /** Whether the client's preface has come whole, or none is to come. */
  get isComplete(): boolean {
    return this.#left === 0;
  }

  /** Reads `bytes[0, length)`; returns where the frames begin, or -1 when it is no preface, which ends the connection. */
  read(bytes: Uint8Array, length: number): number {
    let at = 0;
    for (; at < length && this.#left > 0; at++, this.#left--) {
      if (bytes[at] !== CLIENT_PREFACE.charCodeAt(CLIENT_PREFACE.length - this.#left)) {
        this.#refuse(bytes, at, length);
        return -1;
      }
    }
    return at;
  }

  /** Ends the connection of a peer whose `bytes[at, length)` is where what came leaves the preface. */
  #refuse(bytes: Uint8Array, at: number, length: number): void {
    const matched = CLIENT_PREFACE.slice(0, CLIENT_PREFACE.length - this.#left);
    const { out } = this.#core.send;
    // Once our SETTINGS are out, a second language would help nobody.
    if (this.isGreetingUnsent && looksLikeHttp1(matched + latin1(bytes, at, length))) {
      out.clear();
      this.#core.failInHttp1("an HTTP/1 request");
    } else this.#core.fail(ERROR_CODE.protocolError, "no HTTP/2 preface");
  }
}

/** Appends preface and SETTINGS, and the window of the connection, which SETTINGS cannot say (RFC 9113 §6.9.2). */
function writeFirst(out: OutputBuffer, isServer: boolean, instance: number): void {
  if (!isServer) {
    const at = out.extend(CLIENT_PREFACE.length);
    putLatin1(CLIENT_PREFACE, out.bytes, at);
  }
  writeSettings(out, [
    isServer ? [SETTING.maxConcurrentStreams, MAX_CONCURRENT_STREAMS] : [SETTING.enablePush, 0],
    [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
    [SETTING.maxHeaderListSize, MAX_HEADER_LIST_BYTES],
    ...(instance === 0 ? [] : [[INSTANCE_SETTING, instance] as const]),
  ]);
  writeWindowUpdate(out, 0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES);
}
