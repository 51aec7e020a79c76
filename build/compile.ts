/**
 * `deno task compile [--target NAME]`: dist/collapser, the program as one binary.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { BUNDLE, bundle } from "./bundle.ts";
import { BINARY_FLAGS } from "./runtime_flags.ts";
import { attempt } from "./run.ts";

/** What a person calls a target, and what Deno does. */
export const TARGETS: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
};

/** What builders of images call a target, in the variable TARGETARCH. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  amd64: "linux-x64",
  arm64: "linux-arm64",
};

const USAGE = `Makes dist/collapser, the program and the Deno runtime in one file.

  deno task compile                        for this machine
  deno task compile --target linux-arm64   for another: ${Object.keys(TARGETS).join(", ")}
  deno task compile --output FILE          elsewhere than dist/collapser

Deno fetches the runtime of each target once. Where it cannot, DENORT_BIN names a copy of it (denort, of the same version).`;

/** What Deno says when its download site cannot be reached. */
const OFFLINE = /dns error|failed to lookup|error sending request|tcp connect|network/i;

/** Embeds the bundle. Throws, and says what to do, when there is no runtime for the target. */
export async function compile(target: string, output: string): Promise<void> {
  const { ok, output: said } = await attempt(Deno.execPath(), [
    ...["compile", "--no-config", "--no-check", ...BINARY_FLAGS],
    ...["--target", target, "--output", output, BUNDLE],
  ]);
  if (ok) return;
  if (!OFFLINE.test(said)) throw new Error(`Cannot compile for ${target}:\n${said}`);
  throw new Error(
    `Cannot compile for ${target}: Deno's runtime for it is not here and cannot be fetched\n` +
      `Go where there is a network, or set DENORT_BIN to a denort ${Deno.version.deno} for ${target}.\n` +
      `${BUNDLE} is what would have been embedded; it runs wherever Deno does:\n` +
      `  deno run --no-config ${BINARY_FLAGS.join(" ")} ${BUNDLE}`,
  );
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      target: { type: "string" },
      output: { type: "string", default: "dist/collapser" },
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const name = values.target ?? (Deno.env.get("TARGETARCH") || Deno.build.target);
  const target = TARGETS[ARCHITECTURES[name] ?? name] ?? name;
  if (!Object.values(TARGETS).includes(target)) {
    console.error(`Cannot compile for "${name}": expected ${Object.keys(TARGETS).join(" or ")}`);
    return 64;
  }
  await bundle();
  await compile(target, values.output);
  const { size } = await Deno.stat(values.output);
  console.log(`${values.output}  ${Math.round(size / 2 ** 20)} MiB, ${target}`);
  return 0;
}

if (import.meta.main) {
  try {
    Deno.exit(await main());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
