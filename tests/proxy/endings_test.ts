/**
 * Calls that end in every way there is, in an order that chance makes and a seed repeats. Whatever happens, each gets
 * what one backend call answered to its own question and no more, and nothing is left behind (`withRig` looks).
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import { rng } from "../support/cuts.ts";
import { goAway, type Pairs } from "../support/frames.ts";
import { type ProxyRig, withRig } from "../support/proxy_rig.ts";

const PATHS = ["/test.Service/GetItem", "/test.Service/PutItem", "/test.Service/ListItems"];
const METADATA: Pairs[] = [
  [],
  [],
  [["grpc-timeout", "30m"]],
  [["cache-control", "no-cache"]],
  [["cache-control", "no-store"]],
  [["x-collapser-debug", "1"]],
];

Deno.test("Proxy comes to rest after 100 calls that end at random (scenario 44)", async () => {
  for (let seed = 1; seed <= 8; seed++) {
    await withRig({ seed, maxMessageBytes: 2_000, backendMaxConcurrent: 12 }, async (rig) => {
      const chaos = new Chaos(rig, seed);
      await chaos.run(100);
    });
  }
});

Deno.test("CollapseMap answers who comes around a flight's end and around its result's expiry (scenario 38)", async () => {
  const random = rng(38);
  await withRig(async (rig) => {
    const filler = "0123456789abcdef".repeat(2_048); // 32 KB
    let asked = 0;
    rig.onRequest = (request) => {
      const key = request.messages[0]!;
      const reply = `${key}|${filler}|${asked++}`;
      const atMs = rig.clock.now() + 5;
      rig.clock.after(atMs - rig.clock.now(), () => request.replies([reply]));
    };
    const callers = [await rig.caller(), await rig.caller()];
    const kept: { call: CallerCall; key: string }[] = [];
    for (let round = 0; round < 200; round++) {
      const key = `key${Math.floor(random() * 4)}`;
      callers[0]!.call(callers[0]!.calls.length % 2 ? PATHS[0]! : PATHS[2]!, key);
      await rig.advance(random() < 0.5 ? 2 : 97);
      for (let i = 0; i < 10; i++) {
        const call = callers[i % 2]!.call(PATHS[i % 2 ? 0 : 2]!, key);
        if (random() < 1 / 3) call.cancels();
        else kept.push({ call, key });
        if (random() < 0.7) await rig.advance(random() * 2);
      }
    }
    await rig.advance(1_000);
    for (const { call, key } of kept) {
      assertEquals([call.status, call.messages.length], [0, 1]);
      const [said, middle, number] = call.messages[0]!.split("|");
      assertEquals(said, key);
      assertEquals(middle === filler, true, "the bytes in between");
      assert(Number(number) < asked);
    }
    const { led = 0, joined = 0, hit = 0 } = rig.outcomes;
    assertEquals(rig.requests.length, led);
    assert(led < 700 && joined > 300 && hit > 100, Deno.inspect(rig.outcomes));
    assertEquals(rig.gauges.flights, 0);
  });
});

/** What a backend has said to one request so far. */
interface Answer {
  readonly number: number;
  sent: number;
  state: "new" | "begun" | "ended";
}

/** Does anything to anybody. */
class Chaos {
  #rig: ProxyRig;
  #random: () => number;
  #seed: number;
  #callers: CallerEnd[] = [];
  #calls: { call: CallerCall; key: string; ended: boolean }[] = [];
  #answers = new Map<BackendRequest, Answer>();

  constructor(rig: ProxyRig, seed: number) {
    this.#rig = rig;
    this.#seed = seed;
    this.#random = rng(seed);
  }

  async run(calls: number): Promise<void> {
    while (this.#calls.length < calls) {
      await this.#act();
      if (this.#random() < 0.6) await this.#rig.settle();
      this.#check();
    }
    await this.#finish();
  }

  async #act(): Promise<void> {
    const dice = this.#random();
    if (this.#callers.length < 2 || dice < 0.02) await this.#newCaller();
    else if (dice < 0.35) this.#newCall();
    else if (dice < 0.42) this.#pickCall()?.call.cancels();
    else if (dice < 0.5) this.#halfClose(this.#pickCall());
    else if (dice < 0.56) this.#pickCall()?.call.grants(1 + Math.floor(this.#random() * 900));
    else if (dice < 0.86) this.#answer(this.#pickRequest());
    else if (dice < 0.88) this.#loseCaller();
    else if (dice < 0.89) this.#loseBackend();
    else await this.#rig.advance(this.#random() * 30);
  }

  async #newCaller(): Promise<void> {
    const window = this.#random() < 0.3 ? 100 : 1_000_000;
    this.#callers.push(await this.#rig.caller([[SETTING.initialWindowSize, window]]));
  }

