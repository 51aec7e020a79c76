import type { Settings } from "../config/mod.ts";
import type { Logger } from "../telemetry/mod.ts";
import {
  type CertificateFile,
  type CertificateFiles,
  CertificateWatch,
  readCertificates,
  type Timers,
} from "../transport/mod.ts";
import { BadConfiguration } from "./bad_configuration.ts";

/** The certificates of both sides; one is undefined where that side does not speak TLS. */
export interface SidecarCertificates {
  readonly callers: CertificateWatch | undefined;
  readonly backend: CertificateWatch | undefined;
}

/** What is wrong with the files that the settings name. */
export function certificateProblems(settings: Settings): readonly string[] {
  return [callerFiles(settings), backendFiles(settings)].flatMap((files) => {
    const reading = readCertificates(files ?? {});
    return "problems" in reading ? reading.problems : [];
  });
}

/** Reads the certificates, and follows their files from then on. Throws {@linkcode BadConfiguration}. */
export function openCertificates(
  settings: Settings,
  { timers, log }: { timers: Timers; log: Logger },
): SidecarCertificates {
  const problems: string[] = [];
  const callers = read(callerFiles(settings), problems);
  const backend = read(backendFiles(settings), problems);
  if (problems.length > 0) throw new BadConfiguration(problems);
  return { callers: callers?.watch(timers, log), backend: backend?.watch(timers, log) };
}

function read(files: CertificateFiles | undefined, problems: string[]) {
  if (files === undefined) return undefined;
  const reading = readCertificates(files);
  if ("problems" in reading) {
    problems.push(...reading.problems);
    return undefined;
  }
  return {
    watch: (timers: Timers, log: Logger) =>
      new CertificateWatch(files, reading.certificates, { timers, news: newsFor(files, log) }),
  };
}

function callerFiles(settings: Settings): CertificateFiles | undefined {
  const { grpcTlsCertPath, grpcTlsKeyPath, grpcTlsClientCaPath } = settings;
  if (grpcTlsCertPath === undefined) return undefined;
  return {
    cert: file("GRPC_TLS_CERT", grpcTlsCertPath),
    key: file("GRPC_TLS_KEY", grpcTlsKeyPath),
    ca: file("GRPC_TLS_CLIENT_CA", grpcTlsClientCaPath),
  };
}

function backendFiles(settings: Settings): CertificateFiles | undefined {
  const { backendUseTls, backendTlsCertPath, backendTlsKeyPath, backendTlsCaPath } = settings;
  if (!backendUseTls) return undefined;
  return {
    cert: file("BACKEND_TLS_CERT", backendTlsCertPath),
    key: file("BACKEND_TLS_KEY", backendTlsKeyPath),
    ca: file("BACKEND_TLS_CA", backendTlsCaPath),
  };
}

function file(name: string, path: string | undefined): CertificateFile | undefined {
  return path === undefined ? undefined : { name, path };
}

function newsFor(files: CertificateFiles, log: Logger) {
  const paths = [files.cert, files.key, files.ca].flatMap((one) =>
    one === undefined ? [] : one.path
  );
  return {
    renewed: () => log.info("Certificates renewed", { files: paths.join(",") }),
    refused(problems: readonly string[]) {
      for (const why of problems) log.warn("Certificates not renewed: the old ones go on", { why });
    },
  };
}
