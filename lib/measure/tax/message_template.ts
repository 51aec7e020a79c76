import { frameMessage } from "../../grpc/mod.ts";
import { FrameLog } from "../../wire/mod.ts";

/** The placeholder of the number: as many digits as it has characters, so that no length in the message changes. */
const PLACEHOLDER = /\{n+\}/;

/** Field 1 as a string (protobuf encoding, "Message Structure"). */
const TEXT_FIELD = 0x0a;

/** The text that is good for any method whose first field is one; a billion calls before one repeats. */
const DEFAULT_TEXT = "tax-{nnnnnnnnn}";

/** A request message, with the place where the number goes that makes each call another one. */
export interface MessageTemplate {
  readonly message: Uint8Array;
  /** Index at which the number begins. */
  readonly at: number;
  /** Digits of the number; 0 where there is no place for one, and all calls ask the same. */
  readonly digits: number;
}

/** Finds the placeholder, `{n}`, `{nn}` and so on, in message bytes. */
export function messageTemplate(message: Uint8Array): MessageTemplate {
  // Latin-1 maps bytes to characters one to one, so an index in the text is one in the bytes.
  const found = PLACEHOLDER.exec(Array.from(message, (byte) => String.fromCharCode(byte)).join(""));
  return { message, at: found?.index ?? 0, digits: found?.[0].length ?? 0 };
}

/** `name: "tax-N"` as a hello.v1.GreetingRequest has it. */
export function defaultTemplate(): MessageTemplate {
  const text = new TextEncoder().encode(DEFAULT_TEXT);
  return messageTemplate(Uint8Array.of(TEXT_FIELD, text.length, ...text));
}

/** The count of different messages that a template can make. */
export function distinctMessages({ digits }: MessageTemplate): number {
  return 10 ** digits;
}

/** The nth request, framed as it is sent. */
export function templateBody({ message, at, digits }: MessageTemplate, n: number): FrameLog {
  const framed = frameMessage(message);
  const from = framed.length - message.length + at;
  let rest = n;
  for (let i = digits - 1; i >= 0; i--) {
    framed[from + i] = 0x30 + rest % 10;
    rest = Math.floor(rest / 10);
  }
  const log = new FrameLog();
  log.appendData(framed, 0, framed.length, true);
  return log;
}
