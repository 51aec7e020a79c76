import { dialTls, listenTls } from "../../lib/transport/mod.ts";
import type { CertificateFolder } from "./certificate_folder.ts";
import { Authority } from "./certificates.ts";
import type { SocketRigOptions } from "./socket_rig.ts";

/** Plain TCP, TLS and unix sockets, the same on both sides of the sidecar. The folder is for certificates and sockets. */
export async function allWays(
  folder: CertificateFolder,
): Promise<[name: string, SocketRigOptions][]> {
  const authority = await Authority.make();
  const { cert, key } = folder.writePair("server", await authority.server());
  const ca = folder.write("ca.pem", authority.cert);
  const trusted = { cert: undefined, key: undefined, ca: authority.cert };
  const shown = { ...await authority.server(), ca: undefined };
  const [own, behind] = [folder.free("own.sock"), folder.free("backend.sock")];
  return [
    ["TCP", {}],
    ["TLS", {
      variables: {
        GRPC_TLS_CERT: cert,
        GRPC_TLS_KEY: key,
        BACKEND_USE_TLS: "true",
        BACKEND_TLS_CA: ca,
      },
      dial: dialTls({ certificates: () => trusted, serverName: undefined }),
      backend: {
        listenWith: (accept) =>
          listenTls({ hostname: "127.0.0.1", port: 0 }, {
            certificates: () => shown,
            accept,
            onRefused: () => {},
            onTrouble: fail,
          }),
      },
    }],
    ["unix", {
      variables: { GRPC_HOST: `unix:${own}` },
      address: { host: "localhost", port: 0, path: own },
      backend: { path: behind },
    }],
  ];
}

function fail(error: unknown): never {
  throw error;
}
