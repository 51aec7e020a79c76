/**
 * Several backends: what a name stands for, which backend a call goes to, and which one is left out since it is ill.
 *
 * A {@linkcode Cluster} is all that stands behind the proxy: one endpoint by itself where there is only ever one, so that
 * nothing is paid for several, else hosts, each an endpoint behind a bulkhead of its own. A call is placed once, by the
 * routing (`picker.ts`), among those that can take it; outlier detection (gRFC A50) ejects a host that fails while others
 * do not, and lets it come back.
 *
 * Invariants:
 * - a host that is left out has a way back by time alone;
 * - a call goes to another replica only when it provably reached nobody; of shards only one has the data;
 * - of replicas never more than half are ejected, and with too few left all are used ("panic").
 *
 * Knows nothing of callers and flights: a call has a key here, or none.
 *
 * @module
 */
export type { BackendKind } from "./balanced_cluster.ts";
export { type Cluster, type ClusterOptions, makeCluster } from "./cluster.ts";
export type { BackendEntry } from "./name_resolver.ts";
export type { Routing } from "./picker.ts";
