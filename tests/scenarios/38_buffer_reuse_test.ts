/**
 * Scenario 38: whoever comes or goes around a flight's end and its result's expiry reads one whole answer to its own
 * question, and nothing of any other.
 *
 * With time that the test moves, the same stands in `tests/proxy/endings_test.ts`. Here: real time and sockets, callers
 * with small windows among them, the ends of several parties in one breath, and storage that is used again meanwhile.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import { rng } from "../support/cuts.ts";
import { GET, type ProxyRig, withRig } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";
import { SETTING } from "../../lib/wire/mod.ts";

const KEYS = ["a", "b", "c", "d"];
const ROUNDS_PER_KEY = 50;
const CALLERS_PER_ROUND = 10;
const PATTERN_BYTES = 32_768;

/** Of a call to the backend, and of a stored result: so short that the rounds take a second or two. */
const BACKEND_MS = 4;
const STORED_MS = 15;

/** Around an end, callers come within so much before and after. */
const SPREAD_MS = 3;

/** What a message has before its text. */
const PREFIX_BYTES = 5;

/** A third of the reply, so that it takes several grants. */
const SMALL_WINDOW = 12_000;

interface Asked {
  readonly call: CallerCall;
  readonly key: string;
}

Deno.test("Scenario 38(a): 200 rounds of ten callers around the ends, a third cancelled, are one whole answer each", async () => {
  const random = rng(3_838);
  const answers: string[] = [];
  const variables = { COLLAPSER_CACHE_DURATION: `${STORED_MS}ms` };
  await withSockets({ variables }, async (rig) => {
    const { backend, local } = rig;
    backend.onRequest = (request) => {
      const key = request.messages[0]!;
      const reply = answer(key, answers.length);
      answers.push(reply);
      setTimeout(() => request.isOver || request.replies([reply]), BACKEND_MS);
    };
    const wide = await rig.caller();
    const small = await rig.caller([[SETTING.initialWindowSize, SMALL_WINDOW]]);
    const asked: Asked[] = [];
    const timers: Promise<void>[] = [];
    const come = (key: string) => {
      const caller = random() < 0.7 ? wide : small;
      const call = caller.call(GET, key);
      asked.push({ call, key });
      if (random() < 1 / 3) {
        timers.push(later(random() * BACKEND_MS * 1.5, () => call.cancels()));
      } else if (caller === small) {
        timers.push(later(random() * BACKEND_MS * 3, () => call.grants(PATTERN_BYTES)));
      }
    };
    const round = async (key: string, endsMs: number) => {
      come(key);
      const others = Array.from({ length: CALLERS_PER_ROUND - 1 }, () => {
        const atMs = endsMs + (random() * 2 - 1) * SPREAD_MS;
        return later(atMs, () => come(key));
      });
      await Promise.all(others);
    };
    await Promise.all(KEYS.map(async (key) => {
      for (let count = 0; count < ROUNDS_PER_KEY; count++) {
        await round(key, count % 2 ? BACKEND_MS : BACKEND_MS + STORED_MS);
      }
    }));
    assertEquals(asked.length, KEYS.length * ROUNDS_PER_KEY * CALLERS_PER_ROUND);
    // However slow the machine is: in the end some are in time to join, and some to find a stored result.
    await until(async () => {
      const { joined, hit } = local.outcomes;
      if (joined > 0 && hit > 0) return true;
      await round(KEYS[0]!, BACKEND_MS);
      return false;
    }, "some that joined, and some that found a stored result");
    await Promise.all(timers);
    const kept = asked.filter(({ call }) => !call.cancelled);
    await until(() => kept.every(({ call }) => call.status !== undefined), "every call's end");
    for (const each of asked) expectOneAnswer(each, answers);
    const { map, counters } = rig.proxy;
    await until(() => map.flying === 0 && map.waiting === 0, "an empty flight table");
    await until(() => counters.backends[0]!.inflight === 0, "nothing at the backend");
    const { led } = local.outcomes;
    assert(backend.requests.length <= led, `${backend.requests.length} calls of ${led} flights`);
    const troubles = local.log.filter((line) => /"level":"(warn|error)"/.test(line));
    assertEquals(troubles, []);
  });
});

