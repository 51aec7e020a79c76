import { CONTAINER_NAME, PORT_NAMES } from "./names.ts";

/** What differs from one sidecar to the next. */
export interface SidecarWish {
  readonly image: string;
  /** Variable -> value, in the order in which they are written. */
  readonly variables: ReadonlyMap<string, string>;
  /** Where the sidecar takes calls. */
  readonly grpcPort: number;
  /** Where probes and scrapers find it. */
  readonly metricsPort: number;
}

/** The user of the image, who is nobody on the node. */
const NOBODY = 65_532;

/**
 * The container of a native sidecar (Kubernetes 1.29 and later): an init container that restarts always starts before
 * the pod's containers, runs beside them, and is told to end when they have ended. Passes Pod Security "restricted".
 *
 * The pod's containers start after its start probe, which therefore must not wait for them: /health does not, and
 * /ready, which does, is a part of the pod's readiness.
 */
export function sidecarContainer({ image, variables, grpcPort, metricsPort }: SidecarWish) {
  const asks = (path: string) => ({ httpGet: { path, port: PORT_NAMES.http } });
  return {
    name: CONTAINER_NAME,
    image,
    restartPolicy: "Always",
    env: [...variables].map(([name, value]) => ({ name, value })),
    ports: [
      { name: PORT_NAMES.grpc, containerPort: grpcPort },
      { name: PORT_NAMES.http, containerPort: metricsPort },
    ],
    startupProbe: { ...asks("/health"), periodSeconds: 1, failureThreshold: 30 },
    livenessProbe: {
      ...asks("/health"),
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 3,
    },
    // Three in a row: a pause of the collector, or a connection that is made anew, empties no Service.
    readinessProbe: {
      ...asks("/ready"),
      periodSeconds: 2,
      timeoutSeconds: 2,
      failureThreshold: 3,
    },
    // 64 MiB of stored results are a part of the memory. No limit on the CPU: being throttled makes every caller wait.
    resources: { requests: { cpu: "100m", memory: "192Mi" }, limits: { memory: "512Mi" } },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: NOBODY,
      runAsGroup: NOBODY,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    },
  };
}
