import {
  type Address,
  addressName,
  CallbackAlarm,
  type Resolve,
  type Timers,
} from "../transport/mod.ts";

/** How long what a name server said is believed. The system does not tell the record's own time; this is a cluster's usual one. */
const BELIEVED_MS = 30_000;

/** A backend that fails may have moved, so its name is asked for again, but not more often than this. */
const AT_MOST_EVERY_MS = 1_000;

/** An entry of BACKEND_ADDRESS. */
export interface BackendEntry {
  /** What metrics and logs call the backend: the `name=` it was given, else its address. */
  readonly name: string;
  readonly address: Address;
  /** The host is a name whose every address is a backend (`dns:///`). @default false */
  readonly resolves?: boolean;
}

/** A backend at one address. */
export interface Located {
  readonly name: string;
  readonly address: Address;
}

/** Follows the names among the entries: what they stand for now, and when that changes. */
export class NameResolver {
  /** Why a name's addresses are not known; "" when they are. */
  trouble = "";
  #entries: readonly BackendEntry[];
  #resolve: Resolve;
  #timers: Timers;
  #onChange: (backends: readonly Located[]) => void;
  /** What each name stood for last. */
  #addresses = new Map<BackendEntry, readonly string[]>();
  #alarm = new CallbackAlarm(() => void this.#ask());
  #askedMs = -Infinity;
  #isAsking = false;
  #told = "";
  #stopped = false;

  constructor(
    entries: readonly BackendEntry[],
    environment: {
      resolve: Resolve;
      timers: Timers;
      onChange: (backends: readonly Located[]) => void;
    },
  ) {
    this.#entries = entries;
    this.#resolve = environment.resolve;
    this.#timers = environment.timers;
    this.#onChange = environment.onChange;
  }

  /** Tells what is known, and asks for the rest. */
  start(): void {
    this.#tell();
    void this.#ask();
  }

  stop(): void {
    this.#stopped = true;
    this.#timers.cancel(this.#alarm);
  }

  /** A backend failed: where its name leads may have changed. */
  doubt(): void {
    if (this.#stopped || this.#isAsking) return;
    this.#timers.set(this.#alarm, Math.max(this.#timers.nowMs, this.#askedMs + AT_MOST_EVERY_MS));
  }

  async #ask(): Promise<void> {
    const names = this.#entries.filter(({ resolves }) => resolves);
    if (this.#stopped || this.#isAsking || names.length === 0) return;
    this.#isAsking = true;
    const troubles = await Promise.all(names.map((entry) => this.#askFor(entry)));
    this.#isAsking = false;
    if (this.#stopped) return;
    this.trouble = troubles.find((trouble) => trouble !== "") ?? "";
    this.#askedMs = this.#timers.refresh();
    const pauseMs = this.trouble === "" ? BELIEVED_MS : AT_MOST_EVERY_MS;
    this.#timers.set(this.#alarm, this.#askedMs + pauseMs);
    this.#tell();
  }

  /** A name that cannot be resolved keeps the addresses it had: the name server may be what is ill. */
  async #askFor(entry: BackendEntry): Promise<string> {
    try {
      const addresses = await this.#resolve(entry.address.host);
      if (addresses.length === 0) return `"${entry.address.host}" has no addresses`;
      this.#addresses.set(entry, addresses);
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #tell(): void {
    const located = new Map<string, Located>();
    for (const entry of this.#entries) {
      for (const backend of this.#locate(entry)) located.set(backend.name, backend);
    }
    const told = [...located.keys()].join(" ");
    if (told === this.#told) return;
    this.#told = told;
    this.#onChange([...located.values()]);
  }

  #locate(entry: BackendEntry): readonly Located[] {
    const { name, address, resolves } = entry;
    if (!resolves) return [{ name, address }];
    return (this.#addresses.get(entry) ?? []).map((ip) => {
      const found: Address = { host: ip, port: address.port, serverName: address.host };
      return { name: addressName(found), address: found };
    });
  }
}
