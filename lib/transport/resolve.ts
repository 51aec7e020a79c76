import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** All addresses of a host, sorted; rejects with a reason in words. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Asks the system, as `Deno.connect` does, and so heeds the hosts file and search domains. Of a name that has both,
 * the IPv4 addresses alone: the others are most likely the same backends once more.
 */
export async function resolveHost(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  let found: readonly { address: string; family: number }[];
  try {
    found = await lookup(host, { all: true });
  } catch (error) {
    throw new Error(`cannot find the addresses of "${host}": ${reasonOf(error)}`, { cause: error });
  }
  const v4 = found.filter(({ family }) => family === 4);
  const addresses = (v4.length > 0 ? v4 : found).map(({ address }) => address);
  return [...new Set(addresses)].sort();
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOTFOUND" ? "no such name" : error.message;
}
