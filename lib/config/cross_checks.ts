import type { BackendEntry } from "../balance/mod.ts";
import { unixPath } from "./kinds/address.ts";
import type { Rule } from "./rule.ts";
import type { Settings } from "./settings.ts";

const WILDCARDS = ["::", "0.0.0.0"];
const THIS_MACHINE = [...WILDCARDS, "localhost", "127.0.0.1", "::1"];

/** Values that do not go together, which no single variable can know. */
export const CROSS_CHECKS: readonly Rule[] = [
  {
    env: "METRICS_PORT",
    beside: "GRPC_PORT",
    broken: (s) => s.metricsPort !== 0 && s.metricsPort === s.grpcPort && hostsOverlap(s),
    why: "GRPC_PORT is the same; expected another port, or 0 for a free one",
  },
  {
    env: "ADMIN_PORT",
    beside: "GRPC_PORT",
    broken: (s) =>
      s.adminPort !== 0 && s.adminPort === s.grpcPort && s.adminPort !== s.metricsPort &&
      hostsOverlap({ ...s, metricsHost: s.adminHost }),
    why: "GRPC_PORT is the same; expected another port, or 0 for a free one",
  },
  {
    env: "ADMIN_HOST",
    beside: "ADMIN_PORT",
    broken: (s) =>
      s.adminPort !== 0 && s.adminPort === s.metricsPort && s.adminHost !== s.metricsHost,
    why: "METRICS_PORT is the same on another address; expected ADMIN_PORT beside it",
  },
  {
    env: "ADMIN_TOKEN",
    beside: "ADMIN_TOKEN_FILE",
    broken: (s) => s.adminToken !== undefined && s.adminTokenPath !== undefined,
    why: "ADMIN_TOKEN_FILE is set too; expected one of the two",
  },
  {
    env: "BACKEND_ADDRESS",
    beside: "GRPC_PORT",
    broken: (s) => s.backends.some((backend) => isSelf(backend, s)),
    why: "collapser itself listens there; expected the address of the service behind it",
  },
  {
    env: "BACKEND_TLS_CERT",
    beside: "BACKEND_TLS_KEY",
    broken: (s) => s.backendTlsCertPath !== undefined && s.backendTlsKeyPath === undefined,
    why: "expected BACKEND_TLS_KEY beside it",
  },
  {
    env: "BACKEND_TLS_KEY",
    beside: "BACKEND_TLS_CERT",
    broken: (s) => s.backendTlsKeyPath !== undefined && s.backendTlsCertPath === undefined,
    why: "expected BACKEND_TLS_CERT beside it",
  },
  needsBackendTls("BACKEND_TLS_CA", "backendTlsCaPath"),
  needsBackendTls("BACKEND_TLS_CERT", "backendTlsCertPath"),
  needsBackendTls("BACKEND_TLS_SERVER_NAME", "backendTlsServerName"),
  {
    env: "GRPC_TLS_CERT",
    beside: "GRPC_TLS_KEY",
    broken: (s) => s.grpcTlsCertPath !== undefined && s.grpcTlsKeyPath === undefined,
    why: "expected GRPC_TLS_KEY beside it",
  },
  {
    env: "GRPC_TLS_KEY",
    beside: "GRPC_TLS_CERT",
    broken: (s) => s.grpcTlsKeyPath !== undefined && s.grpcTlsCertPath === undefined,
    why: "expected GRPC_TLS_CERT beside it",
  },
  {
    env: "GRPC_TLS_CLIENT_CA",
    beside: "GRPC_TLS_CERT",
    broken: (s) => s.grpcTlsClientCaPath !== undefined && s.grpcTlsCertPath === undefined,
    why: "expected GRPC_TLS_CERT and GRPC_TLS_KEY beside it",
  },
  {
    env: "BACKEND_KIND",
    beside: "BACKEND_ROUTING",
    broken: (s) => s.backendKind === "shards" && s.backendRouting.by !== "header",
    why: "only one shard has the data; expected BACKEND_ROUTING header:NAME beside it",
  },
  {
    env: "COLLAPSER_MAX_BUFFERED_BYTES",
    beside: "COLLAPSER_MAX_MESSAGE_BYTES",
    broken: (s) => s.maxBufferedBytes < 4 * s.maxMessageBytes,
    why: "one slow reader may hold so much; expected 4 times COLLAPSER_MAX_MESSAGE_BYTES or more",
  },
  {
    env: "COLLAPSER_IGNORE_HEADERS",
    beside: "COLLAPSER_KEY_HEADERS",
    broken: (s) => s.ignoreHeaders.some((name) => s.keyHeaders?.includes(name)),
    why: "COLLAPSER_KEY_HEADERS names the same; expected each name in one of the two",
  },
];

function needsBackendTls(env: string, key: keyof Settings): Rule {
  return {
    env,
    beside: "BACKEND_USE_TLS",
    broken: (settings) => settings[key] !== undefined && !settings.backendUseTls,
    why: "expected BACKEND_USE_TLS true beside it",
  };
}

/** Whether both listeners would want the port on one address. */
function hostsOverlap({ grpcHost, metricsHost }: Settings): boolean {
  if (unixPath(grpcHost) !== undefined) return false;
  return grpcHost === metricsHost || WILDCARDS.includes(grpcHost) ||
    WILDCARDS.includes(metricsHost);
}

/** Whether a call to the backend would come back to our own gRPC listener. */
function isSelf({ address }: BackendEntry, { grpcHost, grpcPort }: Settings): boolean {
  const { host, port, path } = address;
  const ownPath = unixPath(grpcHost);
  if (path !== undefined || ownPath !== undefined) return path === ownPath;
  return port === grpcPort &&
    (host === grpcHost || WILDCARDS.includes(grpcHost) && THIS_MACHINE.includes(host));
}
