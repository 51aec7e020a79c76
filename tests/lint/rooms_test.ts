import { assert, assertEquals, assertFalse } from "@std/assert";
import { DOORS, LEANING_OPENERS, OWNERS, ROOMS } from "./plan.ts";
import plugin, { ROOT } from "./rooms.ts";

/** What one rule says about a source that stood at `path`. */
function reports(rule: keyof typeof plugin.rules, path: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, `${ROOT}${path}`, source)
    .filter((found) => found.id === `rooms/${rule}`)
    .map((found) => found.message);
}

Deno.test("import-direction lets a room import what stands above it, through its mod.ts", () => {
  const path = "lib/proxy/call.ts";
  for (const to of ROOMS.proxy?.imports ?? []) {
    assertEquals(reports("import-direction", path, `import { a } from "../${to}/mod.ts";`), []);
  }
  assertEquals(reports("import-direction", path, `import { a } from "./pool.ts";`), []);
  assertEquals(reports("import-direction", path, `import { a } from "./http2/pool.ts";`), []);
});

Deno.test("import-direction reports every form in which a lower room takes from a higher one", () => {
  const forms = [
    `import { a } from "../proxy/mod.ts";`,
    `import "../proxy/mod.ts";`,
    `import type { A } from "../proxy/mod.ts";`,
    `export { a } from "../proxy/mod.ts";`,
    `export * from "../proxy/mod.ts";`,
    `export type * from "../proxy/mod.ts";`,
    `const a = await import("../proxy/mod.ts");`,
    `type A = import("../proxy/mod.ts").A;`,
  ];
  for (const form of forms) {
    assertEquals(
      reports("import-direction", "lib/transport/pump.ts", form),
      ["lib/transport may not import lib/proxy"],
      form,
    );
  }
});

Deno.test("import-direction reports an import between siblings", () => {
  assertEquals(
    reports("import-direction", "lib/grpc/message.ts", `import { a } from "../connection/mod.ts";`),
    ["lib/grpc may not import lib/connection"],
  );
});

Deno.test("import-direction reports a way into a room past its mod.ts", () => {
  for (const target of ["frame.ts", "hpack/mod.ts"]) {
    assertEquals(
      reports("import-direction", "lib/connection/peer.ts", `import "../wire/${target}";`),
      ["Import lib/wire through its mod.ts"],
    );
  }
});

Deno.test("import-direction gives config the types of a room and nothing that runs", () => {
  const path = "lib/config/settings.ts";
  assertEquals(
    reports("import-direction", path, `import type { A } from "../proxy/mod.ts";`),
    [],
  );
  for (
    const form of [
      `import { a } from "../proxy/mod.ts";`,
      // Erased down to a bare import, which still runs the module.
      `import { type A } from "../proxy/mod.ts";`,
      `export { a } from "../proxy/mod.ts";`,
    ]
  ) {
    assertEquals(
      reports("import-direction", path, form),
      ["lib/config may import types alone from lib/proxy"],
      form,
    );
  }
  assertEquals(
    reports("import-direction", path, `import type { A } from "../proxy/pool.ts";`),
    ["Import lib/proxy through its mod.ts"],
  );
});

Deno.test("import-direction gives main.ts the door of cli alone", () => {
  assertEquals(reports("import-direction", "main.ts", `import "./lib/cli/mod.ts";`), []);
  assertEquals(
    reports("import-direction", "main.ts", `import "./lib/cli/help.ts";`),
    ["Import lib/cli through its mod.ts"],
  );
  assertEquals(
    reports("import-direction", "main.ts", `import "./lib/sidecar/mod.ts";`),
    ["main.ts may not import lib/sidecar"],
  );
});

Deno.test("import-direction keeps lib out of the folders beside it", () => {
  assertEquals(
    reports("import-direction", "lib/proxy/call.ts", `import "../../tests/support/pipe.ts";`),
    ["lib/proxy may not import tests/support/pipe.ts"],
  );
  const version = `import config from "../../deno.json" with { type: "json" };`;
  assertEquals(reports("import-direction", "lib/telemetry/build.ts", version), []);
  assertEquals(
    reports("import-direction", "lib/wire/build.ts", version),
    ["lib/wire may not import deno.json"],
  );
});

