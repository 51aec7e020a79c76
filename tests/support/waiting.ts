/**
 * Waiting for what must happen: for the event itself, with an end, and with words for when it does not come.
 *
 * @module
 */

/** Longer than anything here takes on a busy machine, shorter than anybody's patience. */
export const PATIENCE_MS = 15_000;

/** Between two looks at something that tells nobody when it changes. */
const LOOK_EVERY_MS = 2;

/** What `promise` resolves to; rejects when it takes longer than `limitMs`. */
export async function within<T>(
  promise: Promise<T>,
  what: string,
  limitMs: number = PATIENCE_MS,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`Waited ${limitMs} ms in vain: ${what}`)),
    limitMs,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when `holds` does; rejects when that takes longer than `limitMs`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  limitMs: number = PATIENCE_MS,
): Promise<void> {
  const giveUpMs = performance.now() + limitMs;
  while (!await holds()) {
    if (performance.now() > giveUpMs) throw new Error(`Waited ${limitMs} ms in vain: ${what}`);
    await new Promise((resume) => setTimeout(resume, LOOK_EVERY_MS));
  }
}
