/**
 * What the repository holds and where: the part of the plan that a lint rule, which sees one file at
 * a time, cannot hold.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { importCycles, importsOf } from "./cycles.ts";
import { ROOMS } from "./plan.ts";
import { ROOT } from "./rooms.ts";

/** Everything that may stand at the top level; not all of it must. */
const TOP_LEVEL = new Set([
  ".ci",
  ".dockerignore",
  ".github",
  ".gitignore",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "Dockerfile",
  "LICENSE",
  "Makefile",
  "README.md",
  "SECURITY.md",
  "bench",
  "build",
  "charts",
  "deno.json",
  "deno.lock",
  "docs",
  "lib",
  "main.ts",
  "manifests",
  "tests",
]);

/** A file that needs more is usually two ideas. */
const MAX_LINES = 300;

/** The files of `lib/` that are longer, each with the reason why it is one idea all the same. */
const LONGER: Readonly<Record<string, string>> = {};

/** Where a machine keeps a checkout or a home: meaningful to whoever wrote it and to nobody else. */
const MACHINE_PATHS = ["work", "root"].map((folder) => `/${folder}/`);

const files = await listFiles();
const libFiles = files.filter((path) => path.startsWith("lib/"));

Deno.test("layout keeps the top level to the names that are agreed", () => {
  const found = new Set(files.map((path) => path.split("/")[0] ?? path));
  assertEquals([...found].filter((name) => !TOP_LEVEL.has(name)), []);
});

Deno.test("layout has no room outside the table and no file beside the rooms", () => {
  const strays = libFiles.filter((path) => !Object.hasOwn(ROOMS, path.split("/")[1] ?? ""));
  assertEquals(strays, []);
});

Deno.test("layout gives every room a mod.ts that opens with its design note", async () => {
  const divided = Object.entries(ROOMS).flatMap(([room, { folders = {} }]) =>
    Object.keys(folders).map((folder) => `${room}/${folder}`)
  );
  for (const room of new Set([...libFiles.map((path) => path.split("/")[1]), ...divided])) {
    const door = `lib/${room}/mod.ts`;
    assert(files.includes(door), `lib/${room} has no mod.ts`);
    assert(opensWithModuleComment(await readText(door)), `${door} has no @module comment on top`);
  }
});

Deno.test("layout names the files of lib in snake_case", () => {
  const strays = libFiles.filter((path) => !/^(\/[a-z][a-z0-9_]*)+\.[a-z]+$/.test(`/${path}`));
  assertEquals(strays, []);
});

Deno.test("layout keeps the files of lib short, but for those with a reason", async () => {
  const long: string[] = [];
  for (const path of libFiles) {
    const lines = (await readText(path)).trimEnd().split("\n").length;
    if (lines > MAX_LINES) long.push(path);
  }
  // Both ways: a reason that outlived its file is wrong too.
  assertEquals(long.sort(), Object.keys(LONGER).sort());
});

Deno.test("layout has no import cycle within a room, type imports included", async () => {
  const sources = libFiles.filter((path) => path.endsWith(".ts"));
  const graph = new Map<string, string[]>();
  for (const path of sources) graph.set(path, importsOf(path, await readText(path)));
  assertEquals(importCycles(graph), []);
});

Deno.test("layout has a picture of the rooms, each drawn above all that it imports", async () => {
  const picture = await readText("docs/images/rooms.svg");
  const titles = picture.matchAll(/<text class="bold" x="\d+" y="(\d+)" [^>]*>(\w+)</g);
  const rows = new Map([...titles].map(([, y, room]) => [room!, Number(y)]));
  assertEquals([...rows.keys()].sort(), Object.keys(ROOMS).sort());
  for (const [room, { imports, types = [] }] of Object.entries(ROOMS)) {
    for (const lower of [...imports, ...types]) {
      assert(rows.get(room)! < rows.get(lower)!, `${room} is not drawn above ${lower}`);
    }
  }
});

Deno.test("layout holds no text file that names a path of somebody's machine", async () => {
  const strays: string[] = [];
  for (const path of files) {
    const text = await readText(path);
    // A NUL marks a binary file, as it does for git.
    if (text.includes("\0")) continue;
    for (const machinePath of MACHINE_PATHS) {
      if (text.includes(machinePath)) strays.push(`${path}: ${machinePath}`);
    }
  }
  assertEquals(strays, []);
});

/** The files git tracks or would, sorted; without a git checkout, those of the agreed names. */
async function listFiles(): Promise<string[]> {
  const listed = await gitFiles();
  if (listed !== undefined) return listed;
  const found: string[] = [];
  for (const name of TOP_LEVEL) await walk(name, found);
  return found.sort();
}

async function gitFiles(): Promise<string[] | undefined> {
  const git = new Deno.Command("git", {
    args: ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    cwd: ROOT,
  });
  let stdout: Uint8Array;
  try {
    const output = await git.output();
    if (!output.success) return undefined;
    stdout = output.stdout;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const listed = new TextDecoder().decode(stdout).split("\0").filter((path) => path !== "");
  // The index still names what was deleted since.
  const kept = listed.filter((path) => isFile(path));
  return kept.length === 0 ? undefined : kept.sort();
}

async function walk(path: string, into: string[]): Promise<void> {
  if (isFile(path)) {
    into.push(path);
    return;
  }
  try {
    for await (const entry of Deno.readDir(`${ROOT}${path}`)) {
      await walk(`${path}/${entry.name}`, into);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(`${ROOT}${path}`).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function readText(path: string): Promise<string> {
  return await Deno.readTextFile(`${ROOT}${path}`);
}

function opensWithModuleComment(text: string): boolean {
  if (!text.startsWith("/**")) return false;
  return text.slice(0, text.indexOf("*/")).includes("@module");
}
