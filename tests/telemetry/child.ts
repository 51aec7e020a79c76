/** Far longer than any of the scripts needs on a busy machine. */
const HUNG_MS = 30_000;

/**
 * Runs a module in a process of its own, with the sidecar's permissions and its output piped. Killed when it hangs.
 */
export async function runChild(
  script: string,
): Promise<{ process: Deno.ChildProcess } & AsyncDisposable> {
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const permissions = ["--allow-net", "--allow-env", "--allow-read"];
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "--no-lock", "--config", config, ...permissions, "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const hung = setTimeout(() => process.kill("SIGKILL"), HUNG_MS);
  const input = process.stdin.getWriter();
  await input.write(new TextEncoder().encode(script));
  await input.close();
  return {
    process,
    async [Symbol.asyncDispose]() {
      await process.status;
      clearTimeout(hung);
    },
  };
}
