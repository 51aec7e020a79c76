import { type Settings, unixPath } from "../config/mod.ts";
import type { Proxy } from "../proxy/mod.ts";
import { type Logger, RateLimit } from "../telemetry/mod.ts";
import {
  type CertificateWatch,
  listen,
  type ListenAddress,
  type Listening,
  listenTls,
} from "../transport/mod.ts";

/** Opens the port or the unix socket that callers connect to, with TLS when there are certificates. */
export function listenForCallers(
  settings: Settings,
  { proxy, certificates, log }: {
    proxy: Proxy;
    certificates: CertificateWatch | undefined;
    log: Logger;
  },
): Listening {
  const address = addressOf(settings);
  const limit = new RateLimit(); // out of descriptors there is trouble twenty times a second
  function onTrouble({ message }: Error): void {
    const leftOut = limit.admit("accept");
    if (leftOut === undefined) return;
    log.warn("Cannot accept a connection", {
      error: message,
      ...(leftOut > 0 && { left_out: leftOut }),
    });
  }
  if (certificates === undefined) {
    return listen(address, (socket, remote) => void proxy.serve(socket, remote), onTrouble);
  }
  return listenTls(address, {
    certificates: () => certificates.current,
    accept: (socket, { remote, identity }) => void proxy.serve(socket, remote, { identity }),
    onRefused: (why, remote) => proxy.refused(why, remote),
    onTrouble,
  });
}

/** Why callers cannot be listened for, and what to do about it. */
export function callersTrouble({ grpcHost, grpcPort }: Settings, why: string): string {
  return unixPath(grpcHost) === undefined
    ? `Cannot listen on ${grpcHost} port ${grpcPort}: ${why}; set GRPC_PORT to a free port`
    : `Cannot listen on ${grpcHost}: ${why}; set GRPC_HOST to a path that is free and may be written`;
}

function addressOf({ grpcHost, grpcPort, grpcSocketMode }: Settings): ListenAddress {
  const path = unixPath(grpcHost);
  return path === undefined
    ? { hostname: grpcHost, port: grpcPort }
    : { path, mode: grpcSocketMode };
}
