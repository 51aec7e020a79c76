/**
 * What is injected into each manifest of `golden/`: it must be as in `golden/injected/`. After a change that is meant,
 * `deno run -A main.ts inject --service -f golden/NAME > golden/injected/NAME` writes one anew.
 *
 * @module
 */

import { assert, assertEquals, assertGreater } from "@std/assert";
import { inject } from "../../lib/inject/mod.ts";
import { goldenNames, goldenText, injected, OPTIONS } from "./support.ts";

for (const name of await goldenNames()) {
  Deno.test(`inject writes what is expected into ${name}`, async () => {
    assertEquals(injected(await goldenText(name)).text, await goldenText(`injected/${name}`));
  });

  Deno.test(`inject leaves what it wrote into ${name} as it is`, async () => {
    const once = await goldenText(`injected/${name}`);
    const again = injected(once);
    assertEquals(again.text, once);
  });

  Deno.test(`inject adds to ${name} without changing anything else`, async () => {
    const before = await goldenText(name);
    const after = injected(before, { ...OPTIONS, services: false }).text;
    assert(isLeftWhenTakenOut(before, after), "something was changed or moved");
  });

  Deno.test(`inject writes the same into ${name} when lines end in CR LF`, async () => {
    if (name.endsWith(".json")) return; // JSON has its additions in lines of its own making
    const before = (await goldenText(name)).replaceAll("\n", "\r\n");
    const wanted = (await goldenText(`injected/${name}`)).replaceAll("\n", "\r\n");
    assertEquals(injected(before).text, wanted);
  });
}

Deno.test("inject keeps JSON what it is", async () => {
  const names = (await goldenNames()).filter((name) => name.endsWith(".json"));
  assertGreater(names.length, 1);
  for (const name of names) JSON.parse(injected(await goldenText(name)).text);
});

Deno.test("inject hands on what is no manifest at all", () => {
  for (const text of ["", "\n", "# nothing\n", "---\n", "a: 1", "- 1\n- 2\n", '"text"', "{}"]) {
    assertEquals(inject(text, { ...OPTIONS, services: false }), { text, notes: [] });
  }
});

/** Whether all of a text is in another in its order, so that only additions tell them apart. */
function isLeftWhenTakenOut(text: string, longer: string): boolean {
  let found = 0;
  for (const char of longer) if (char === text[found]) found++;
  return found === text.length;
}
