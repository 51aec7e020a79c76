import { fileURLToPath } from "node:url";
import { LineCaller } from "../line_caller.ts";
import { build, INTEROP, kept } from "./build.ts";
import { CALLER_CASES, runCallers } from "./callers.ts";
import type { RunMode, Suite } from "./suite.ts";

/** grpc-js on Node: on Deno it is in `grpc_js_test.ts`, where it may not meet a GOAWAY. */
export const NODE: Suite = {
  name: "node",
  cases: () => CALLER_CASES,
  async prepare(): Promise<RunMode> {
    const source = new URL("node/", INTEROP);
    const names = ["package.json", "package-lock.json", "caller.mjs"];
    const folder = await kept("node", {
      from: names.map((name) => new URL(name, source)),
      async fill(folder) {
        for (const name of names) {
          await Deno.copyFile(fileURLToPath(new URL(name, source)), `${folder}/${name}`);
        }
        await build(["node", "--version"], folder);
        await build(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder);
      },
    });
    await build(["node", "--version"], folder);
    return (bench) =>
      runCallers(bench, (port) => new LineCaller(["node", `${folder}/caller.mjs`], port));
  },
};
