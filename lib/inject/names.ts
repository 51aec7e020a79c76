/** Under which labels and annotations of collapser stand. */
export const PREFIX = "collapser.dev/";

/** The label of a pod template that asks for a sidecar, and by which scrapers find the pods that have one. */
export const LABEL = `${PREFIX}inject`;

/** What the sidecar's container is called: one of this name is never added to. */
export const CONTAINER_NAME = "collapser";

/** What the sidecar's ports are called, in 15 characters, which is all that Kubernetes allows. */
export const PORT_NAMES = { grpc: "collapser-grpc", http: "collapser-http" } as const;
