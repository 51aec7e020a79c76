/**
 * Containers that share a loopback address, as those of a pod do: each has a root file system that it cannot write to,
 * is PID 1, and has no rights.
 *
 * @module
 */

import { type ProcessVariables, Running } from "../support/process.ts";
import { until } from "../support/waiting.ts";
import { type Image, unpack } from "./image.ts";

/** Holds the network until it is killed. */
const HOLD = "ip link set lo up && echo up && exec sleep infinity";

/** Only `chroot` knows how to become the image's user, so that comes last, and leaves nothing of itself behind. */
const ENTER = `set -e
root=$1 user=$2 mount_from=$3 mount_at=$4
shift 4
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind "$mount_from" "$root$mount_at"
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" "$root" "$@"
`;

/** The programs of this machine that start a container. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A folder of this machine and where containers see it. */
export interface Mount {
  readonly from: string;
  readonly at: string;
}

/** An image and the folder where it lies unpacked. */
export interface Unpacked {
  readonly image: Image;
  readonly folder: string;
}

/** A container: the processes that start it, and in the end the program. */
export class Container extends Running {
  /** The program in it. */
  program(): Promise<number> {
    return lastOf(this.pid);
  }

  /** A line of what the kernel knows of the program. */
  async status(name: string): Promise<string> {
    const text = await Deno.readTextFile(`/proc/${await this.program()}/status`);
    return new RegExp(`^${name}:\\s*(.*)$`, "m").exec(text)?.[1] ?? "";
  }

  /** Whether the root of the program's file system can be written to: `rw` or `ro`. */
  async rootMode(): Promise<string> {
    const mounts = await Deno.readTextFile(`/proc/${await this.program()}/mountinfo`);
    return /^\S+ \S+ \S+ \S+ \/ (r[wo])\b/m.exec(mounts)?.[1] ?? "";
  }

  /** What an engine does to stop it. Those who started it hand no signal on. */
  async stop(signal: Deno.Signal): Promise<void> {
    if (this.isRunning) kill(await this.program(), signal);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
    await super[Symbol.asyncDispose]();
  }
}

/** A network of its own, and containers in it. */
export class Pod implements AsyncDisposable {
  readonly #holder: Running;
  readonly #isRoot: boolean;
  readonly #mount: Mount;

  private constructor(holder: Running, { isRoot, mount }: { isRoot: boolean; mount: Mount }) {
    this.#holder = holder;
    this.#isRoot = isRoot;
    this.#mount = mount;
  }

  /** `root` is what makes the rest of a command line root. */
  static async start(root: readonly string[], mount: Mount): Promise<Pod> {
    const [command = "unshare", ...args] = [...root, "unshare", "--net", "sh", "-c", HOLD];
    // All of the environment: what makes us root may need a home.
    const holder = new Running([command, ...args], { env: Deno.env.toObject(), cwd: "/" });
    const pod = new Pod(holder, { isRoot: root.length === 0, mount });
    try {
      await until(() => holder.outputLines.includes("up") || !holder.isRunning, "a network");
      if (!holder.isRunning) throw new Error(`Cannot make a network: ${holder.said}`);
      return pod;
    } catch (error) {
      await pod[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A container from `image`, unpacked in `folder`, that runs `command`. */
  async starts(
    { image, folder }: Unpacked,
    { command, env = {} }: { command: readonly string[]; env?: ProcessVariables },
  ): Promise<Container> {
    const { User, Env } = image.config;
    const inside = await lastOf(this.#holder.pid);
    const users = this.#isRoot ? [] : ["--user", "--preserve-credentials"];
    return new Container([
      ...["nsenter", "--target", String(inside), "--net", ...users, "--"] as const,
      ...["unshare", "--mount", "--pid", "--fork", "--kill-child", "--"],
      ...["sh", "-c", ENTER, "sh", folder, User, this.#mount.from, this.#mount.at],
      ...command,
    ], { env: { PATH, ...variablesOf(Env), ...env }, cwd: "/" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    kill(await lastOf(this.#holder.pid), "SIGKILL");
    await this.#holder[Symbol.asyncDispose]();
  }
}

/** Unpacks an image into a folder that a container can have as its root. */
export async function unpackTo(folder: string, image: Image, mount: Mount): Promise<Unpacked> {
  await Deno.mkdir(folder);
  await unpack(image, folder);
  // An engine makes these too.
  for (const made of ["/proc", mount.at]) await Deno.mkdir(`${folder}${made}`);
  return { image, folder };
}

function variablesOf(lines: readonly string[]): ProcessVariables {
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)];
  }));
}

/** Nothing happens when it has ended, which it may have before we are told. */
function kill(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** The last of a chain of processes, of which each has started the next. */
async function lastOf(pid: number): Promise<number> {
  const child = await childOf(pid);
  return child === undefined ? pid : await lastOf(child);
}

async function childOf(pid: number): Promise<number | undefined> {
  const children = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`);
  const [first = ""] = children.split(" ");
  return first === "" ? undefined : Number(first);
}
