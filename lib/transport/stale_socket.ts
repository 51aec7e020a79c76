/**
 * Removes a unix socket that whoever was killed here left behind, since nobody can listen where a file is. One that is
 * in use, anything else, and nothing at all are left as they are.
 */
export async function clearStaleSocket(path: string): Promise<void> {
  if (!await isSocket(path)) return;
  try {
    (await Deno.connect({ transport: "unix", path })).close();
  } catch (error) {
    // Whatever else is wrong, listening will tell.
    if (error instanceof Deno.errors.ConnectionRefused) await Deno.remove(path).catch(() => {});
  }
}

async function isSocket(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isSocket ?? false;
  } catch {
    return false; // not there, or not for us to see
  }
}
