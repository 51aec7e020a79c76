/**
 * The documentation's links, files and metrics, and its shell blocks, run as a reader would run them. What needs
 * a container engine or a cluster is looked at as far as it can be without: that its task, target or folder exists.
 *
 * @module
 */

import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { DEFAULT_IMAGE } from "../../lib/inject/mod.ts";
import { ProxyCounters } from "../../lib/observe/mod.ts";
import { createMetrics } from "../../lib/telemetry/mod.ts";
import { expositionTypes } from "../support/exposition.ts";
import { freePort, get, Process, SidecarProcess } from "../support/process.ts";
import { until } from "../support/waiting.ts";

const ROOT = new URL("../../", import.meta.url);
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...[
    "admin",
    "architecture",
    "kubernetes",
    "meshes",
    "operating",
    "policy",
    "stall",
    "support",
    "tax",
  ].map((
    name,
  ) => `docs/${name}.md`),
];

/** The page whose commands are run; those of experiments in docs/ take minutes, and other people's proxies. */
const RUN = "README.md";

/** What is done with a command; the first pattern that matches says. */
const WAYS: readonly (readonly [RegExp, (command: string) => Promise<void> | void])[] = [
  [/\bdeno(@\S+)? task test$/, taskExists], // it is what runs this
  [/^deno task (compile|bench:load|interop|fuzz|soak)\b/, taskExists], // each has its own test
  [/^docker build --target (\w+) /, dockerTargetExists],
  [/^docker run --rm --network host -e BACKEND_ADDRESS=\S+ (\S+)$/, imageIsOurs],
  [/^kubectl kustomize (\S+)/, folderIsKustomized],
  [/^make (.+)/, makeTargetsExist],
  [/^curl .*\/api\/purge/, purges],
  [/^deno task (tax|stall)\b/, taskExists],
  [/^BACKEND_ADDRESS=\S+ deno task start$/, serves],
  [/^BACKEND_ADDRESS=\S+ deno run -A main.ts check$/, succeeds],
  [/\bdeno(@\S+)? task demo$/, (command) => succeeds(`${command} --callers 500`)], // as many as a busy machine can serve
];

for (const command of await commandsOf(RUN)) {
  Deno.test(`README has a command that works: ${command}`, async () => {
    const way = WAYS.find(([pattern]) => pattern.test(command));
    assert(way !== undefined, `nobody has said how to try it`);
    await way[1](command);
  });
}

Deno.test("README gets a newcomer to the main job with its first command", async () => {
  const [first] = await commandsOf(RUN);
  assertMatch(first ?? "", /task demo$/);
});

Deno.test("pages link to files that are there", async () => {
  for (const page of PAGES) {
    const text = await textOf(page);
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)) {
      await Deno.stat(new URL(target, new URL(page, ROOT))).catch(() => {
        throw new Error(`${page} links to ${target}, which is not there`);
      });
    }
  }
});