Deno.test("import-direction reports a computed import and a room it does not know", () => {
  assertEquals(
    reports("import-direction", "lib/cli/run.ts", `await import(name);`),
    ["Cannot check a computed import: write the specifier out"],
  );
  assertEquals(
    reports("import-direction", "lib/utils/misc.ts", `export const a = 1;`),
    ["lib/utils is not in the room table"],
  );
});

Deno.test("import-direction lets a folder of a divided room import what the plan lists", () => {
  const { folders = {} } = ROOMS.measure!;
  for (const [name, { imports, types = [] }] of Object.entries(folders)) {
    const path = `lib/measure/${name}/a.ts`;
    for (const to of imports) {
      assertEquals(reports("import-direction", path, `import { a } from "../${to}/mod.ts";`), []);
    }
    for (const to of types) {
      assertEquals(
        reports("import-direction", path, `import type { A } from "../${to}/mod.ts";`),
        [],
      );
      assertEquals(
        reports("import-direction", path, `import { type A } from "../${to}/mod.ts";`),
        [`lib/measure/${name} may import types alone from lib/measure/${to}`],
      );
    }
    assertEquals(reports("import-direction", path, `import { a } from "./b.ts";`), []);
    assertEquals(reports("import-direction", path, `import { a } from "../../wire/mod.ts";`), []);
    const door = `export { a } from "./${name}/mod.ts";`;
    assertEquals(reports("import-direction", "lib/measure/mod.ts", door), []);
  }
});

Deno.test("import-direction reports what leaves a folder of a divided room the wrong way", () => {
  const ways: [path: string, target: string, message: string][] = [
    ["report/a.ts", "../tax/mod.ts", "lib/measure/report may not import lib/measure/tax"],
    ["stall/a.ts", "../tax/mod.ts", "lib/measure/stall may not import lib/measure/tax"],
    ["tax/a.ts", "../load/run.ts", "Import lib/measure/load through its mod.ts"],
    ["tax/a.ts", "../mod.ts", "lib/measure/tax may not import lib/measure/mod.ts"],
    ["tax/a.ts", "../../config/mod.ts", "lib/measure may not import lib/config"],
    ["mod.ts", "./load/run.ts", "Import lib/measure/load through its mod.ts"],
  ];
  for (const [path, target, message] of ways) {
    for (const form of [`import { a } from "${target}";`, `import type { A } from "${target}";`]) {
      assertEquals(reports("import-direction", `lib/measure/${path}`, form), [message], form);
    }
  }
  assertEquals(
    reports("import-direction", "lib/measure/misc/a.ts", `export const a = 1;`),
    ["lib/measure/misc is not in the room table"],
  );
});

Deno.test("import-direction has a plan without a way back", () => {
  const divided = Object.values(ROOMS).map(({ folders = {} }) => folders);
  for (const table of [ROOMS, ...divided]) {
    const names = Object.keys(table);
    for (const [name, { imports, types = [] }] of Object.entries(table)) {
      for (const to of [...imports, ...types]) {
        assert(names.indexOf(to) !== -1, `${name} names ${to}, which is no room`);
        assert(names.indexOf(to) < names.indexOf(name), `${name} imports ${to} from below`);
      }
    }
  }
});

