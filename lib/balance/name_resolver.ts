import {
  type Address,
  addressName,
  CallbackAlarm,
  type Resolve,
  type Timers,
} from "../transport/mod.ts";
import { NameAddresses } from "./name_addresses.ts";

/** How long what a name server said is believed. The system does not tell the record's own time; this is a cluster's usual one. */
const BELIEVED_MS = 30_000;

/** A backend that fails may have moved, so its name is asked for again, but not more often than this. */
const AT_MOST_EVERY_MS = 1_000;

/**
 * Addresses of one IP version are given this long before those of the other are tried: time to be dialled a few times,
 * and little enough for readiness to follow within a second whichever of the two comes back.
 */
const VERSION_TRIAL_MS = 400;

/** An entry of BACKEND_ADDRESS. */
export interface BackendEntry {
  /** What metrics and logs call the backend: the `name=` it was given, else its address. */
  readonly name: string;
  readonly address: Address;
  /** The host is a name whose every address, of one IP version, is a backend (`dns:///`). @default false */
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
  #isDown: (name: string) => boolean;
  /** What each name stood for last. */
  #addresses = new Map<BackendEntry, NameAddresses>();
  #alarm = new CallbackAlarm(() => void this.#ask());
  #askedMs = -Infinity;
  #turn = new CallbackAlarm(() => this.#turnFromTheDown());
  #turnedMs = -Infinity;
  #isAsking = false;
  #told = "";
  #stopped = false;

  constructor(
    entries: readonly BackendEntry[],
    environment: {
      resolve: Resolve;
      timers: Timers;
      onChange: (backends: readonly Located[]) => void;
      /** The backend of this name could not be reached, or not any more. */
      isDown: (name: string) => boolean;
    },
  ) {
    this.#entries = entries;
    this.#resolve = environment.resolve;
    this.#timers = environment.timers;
    this.#onChange = environment.onChange;
    this.#isDown = environment.isDown;
  }

  /** Tells what is known, and asks for the rest. */
  start(): void {
    this.#tell();
    void this.#ask();
  }

  stop(): void {
    this.#stopped = true;
    for (const alarm of [this.#alarm, this.#turn]) this.#timers.cancel(alarm);
  }

  /** A backend failed: where its name leads may have changed, or the name's other addresses may do. */
  doubt(): void {
    if (this.#stopped) return;
    const timers = this.#timers;
    timers.set(this.#turn, Math.max(timers.nowMs, this.#turnedMs + VERSION_TRIAL_MS));
    if (this.#isAsking) return;
    timers.set(this.#alarm, Math.max(timers.nowMs, this.#askedMs + AT_MOST_EVERY_MS));
  }

  /** A name none of whose backends can be reached is tried at its addresses of the other IP version. */
  #turnFromTheDown(): void {
    for (const [entry, addresses] of this.#addresses) {
      if (this.#locate(entry).every(({ name }) => this.#isDown(name))) addresses.turn();
    }
    if (this.#tell()) this.#turnedMs = this.#timers.nowMs;
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
      const known = this.#addresses.get(entry) ?? new NameAddresses();
      known.become(addresses);
      this.#addresses.set(entry, known);
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Tells what the backends are, if that is news; returns whether it was. */
  #tell(): boolean {
    const located = new Map<string, Located>();
    for (const entry of this.#entries) {
      for (const backend of this.#locate(entry)) located.set(backend.name, backend);
    }
    const told = [...located.keys()].join(" ");
    if (told === this.#told) return false;
    this.#told = told;
    this.#onChange([...located.values()]);
    return true;
  }

  #locate(entry: BackendEntry): readonly Located[] {
    const { name, address, resolves } = entry;
    if (!resolves) return [{ name, address }];
    return (this.#addresses.get(entry)?.used ?? []).map((ip) => {
      const found: Address = { host: ip, port: address.port, serverName: address.host };
      return { name: addressName(found), address: found };
    });
  }
}
