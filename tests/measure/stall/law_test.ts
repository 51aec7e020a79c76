import { assertEquals } from "@std/assert";
import { sharedPoolArithmetic } from "../../../lib/measure/stall/law.ts";
import { SUBJECT } from "./results.ts";

Deno.test("sharedPoolArithmetic is Little's law", () => {
  assertEquals(sharedPoolArithmetic(SUBJECT), {
    wanted: 200,
    places: 30,
    waiting: 30,
    takenPerSecond: 60,
    share: 2 / 3 * 60 / 300,
  });
  const patient = sharedPoolArithmetic({ ...SUBJECT, waiting: 10_000 });
  assertEquals([patient.takenPerSecond, patient.share], [300, 2 / 3], "no more than is offered");
});
