import type { Flight } from "../collapse/mod.ts";
import { isKeyMetadata } from "../collapse/mod.ts";
import { type Asker, namesThatDiffer } from "./asker.ts";
import type { TrialMethod } from "./method_trial.ts";
import { RecentMap } from "./recent_map.ts";
import type { ShadowAnswer } from "./shadow_answer.ts";

/** Messages whose last leader is remembered; beyond it old ones are forgotten, and a saving may go unnoticed. */
const MAX_REMEMBERED = 1_000;

/** Finds metadata names that alone keep equal messages of a method apart, while one's answer would do for the other. */
export class KeptApart {
  readonly #last = new RecentMap<string, { flight: Flight<ShadowAnswer>; asker: Asker }>(
    MAX_REMEMBERED,
  );

  /** A call leads. Returns the only name of its key in which it differs from the last one that led with this message. */
  led(
    { path, settings: { inKey } }: TrialMethod,
    flight: Flight<ShadowAnswer>,
    asker: Asker,
    nowMs: number,
  ): string | undefined {
    const key = `${path}\n${flight.bodyKey}`;
    const before = this.#last.get(key);
    this.#last.set(key, { flight, asker });
    if (before === undefined || before.flight.head === flight.head) return undefined;
    const wouldAnswer = !before.flight.landed ||
      before.flight.stored && !before.flight.isStale(nowMs);
    if (!wouldAnswer) return undefined;
    const names = namesThatDiffer(before.asker, asker).filter((name) =>
      isKeyMetadata(name) && inKey(name)
    );
    return names.length === 1 ? names[0] : undefined;
  }
}
