/**
 * Splits `:path` into service and method (PROTOCOL-HTTP2 "Requests", Path: `"/" Service-Name "/"
 * {method name}`). A service name may itself hold slashes, so the last one splits: `/a/b/c` is the
 * method `c` of the service `a/b`. Case matters.
 *
 * @returns undefined without a leading slash, or when service or method is empty
 */
export function splitMethod(path: string): { service: string; method: string } | undefined {
  const slash = path.lastIndexOf("/");
  // At 0 the leading slash is the only one, at 1 the service is empty.
  if (slash < 2 || slash === path.length - 1 || !path.startsWith("/")) return undefined;
  return { service: path.slice(1, slash), method: path.slice(slash + 1) };
}
