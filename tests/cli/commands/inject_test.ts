import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { collapser } from "../support.ts";

const ROOT = new URL("../../../", import.meta.url);

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: items}
spec:
  selector: {matchLabels: {app: items}}
  template:
    metadata: {labels: {app: items, collapser.dev/inject: "true"}}
    spec:
      containers: [{name: server, image: "items:1", ports: [{containerPort: 50051}]}]
`;

Deno.test("inject reads standard input unless told files, and leaves Services alone", async () => {
  for (
    const [args, request] of [
      ["", { files: ["-"], image: undefined, services: false }],
      ["-f a.yaml -f -", { files: ["a.yaml", "-"], image: undefined, services: false }],
      ["--service", { files: ["-"], image: undefined, services: "name" }],
      ["--service --target number", { files: ["-"], image: undefined, services: "number" }],
      ["--image a.example:5000/c@sha256:" + "0".repeat(64), {
        files: ["-"],
        image: "a.example:5000/c@sha256:" + "0".repeat(64),
        services: false,
      }],
    ] as const
  ) {
    const { code, ran } = await collapser(`inject ${args}`);
    assertEquals([code, ran], [0, ["inject", request]], args);
  }
});

Deno.test("inject refuses what is no image, no target and no file", async () => {
  for (const args of ["--image A:b:c", "--target port", "--file=", "deployment.yaml"]) {
    const { code, ran } = await collapser(`inject ${args}`);
    assertEquals([code, ran], [64, undefined], args);
  }
});

Deno.test("inject is a pipe: manifests in, manifests out, and what was done on standard error", async () => {
  const { code, out, err } = await piped(DEPLOYMENT, []);
  assertEquals([code, err], [0, "Deployment items: collapser added, port 50052 before 50051\n"]);
  assertStringIncludes(out, "      initContainers:\n        - name: collapser\n");
  assertEquals((await piped(out, ["-f", "-"])).out, out);
});

Deno.test("inject writes nothing when anything is wrong", async () => {
  const bad = DEPLOYMENT.replace(', collapser.dev/inject: "true"', ", collapser.dev/inject: true");
  const { code, out, err } = await piped(`${DEPLOYMENT}---\n${bad}`, []);
  assertEquals([code, out], [64, ""]);
  assertMatch(
    err,
    /^Cannot inject into Deployment items \(line 11\): expected collapser\.dev\/inject/,
  );
});

Deno.test("inject says which file cannot be read", async () => {
  const { code, out, err } = await piped("", ["-f", "missing.yaml"]);
  assertEquals([code, out], [1, ""]);
  assertMatch(err, /^Cannot read "missing\.yaml": /);
});

Deno.test("inject takes several files for one stream", async () => {
  const folder = await Deno.makeTempDir({ prefix: "collapser-test-" });
  try {
    const paths = [`${folder}/a.yaml`, `${folder}/b.yaml`];
    await Deno.writeTextFile(paths[0]!, DEPLOYMENT.trimEnd());
    await Deno.writeTextFile(paths[1]!, DEPLOYMENT.replaceAll("items", "prices"));
    const { code, out } = await piped("", paths.flatMap((path) => ["-f", path]));
    assertEquals([code, out.match(/name: collapser$/gm)?.length], [0, 2]);
    assertStringIncludes(out, "\n---\napiVersion: apps/v1\n");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Runs the program itself with a text for its standard input. */
async function piped(text: string, args: readonly string[]) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "main.ts", "inject", ...args],
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}
