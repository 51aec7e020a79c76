import { assertEquals, assertThrows } from "@std/assert";
import { SUITES } from "./all.ts";
import { readOptions } from "./options.ts";
import { type Mode, MODES } from "./suite.ts";
import { missing } from "./transcript.ts";

const NAMES = SUITES.map(({ name }) => name);

Deno.test("SUITES have names of their own, and cases that can be told apart and typed", () => {
  assertEquals(new Set(NAMES).size, NAMES.length);
  for (const { name, cases } of SUITES) {
    for (const mode of Object.keys(MODES) as Mode[]) {
      const all = cases(mode);
      assertEquals(all.filter((id, at) => all.indexOf(id) !== at), [], `${name}/${mode}`);
      assertEquals(all.filter((id) => !/^[\w./]+$/.test(id)), [], `${name}/${mode}`);
    }
  }
});

Deno.test("readOptions takes all suites in both modes when it is told nothing", () => {
  assertEquals(readOptions([], NAMES), {
    only: NAMES,
    modes: ["default", "star"],
    pattern: "",
    list: false,
    help: false,
  });
});

Deno.test("readOptions keeps the order of the suites", () => {
  const { only, modes, pattern } = readOptions(
    ["--only", "java,go", "--only=node", "--mode", "star", "--case", "soak"],
    ["go", "node", "python", "java"],
  );
  assertEquals([only, modes, pattern], [["go", "node", "java"], ["star"], "soak"]);
});

Deno.test("readOptions refuses a suite, a mode and a flag that are not there", () => {
  const read = (...args: string[]) => () => readOptions(args, ["go", "java"]);
  assertThrows(read("--only", "go,perl"), Error, 'Cannot run the suite "perl": expected go, java');
  assertThrows(
    read("--mode", "on"),
    Error,
    'Cannot run in mode "on": expected default, star or both',
  );
  assertThrows(read("--fast"));
});

Deno.test("missing names the first words that do not come in their place", () => {
  assertEquals(missing("one two three", ["one", "three"]), undefined);
  assertEquals(missing("one two three", ["three", "one"]), "one");
  assertEquals(missing("one", ["one", "one"]), "one");
  assertEquals(missing("", []), undefined);
});
