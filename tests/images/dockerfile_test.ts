/**
 * What can be said of Dockerfile without building it.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import config from "../../deno.json" with { type: "json" };

const ROOT = new URL("../../", import.meta.url);

/** Instructions that a shell would run, unless what comes after them is a JSON list. */
const RUNS = /^(?:RUN|CMD|ENTRYPOINT|HEALTHCHECK(?: --\S+)* CMD) (.*)$/;

const lines = instructions(await Deno.readTextFile(new URL("Dockerfile", ROOT)));

Deno.test("Dockerfile runs everything without a shell", () => {
  const run = lines.map((line) => RUNS.exec(line)?.[1]).filter((what) => what !== undefined);
  assert(run.length >= 5, "two steps of the build, the program, and each image's command");
  for (const what of run) assert(Array.isArray(JSON.parse(what)), what);
});

Deno.test("Dockerfile labels its images with the version of deno.json", () => {
  assertEquals(argument("VERSION"), config.version);
});

Deno.test("Dockerfile builds with the Deno that CI tests with", async () => {
  const ci = await Deno.readTextFile(new URL(".ci/run", ROOT));
  const [, version] = /^want=(\S+)$/m.exec(ci) ?? [];
  assert(version !== undefined, ".ci/run pins no version");
  assert(argument("DENO_IMAGE").endsWith(`-${version}`), argument("DENO_IMAGE"));
});

Deno.test("Dockerfile takes the base of its images by digest, and is the one place that names it", async () => {
  const digest = /^gcr\.io\/distroless\/cc-debian13:nonroot@sha256:[0-9a-f]{64}$/;
  assertMatch(argument("RUNTIME_IMAGE"), digest);
  const listed = await new Deno.Command("git", {
    args: ["grep", "--untracked", "-l", "distroless/[c]c-"],
    cwd: ROOT,
  }).output();
  assertEquals(new TextDecoder().decode(listed.stdout).trim().split("\n"), ["Dockerfile"]);
});

Deno.test("Dockerfile asks the sidecar how it is where TLS makes no difference", () => {
  const asked = lines.filter((line) => line.startsWith("HEALTHCHECK ")).at(-1) ?? "";
  assertMatch(asked, /"--http", "http:\/\/127\.0\.0\.1:2112\/health"\]$/);
});

Deno.test("Dockerfile says where its images are from", () => {
  const [labels = ""] = lines.filter((line) =>
    line.startsWith("LABEL ") && line.includes("version")
  );
  for (const name of ["source", "url", "documentation", "licenses", "revision", "base.name"]) {
    assert(labels.includes(`org.opencontainers.image.${name}=`), name);
  }
});

Deno.test("Dockerfile makes the sidecar when no target is named", () => {
  assertEquals(lines.findLast((line) => line.startsWith("FROM ")), "FROM program AS collapser");
});

/** The default of a build argument. */
function argument(name: string): string {
  const start = `ARG ${name}=`;
  return lines.find((line) => line.startsWith(start))?.slice(start.length) ?? "";
}

/** Each instruction on a line of its own, without comments. */
function instructions(text: string): string[] {
  const kept = text.split("\n").filter((line) => !line.startsWith("#")).join("\n");
  return kept.replaceAll(/\\\n\s*/g, "").split("\n").filter((line) => line !== "");
}
