import { assertEquals } from "@std/assert";
import { CallQueue } from "../../../lib/measure/client/call_queue.ts";
import { type CallKeeper, ClientCall, type Method } from "../../../lib/measure/client/call.ts";
import { requestBody } from "../../../lib/measure/client/client.ts";
import { Timers } from "../../../lib/transport/mod.ts";
import { HeaderList } from "../../../lib/wire/mod.ts";
import { rng } from "../../support/cuts.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const KEEPER: CallKeeper = { timers: new Timers(new FakeClock()), expire: () => {} };
const LIST = new HeaderList();
const METHOD: Method = { head: LIST, headWithoutTimeout: LIST, deadlineMs: Infinity };
const BODY = requestBody(new Uint8Array(0));

function makeCall(): ClientCall {
  return new ClientCall(KEEPER, METHOD, BODY, 0, () => {});
}

Deno.test("CallQueue gives back what came first, and skips what has ended", () => {
  const random = rng(1);
  const queue = new CallQueue();
  const model: ClientCall[] = [];
  for (let i = 0; i < 50_000; i++) {
    if (random() < 0.55) {
      const call = makeCall();
      queue.add(call);
      model.push(call);
      if (random() < 0.2) call.end(1, "gave up", 0);
    } else {
      let expected = model.shift();
      while (expected?.ended) expected = model.shift();
      assertEquals(queue.take() === expected, true, `step ${i}`);
    }
  }
  const left = model.filter((call) => !call.ended);
  assertEquals(queue.takeAll().every((call, i) => call === left[i]), true);
  assertEquals([queue.size, queue.take()], [0, undefined]);
});
