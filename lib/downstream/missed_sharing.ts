import { isKeyMetadata, neverCollapses } from "../collapse/mod.ts";
import type { CallObserver } from "../observe/mod.ts";
import { equalBytes, FRAME_HEADER_BYTES, type FrameLog, type HeaderList } from "../wire/mod.ts";
import type { RecentFlight } from "./recent_calls.ts";
import type { RequestRoute } from "./request_route.ts";

/** Metadata names that are told; a caller chooses names, and one who reads the log wants the first few. */
const MAX_NAMES = 10;

/** Sharing that the configuration gives away. */
export interface MissedHint {
  readonly method: string;
  /** The metadata that alone keeps its calls apart; undefined where the method does not collapse at all. */
  readonly metadataName: string | undefined;
}

/**
 * Notices what sharing the configuration gives away: equal calls of a method that is not eligible, and equal messages
 * of an eligible one that a single metadata name keeps apart. It compares each call with the one before it of the same
 * method, only while there is something left to tell, and so costs a few comparisons.
 */
export class MissedSharing {
  #observer: CallObserver;
  /** What was told, for those who come later. */
  readonly hints: MissedHint[] = [];
  #toldOfMethod = false;
  #toldOfNames = new Set<string>();

  constructor(observer: CallObserver) {
    this.#observer = observer;
  }

  /** A call of a method that is not eligible has sent its only message, `body`, which is emptied when it is over. */
  passed({ method, list }: RequestRoute, body: FrameLog): void {
    if (this.#toldOfMethod) return;
    const before = method.recent.passed;
    method.recent.passed = { list, body };
    if (before?.list !== list || before.body === body || !isSameMessage(before.body, body)) return;
    if (neverCollapses(method.service.name)) return; // nobody could do anything about it
    this.#toldOfMethod = true;
    this.hints.push({ method: method.path, metadataName: undefined });
    this.#observer.couldHaveCollapsed(method.path);
  }

  /** A call has led a flight of its own. */
  led({ method, list }: RequestRoute, flight: RecentFlight): void {
    if (this.#toldOfNames.size >= MAX_NAMES) return;
    const before = method.recent.led;
    method.recent.led = { list, flight };
    if (before === undefined || before.flight.head === flight.head) return;
    if (before.flight.bodyKey !== flight.bodyKey || before.flight.landed) return;
    const names = differingNames(before.list, list, method.settings.inKey);
    const [name] = names;
    if (names.size !== 1 || name === undefined || this.#toldOfNames.has(name)) return;
    this.#toldOfNames.add(name);
    this.hints.push({ method: method.path, metadataName: name });
    this.#observer.keptApartBy(method.path, name);
  }
}

/** The names that the key holds of two lists and whose values differ. */
function differingNames(
  a: HeaderList,
  b: HeaderList,
  inKey: (name: string) => boolean,
): ReadonlySet<string> {
  const [ofA, ofB] = [valuesByName(a, inKey), valuesByName(b, inKey)];
  const names = new Set([...ofA.keys(), ...ofB.keys()]);
  for (const name of names) if (ofA.get(name) === ofB.get(name)) names.delete(name);
  return names;
}

/** The values of each name that is in the key; a character that no value has stands between several. */
function valuesByName(
  { fields }: HeaderList,
  inKey: (name: string) => boolean,
): Map<string, string> {
  const values = new Map<string, string>();
  for (const { name, value } of fields) {
    if (!isKeyMetadata(name) || !inKey(name)) continue;
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  return values;
}

/** Whether two requests are one DATA frame each, with the same payload; a body that was cut or let go of is not looked at. */
function isSameMessage(a: FrameLog, b: FrameLog): boolean {
  const isOneFrame = a.end === FRAME_HEADER_BYTES + a.dataBytes && a.start === 0 && a.dataBytes > 0;
  return isOneFrame && a.end === b.end && a.dataBytes === b.dataBytes && b.start === 0 &&
    equalBytes(a.bytes, FRAME_HEADER_BYTES, b.bytes, FRAME_HEADER_BYTES, a.dataBytes);
}
