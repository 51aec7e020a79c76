/**
 * `deno task demo`: in the cluster of `make cluster deploy` when that is up, else all in one process. Says which. Either
 * way the calls are counted where they arrive, at the backend.
 *
 * @module
 */

const CONTEXT = "kind-collapser";

/** A cluster on this machine answers at once, or is not there. */
const ASK_TIMEOUT = "--request-timeout=2s";

const args = ["--context", CONTEXT, "--namespace", "collapser-demo", ASK_TIMEOUT];
const isUp = await succeeds("kubectl", [...args, "rollout", "status", "deployment/hello"]);
if (isUp && Deno.args.length === 0) {
  console.log(
    `Using the cluster ${CONTEXT}; "deno task demo --callers 10000" stays in one process.\n`,
  );
  Deno.exit(await run("make", ["--silent", "demo"]));
}
console.log(
  isUp
    ? `With flags of its own the demo stays in one process, though the cluster ${CONTEXT} is up.\n`
    : `No cluster ${CONTEXT} is up (make cluster deploy), so everything runs in one process.\n`,
);
Deno.exit(await run(Deno.execPath(), ["run", "-A", "main.ts", "demo", ...Deno.args]));

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(command, {
      args: [...args],
      stdout: "null",
      stderr: "null",
      stdin: "null",
    }).output();
    return success;
  } catch {
    return false; // there is no such command, which is an answer too
  }
}

/** Runs it with our own output, and gives its exit code. */
async function run(command: string, args: readonly string[]): Promise<number> {
  const { code } = await new Deno.Command(command, { args: [...args] }).spawn().status;
  return code;
}
