import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { STATUS } from "../../../lib/grpc/mod.ts";
import { decodeCountsReply, HELLO_PATHS, startHello } from "../../../lib/hello/mod.ts";
import type { TaxOptions, TaxSurroundings } from "../../../lib/measure/mod.ts";
import { openClient } from "../../../lib/measure/client/client.ts";
import { Relay } from "../../../lib/measure/tax/relay.ts";
import type { TaxResult } from "../../../lib/measure/tax/result.ts";
import { runTax } from "../../../lib/measure/tax/run_tax.ts";
import { readUsage } from "../../../lib/measure/tax/usage.ts";
import { GatedBackend } from "../../support/gated_backend.ts";
import { LocalSidecar, settingsOf } from "../../support/local_sidecar.ts";
import { NO_EMBEDDED, shortRun } from "./rig.ts";
import { RecordedScreen } from "../recorded_screen.ts";

const LOOPBACK = "127.0.0.1";

const HELLO_COUNT = {
  path: HELLO_PATHS.reportCounts,
  callsOf: (reply: Uint8Array, method: string) => decodeCountsReply(reply).calls[method] ?? 0,
};

async function tax(options: Partial<TaxOptions>, around: Partial<TaxSurroundings> = {}) {
  const screen = new RecordedScreen();
  const surroundings = { embedded: NO_EMBEDDED, screen, ...around };
  const code = await runTax({ ...shortRun(), ...options }, surroundings);
  return { code, screen };
}

/** The result in the JSON that a run printed. */
async function taxResult(options: Partial<TaxOptions>, around?: Partial<TaxSurroundings>) {
  const { code, screen } = await tax({ ...options, jsonFile: "-" }, around);
  assertEquals([code, screen.complaints], [0, []]);
  return JSON.parse(screen.text) as TaxResult;
}

function targetAt(name: string, port: number) {
  return { name, address: { host: LOOPBACK, port } };
}

Deno.test("runTax measures a sidecar of its own in front of a backend of its own, and reports it all", async () => {
  const folder = await Deno.makeTempDir();
  const [jsonFile, htmlFile] = [`${folder}/tax.json`, `${folder}/tax.html`];
  let backendCalls = 0;
  const { code, screen } = await tax({ method: HELLO_PATHS.getGreeting, jsonFile, htmlFile }, {
    embedded: {
      startBackend: async (wanted) => {
        const hello = await startHello(wanted);
        const kill = () => {
          backendCalls = hello.total;
          hello.kill();
        };
        return {
          port: hello.port,
          get total() {
            return hello.total;
          },
          kill,
        };
      },
      settingsFor: ({ host, port }) => settingsOf({ BACKEND_ADDRESS: `${host}:${port}` }),
    },
    backendCount: HELLO_COUNT,
    runBlastRadius: () => Promise.resolve({ summary: "Nobody else noticed.", rows: [] }),
  });
  assertEquals([code, screen.complaints], [0, []]);
  for (const line of screen.text.split("\n")) assert(line.length <= 80, line);
  for (
    const heading of ["1. Time", "2. Money", "3. One slow", "What it gives back", "What to do"]
  ) {
    assertStringIncludes(screen.text, heading);
  }
  assertStringIncludes(screen.text, "Nobody else noticed.");

  const result = JSON.parse(await Deno.readTextFile(jsonFile)) as TaxResult;
  assertEquals(result.subject.embedded, true);
  const [collapser] = result.proxies;
  assertEquals(collapser!.name, "collapser");
  // Two rounds of 100 and 200 a second for 0.3 s: the rate is kept whatever the machine does.
  assertEquals(collapser!.rates.map(({ calls, failed }) => [calls, failed]), [[60, 0], [120, 0]]);
  assertEquals(result.direct.repeats?.savedShare, 0);
  const saved = collapser!.repeats!.savedShare!;
  assert(saved > 0 && saved < 1, `${saved} of 120 repeats of 6 questions`);
  // What the repeats saved is all that the backend did not see of the calls that were made.
  const made = [result.direct, result.relay, collapser!].reduce(
    (sum, one) => sum + one.callsMade,
    0,
  );
  assertEquals(backendCalls, made - Math.round(saved * 120));
  assert(collapser!.verdict.advice !== "keep", "nobody knows its callers");
  assertMatch(await Deno.readTextFile(htmlFile), /^<!doctype html>[^]*<\/html>\n$/);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("runTax sends a different message in each call, and tells what a collapser saved so far", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  const address = { host: LOOPBACK, port: local.port };
  const client = await openClient(address);
  const once = { path: "/test.Service/GetItem", message: new Uint8Array(0) };
  for (let i = 0; i < 1_200; i++) assertEquals((await client.callOnce(once)).status, STATUS.ok);
  await client.close();
  const before = { ...local.outcomes };
  const earlier = backend.calls;

  const metricsUrl = `http://${LOOPBACK}:${local.sidecar.metricsPort}/metrics`;
  const result = await taxResult({
    direct: { ...targetAt("direct", backend.port), pid: Deno.pid },
    proxies: [{ name: "p", address, metricsUrl }],
    keys: 0,
    rounds: 1,
    arrivals: "even",
  });
  const [proxy] = result.proxies;
  const { hit, joined, led } = local.outcomes;
  assertEquals([hit - before.hit, joined - before.joined], [0, 0], "no two calls ask the same");
  assertEquals(led - before.led, proxy!.callsMade);
  assertEquals(
    backend.calls - earlier,
    result.direct.callsMade + result.relay.callsMade + proxy!.callsMade,
  );
  assert(proxy!.savedShareSoFar! > 0.5, `${proxy!.savedShareSoFar}`);
  assertEquals([proxy!.repeats, result.direct.repeats], [null, null]);
  assert(proxy!.residentBytes! > 2 ** 20, "its metrics say what memory it has");
  assert(proxy!.saturation!.cpu!.totalMs.median > 0, "and what CPU it used");
  assert(result.direct.saturation!.cpu!.totalMs.median > 0, "/proc says what this process used");
});

Deno.test("runTax takes the sidecar's word for what the backend was spared, where that cannot be asked", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend, { COLLAPSER_CACHE_DURATION: "1m" });
  const result = await taxResult({
    direct: targetAt("direct", backend.port),
    proxies: [targetAt("p", local.port)],
  });
  // 3 questions in each of 2 rounds, 60 calls in each.
  assertEquals(result.proxies[0]!.repeats?.savedShare, 0.95);
  assertEquals(result.direct.repeats?.savedShare, null);
  assertMatch(result.proxies[0]!.usageMissing!, /^neither its pid \(--pid\) nor its metrics/);
});

