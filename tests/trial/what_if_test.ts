import { assertEquals } from "@std/assert";
import { WhatIf } from "../../lib/trial/what_if.ts";

Deno.test("WhatIf keeps a world for each time: in flight alone, 1 s, 10 s", () => {
  const worlds = new WhatIf();
  const [one, two, three, four] = [{}, {}, {}, {}];
  assertEquals(worlds.begins(7, 0, one, 0), [false, false, false]);
  assertEquals(worlds.begins(7, 0, two, 10), [true, true, true]); // it joins
  worlds.ends(7, two, 20, true); // which is nobody's answer
  worlds.ends(7, one, 100, true);
  assertEquals(worlds.begins(7, 0, three, 1_000), [false, true, true]);
  worlds.ends(7, three, 1_050, true);
  assertEquals(worlds.begins(7, 0, four, 1_200), [false, false, true]);
  assertEquals(worlds.begins(8, 0, {}, 1_200), [false, false, false]); // another key
});

Deno.test("WhatIf forgets what a write outdates, and keeps no answer that is none", () => {
  const worlds = new WhatIf();
  const [one, two] = [{}, {}];
  worlds.begins(7, 0, one, 0);
  worlds.ends(7, one, 10, false);
  assertEquals(worlds.begins(7, 0, two, 20), [false, false, false]);
  worlds.ends(7, two, 30, true);
  assertEquals(worlds.begins(7, 1, {}, 40), [false, false, false]);
});

Deno.test("WhatIf follows ten thousand keys, the last ones", () => {
  const worlds = new WhatIf();
  for (let key = 0; key <= 10_000; key++) {
    const call = {};
    worlds.begins(key, 0, call, 0);
    worlds.ends(key, call, 1, true);
  }
  assertEquals(worlds.begins(10_000, 0, {}, 2), [false, true, true]);
  assertEquals(worlds.begins(0, 0, {}, 2), [false, false, false]);
});
