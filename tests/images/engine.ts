/**
 * podman or buildah, with a store of its own that nothing else on the machine sees.
 *
 * @module
 */

import { type Image, readImage } from "./image.ts";

const ROOT = new URL("../../", import.meta.url);

/** buildah first: it does the same with fewer programs. `push` is told not to spend its time on compressing. */
const ENGINES = {
  buildah: { push: ["push", "--disable-compression"] },
  podman: { push: ["push"] },
} as const;

type EngineName = keyof typeof ENGINES;

/** What a build is told. */
export interface BuildOptions {
  /** What is built: a folder with a Dockerfile. */
  readonly context?: URL | string;
  readonly target: string;
  readonly tag: string;
  readonly args?: Readonly<Record<string, string>>;
  /** Folders of this machine that the build's commands see, and may not write to. */
  readonly mounts?: Readonly<Record<string, string>>;
}

/** What a test does to run a container: namespaces, a network with a loopback address, and being the images' user. */
const NEEDED = [
  ...["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c"],
  "ip link set lo up && chroot --userspec=65532:65532 / true",
];

/** Whether images can be built and run here, and with what. */
export type Found =
  | { readonly engine: EngineName; readonly why: "" }
  | { readonly engine?: undefined; readonly why: string };

/** Finds an engine, and out whether this machine lets a test run containers. */
export async function findEngine(): Promise<Found> {
  if (Deno.build.os !== "linux") return { why: "not on Linux" };
  const names = Object.keys(ENGINES) as EngineName[];
  for (const engine of names) {
    if (!(await attempt([engine, "--version"])).ok) continue;
    const tried = await attempt([...asRoot(engine), ...NEEDED]);
    if (tried.ok) return { engine, why: "" };
    return { why: `no containers: ${tried.said.trim().split("\n").at(-1)}` };
  }
  return { why: `neither ${names.join(" nor ")} is installed` };
}

/** What makes the rest of a command line root, if only of the files and users that are its own. */
export function asRoot(engine: EngineName): readonly string[] {
  return Deno.uid() === 0 ? [] : [engine, "unshare"];
}

/** An engine at work in `folder`. */
export class Engine {
  readonly name: EngineName;
  readonly folder: string;

  constructor(name: EngineName, folder: string) {
    this.name = name;
    this.folder = folder;
  }

  /** Builds a target of a Dockerfile as an image by the name of `tag`. Returns what it said. */
  build({ context = ROOT, target, tag, args = {}, mounts = {} }: BuildOptions): Promise<string> {
    const given = Object.entries(args).flatMap((
      [name, value],
    ) => ["--build-arg", `${name}=${value}`]);
    const seen = Object.entries(mounts).flatMap(([at, path]) => ["--volume", `${path}:${at}:ro`]);
    return this.#does([
      // Only a Docker image has a HEALTHCHECK; and no registry is asked for anything.
      ...["build", "--isolation", "chroot", "--format", "docker", "--layers", "--pull=never"],
      ...["--platform", `linux/${ARCHITECTURES[Deno.build.arch]}`],
      ...["--target", target, "--tag", `localhost/${tag}`, ...given, ...seen],
      context instanceof URL ? context.pathname : context,
    ]);
  }

  /** Writes an image out, and reads it. */
  async image(tag: string): Promise<Image> {
    const folder = `${this.folder}/${tag}`;
    await this.#does([...ENGINES[this.name].push, `localhost/${tag}`, `dir:${folder}`]);
    return await readImage(folder);
  }

  /** Removes all that it made. Some of it may belong to users that only root can be. */
  async removeAll(): Promise<void> {
    const removing = ["rm", "-r", "--force", "--one-file-system", this.folder];
    const { ok, said } = await attempt([...asRoot(this.name), ...removing]);
    if (!ok) throw new Error(`Cannot remove ${this.folder}: ${said}`);
  }

  async #does(args: readonly string[]): Promise<string> {
    const store = ["--root", `${this.folder}/store`, "--runroot", `${this.folder}/run`];
    const command = [this.name, ...store, "--storage-driver", "vfs", ...args] as const;
    const { ok, said } = await attempt(command);
    if (!ok) throw new Error(`Cannot go on: ${command.join(" ")} failed\n${said}`);
    return said;
  }
}

/** How images call the machines that Deno runs on. */
const ARCHITECTURES: Readonly<Record<typeof Deno.build.arch, string>> = {
  x86_64: "amd64",
  aarch64: "arm64",
};

/** Runs a command in the project's folder to its end. One that is not there has failed. */
export async function attempt(command: readonly string[]): Promise<{ ok: boolean; said: string }> {
  const [name = "", ...args] = command;
  const options = { args, cwd: ROOT, env: { NO_COLOR: "1" } };
  try {
    const { success, stdout, stderr } = await new Deno.Command(name, options).output();
    const text = new TextDecoder();
    return { ok: success, said: text.decode(stdout) + text.decode(stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { ok: false, said: `${name} is missing` };
    throw error;
  }
}
