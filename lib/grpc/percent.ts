const PERCENT = 0x25;
const FIRST_PLAIN = 0x20;
const LAST_PLAIN = 0x7e;

const encoder = new TextEncoder();
/** The decoder of messages; without ignoreBOM one that begins with U+FEFF would lose it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Makes text fit for `grpc-message`: UTF-8, every byte outside 0x20-0x7E and every `%` written as
 * `%XX` in capitals (PROTOCOL-HTTP2 "Responses", Percent-Encoded). Lone surrogates become U+FFFD.
 * The result has up to three bytes per byte of UTF-8; whoever sends it bounds the text.
 */
export function encodeGrpcMessage(text: string): string {
  if (isPlain(text)) return text;
  let out = "";
  for (const byte of encoder.encode(text)) {
    if (isPlainByte(byte)) {
      out += String.fromCharCode(byte);
    } else {
      out += (byte < 0x10 ? "%0" : "%") + byte.toString(16).toUpperCase();
    }
  }
  return out;
}

/**
 * Reads a `grpc-message` for people. "When decoding invalid values, implementations MUST NOT error
 * or throw away the message" (PROTOCOL-HTTP2 "Responses"): a `%` without two hexadecimal digits
 * stays as it is, and bytes that are no UTF-8 become U+FFFD. For logs and our own clients; what is
 * relayed is never decoded.
 */
export function decodeGrpcMessage(text: string): string {
  if (!text.includes("%")) return text;
  const bytes = encoder.encode(text);
  let length = 0;
  // In place: what is written never overtakes what is read.
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] as number;
    if (byte === PERCENT) {
      const high = hexDigit(bytes[at + 1]);
      const low = hexDigit(bytes[at + 2]);
      if (high >= 0 && low >= 0) {
        byte = high * 16 + low;
        at += 2;
      }
    }
    bytes[length++] = byte;
  }
  return decoder.decode(bytes.subarray(0, length));
}

function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (!isPlainByte(text.charCodeAt(i))) return false;
  }
  return true;
}

function isPlainByte(code: number): boolean {
  return code >= FIRST_PLAIN && code <= LAST_PLAIN && code !== PERCENT;
}

/** The value of one hexadecimal digit of either case, or -1. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
