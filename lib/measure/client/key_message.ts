import { FrameLog, putLatin1 } from "../../wire/mod.ts";

/** Field 1 as a string (protobuf encoding, "Message Structure"). */
const TAG = 0x0a;

/** Compressed-Flag and Message-Length, then the tag and the length of the text. */
const PREFIX_BYTES = 5;
const HEAD_BYTES = PREFIX_BYTES + 2;

/** Requests kept encoded; those of more keys are encoded each time they are asked for. */
const MAX_KEPT = 10_000;

/** Holds any request: the text is far below 128 bytes, so one byte is enough for each length too. */
const scratch = new Uint8Array(64);

/**
 * The request of a key: a protobuf message whose only field, number 1, is the text "key-N". That is the `name` of a
 * hello.v1.GreetingRequest, and good for any method whose first field is text.
 */
export function keyBody(key: number): FrameLog {
  const text = `key-${key}`;
  scratch[PREFIX_BYTES - 1] = 2 + text.length;
  scratch[PREFIX_BYTES] = TAG;
  scratch[PREFIX_BYTES + 1] = text.length;
  putLatin1(text, scratch, HEAD_BYTES);
  const log = new FrameLog();
  log.appendData(scratch, 0, HEAD_BYTES + text.length, true);
  return log;
}

/** {@linkcode keyBody} that encodes the first keys only once. */
export function keyBodies(): (key: number) => FrameLog {
  const kept: (FrameLog | undefined)[] = [];
  return (key) => key >= MAX_KEPT ? keyBody(key) : kept[key] ??= keyBody(key);
}