Deno.test("runTax exits with 1 and says why when it cannot begin", async () => {
  await using backend = new GatedBackend({ open: true });
  const direct = targetAt("direct", backend.port);
  const deaf = await tax({ direct, proxies: [targetAt("envoy", 1)] });
  assertEquals(deaf.code, 1);
  assertMatch(deaf.screen.complaints.join(), /^Cannot connect to 127\.0\.0\.1:1: /);

  const nowhere = await tax({ direct, proxies: [], jsonFile: "/nowhere/at/all.json" });
  assertEquals(nowhere.code, 1);
  assertMatch(nowhere.screen.complaints.join(), /^Cannot write "\/nowhere\/at\/all\.json": /);
  assertEquals(backend.calls, 0, "it was found out before anything was measured");

  const hello = await startHello();
  try {
    const wrong = await tax({
      direct: targetAt("direct", hello.port),
      proxies: [],
      method: "/hello.v1.Hello/GetNothing",
    });
    assertEquals(wrong.code, 1);
    assertMatch(
      wrong.screen.complaints.join(),
      /^Cannot measure direct: .*GetNothing ended with Unimplemented/,
    );
  } finally {
    hello.kill();
  }
});

Deno.test("Relay carries calls as they are, and closes both sides when one goes", async () => {
  const backend = new GatedBackend({ open: true });
  await using relay = new Relay({ host: LOOPBACK, port: backend.port });
  const client = await openClient(relay.address, { connections: 3 });
  const message = new Uint8Array(100_000);
  const calls = Array.from({ length: 50 }, () => client.callOnce({ path: "/a.B/C", message }));
  for (const { status } of await Promise.all(calls)) assertEquals(status, STATUS.ok);
  assertEquals(backend.calls, 50);
  await backend[Symbol.asyncDispose]();
  assertEquals((await client.callOnce({ path: "/a.B/C", message })).status, STATUS.unavailable);
  await client.close();
});

Deno.test("Relay hangs up on those whom it cannot connect", async () => {
  await using relay = new Relay({ host: LOOPBACK, port: 1 });
  const failed = await openClient(relay.address).then(() => "", (error: Error) => error.message);
  assertMatch(failed, /^Cannot connect to /);
});

Deno.test("readUsage reads a process with its children, and says why it cannot", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "console.log('up'); setTimeout(() => {}, 60_000)"],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  const [family, alone] = await Promise.all([
    readUsage({ pid: Deno.pid }),
    readUsage({ pid: child.pid }),
  ]);
  assert("usage" in family && "usage" in alone);
  assert(
    family.usage.residentBytes! > alone.usage.residentBytes!,
    "the child is one of the family",
  );
  assert(family.usage.userSeconds > 0 && alone.usage.residentBytes! > 2 ** 20);
  child.kill();
  await child.status;
  await reader.cancel();

  const missing = async (source: { pid?: number; metricsUrl?: string }) => {
    const reading = await readUsage(source);
    return "missing" in reading ? reading.missing : "";
  };
  assertEquals(await missing({ pid: 2 ** 30 }), `there is no /proc/${2 ** 30} on this machine`);
  assertMatch(await missing({}), /^neither its pid/);
  assertMatch(await missing({ metricsUrl: "http://127.0.0.1:1/metrics" }), /cannot be read/);
});

Deno.test("readUsage takes CPU that is not told apart, and asks for a pid where there is none", async () => {
  let page = "process_cpu_seconds_total 2.5\n";
  const server = Deno.serve(
    { hostname: LOOPBACK, port: 0, onListen: () => {} },
    () => new Response(page, { status: page === "" ? 503 : 200 }),
  );
  const metricsUrl = `http://${LOOPBACK}:${server.addr.port}/stats/prometheus`;
  assertEquals(await readUsage({ metricsUrl, pid: 2 ** 30 }), {
    usage: { userSeconds: 2.5, systemSeconds: undefined, residentBytes: undefined },
  });
  page = "envoy_server_live 1\n";
  const without = await readUsage({ metricsUrl });
  assertMatch(
    "missing" in without ? without.missing : "",
    /has no process_cpu_seconds_total: give its pid/,
  );
  page = "";
  const down = await readUsage({ metricsUrl });
  assertMatch("missing" in down ? down.missing : "", /answered with HTTP 503/);
  await server.shutdown();
});
