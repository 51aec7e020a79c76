import { SidecarProcess } from "../../support/process.ts";
import type { Bench } from "./desk.ts";

/** The case that every suite ends with. */
export const UNHARMED = "sidecar_unharmed";

/** Starts a sidecar in front of a backend, in the bench's mode. Resolves when it is ready. */
export async function openSidecar(
  bench: Bench,
  backend: string,
  env: Readonly<Record<string, string>> = {},
): Promise<SidecarProcess> {
  const sidecar = await SidecarProcess.start({ ...bench.env, BACKEND_ADDRESS: backend, ...env });
  try {
    await sidecar.becomes(200);
    return sidecar;
  } catch (error) {
    await sidecar[Symbol.asyncDispose]();
    throw error;
  }
}

/** Throws when the sidecar has ended, is not ready, or has logged an error. */
export async function assertUnharmed(sidecar: SidecarProcess): Promise<void> {
  if (!sidecar.isRunning) throw new Error(`The sidecar ended: ${sidecar.said}`);
  await sidecar.becomes(200);
  const errors = sidecar.log.filter(({ level }) => level === "error");
  if (errors.length > 0) throw new Error(`The sidecar logged ${JSON.stringify(errors)}`);
}