  #newCall(): void {
    const caller = this.#callers[Math.floor(this.#random() * this.#callers.length)]!;
    const path = PATHS[Math.floor(this.#random() * PATHS.length)]!;
    const key = `${path}:${Math.floor(this.#random() * 3)}`;
    const ends = this.#random() < 0.85;
    const metadata = METADATA[Math.floor(this.#random() * METADATA.length)]!;
    const call = caller.call(path, key, { ends, metadata });
    this.#calls.push({ call, key, ended: ends });
  }

  #pickCall(): { call: CallerCall; ended: boolean } | undefined {
    const open = this.#calls.filter(({ call }) =>
      call.reply.endedBy === undefined && call.reply.reset === undefined
    );
    return open[Math.floor(this.#random() * open.length)];
  }

  #halfClose(picked: { call: CallerCall; ended: boolean } | undefined): void {
    if (picked === undefined || picked.ended) return;
    picked.ended = true;
    picked.call.ends();
  }

  #pickRequest(): BackendRequest | undefined {
    const open = this.#rig.requests.filter((request) =>
      !request.isOver && !request.backend.socket.isClosed && request.messages.length > 0
    );
    return open[Math.floor(this.#random() * open.length)];
  }

  #answer(request: BackendRequest | undefined): void {
    if (request === undefined) return;
    const answer = this.#answerOf(request);
    const dice = this.#random();
    if (dice < 0.06) return request.resets(Math.floor(this.#random() * 13));
    if (answer.state === "new" && dice < 0.12) return request.fails(dice < 0.09 ? 5 : 4);
    if (answer.state === "new") {
      answer.state = "begun";
      const isPrivate = this.#random() < 0.1;
      const headers: Pairs = isPrivate ? [["cache-control", "private"]] : [];
      return request.begins([this.#next(request)], { headers });
    }
    if (dice < 0.5) return request.sends(this.#next(request));
    answer.state = "ended";
    request.ends();
  }

  #answerOf(request: BackendRequest): Answer {
    let answer = this.#answers.get(request);
    if (answer === undefined) {
      answer = { number: this.#answers.size, sent: 0, state: "new" };
      this.#answers.set(request, answer);
    }
    return answer;
  }

  /** Says the question, the number of the answer and that of the message. */
  #next(request: BackendRequest): string {
    const answer = this.#answerOf(request);
    return `${request.messages[0]}|${answer.number}|${answer.sent++}|`.padEnd(300, "x");
  }

  #loseCaller(): void {
    const [caller] = this.#callers.splice(Math.floor(this.#random() * this.#callers.length), 1);
    caller?.leaves(this.#random() < 0.5 ? undefined : new Error("reset by peer"));
  }

  #loseBackend(): void {
    const { backend } = this.#rig;
    if (this.#random() < 0.5) backend.socket.ends();
    else backend.sends(goAway(2 * Math.floor(this.#random() * 20) + 1, ERROR_CODE.noError));
  }

  /** Each call has been given a beginning of one answer to its own question, all of it when it ended well. */
  #check(): void {
    for (const { call, key } of this.#calls) {
      const said = call.messages.map((message) => message.split("|"));
      const number = said[0]?.[1];
      said.forEach(([question, from, sequence], i) => {
        assertEquals([question, from, sequence], [key, number, `${i}`], `seed ${this.#seed}`);
      });
      if (call.status !== 0) continue;
      const answer = [...this.#answers.values()].find((answer) => `${answer.number}` === number);
      assertEquals(said.length, answer?.sent, `seed ${this.#seed}: all of the answer`);
    }
  }

  /** Everybody answers and reads whatever there is. */
  async #finish(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      for (const picked of this.#calls) this.#halfClose(picked);
      for (const { call } of this.#calls) call.grants(100_000);
      await this.#rig.advance(20);
      for (const request of this.#rig.requests) {
        if (request.isOver || request.backend.socket.isClosed) continue;
        const answer = this.#answerOf(request);
        if (answer.state === "new") request.begins([this.#next(request)]);
        answer.state = "ended";
        request.ends();
      }
      await this.#rig.advance(20);
      this.#check();
    }
    for (const caller of this.#callers) {
      for (const call of caller.calls) {
        const { endedBy, reset } = call.reply;
        const hasEnd = endedBy !== undefined || reset !== undefined || call.cancelled;
        assert(hasEnd, `seed ${this.#seed}: call ${call.id} has no end`);
      }
    }
    assertEquals(this.#rig.gauges, { ...this.#rig.gauges, flights: 0, inflight: 0, pending: 0 });
  }
}
