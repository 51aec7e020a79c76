import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { KeyCodec } from "../collapse/mod.ts";
import { latin1 } from "../wire/mod.ts";

/** Keys from bytes: one character a byte, and SHA-256 where there are many. */
export const KEY_CODEC: KeyCodec = {
  latin1,
  digest: (bytes) =>
    hash("sha256", Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), "base64"),
  digestText: (text) => hash("sha256", text, "base64"),
};
