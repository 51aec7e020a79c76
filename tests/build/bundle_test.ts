/**
 * The file that the binary embeds, run as the binary would be: with Deno alone, in an empty folder, with the
 * permissions that are baked in, through every command.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { BUNDLE, bundle, withRequire } from "../../build/bundle.ts";
import { BINARY_FLAGS } from "../../build/runtime_flags.ts";
import { COMMANDS } from "../../lib/cli/command_table.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";
import { get, Process, type ProcessVariables } from "../support/process.ts";
import { until } from "../support/waiting.ts";

const ROOT = new URL("../../", import.meta.url);
const FREE_PORTS = {
  GRPC_HOST: "127.0.0.1",
  GRPC_PORT: "0",
  METRICS_HOST: "127.0.0.1",
  METRICS_PORT: "0",
};

/** Measurements take ten seconds by themselves, and more on a busy machine. */
const COMMAND_LIMIT_MS = 90_000;

/** An empty folder with the bundle in it. */
class Installed implements AsyncDisposable {
  readonly folder = Deno.makeTempDirSync();

  static async make(): Promise<Installed> {
    await bundle();
    const made = new Installed();
    await Deno.copyFile(new URL(BUNDLE, ROOT), `${made.folder}/collapser.js`);
    return made;
  }

  /** `collapser ARGS`. */
  starts(args: readonly string[], env: ProcessVariables = {}): Process {
    const deno = ["run", "--quiet", "--no-config", "--cached-only", ...BINARY_FLAGS];
    return new Process([...deno, "collapser.js", ...args], env, this.folder);
  }

  async ends(args: readonly string[], env: ProcessVariables = {}) {
    await using process = this.starts(args, env);
    const { code } = await process.end(COMMAND_LIMIT_MS);
    return { code, said: process.said };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Deno.remove(this.folder, { recursive: true });
  }
}

Deno.test("withRequire puts a require that works where the bundler left one that throws", () => {
  const throwing = (name: string) =>
    `var a=1;var ${name}=(n=>typeof require<"u"?require:typeof Proxy<"u"?new Proxy(n,{get:(e,t)=>` +
    `(typeof require<"u"?require:e)[t]}):n)(function(n){if(typeof require<"u")return ` +
    `require.apply(this,arguments);throw Error('Dynamic require of "'+n+'" is not supported')});` +
    `var b=2;`;
  const working = (name: string) =>
    'var a=1;import{createRequire as __createRequire}from"node:module";' +
    `var ${name}=__createRequire(import.meta.url);var b=2;`;
  for (const name of ["$", "q", "$a1"]) {
    assertEquals(withRequire(throwing(name)), working(name));
    assertEquals(withRequire(working(name)), working(name));
  }
});

Deno.test("bundle takes the commit from COMMIT on a machine without git", async () => {
  const env = { PATH: "/nowhere", COMMIT: "0123456789ab" };
  await using process = new Process(["run", "-A", "--no-lock", "build/bundle.ts"], env);
  assertEquals((await process.end()).code, 0, process.said);
  assertStringIncludes(await Deno.readTextFile(new URL(BUNDLE, ROOT)), '"0123456789ab"');
});

