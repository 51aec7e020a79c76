import { Buffer } from "node:buffer";
import type { Cluster } from "../balance/mod.ts";
import {
  type CollapseMap,
  type Flight,
  type HotKey,
  type KeyCodec,
  pathInKey,
} from "../collapse/mod.ts";
import type {
  Call,
  FlightCall,
  MethodTable,
  MissedHint,
  MissedSharing,
} from "../downstream/mod.ts";
import type { MethodCounters, ProxyCounters } from "../observe/mod.ts";
import type { Timers } from "../transport/mod.ts";
import type { Trial } from "../trial/mod.ts";
import type { ReportRow } from "../trust/mod.ts";
import type { BackendReport, Exchange, Lack } from "../upstream/mod.ts";

/** Calls looked at to find those that have waited longest: a bound on what looking costs, not on what there may be. */
const MAX_EXAMINED = 20_000;

/** Characters of a key's digest that are shown: 72 bits, so that two keys are never taken for one. */
const SHOWN_DIGEST_CHARS = 12;

/** Nobody can find a key by trying what it might be: the salt is another one in each process, and is not told. */
const SALT_BYTES = 32;

/** What a backend call waits for: what it lacks to be sent, the first byte of an answer, or the rest of it. */
export type WaitingFor = Lack | "answer" | "rest";

/** A backend call under way, on behalf of whoever waits for it. */
export interface CallReport {
  readonly method: string;
  /** The backend's name; "" before one was chosen. */
  readonly backend: string;
  /** Time since the call began, in ms. */
  readonly ageMs: number;
  readonly waitsFor: WaitingFor;
}

export interface FlightReport extends CallReport {
  /** Callers that wait for it. */
  readonly waiters: number;
  /** Whether equal calls may still join it. */
  readonly takesJoiners: boolean;
  /** Digest of its key. */
  readonly key: string;
}

export interface KeyReport {
  readonly method: string;
  /** Digest of the key. */
  readonly key: string;
  readonly calls: number;
}

export interface MethodReport {
  /** `other` stands for all beyond the labels. */
  readonly method: string;
  readonly counters: MethodCounters;
  /** Undefined for `other`. */
  readonly verdict: { readonly eligible: boolean; readonly why: string } | undefined;
  /** How far its answers are shared, by its policy or COLLAPSER_MODE; undefined for `other`. */
  readonly mode: string | undefined;
  /** Names in which two callers differed whose answers were found to depend on that; undefined while the method is on. */
  readonly off: readonly string[] | undefined;
}

/** What an inspection looks at. */
export interface Inspected {
  readonly map: CollapseMap<FlightCall>;
  readonly backend: Cluster;
  readonly counters: ProxyCounters;
  readonly methods: MethodTable;
  readonly missed: MissedSharing;
  readonly trial: Trial;
  readonly timers: Timers;
  readonly codec: KeyCodec;
  /** Calls of callers, in no order. */
  readonly calls: () => Iterable<Call>;
}

/** The proxy as people look at it: everything is worked out when it is asked for, and bounded. */
export class Inspection {
  #of: Inspected;
  readonly #salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));

  constructor(of: Inspected) {
    this.#of = of;
  }

  backends(): readonly BackendReport[] {
    return this.#of.backend.reports();
  }

  methods(): readonly MethodReport[] {
    const { counters, methods } = this.#of;
    return [...counters.methods.values()].map((own) => {
      const known = methods.known(own.label);
      return {
        method: own.label,
        counters: own,
        verdict: known?.verdict,
        mode: known?.settings.mode,
        off: known?.trial?.off,
      };
    });
  }

  /** What sharing saves or would save, method by method, the most called first. */
  report(): readonly ReportRow[] {
    const { methods, trial, timers } = this.#of;
    trial.sweep(timers.refresh(), methods.sharing());
    return trial.report((path) => {
      const { settings, verdict } = methods.known(path) ?? methods.none;
      return { mode: verdict.eligible ? settings.mode : "off", ttlMs: settings.cacheDurationMs };
    });
  }

  /** Sharing that the configuration gives away, as far as it was noticed. */
  hints(): readonly MissedHint[] {
    return this.#of.missed.hints;
  }

  /** Flights under way, the oldest first. */
  flights(limit: number): readonly FlightReport[] {
    const flights = [...this.#underWay()].sort((a, b) => a.startedMs - b.startedMs);
    return flights.slice(0, limit).flatMap((flight) => {
      const { exchange } = flight.reply;
      return exchange === undefined ? [] : this.#flightReport(flight, exchange);
    });
  }

  /** Calls that have a backend call of their own, the oldest first; those that stream are not waiting and left out. */
  passing(limit: number): readonly CallReport[] {
    const found: CallReport[] = [];
    let examined = 0;
    for (const call of this.#of.calls()) {
      if (examined++ >= MAX_EXAMINED) break;
      const exchange = call.ownExchange;
      if (exchange === undefined || exchange.isStreaming) continue;
      found.push(this.#callReport(exchange, call.receivedMs));
    }
    return found.sort((a, b) => b.ageMs - a.ageMs).slice(0, limit);
  }

  /** The keys asked for most, and for how long calls were counted. */
  keys(limit: number): { readonly sinceMs: number; readonly keys: readonly KeyReport[] } {
    const { map, timers } = this.#of;
    const underWay = this.#underWay();
    const { sinceMs, keys } = map.hottest(timers.refresh(), { limit, underWay });
    return { sinceMs, keys: keys.map((key) => this.#keyReport(key)) };
  }

  /** Found by those who wait for them: a list of them would cost each call that leads one. */
  #underWay(): Set<Flight<FlightCall>> {
    const flights = new Set<Flight<FlightCall>>();
    let examined = 0;
    for (const { flight } of this.#of.calls()) {
      if (examined++ >= MAX_EXAMINED) break;
      if (flight !== undefined && !flight.landed) flights.add(flight);
    }
    return flights;
  }

  #keyReport(key: HotKey): KeyReport {
    const { headText, bodyKey, total } = key;
    key.digest ??= this.#digest(headText, bodyKey);
    return { method: pathInKey(headText), key: key.digest, calls: total };
  }

  #flightReport(flight: Flight<FlightCall>, exchange: Exchange): FlightReport {
    const { head, bodyKey, waiterCount, sealed, startedMs } = flight;
    return {
      ...this.#callReport(exchange, startedMs),
      waiters: waiterCount,
      takesJoiners: !sealed && flight.generation === head.service.generation,
      key: this.#digest(head.text, bodyKey),
    };
  }

  #callReport(exchange: Exchange, startedMs: number): CallReport {
    const { timers } = this.#of;
    return {
      method: exchange.target.method.path,
      backend: exchange.at?.name ?? "",
      ageMs: Math.max(0, timers.refresh() - startedMs),
      waitsFor: exchange.attempt === undefined
        ? exchange.at?.lackOf(exchange) ?? "connection"
        : exchange.reply.hasBegun
        ? "rest"
        : "answer",
    };
  }

  #digest(headText: string, bodyKey: string): string {
    const bytes = Buffer.from(`${headText.length}:${headText}${bodyKey}`);
    const digest = this.#of.codec.digest(Buffer.concat([this.#salt, bytes]));
    return digest.slice(0, SHOWN_DIGEST_CHARS);
  }
}
