const ROOT = new URL("../", import.meta.url);

/** Runs a command in the project's root, its output going where ours goes. Throws when it fails. */
export async function succeeds(command: string, args: readonly string[]): Promise<void> {
  const { ok, output } = await attempt(command, args);
  if (!ok) throw new Error(`Cannot go on: ${command} ${args.join(" ")} failed\n${output}`);
}

/** Runs a command in the project's root and keeps what it says. */
export async function attempt(
  command: string,
  args: readonly string[],
): Promise<{ ok: boolean; output: string }> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder();
  return { ok: success, output: text.decode(stdout) + text.decode(stderr) };
}
