/**
 * Kubernetes manifests in, the same with a sidecar in them out: the work of `collapser inject`.
 *
 * The room owns what a sidecar's container looks like in a pod (`sidecar_container.ts`), which
 * labels and annotations ask for one (`wishes.ts`), and where it is written into a text.
 *
 * Invariants:
 * - The text is never written anew. What is added is spliced into it at the places that the YAML
 *   library found, so that comments, order, quotes and whatever a program would spell otherwise
 *   (`0644`, `yes`) stay as they were, to the byte; JSON stays JSON.
 * - All or nothing: a stream in which anything is wrong gives every problem, and no text.
 * - What was injected once is left alone: injecting twice is injecting once.
 * - Values of options are read by the option table of `config`: what would make the sidecar end with
 *   64 is refused here already.
 *
 * It refuses to touch anything but the pods that ask for it and, on request, the Services that lead
 * to them: probes, ports and shutdown of the other containers are their owner's.
 *
 * @module
 */

export { DEFAULT_IMAGE, IMAGE_REPOSITORY } from "./image.ts";
export { inject, type Injection, type InjectOptions } from "./inject.ts";
export { LABEL, PORT_NAMES, PREFIX } from "./names.ts";
export { sidecarContainer } from "./sidecar_container.ts";
