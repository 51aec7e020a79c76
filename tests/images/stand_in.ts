/**
 * What stands in for the two base images: the C library of this machine and its Deno. Nothing is fetched.
 *
 * Deno's runtime without its tools, denort, is what becomes the program. Where DENORT_BIN names one, it is used and the
 * images are real but for their bases. Elsewhere Deno itself is compiled in; the product is then a plain Deno of the
 * program's size, which runs the bundle from beside it.
 *
 * @module
 */

import { BINARY_FLAGS } from "../../build/runtime_flags.ts";
import { attempt, type BuildOptions, type Engine } from "./engine.ts";

/** Where the build's commands see this machine's Deno and denort. */
const DENO_AT = "/opt/deno";
const DENORT_AT = "/opt/denort";

/** Where a container sees the folder with the bundle. */
export const BUNDLE_AT = "/bundle";

/** Libraries as `ldd` shows them, the loader among them. */
const LIBRARY = /(?:^|\s)(\/\S+) \(0x/gm;

const DOCKERFILE = (denort: string) =>
  `FROM scratch AS runtime
COPY runtime /
FROM runtime AS deno
COPY deno /usr/bin/
ENV PATH=/usr/bin DENO_DIR=/deno-dir DENORT_BIN=${denort}
`;

/** The bundle, taken out of the build stage of the images. */
const BUNDLE_DOCKERFILE = `FROM localhost/build AS build
FROM scratch AS bundle
COPY --from=build /build/dist/collapser.js /
`;

/** Whether the product is the program itself. */
export const isReal = Boolean(Deno.env.get("DENORT_BIN"));

/** What comes after the binary's name, before the program's own arguments. */
export const STAND_IN_ARGS: readonly string[] = isReal
  ? []
  : ["run", "--no-config", "--cached-only", ...BINARY_FLAGS, `${BUNDLE_AT}/collapser.js`];

/** What the stand-in needs of the environment: a plain Deno does not start without a folder for its cache. */
export const STAND_IN_ENV: Readonly<Record<string, string>> = isReal ? {} : { DENO_DIR: "/none" };

/** Builds both stand-ins. Returns what builds on them must be told. */
export async function buildStandIns(
  engine: Engine,
): Promise<Required<Pick<BuildOptions, "args" | "mounts">>> {
  const deno = await Deno.realPath(Deno.execPath());
  const denort = Deno.env.get("DENORT_BIN") || deno;
  const context = `${engine.folder}/stand-in`;
  await Deno.mkdir(`${context}/deno`, { recursive: true });
  await Deno.mkdir(`${context}/runtime/tmp`, { recursive: true });
  for (const library of await librariesOf(deno)) {
    await Deno.mkdir(`${context}/runtime${folderOf(library)}`, { recursive: true });
    await Deno.copyFile(library, `${context}/runtime${library}`);
  }
  await Deno.symlink(`${DENO_AT}/${nameOf(deno)}`, `${context}/deno/deno`);
  await Deno.writeTextFile(`${context}/Dockerfile`, DOCKERFILE(`${DENORT_AT}/${nameOf(denort)}`));
  await engine.build({ context, target: "runtime", tag: "stand-in-runtime" });
  await engine.build({ context, target: "deno", tag: "stand-in-deno" });
  const cache = await filledCache(engine.folder);
  return {
    args: {
      DENO_IMAGE: "localhost/stand-in-deno",
      RUNTIME_IMAGE: "localhost/stand-in-runtime",
    },
    mounts: {
      [DENO_AT]: folderOf(deno),
      [DENORT_AT]: folderOf(denort),
      "/deno-dir/npm": `${cache}/npm`,
      "/deno-dir/dl": `${cache}/dl`,
    },
  };
}

/** Takes the bundle out of the image `build`, the build stage. Returns the folder it is in. */
export async function takeBundle(engine: Engine): Promise<string> {
  const context = `${engine.folder}/bundle-context`;
  const folder = `${engine.folder}/bundle`;
  await Deno.mkdir(context);
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${context}/Dockerfile`, BUNDLE_DOCKERFILE);
  await engine.build({ context, target: "bundle", tag: "bundle-image" });
  const { layers: [layer = ""] } = await engine.image("bundle-image");
  await succeeds(["tar", "--extract", "--no-same-owner", "--directory", folder, "--file", layer]);
  return folder;
}

/** Deno's cache of this machine, with all in it that a build needs. */
async function filledCache(scratch: string): Promise<string> {
  await succeeds([Deno.execPath(), "install", "--quiet", "--frozen"]);
  const bundling = ["bundle", "--quiet", "--frozen", "--platform", "deno", "main.ts"];
  await succeeds([Deno.execPath(), ...bundling, "--output", `${scratch}/warm.js`]);
  return JSON.parse(await succeeds([Deno.execPath(), "info", "--json"])).denoDir;
}

async function librariesOf(program: string): Promise<string[]> {
  const said = await succeeds(["ldd", program]);
  return [...said.matchAll(LIBRARY)].map(([, path]) => path!);
}

async function succeeds(command: readonly [string, ...string[]]): Promise<string> {
  const { ok, said } = await attempt(command);
  if (!ok) throw new Error(`Cannot make a stand-in: ${command.join(" ")} failed\n${said}`);
  return said;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
