/** The static table (RFC 7541 Appendix A); position 0 is index 1. */
export const STATIC_TABLE: readonly (readonly [name: string, value: string])[] = [
  [":authority", ""],
  [":method", "GET"],
  [":method", "POST"],
  [":path", "/"],
  [":path", "/index.html"],
  [":scheme", "http"],
  [":scheme", "https"],
  [":status", "200"],
  [":status", "204"],
  [":status", "206"],
  [":status", "304"],
  [":status", "400"],
  [":status", "404"],
  [":status", "500"],
  ["accept-charset", ""],
  ["accept-encoding", "gzip, deflate"],
  ...(
    "accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control " +
    "content-disposition content-encoding content-language content-length content-location content-range " +
    "content-type cookie date etag expect expires from host if-match if-modified-since if-none-match if-range " +
    "if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range " +
    "referer refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary " +
    "via www-authenticate"
  ).split(" ").map((name): [string, string] => [name, ""]),
];

const NAME_INDEX = new Map<string, number>();
const FULL_INDEX = new Map<string, Map<string, number>>();
STATIC_TABLE.forEach(([name, value], i) => {
  if (!NAME_INDEX.has(name)) NAME_INDEX.set(name, i + 1);
  const values = FULL_INDEX.get(name) ?? new Map<string, number>();
  FULL_INDEX.set(name, values.set(value, i + 1));
});

/** Index of the first static entry with this name, or 0. */
export function staticNameIndex(name: string): number {
  return NAME_INDEX.get(name) ?? 0;
}

/** Index of each static entry with this name by its value. */
export function staticValues(name: string): ReadonlyMap<string, number> | undefined {
  return FULL_INDEX.get(name);
}
