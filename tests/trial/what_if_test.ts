import { assertEquals } from "@std/assert";
import { WhatIf } from "../../lib/trial/what_if.ts";

Deno.test("WhatIf keeps a world for each time: in flight alone, 1 s, 10 s", () => {
  const worlds = new WhatIf();
  const [one, two, three, four] = [{}, {}, {}, {}];
  assertEquals(worlds.begins(7, 0, one, 0), 0b000);
  assertEquals(worlds.begins(7, 0, two, 10), 0b111); // it joins
  worlds.ends(7, two, 20, true); // which is nobody's answer
  worlds.ends(7, one, 100, true);
  assertEquals(worlds.begins(7, 0, three, 1_000), 0b110);
  worlds.ends(7, three, 1_050, true);
  assertEquals(worlds.begins(7, 0, four, 1_200), 0b100);
  assertEquals(worlds.begins(8, 0, {}, 1_200), 0b000); // another key
});

Deno.test("WhatIf forgets what a write outdates, and keeps no answer that is none", () => {
  const worlds = new WhatIf();
  const [one, two] = [{}, {}];
  worlds.begins(7, 0, one, 0);
  worlds.ends(7, one, 10, false);
  assertEquals(worlds.begins(7, 0, two, 20), 0b000);
  worlds.ends(7, two, 30, true);
  assertEquals(worlds.begins(7, 1, {}, 40), 0b000);
});

Deno.test("WhatIf follows the last five thousand keys at least, and twice as many at most", () => {
  const worlds = new WhatIf();
  for (let key = 0; key <= 10_000; key++) {
    const call = {};
    worlds.begins(key, 0, call, 0);
    worlds.ends(key, call, 1, true);
  }
  for (const key of [10_000, 5_001]) {
    assertEquals(worlds.begins(key, 0, {}, 2), 0b110);
  }
  assertEquals(worlds.begins(0, 0, {}, 2), 0b000);
});
