import { MAX_LABELS, type ProxyObserver } from "../observe/mod.ts";
import { errorCodeName } from "../wire/mod.ts";
import type { Logger } from "./logger.ts";
import { RateLimit } from "./rate_limit.ts";

/** Metadata names that say who asks: leaving one out of the key may hand an answer to the wrong caller. */
const SAYS_WHO = /auth|cookie|token|key|secret|session|user|account|tenant|subject|client-cert/;

/** What is said of an eligible method, by how far its answers are shared. */
const SAID: Readonly<Record<string, string>> = {
  collapse: "Method collapses",
  verify: "Method collapses, and a sample is verified",
  shadow: "Method would collapse: it is in shadow",
};

/** Characters of a peer's own reason for going away that are logged. */
const MAX_DEBUG_CHARS = 200;

/** Writes what the proxy tells into the log; repetitive kinds at most once a second. */
export function loggingObserver(
  log: Logger,
  options: { now?: () => number } = {},
): ProxyObserver {
  const limited = onceASecond(new RateLimit(options.now));
  const judged = new Named(log, "methods and how they are judged");
  const savings = new Named(log, "methods whose calls could be shared");
  const apart = new Named(log, "metadata names that keep calls apart");
  const dependent = new Named(log, "methods whose answers depend on who asks");
  const undescribed = new Named(log, "reasons why services are not described");
  return {
    methodJudged(method, { eligible, why }, mode) {
      if (!judged.admit(`${method} ${why} ${mode}`)) return; // again when more is known of it
      const said = eligible ? SAID[mode] ?? "Method passes through" : "Method passes through";
      log.info(said, { method, why: eligible && mode === "off" ? "its mode is off" : why });
    },
    couldHaveCollapsed(method) {
      if (!savings.admit(method)) return;
      log.info("Equal calls at the same time each went to the backend", {
        method,
        hint: `set COLLAPSER_METHODS=auto,${method} if its answers may be shared`,
      });
    },
    keptApartBy(method, metadataName) {
      if (!apart.admit(metadataName)) return;
      log.info("Calls at the same time differed in one metadata name alone", {
        method,
        metadata: metadataName,
        hint: keyHint(metadataName),
      });
    },
    dependsOnCaller(method, names, mode) {
      const metadata = names.join(",") || "none that both have";
      if (mode === "verify") {
        log.error("Answers depend on who asks: the method's calls go apart from now on", {
          ...{ method, metadata },
          hint: "put what they depend on into the key (keyHeaders), or exclude the method",
        });
      } else if (dependent.admit(method)) {
        log.warn("Answers depend on who asks: sharing them would be wrong", { method, metadata });
      }
    },
    connectionFailed(side, { code, why }, remote) {
      const said = { side, remote, code: errorCodeName(code), why };
      limited(side, (left) => {
        log.warn("Connection closed: the peer broke the protocol", { ...said, ...left });
      });
    },
    goneAway(side, { code, debug }, remote) {
      limited(`going away: ${side}`, (left) => {
        const said = {
          side,
          remote,
          code: errorCodeName(code),
          why: debug.slice(0, MAX_DEBUG_CHARS),
        };
        log.warn("Peer is going away, and says why", { ...said, ...left });
      });
    },
    turnedAway(backend, why) {
      limited(`turned away: ${backend}`, (left) => {
        log.warn("Call turned away", { backend, why, ...left });
      });
    },
    notDescribed(service, why) {
      if (!undescribed.admit(why)) return;
      log.info("The backend does not describe a service", { service, why });
    },
    backendUp(backend) {
      limited(`up: ${backend}`, (left) => log.info("Backend is reachable", { backend, ...left }));
    },
    backendDown(backend, why) {
      limited(`down: ${backend}`, (left) => {
        log.warn("Backend is not reachable", { backend, why, ...left });
      });
    },
    backendEjected: (backend, why) => log.warn("Backend is left out for a while", { backend, why }),
    backendReturned: (backend) => log.info("Backend is back", { backend }),
    faultOfOurs(what, error) {
      limited(`fault: ${what}`, (left) => {
        log.error("Fault in collapser", { what, stack: Deno.inspect(error), ...left });
      });
    },
  };
}

/**
 * Names that were logged, each once, and silence after as many as the metrics have labels for: callers bring methods
 * and metadata names, and could fill the log with them.
 */
class Named {
  readonly #log: Logger;
  readonly #what: string;
  readonly #names = new Set<string>();
  #full = false;

  constructor(log: Logger, what: string) {
    this.#log = log;
    this.#what = what;
  }

  admit(name: string): boolean {
    if (this.#full || this.#names.has(name)) return false;
    if (this.#names.size < MAX_LABELS) {
      this.#names.add(name);
      return true;
    }
    this.#full = true;
    this.#log.info(`Not logged any more after ${MAX_LABELS}: ${this.#what}`);
    return false;
  }
}

function keyHint(metadataName: string): string {
  const setting = `COLLAPSER_IGNORE_HEADERS=${metadataName}`;
  return SAYS_WHO.test(metadataName)
    ? `it may say who asks: set ${setting} only if every caller gets the same answers`
    : `set ${setting} if answers do not depend on it`;
}

/** Returns what writes a line of a kind where `limit` admits it, given how many were left out before. */
function onceASecond(limit: RateLimit) {
  return (kind: string, write: (left: { left_out?: number }) => void): void => {
    const leftOut = limit.admit(kind);
    if (leftOut !== undefined) write(leftOut === 0 ? {} : { left_out: leftOut });
  };
}
