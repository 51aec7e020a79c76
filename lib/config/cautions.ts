import type { Settings } from "./settings.ts";

/** Age at which a result is no longer "the moment after": callers see it as wrong. */
const LONG_CACHE_MS = 60_000;

/** Metadata that tells callers apart; a key without it lets one see what was answered to another. */
export const CREDENTIALS = ["authorization", "cookie"];

/** Addresses that only this machine reaches. */
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

interface Caution {
  readonly env: string;
  /** False when the caution holds where nothing collapses, too. */
  readonly ofCollapsing?: false;
  readonly applies: (settings: Settings) => boolean;
  readonly means: string;
}

const CAUTIONS: readonly Caution[] = [
  {
    env: "COLLAPSER_METHODS",
    applies: ({ methods }) => methods[0] === "*",
    means: "* collapses writes too: two equal orders at the same time become one",
  },
  {
    env: "COLLAPSER_KEY_HEADERS",
    applies: ({ keyHeaders }) => keyHeaders !== undefined && !keyHeaders.includes("authorization"),
    means: "leaves authorization out: callers with different credentials share answers",
  },
  {
    env: "COLLAPSER_IGNORE_HEADERS",
    applies: ({ ignoreHeaders }) => ignoreHeaders.some((name) => CREDENTIALS.includes(name)),
    means: "leaves credentials out: callers with different ones share answers",
  },
  {
    env: "COLLAPSER_CACHE_ERRORS",
    applies: ({ cacheErrors, cacheDurationMs }) => cacheErrors && cacheDurationMs > 0,
    means: "lets one passing failure answer everyone for the whole cache duration",
  },
  {
    env: "COLLAPSER_CACHE_DURATION",
    applies: ({ cacheDurationMs }) => cacheDurationMs > LONG_CACHE_MS,
    means: "is over a minute: callers may see answers that old",
  },
  {
    env: "ADMIN_TOKEN",
    ofCollapsing: false,
    applies: ({ adminToken, adminTokenPath, adminHost }) =>
      (adminToken ?? adminTokenPath) !== undefined && !LOOPBACK.includes(adminHost),
    means: "is sent without TLS, and the page takes calls from other machines: " +
      "set ADMIN_HOST to 127.0.0.1 and ADMIN_PORT to a port of its own, or let nobody else reach it",
  },
];

/** Settings that are allowed and can hurt: what they do, for the one who chose them. */
export function cautions(settings: Settings): readonly string[] {
  const isOff = settings.mode === "off";
  return CAUTIONS
    .filter(({ ofCollapsing = true, applies }) => !(isOff && ofCollapsing) && applies(settings))
    .map(({ env, means }) => `${env} ${means}`);
}
