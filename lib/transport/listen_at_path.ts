import { basename, dirname } from "node:path";

/**
 * Listens at the path of a unix socket, whose permissions are `mode` (as chmod(1) has them) whatever the umask, or what
 * the umask makes of them when there is none. Throws what the system says when the path cannot be had.
 */
export function listenAtPath(path: string, mode: number | undefined): PathListener {
  if (mode === undefined) return openly(path);
  return outOfSight(path, mode) ?? withMode(openly(path), path, mode);
}

/** A listener at a path, which it removes when it is closed. */
export interface PathListener {
  accept(): Promise<Deno.UnixConn>;
  close(): void;
}

/**
 * The socket gets its permissions in a folder that is its owner's alone, and then its name: nobody else can connect
 * before. Returns undefined where that cannot be had: the path is taken or too long by those few letters, or the file
 * system has no second names for sockets. The plain way then has the last word, and the better error.
 */
function outOfSight(path: string, mode: number): PathListener | undefined {
  let folder: string | undefined;
  let listener: Deno.UnixListener | undefined;
  try {
    folder = Deno.makeTempDirSync({ dir: dirname(path), prefix: "." });
    const hidden = `${folder}/${basename(path)}`;
    listener = openly(hidden);
    Deno.chmodSync(hidden, mode);
    Deno.linkSync(hidden, path); // unlike renaming it never takes the place of another file
    const own = listener;
    return {
      accept: () => own.accept(),
      close() {
        removeIfThere(path);
        own.close();
      },
    };
  } catch {
    listener?.close();
    return undefined;
  } finally {
    if (folder !== undefined) Deno.removeSync(folder, { recursive: true });
  }
}

function openly(path: string): Deno.UnixListener {
  return Deno.listen({ transport: "unix", path });
}

function withMode(listener: Deno.UnixListener, path: string, mode: number): Deno.UnixListener {
  try {
    Deno.chmodSync(path, mode);
    return listener;
  } catch (error) {
    listener.close();
    throw error;
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // else whoever removed it was faster
  }
}
