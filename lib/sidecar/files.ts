import type { Settings } from "../config/mod.ts";
import type { Logger } from "../telemetry/mod.ts";
import type { Timers } from "../transport/mod.ts";
import { type AdminToken, adminTokenProblems, openAdminToken } from "./admin_token.ts";
import { BadConfiguration } from "./bad_configuration.ts";
import { certificateProblems, openCertificates, type SidecarCertificates } from "./certificates.ts";
import { openPolicy, type PolicyFile, policyProblems, policyWarnings } from "./policy.ts";

/** The files that the settings name, followed while the sidecar runs. */
export interface SidecarFiles {
  readonly certificates: SidecarCertificates;
  readonly policy: PolicyFile | undefined;
  readonly adminToken: AdminToken;
  /** Ends the watch; resolves when no file is being read any more. */
  stop(): Promise<void>;
}

/** All that is wrong with the files that the settings name. */
export function fileProblems(settings: Settings): readonly string[] {
  return [
    ...certificateProblems(settings),
    ...policyProblems(settings),
    ...adminTokenProblems(settings),
  ];
}

/** What is right in the files that the settings name, and may surprise. */
export function fileWarnings(settings: Settings): readonly string[] {
  return policyWarnings(settings);
}

/** Reads the files, and follows them from then on. Throws {@linkcode BadConfiguration}. */
export function openFiles(
  settings: Settings,
  world: { timers: Timers; log: Logger },
): SidecarFiles {
  const problems = fileProblems(settings);
  if (problems.length > 0) throw new BadConfiguration(problems);
  const policy = openPolicy(settings, world);
  const adminToken = openAdminToken(settings, world);
  const certificates = openCertificates(settings, world);
  const { callers, backend } = certificates;
  return {
    certificates,
    policy,
    adminToken,
    async stop() {
      await Promise.all([callers?.stop(), backend?.stop(), policy?.stop(), adminToken.stop()]);
    },
  };
}