Deno.test("purity reports every effect, however it is reached", () => {
  const effects: [source: string, what: string][] = [
    [`const now = Date.now();`, "Date"],
    [`const now = new Date();`, "Date"],
    [`const clock = performance;`, "performance"],
    [`const now = globalThis.performance.now();`, "globalThis"],
    [`const chance = Math.random();`, "Math.random"],
    [`const chance = Math["random"]();`, "Math.random"],
    [`const id = crypto.randomUUID();`, "crypto"],
    [`const bag = { crypto };`, "crypto"],
    [`setTimeout(() => {}, 1);`, "setTimeout"],
    [`const later = queueMicrotask;`, "queueMicrotask"],
    [`console.log("here");`, "console"],
    [`function f(conn: Deno.Conn): void {}`, "Deno"],
    [`function f(): Promise<void> {}`, "Promise"],
    [`async function f() {}`, "async function"],
    [`const f = async () => {};`, "async function"],
    [`class A { async b() {} }`, "async function"],
    [`await f();`, "await"],
    [`for await (const a of b) f(a);`, "await"],
    [`import { connect } from "node:net";`, "node:net"],
    [`export * from "node:timers";`, "node:timers"],
  ];
  for (const [source, what] of effects) {
    for (const room of ["wire", "connection", "grpc", "collapse"]) {
      const found = reports("purity", `lib/${room}/a.ts`, source);
      assertEquals([...new Set(found)], [`lib/${room} is pure: no ${what}`], source);
    }
  }
});

Deno.test("purity lets a pure room name a member like an effect and use node:buffer", () => {
  const sources = [
    `import { Buffer } from "node:buffer";`,
    `import { a } from "./frame.ts";`,
    `const a = { fetch: 1, console: 2 }; a.fetch; a.console;`,
    `class A { fetch() {} process = 1; }`,
    `interface A { fetch(): void; process: number }`,
    `import { process as handle } from "./a.ts"; handle();`,
    `export { a as process } from "./a.ts";`,
    `let a: b.Date;`,
    `function* f() { yield 1; }`,
    `const most = Math.max(1, 2);`,
    `// Date.now() is an argument here\nconst text = "Date.now()";`,
  ];
  for (const source of sources) {
    assertEquals(reports("purity", "lib/wire/a.ts", source), [], source);
  }
});

Deno.test("purity leaves the other rooms, the tests and the benches alone", () => {
  const source = `const now = await Promise.resolve(Date.now());`;
  for (const path of ["lib/proxy/a.ts", "tests/wire/a_test.ts", "bench/wire/a_bench.ts"]) {
    assertEquals(reports("purity", path, source), [], path);
  }
});

Deno.test("one-door lets each package in through its file alone", () => {
  for (const [name, door] of Object.entries(DOORS)) {
    assertEquals(reports("one-door", door, `import * as a from "${name}";`), []);
    assertEquals(reports("one-door", door, `import a from "${name}/inner/part.js";`), []);
    assertEquals(
      reports("one-door", "lib/proxy/call.ts", `import a from "${name}/inner/part.js";`),
      [`"${name}/inner/part.js" enters through ${door} alone`],
    );
    const outside = [
      `import * as a from "${name}";`,
      `import type { A } from "${name}";`,
      `export * from "${name}";`,
    ];
    for (const source of outside) {
      assertEquals(
        reports("one-door", "lib/proxy/call.ts", source),
        [`"${name}" enters through ${door} alone`],
      );
    }
  }
});

Deno.test("one-door reports a package without a door", () => {
  for (
    const name of [
      "zod",
      "@scope/grpc-js",
      "npm:prom-client@15",
      "jsr:@std/assert",
      "https://x/y.ts",
    ]
  ) {
    assertEquals(
      reports("one-door", "lib/telemetry/registry.ts", `import "${name}";`),
      [`"${name}" has no door: give it one file in the table of doors`],
    );
  }
});

Deno.test("one-door does not ask about relative and platform modules, nor about tests", () => {
  assertEquals(reports("one-door", "lib/proxy/a.ts", `import "./b.ts"; import "node:util";`), []);
  assertEquals(reports("one-door", "tests/interop/a_test.ts", `import "@grpc/grpc-js";`), []);
});

Deno.test("ambient-owner reports what belongs to another room, and not its owner", () => {
  for (const [name, owners] of Object.entries(OWNERS)) {
    const source = name.startsWith("node:")
      ? `import a from "${name}";`
      : /\.[A-Z]/.test(name)
      ? `let a: ${name};`
      : `const a = ${name};`;
    assertEquals(
      reports("ambient-owner", "lib/measure/a.ts", source),
      [`${name} belongs to ${owners.join(", ")}`],
    );
    for (const owner of owners) {
      const path = owner.endsWith("/") ? `${owner}a.ts` : owner;
      assertEquals(reports("ambient-owner", path, source), [], source);
    }
  }
});