Deno.test("pages link to headings that are there", async () => {
  for (const page of PAGES) {
    for (
      const [, file, anchor = ""] of (await textOf(page)).matchAll(/\]\(([^)#\s]*)#([^)\s]+)\)/g)
    ) {
      if (file?.startsWith("http")) continue;
      const target = file === ""
        ? page
        : new URL(file!, new URL(page, ROOT)).href.slice(ROOT.href.length);
      const anchors = [...(await textOf(target)).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
        title!.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-")
      );
      assert(anchors.includes(anchor), `${page} links to ${target}#${anchor}`);
    }
  }
});

Deno.test("pages name only files and folders that are there", async () => {
  let named = 0;
  for (const page of PAGES) {
    for (const [, path = ""] of (await textOf(page)).matchAll(/`((?:[\w.-]+\/)+[\w.-]*)`/g)) {
      if (path.startsWith("rooms/")) continue; // a lint rule
      if (/^(collapser\.dev|prometheus\.io)\//.test(path)) continue; // labels and annotations
      const found = await isThere(path) || await isThere(`tests/${path}`);
      assert(found, `${page} names ${path}, which is not there`);
      named++;
    }
  }
  assertGreater(named, 50);
});

Deno.test("pages name only metrics that a sidecar has", async () => {
  const metrics = createMetrics({
    counters: new ProxyCounters(),
    inflight: () => 0,
    waiters: () => 0,
    cachedResults: () => 0,
    cachedBytes: () => 0,
    bufferedBytes: () => 0,
    methodsOff: () => [],
    policy: () => ({ hash: "ab", appliedAtMs: 1, isInForce: true, taken: 0, refused: 0 }),
    version: "1.2.3",
    commit: "abc",
  });
  const known = expositionTypes(await metrics.text());
  metrics.stop();
  let named = 0;
  for (const page of [...PAGES, "CHANGELOG.md"]) {
    for (const [name] of (await textOf(page)).matchAll(/\bcollapser_[a-z_]+/g)) {
      assert(known.has(name), `${page} names ${name}, which no scrape has`);
      named++;
    }
  }
  assertGreater(named, 20);
});

/** The commands of a page's shell blocks, comments and continued lines dealt with. */
async function commandsOf(page: string): Promise<string[]> {
  const blocks = (await textOf(page)).matchAll(/^```sh\n([\s\S]*?)^```$/gm);
  return [...blocks].flatMap(([, block = ""]) =>
    block.replaceAll("\\\n", " ").split("\n")
      .map((line) => line.replace(/\s+#.*$/, "").replace(/\s+/g, " ").trim())
      .filter((line) => line !== "" && !line.startsWith("#"))
  );
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(new URL(path, ROOT));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** "" for a page that is not there. */
async function textOf(page: string): Promise<string> {
  try {
    return await Deno.readTextFile(new URL(page, ROOT));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** `deno ARGS` of a command, with the variables in front of it. */
function parts(command: string): { args: string[]; env: Record<string, string> } {
  const words = command.split(" ");
  const at = words.findIndex((word) => word === "deno" || word.startsWith("deno@"));
  assert(at >= 0, "it is no command of Deno's");
  const variables = words.slice(0, at).filter((word) => word.includes("="));
  const env = Object.fromEntries(variables.map((word) => word.split("=") as [string, string]));
  return { args: words.slice(at + 1), env };
}

async function succeeds(command: string): Promise<void> {
  const { args, env } = parts(command);
  await using process = new Process(args, env);
  const { code } = await process.end(60_000);
  assertEquals(code, 0, process.said);
}

/** On ports of its own, since the machine may have a sidecar; what it stands beside need not be there. */
async function serves(command: string): Promise<void> {
  const { args, env } = parts(command);
  const port = freePort();
  const own = { GRPC_PORT: "0", METRICS_PORT: `${port}`, METRICS_HOST: "127.0.0.1" };
  await using process = new Process(args, { ...env, ...own });
  const isUp = async () => (await get(`http://127.0.0.1:${port}/health`)).status === 200;
  await until(async () => !process.isRunning || await isUp(), "the sidecar to serve");
  assert(process.isRunning, process.said);
  process.signal("SIGTERM");
  await process.end();
}

/** The same request to a sidecar of our own: whom it asks and with what token is the reader's to fill in. */
async function purges(command: string): Promise<void> {
  const [, path = ""] = /localhost:2112(\/[^']*)/.exec(command) ?? [];
  await using sidecar = await SidecarProcess.start({
    ...{ BACKEND_ADDRESS: "127.0.0.1:1", ADMIN_TOKEN: "a-secret-of-the-test" },
  });
  const answer = await fetch(`http://127.0.0.1:${sidecar.metricsPort}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer a-secret-of-the-test" },
  });
  assert(answer.ok, `${answer.status} ${sidecar.said}`);
  await answer.body?.cancel();
}

function taskExists(command: string): void {
  const [, name = ""] = /\bdeno(?:@\S+)? task (\S+)/.exec(command) ?? [];
  assert(Object.hasOwn(config.tasks, name), `deno.json has no task ${name}`);
}

async function dockerTargetExists(command: string): Promise<void> {
  const [, target] = /--target (\S+)/.exec(command) ?? [];
  assertMatch(await textOf("Dockerfile"), new RegExp(`^FROM \\S+ AS ${target}$`, "m"));
}

/** Whether the image is the one that is published, of this version. */
function imageIsOurs(command: string): void {
  assertEquals(command.split(" ").at(-1), DEFAULT_IMAGE);
}

async function folderIsKustomized(command: string): Promise<void> {
  const [, folder] = /kustomize (\S+)/.exec(command) ?? [];
  await Deno.stat(new URL(`${folder}/kustomization.yaml`, ROOT));
}

async function makeTargetsExist(command: string): Promise<void> {
  const makefile = await textOf("Makefile");
  for (const target of command.split(" ").slice(1)) {
    assertMatch(makefile, new RegExp(`^${target}:`, "m"));
  }
}