/** What happens in one turn of the loop: everything is in the sockets before the proxy reads any of it. */
const TOGETHER: Readonly<Record<string, (scene: Scene) => void>> = {
  "a caller comes as the answer does": ({ rig, ask }) => {
    rig.request(-1).replies(["one"]);
    ask();
  },
  "a caller comes just before the answer": ({ rig, ask }) => {
    ask();
    rig.request(-1).replies(["one"]);
  },
  "the leader leaves and a caller comes as the answer does": ({ rig, leader, ask }) => {
    leader.cancels();
    rig.request(-1).replies(["one"]);
    ask();
  },
  "the leader asks the same again in one breath with its leaving": ({ rig, leader, ask }) => {
    leader.cancels();
    ask();
    rig.request(-1).replies(["one"]);
  },
  "a caller comes, leaves and comes again as the answer does": ({ rig, ask }) => {
    ask().cancels();
    rig.request(-1).replies(["one"]);
    ask();
  },
  "the backend fails as a caller comes": ({ rig, ask }) => {
    rig.request(-1).fails(14);
    ask();
  },
  "the backend's connection ends as a caller comes": ({ rig, ask }) => {
    rig.backend.socket.ends();
    ask();
  },
};

interface Scene {
  readonly rig: ProxyRig;
  readonly leader: CallerCall;
  /** Another caller asks the same. */
  readonly ask: () => CallerCall;
}

for (const [what, happens] of Object.entries(TOGETHER)) {
  Deno.test(`Scenario 38(b): everybody has an end when ${what}`, async () => {
    for (const isSameConnection of [true, false]) {
      await withRig(async (rig) => {
        const first = await rig.caller();
        const second = isSameConnection ? first : await rig.caller();
        const leader = first.call(GET, "1");
        await rig.settle();
        const calls: CallerCall[] = [leader];
        const ask = () => {
          calls.push(second.call(GET, "1"));
          return calls.at(-1)!;
        };
        happens({ rig, leader, ask });
        await rig.settle();
        // Who was too late for the flight leads another, which is answered too.
        for (const request of rig.requests) {
          if (!request.isOver && !request.backend.socket.isClosed) request.replies(["one"]);
        }
        await rig.settle();
        for (const call of calls) {
          if (call.cancelled) continue;
          if (call.status === 14) call.expects(14);
          else call.expects(0, "one");
          assertEquals(call.reply.blocks.length <= 2, true);
        }
        assert(rig.requests.length <= 2, "one more call at most");
        assertEquals(rig.gauges.flights, 0);
      });
    }
  });
}

Deno.test("Scenario 38(c): who is in the middle of an answer reads the rest of it, however much came and went since", async () => {
  const random = rng(38);
  const answers: string[] = [];
  await withRig({ maxCacheEntries: 8, cacheDurationMs: 20 }, async (rig) => {
    rig.onRequest = (request) => {
      const reply = answer(request.messages[0]!, answers.length);
      answers.push(reply);
      rig.clock.after(BACKEND_MS, () => request.isOver || request.replies([reply]));
    };
    const quick = await rig.caller();
    const slow = await rig.caller([[SETTING.initialWindowSize, 1]]);
    const asked: Asked[] = [];
    for (let round = 0; round < 120; round++) {
      const key = `${KEYS[Math.floor(random() * 4)]}${Math.floor(random() * 6)}`;
      const path = random() < 0.5 ? GET : LIST;
      for (const caller of [slow, quick, slow, quick]) {
        const call = caller.call(path, key);
        asked.push({ call, key });
        if (random() < 0.5) await rig.advance(random() * 6);
        if (caller === slow) call.grants(1 + Math.floor(random() * PATTERN_BYTES));
        else if (random() < 0.2) call.cancels();
      }
      await rig.advance(random() * 12);
      const old = asked[Math.floor(random() * asked.length)]!.call;
      if (random() < 0.3 && old.status === undefined) old.cancels();
    }
    await rig.advance(1_000);
    for (const each of asked) expectBeginning(each, answers);
    for (const { call } of asked) if (!call.cancelled) call.grants(PATTERN_BYTES + 100);
    await rig.settle();
    for (const each of asked) expectOneAnswer(each, answers);
    assertEquals(rig.gauges.flights, 0);
    const { led = 0, joined = 0, hit = 0 } = rig.outcomes;
    assertEquals(rig.requests.length, led);
    assert(joined > 50 && hit > 20, Deno.inspect(rig.outcomes));
  });
});

