/**
 * What the sidecar asks its backend by itself about descriptors. Backends that tests play keep it apart from callers'
 * calls, which they count.
 *
 * @module
 */

import { INSTANCE_HEADER } from "../../lib/upstream/mod.ts";

/** Whether a request is such a question: a caller who asks for descriptors does not name a sidecar's process. */
export function isQuestion(valueOf: (name: string) => string | undefined): boolean {
  const isReflection = valueOf(":path")?.startsWith("/grpc.reflection.") ?? false;
  return isReflection && valueOf(INSTANCE_HEADER) !== undefined;
}