Deno.test("ambient-owner sees through brackets, imports, globalThis and aliases", () => {
  const env = "process.env belongs to lib/config/environment.ts";
  const alias = "Write Deno.member where it is used, without an alias";
  const ways: [source: string, message: string][] = [
    [`Deno["env"].get("A");`, "Deno.env belongs to lib/config/environment.ts"],
    [`import { env } from "node:process";`, env],
    [`import { env as e } from "node:process";`, env],
    [`globalThis.process.exit();`, "Write process alone"],
    [`globalThis.Deno.exit();`, "Write Deno alone"],
    [`const { env } = Deno;`, alias],
    [`const d = Deno;`, alias],
    [`f(Deno);`, alias],
  ];
  for (const [source, message] of ways) {
    assertEquals(reports("ambient-owner", "lib/cli/run.ts", source), [message], source);
  }
});

Deno.test("ambient-owner lets everybody have what has no owner", () => {
  const source =
    `import { cpus } from "node:os"; Deno.exit(0); Deno.memoryUsage(); conn.connect();`;
  assertEquals(reports("ambient-owner", "lib/cli/run.ts", source), []);
  assertEquals(reports("ambient-owner", "tests/a_test.ts", `Deno.env.get("A");`), []);
});

Deno.test("comment-subject reports a doc comment that opens with any leaning word", () => {
  for (const opener of LEANING_OPENERS) {
    assertEquals(
      reports("comment-subject", "lib/wire/a.ts", `/** ${opener} is gone. */\nlet a = 1;`),
      [`Name what the comment is about: "${opener}" leans on a neighbour`],
    );
  }
});

Deno.test("comment-subject reports a pronoun behind one word, and comments of several lines", () => {
  const sources: [source: string, opener: string][] = [
    [`/** Whether it is gone. */`, "Whether it"],
    [`/** Bytes they take. */`, "Bytes they"],
    [`/** Closes it now. */`, "Closes it"],
    [`/**\n * Closes\n * it now.\n */`, "Closes it"],
    [`/**\n * It is gone,\n * and so on.\n */`, "It"],
    [`class A {\n  /** Its size. */\n  size = 0;\n}`, "Its"],
  ];
  for (const [source, opener] of sources) {
    assertEquals(
      reports("comment-subject", "lib/wire/a.ts", source),
      [`Name what the comment is about: "${opener}" leans on a neighbour`],
      source,
    );
  }
});

Deno.test("comment-subject leaves comments that name their subject, and other comments, alone", () => {
  const sources = [
    `/** The size of it. */`,
    `/** Items in a list, and what they take. */`,
    `/** Whoever asks for them. */`,
    `/** Theirs, Thistle and Italics begin so, and mean something else. */`,
    `// It is a remark on the line below.`,
    `/* It is no doc comment. */`,
    `const text = "/** It is text. */";`,
  ];
  for (const source of sources) {
    assertEquals(reports("comment-subject", "lib/wire/a.ts", source), [], source);
  }
  assertEquals(reports("comment-subject", "tests/wire/a_test.ts", `/** It is a test's. */`), []);
});

Deno.test("rooms finds nothing where a folder above the checkout is called lib", () => {
  assertFalse(ROOT.includes("/tests/"));
  const source = `import "../wire/frame.ts"; import "zod"; Deno.env; Date.now();`;
  // As long as the checkout's own path, so that only its letters tell them apart.
  const elsewhere = "/usr/".padEnd(ROOT.length, "-");
  for (const path of ["/usr/lib/wire/frame.ts", `${elsewhere}lib/wire/frame.ts`]) {
    assertEquals(Deno.lint.runPlugin(plugin, path, source), [], path);
  }
});
