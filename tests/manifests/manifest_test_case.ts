import { type Reading, readManifests, whyNoGo } from "./go_program.ts";

const reason = await whyNoGo();

let read: Promise<Reading> | undefined;

/**
 * A test of what the manifests are once they are read, which happens once for all of a file. Where Go cannot be had,
 * `skipped` says so once instead.
 */
export function manifestTest(name: string, fn: (reading: Reading) => void | Promise<void>): void {
  if (reason !== "") return;
  Deno.test(name, async () => await fn(await (read ??= readManifests())));
}

/** The one test of a file whose others need what is not here. */
export function skippedWithoutGo(subject: string): void {
  if (reason === "") return;
  Deno.test({ name: `${subject} (skipped: ${reason})`, ignore: true, fn() {} });
}
