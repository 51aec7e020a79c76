import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** Runs `main.ts` as a process whose environment is `env` and nothing of ours. */
async function main(args: readonly string[], env: Record<string, string> = {}) {
  // Those that tell Deno where its cache is stay; without it the process would need a network.
  const kept = ["HOME", "PATH", "DENO_DIR", "XDG_CACHE_HOME"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "main.ts", ...args],
    cwd: ROOT,
    clearEnv: true,
    env: { ...Object.fromEntries(kept), ...env },
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

Deno.test("main prints what was asked for and exits with 0", async () => {
  const version = await main(["--version"]);
  assertEquals([version.code, version.err], [0, ""]);
  assertMatch(version.out, /^collapser \S+ \(commit \S+, deno \S+, v8 \S+\)\n$/);

  // No terminal here, so no colour either.
  const check = await main(["check"], { BACKEND_ADDRESS: "db:50051", GRPC_PORT: "1" });
  assertEquals([check.code, check.err, check.out.includes("\x1b")], [0, "", false]);
  assertMatch(check.out, /\n {2}BACKEND_ADDRESS +environment +db:50051\n/);
});

Deno.test("main refuses a missing backend with 64, on standard error", async () => {
  const { code, out, err } = await main([]);
  assertEquals([code, out], [64, ""]);
  assertStringIncludes(err, "Cannot start without BACKEND_ADDRESS");
});
