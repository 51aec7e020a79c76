import { fileURLToPath } from "node:url";
import { LineCaller } from "../line_caller.ts";
import { build, INTEROP, kept } from "./build.ts";
import { CALLER_CASES, runCallers } from "./callers.ts";
import { type RunMode, type Suite, Unavailable } from "./suite.ts";

/** grpcio, which is gRPC's core in C++ underneath, in a virtual environment of its own. */
export const PYTHON: Suite = {
  name: "python",
  cases: () => CALLER_CASES,
  async prepare(): Promise<RunMode> {
    const source = new URL("python/", INTEROP);
    const requirements = new URL("requirements.txt", source);
    const version = await build(["python3", "--version"], source);
    const folder = await kept("python", {
      from: [requirements, version],
      async fill(folder) {
        await makeEnvironment(folder);
        const pip = [
          "-m",
          "pip",
          "install",
          "--quiet",
          "--no-input",
          "--disable-pip-version-check",
        ];
        await build([`${folder}/bin/python`, ...pip, "-r", fileURLToPath(requirements)], folder);
      },
    });
    const program = [`${folder}/bin/python`, fileURLToPath(new URL("caller.py", source))];
    return (bench) => runCallers(bench, (port) => new LineCaller(program, port));
  },
};

/** Distributions leave out of Python what makes a virtual environment: that is a toolchain not present. */
async function makeEnvironment(folder: string): Promise<void> {
  try {
    await build(["python3", "-m", "venv", folder], folder);
  } catch (error) {
    if (!/ensurepip|No module named venv/.test(String(error))) throw error;
    throw new Unavailable("python3 has no venv");
  }
}
