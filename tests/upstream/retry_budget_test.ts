import { assertEquals } from "@std/assert";
import { RetryBudget } from "../../lib/upstream/retry_budget.ts";

function spendAll(budget: RetryBudget): number {
  let count = 0;
  while (budget.spend()) count++;
  return count;
}

Deno.test("RetryBudget allows a burst, and then a fifth of what is sent", () => {
  const budget = new RetryBudget();
  assertEquals(spendAll(budget), 100);
  for (let i = 0; i < 50; i++) budget.earn();
  assertEquals(Math.abs(spendAll(budget) - 10) <= 1, true); // tenths do not add up exactly
  for (let i = 0; i < 10_000; i++) budget.earn();
  assertEquals(Math.abs(spendAll(budget) - 100) <= 1, true);
});
