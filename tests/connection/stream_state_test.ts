import { assert, assertEquals } from "@std/assert";
import { INPUTS, nextState, STATES, TRANSITIONS } from "../../lib/connection/stream_state.ts";
import { ILLEGAL, INPUT, STATE } from "../../lib/connection/stream_state.ts";

Deno.test("TRANSITIONS has this many legal cells, closed is final, and a reset always closes", () => {
  const legal: string[] = [];
  for (const state of STATES) {
    for (const input of INPUTS) {
      const next = TRANSITIONS[state][input];
      if (next === undefined) continue;
      legal.push(`${state} --${input}--> ${next}`);
      assert(state !== "closed" || next === "closed", `closed is final: ${legal.at(-1)}`);
      assert(next !== "idle", `nothing goes back: ${legal.at(-1)}`);
      assert(!input.endsWith("Reset") || next === "closed", `a reset closes: ${legal.at(-1)}`);
    }
  }
  assertEquals(legal.length, 25); // change this number knowingly
});

Deno.test("TRANSITIONS lets each side end once, and closes when both have", () => {
  assertEquals(TRANSITIONS.open.sendEnd, "halfClosedLocal");
  assertEquals(TRANSITIONS.open.recvEnd, "halfClosedRemote");
  assertEquals(TRANSITIONS.halfClosedLocal.recvEnd, "closed");
  assertEquals(TRANSITIONS.halfClosedRemote.sendEnd, "closed");
  for (const input of ["sendHeaders", "sendData", "sendEnd"] as const) {
    assertEquals(TRANSITIONS.halfClosedLocal[input], undefined, input);
  }
  for (const input of ["recvHeaders", "recvData", "recvEnd"] as const) {
    assertEquals(TRANSITIONS.halfClosedRemote[input], undefined, input);
  }
});

Deno.test("TRANSITIONS takes resets in every state but idle (RFC 9113 §5.1)", () => {
  for (const state of STATES) {
    assertEquals(TRANSITIONS[state].recvReset, state === "idle" ? undefined : "closed", state);
  }
});

Deno.test("nextState is the table in numbers", () => {
  assertEquals(Object.keys(STATE), [...STATES]);
  assertEquals(Object.keys(INPUT), [...INPUTS]);
  STATES.forEach((state, i) =>
    INPUTS.forEach((input, j) => {
      const next = TRANSITIONS[state][input];
      const expected = next === undefined ? ILLEGAL : STATE[next];
      assertEquals(nextState(i, j), expected, `${state}, ${input}`);
    })
  );
});
