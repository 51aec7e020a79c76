import { hash, timingSafeEqual } from "node:crypto";

/** Credentials as RFC 6750 §2.1 has them; the scheme's name in any case (RFC 9110 §11.1). */
const BEARER = /^bearer +([\x21-\x7e]+)$/i;

/** Whether an `authorization` field holds the token. How long that takes tells nothing of the token, not even its length. */
export function isAuthorized(authorization: string | null, token: string): boolean {
  const given = BEARER.exec(authorization ?? "")?.[1] ?? "";
  return timingSafeEqual(digest(given), digest(token)) && given !== "";
}

/** A digest of the text: digests are of one length, which the comparison asks for. */
function digest(text: string): Uint8Array {
  return hash("sha256", text, "buffer");
}
