import { assertEquals } from "@std/assert";
import { blastOf } from "../../../lib/measure/stall/blast.ts";
import { RESULTS } from "./results.ts";

Deno.test("blastOf tells of each system what the healthy backends' callers saw, and of all in a sentence", () => {
  assertEquals(blastOf(RESULTS), {
    summary: "While one backend of three stood still, these were answered in time: " +
      "collapser 100.0 % of the calls to the other two, 66.7 % of all; " +
      "shared-pool 0.0 % of the calls to the other two, 0.0 % of all.",
    rows: [
      { name: "collapser", calls: 400, failed: 0, healthyP99Ms: 5, stalledP99Ms: 5 },
      { name: "shared-pool", calls: 400, failed: 400, healthyP99Ms: 5, stalledP99Ms: NaN },
    ],
  });
});
