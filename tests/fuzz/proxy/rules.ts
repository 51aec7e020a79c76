import type { NamedPolicy } from "../../../lib/downstream/mod.ts";
import { GET, PUT, type RigOptions } from "../../support/proxy_rig.ts";

export const LIST = "/test.Service/ListItems";
export const PATHS: readonly string[] = [GET, LIST, PUT];

/** What was allowed at any time of a case, however shortly: what is checked at its end goes by that. */
export class Rules {
  /** Longest that a result may have been kept. */
  keepMs: number;
  /** Calls of the method that writes may have been answered from what others asked. */
  isWriteShared: boolean;
  readonly invalidates: boolean;
  /** Most calls of a method that may have been at one backend at once. */
  readonly mostAtOnce = new Map<string, number>();

  constructor(options: RigOptions) {
    this.keepMs = options.cacheDurationMs!;
    this.isWriteShared = options.methods?.[0] === "*";
    this.invalidates = options.invalidate === "service";
    this.allow(options.policies ?? []);
  }

  /** These policies are in force from now on. */
  allow(policies: readonly NamedPolicy[]): void {
    for (const { service, method, collapser = {} } of policies) {
      const { collapse, cacheDurationMs } = collapser;
      this.keepMs = Math.max(this.keepMs, cacheDurationMs ?? 0);
      const isOfWrites = `/${service}/${method}` === PUT || method === "";
      if (isOfWrites && collapse === true) this.isWriteShared = true;
    }
    for (const path of PATHS) {
      const maxConcurrent = mostAtOnceOf(path, policies) ?? Infinity;
      this.mostAtOnce.set(path, Math.max(maxConcurrent, this.mostAtOnce.get(path) ?? 0));
    }
  }
}

/** The bound that names a method most closely. */
function mostAtOnceOf(path: string, policies: readonly NamedPolicy[]): number | undefined {
  const [, service, method] = path.split("/");
  const names = [[service, method], [service, ""], ["", ""]];
  for (const [service, method] of names) {
    const found = policies.find((each) => each.service === service && each.method === method);
    if (found?.maxConcurrent !== undefined) return found.maxConcurrent;
  }
  return undefined;
}
