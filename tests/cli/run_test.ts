import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../../lib/cli/command_table.ts";
import { collapser } from "./support.ts";

const variables = { BACKEND_ADDRESS: "db:50051" };

Deno.test("run serves when no command is named, with and without flags", async () => {
  for (const args of ["", "serve", "--log-level debug", "serve --log-level=debug"]) {
    const { code, ran, err } = await collapser(args, { variables });
    assertEquals([code, ran?.[0], err], [0, "sidecar", ""], args);
  }
});

Deno.test("run prints versions", async () => {
  for (const args of ["--version", "-V"]) {
    const { code, out, ran } = await collapser(args);
    assertEquals([code, ran], [0, undefined]);
    assertMatch(
      out,
      /^collapser \d+\.\d+\.\d+ \(commit source, deno \d+\.\d+\.\d+, v8 \d+\.\S+\)$/,
    );
  }
});

Deno.test("run prints the overview, on standard output, and nothing starts", async () => {
  for (const args of ["--help", "-h", "help", "--help serve"]) {
    const { code, out, err, ran } = await collapser(args, { variables });
    assertEquals([code, err, ran], [0, "", undefined], args);
    assertStringIncludes(out, "Commands\n  serve ");
  }
});

Deno.test("run prints the help of each command, whatever else is on the line", async () => {
  for (const { name, summary } of COMMANDS) {
    for (const args of [`${name} --help`, `${name} -h`, `${name} --wrong --help`]) {
      const { code, out, ran } = await collapser(args, { variables });
      assertEquals([code, ran], [0, undefined], args);
      assertStringIncludes(out, `collapser ${name}: ${summary}\n`);
    }
  }
  assertStringIncludes((await collapser("--log-level debug --help")).out, "collapser serve: ");
});

Deno.test("run refuses an unknown command and names the nearest", async () => {
  const { code, out, err } = await collapser("srve", { variables });
  assertEquals([code, out], [64, ""]);
  assertEquals(
    err,
    'Cannot run "srve": no such command; the nearest is serve\ncollapser --help lists them',
  );
});

Deno.test("run returns the code of the work", async () => {
  const runners = { sidecar: () => Promise.resolve(1) };
  assertEquals((await collapser("serve", { variables, runners })).code, 1);
});

Deno.test("run turns a fault of ours into code 1, and says where it was", async () => {
  const broken = await collapser("serve", {
    variables,
    runners: { sidecar: () => Promise.reject(new Error("boom")) },
  });
  assertEquals(broken.code, 1);
  assertMatch(broken.err, /^Cannot go on with serve: Error: boom\n\s+at /);

  const odd = await collapser("serve", {
    variables,
    runners: { sidecar: () => Promise.reject(7) },
  });
  assertEquals([odd.code, odd.err], [1, "Cannot go on with serve: 7"]);
});

Deno.test("run refuses bad usage of every command with 64 before anything starts", async () => {
  for (const { name } of COMMANDS) {
    const { code, out, err, ran } = await collapser(`${name} --wat`, { variables });
    assertEquals([code, out, ran], [64, "", undefined], name);
    assertStringIncludes(err, "Cannot read --wat: no such flag; the nearest is --");
    assertStringIncludes(err, `\ncollapser ${name} --help says what it takes`);
  }
});