Deno.test("bundle runs every command in an empty folder, with the permissions of the binary", async (t) => {
  await using installed = await Installed.make();

  await t.step("--version says the commit", async () => {
    const { code, said } = await installed.ends(["--version"]);
    assertEquals(code, 0, said);
    assertMatch(said, /^collapser \d+\.\d+\.\d+ \(commit (?!source)[^@ ]+, deno /);
  });

  await t.step("--help of all and of each", async () => {
    const { said } = await installed.ends(["--help"]);
    for (const { name } of COMMANDS) {
      assertStringIncludes(said, ` ${name} `);
      const help = await installed.ends([name, "--help"]);
      assertEquals(help.code, 0, help.said);
      assertStringIncludes(help.said, `collapser ${name}`);
    }
  });

  await t.step("check, good and bad", async () => {
    assertEquals((await installed.ends(["check"], { BACKEND_ADDRESS: "db:50051" })).code, 0);
    assertEquals((await installed.ends(["check"])).code, 64);
  });

  await t.step("demo", async () => {
    const { code, said } = await installed.ends(["demo", "--callers", "100"]);
    assertEquals(code, 0, said);
    assertMatch(said, /\b1 call/);
  });

  await t.step("tax", async () => {
    const { code, said } = await installed.ends([
      ...["tax", "--rounds", "1", "--each", "200ms", "--rates", "50"],
      ...["--callers", "4", "--blast", "500ms", "--html", "-"],
    ]);
    assertEquals(code, 0, said);
    assertStringIncludes(said, "<!doctype html>");
    assertStringIncludes(said, "While one backend of three stood still");
    assertMatch(said, /What to do[^]*<b>collapser<\/b>/);
  });

  await t.step("stall, and its files", async () => {
    const svg = `${installed.folder}/stall.svg`;
    const short = ["--before", "300ms", "--stall", "500ms", "--after", "300ms"];
    const { code, said } = await installed.ends(["stall", ...short, "--svg", svg]);
    assertEquals(code, 0, said);
    assertMatch(said, /^collapser +\d+\.\d %/m);
    assertMatch(said, /^shared-pool +\d+\.\d %/m);
    assertStringIncludes(await Deno.readTextFile(svg), "</svg>");
    const refused = await installed.ends(["stall", ...short, "--svg", "/etc/stall.svg"]);
    assertEquals(refused.code, 1, refused.said);
    assertStringIncludes(refused.said, "Cannot write /etc/stall.svg");
  });

  await t.step("backend, serve, load and healthcheck together", async () => {
    await using backend = installed.starts(["backend", "--port", "0"]);
    const backendPort = await portIn(backend, /127\.0\.0\.1:(\d+)/);
    const BACKEND_ADDRESS = `127.0.0.1:${backendPort}`;
    await using sidecar = installed.starts(["serve"], { ...FREE_PORTS, BACKEND_ADDRESS });
    const address = `127.0.0.1:${await portIn(sidecar, /"grpc_port":(\d+)/)}`;
    const admin = `http://127.0.0.1:${await portIn(sidecar, /"metrics_port":(\d+)/)}`;

    await until(async () => (await get(`${admin}/ready`)).status === 200, "readiness");
    const load = await installed.ends(["load", "--address", address, "--calls", "200"]);
    assertEquals(load.code, 0, load.said);
    assertEquals((await installed.ends(["healthcheck", "--address", address])).code, 0);
    assertEquals((await installed.ends(["healthcheck", "--http", `${admin}/ready`])).code, 0);
    const { text } = await get(`${admin}/metrics`);
    assertMatch(text, /^collapser_requests_total 20\d$/m);
    assertMatch(text, /^collapser_build_info\{version="[^"]+",commit="(?!source)[^@"]+"/m);
    // The page is in the file: nothing is read from a disk that a container may not have.
    assertMatch((await get(`${admin}/`)).text, /^<!doctype html>[^]+<\/html>\s*$/);
    for (const file of ["page.js", "page.css", "uplot.js", "uplot.css"]) {
      const { status, text } = await get(`${admin}/${file}`);
      assertEquals(status, 200, file);
      assert(text.length > 1_000, file);
    }

    sidecar.signal("SIGTERM");
    backend.signal("SIGTERM");
    assertEquals([(await sidecar.end()).code, (await backend.end()).code], [0, 0], sidecar.said);
  });

  await t.step("serve over TLS to another that asks for its certificate", async () => {
    using folder = new CertificateFolder();
    const authority = await Authority.make();
    const ca = folder.write("ca.pem", authority.cert);
    const server = folder.writePair("server", await authority.server());
    const caller = folder.writePair("caller", await authority.caller("a"));
    await using backend = installed.starts(["backend", "--port", "0"]);
    await using far = installed.starts(["serve"], {
      ...FREE_PORTS,
      BACKEND_ADDRESS: `127.0.0.1:${await portIn(backend, /127\.0\.0\.1:(\d+)/)}`,
      ...{ GRPC_TLS_CERT: server.cert, GRPC_TLS_KEY: server.key, GRPC_TLS_CLIENT_CA: ca },
    });
    await using near = installed.starts(["serve"], {
      ...FREE_PORTS,
      BACKEND_ADDRESS: `127.0.0.1:${await portIn(far, /"grpc_port":(\d+)/)}`,
      ...{ BACKEND_USE_TLS: "true", BACKEND_TLS_CA: ca },
      ...{ BACKEND_TLS_CERT: caller.cert, BACKEND_TLS_KEY: caller.key },
    });
    const address = `127.0.0.1:${await portIn(near, /"grpc_port":(\d+)/)}`;
    const load = await installed.ends(["load", "--address", address, "--calls", "20", "--json"]);
    assertMatch(load.said, /"statuses":\s*\{\s*"OK":\s*20\s*\}/, near.said + far.said);
  });
});

/** The port that a process says it took. */
async function portIn(process: Process, pattern: RegExp): Promise<string> {
  const found = () => pattern.exec(process.said)?.[1];
  await until(() => found() !== undefined || !process.isRunning, "a port");
  const port = found();
  if (port === undefined) throw new Error(`Cannot start: it ended\n${process.said}`);
  return port;
}
