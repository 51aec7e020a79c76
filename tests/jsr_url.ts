/**
 * Prints what JSR_URL must be on this machine for the tests to find `@std/*`: what is given, else
 * nothing (the real registry) where JSR answers or its packages are cached, else the stand-ins in
 * `tests/jsr/`. The tests are the same either way, and so is `deno.lock`.
 *
 * @module
 */

/** Longer than a slow registry takes, short enough not to be taken for a hang. */
const PROBE_TIMEOUT_MS = 5_000;

console.log(Deno.env.get("JSR_URL") || (await jsrAnswers() ? "" : import.meta.resolve("./jsr/")));
// A probe that lost the race would keep the process alive.
Deno.exit();

async function jsrAnswers(): Promise<boolean> {
  const probe = import("@std/assert").then(() => true, () => false);
  const late = new Promise<boolean>((done) => setTimeout(done, PROBE_TIMEOUT_MS, false));
  return await Promise.race([probe, late]);
}