Deno.test("Scenario 38(c): a stream's answer is not glued to another's when its storage is used again", async () => {
  await withRig({ cacheDurationMs: 0 }, async (rig) => {
    const caller = await rig.caller();
    const slow = await rig.caller([[SETTING.initialWindowSize, 100]]);
    const stuck = slow.call(LIST, "slow");
    await rig.settle();
    const pieces = Array.from({ length: 40 }, (_, i) => `slow ${i};`.repeat(200));
    rig.request(0).begins();
    for (const piece of pieces) {
      rig.request(0).sends(piece);
      await oneMore(rig, caller);
    }
    rig.request(0).ends();
    for (let i = 0; i < 40; i++) {
      await oneMore(rig, caller);
      stuck.grants(1 + i * 40);
    }
    stuck.grants(1_000_000);
    await rig.settle();
    stuck.expects(0, ...pieces);
  });
});

/** A flight that is over at once, by its caller's leaving every other time. */
async function oneMore(rig: ProxyRig, caller: CallerEnd): Promise<void> {
  const number = rig.requests.length;
  const call = caller.call(GET, `${number}`);
  await rig.settle();
  const reply = `other ${number};`.repeat(1_500);
  if (number % 2) {
    rig.request(-1).begins([reply]);
    await rig.settle();
    call.cancels();
  } else {
    rig.request(-1).replies([reply]);
  }
  await rig.settle();
  if (!call.cancelled) call.expects(0, reply);
}

/** The key, a pattern that no other answer has, and the answer's number. */
function answer(key: string, number: number): string {
  const pattern = `${key}.${number};`;
  return `${key}|${pattern.repeat(PATTERN_BYTES / pattern.length)}|${number}`;
}

/** All it was given, whole when it was not cancelled, is from one answer to its own question. */
function expectOneAnswer(asked: Asked, answers: readonly string[]): void {
  const { call, key } = asked;
  expectBeginning(asked, answers);
  if (call.cancelled) return;
  const { reply } = call;
  assertEquals([call.status, reply.messages.length, reply.blocks.length], [0, 1, 2]);
  const [message] = reply.messages;
  assert(answers[numberIn(message!)] === message, `call ${call.id} for ${key}: one answer`);
  assertEquals(reply.text.length, PREFIX_BYTES + message!.length);
}

function expectBeginning({ call, key }: Asked, answers: readonly string[]): void {
  const text = call.reply.text.slice(PREFIX_BYTES);
  if (text === "") return;
  const number = numberIn(text);
  const whole = answers[number] ?? answers.find((each) => each.startsWith(text)) ?? "";
  const isBeginning = whole.startsWith(`${key}|`.slice(0, text.length)) && whole.startsWith(text);
  assert(isBeginning, `call ${call.id} for ${key}: ${text.length} bytes of no answer`);
}

/** The number of an answer, which its pattern says over and over; -1 where too little has come. */
function numberIn(text: string): number {
  return Number(/\.(\d+);/.exec(text)?.[1] ?? -1);
}

async function later(ms: number, act: () => void): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
  act();
}
