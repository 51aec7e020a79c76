/**
 * An image as a folder, in the form that engines call `dir:`.
 *
 * @module
 */

import { attempt } from "./engine.ts";

/** What an image says of how it is to be run. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly Labels: Readonly<Record<string, string>>;
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** An image that was written out. */
export interface Image {
  readonly config: ImageConfig;
  /** The files of its layers, tar archives, lowest first. */
  readonly layers: readonly string[];
}

/** A file in a layer. */
export interface LayerFile {
  /** As `tar` shows it: `-rwxr-xr-x`. */
  readonly mode: string;
  /** Numbers: `0/0`. */
  readonly owner: string;
  readonly size: number;
  readonly path: string;
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

/** Reads the image in `folder`. */
export async function readImage(folder: string): Promise<Image> {
  const pathOf = ({ digest }: { digest: string }) => `${folder}/${digest.replace("sha256:", "")}`;
  const manifest: Manifest = JSON.parse(await Deno.readTextFile(`${folder}/manifest.json`));
  const { config } = JSON.parse(await Deno.readTextFile(pathOf(manifest.config)));
  return { config, layers: manifest.layers.map(pathOf) };
}

/** What is in a layer. */
export async function filesIn(layer: string): Promise<LayerFile[]> {
  const said = await tar(["--list", "--verbose", "--numeric-owner", "--file", layer]);
  return said.trim().split("\n").map((line) => {
    const [mode = "", owner = "", size, , , ...path] = line.split(/\s+/);
    return { mode, owner, size: Number(size), path: path.join(" ") };
  });
}

/** Lays the layers over each other in `folder`. No layer here deletes what a lower one has. */
export async function unpack({ layers }: Image, folder: string): Promise<void> {
  for (const layer of layers) {
    await tar(["--extract", "--no-same-owner", "--directory", folder, "--file", layer]);
  }
}

async function tar(args: readonly string[]): Promise<string> {
  const { ok, said } = await attempt(["tar", ...args]);
  if (!ok) throw new Error(`Cannot read a layer: ${said}`);
  return said;
}
