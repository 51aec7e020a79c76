/**
 * What a page may load and send: nothing from elsewhere, nothing inline, nothing that could be sent anywhere. What an
 * attacker might get into a page (a method's name, say) can then do no harm, even where the page forgot to treat it as
 * text.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Headers of every answer: what is true now is not to be kept, text is text whatever is in it, and no other site takes
 * part.
 */
const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

export interface ResponseOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer with the headers that every answer has; `type` is its content type. */
export function respond(
  body: BodyInit | null,
  type: string,
  { status = 200, headers = {} }: ResponseOptions = {},
): Response {
  return new Response(body, { status, headers: { ...HEADERS, "content-type": type, ...headers } });
}

/** Plain text, which ends in a line feed. */
export function respondText(text: string, options?: ResponseOptions): Response {
  return respond(text, "text/plain; charset=utf-8", options);
}

export function respondJson(value: unknown, options?: ResponseOptions): Response {
  return respond(`${JSON.stringify(value)}\n`, "application/json", options);
}

/** What is said of a path that is none, and of a call that does not exist for want of a token. */
export function notFound(): Response {
  return respondText("No such page: see /\n", { status: 404 });
}

/** Says when to ask again (RFC 9110 §10.2.3), in whole seconds. */
export function tooMany(waitMs: number): Response {
  const headers = { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1_000))) };
  return respondText("Too many requests\n", { status: 429, headers });
}
