import { until } from "../support/waiting.ts";

/** Between two looks at another process: each costs it something, and it has other work. */
const LOOK_EVERY_MS = 150;

/** Resolves when `holds` does of another process; rejects when that takes longer than `limitMs`. */
export async function untilSeen(
  holds: () => boolean | Promise<boolean>,
  what: string,
  limitMs: number,
): Promise<void> {
  await until(
    async () => {
      if (await holds()) return true;
      await new Promise((resume) => setTimeout(resume, LOOK_EVERY_MS));
      return false;
    },
    what,
    limitMs,
  );
}
