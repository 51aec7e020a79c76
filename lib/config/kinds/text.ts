import type { Kind } from "./kind.ts";

/** Path of a file; whether the file can be read is found out when it is. */
export const PATH: Kind<string> = {
  placeholder: "PATH",
  parse: (text) => ({ value: text }),
  show: (path) => path,
};

/** A host name, to be compared with a certificate's. */
export const HOST_NAME: Kind<string> = {
  placeholder: "NAME",
  parse(text) {
    return /^[\w.-]+$/.test(text) ? { value: text } : { why: "expected a host name" };
  },
  show: (name) => name,
};

/** A service as grpc.health.v1 names it; the empty name is the server as a whole. */
export const SERVICE: Kind<string> = {
  placeholder: "SERVICE",
  parse: (text) => /\s/.test(text) ? { why: "expected a name without spaces" } : { value: text },
  show: (name) => name,
};

/** A shorter token can be guessed by somebody who may try for a week. */
const MIN_TOKEN_CHARS = 16;

/** A bearer token of characters that a header can carry (RFC 9110 §5.5), without a space. */
export const TOKEN: Kind<string> = {
  placeholder: "TOKEN",
  secret: true,
  parse(text) {
    if (!/^[\x21-\x7e]+$/.test(text)) {
      return { why: "expected visible ASCII characters and no spaces" };
    }
    return text.length >= MIN_TOKEN_CHARS ? { value: text } : {
      why: `expected ${MIN_TOKEN_CHARS} characters or more, such as openssl rand -hex 16 gives`,
    };
  },
  show: () => "(set)",
};

/** URL of a shared cache; the password in it is a secret. */
export const CACHE_URL: Kind<string> = {
  ...url(["redis:", "rediss:", "valkey:", "valkeys:"], "redis://host:6379"),
  secret: true,
  show(text) {
    const shown = new URL(text);
    if (shown.password !== "") shown.password = "***";
    return shown.href;
  },
};

export const HTTP_URL: Kind<string> = url(["http:", "https:"], "http://127.0.0.1:2112/ready");

function url(protocols: readonly string[], example: string): Kind<string> {
  return {
    placeholder: "URL",
    parse(text) {
      const parsed = URL.parse(text);
      return parsed !== null && protocols.includes(parsed.protocol) && parsed.hostname !== ""
        ? { value: text }
        : { why: `expected a URL such as ${example}` };
    },
    show: (text) => text,
  };
}
