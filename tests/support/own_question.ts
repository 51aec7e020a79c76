/** Both versions of the service are in use. */
const REFLECTION = /^\/grpc\.reflection\.v1(?:alpha)?\.ServerReflection\//;

/**
 * Whether a request is the sidecar's own: it asks for a service's descriptors by itself, a second after the service's
 * first call. Backends of the tests count what callers ask of them, and tell that apart. `valueOf` gives the value of a
 * field by its name.
 */
export function isOwnQuestion(valueOf: (name: string) => string | undefined): boolean {
  return valueOf(":authority") === "collapser" && REFLECTION.test(valueOf(":path") ?? "");
}
