import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** All addresses of a host, of both IP versions, sorted; rejects with a reason in words. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Asks the system, as `Deno.connect` does, and so heeds the hosts file and search domains. */
export async function resolveHost(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  let found: readonly { address: string }[];
  try {
    found = await lookup(host, { all: true });
  } catch (error) {
    throw new Error(`cannot find the addresses of "${host}": ${reasonOf(error)}`, { cause: error });
  }
  return [...new Set(found.map(({ address }) => address))].sort();
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOTFOUND" ? "no such name" : error.message;
}
