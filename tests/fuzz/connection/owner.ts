import { assert, assertEquals } from "@std/assert";
import type { Stream } from "../../../lib/connection/mod.ts";
import { ERROR_CODE, Field } from "../../../lib/wire/mod.ts";
import { type Pairs, RESPONSE, TRAILERS } from "../../support/frames.ts";
import { toHex } from "../../support/hex.ts";
import type { Draws } from "../draws.ts";
import type { ModelField } from "../models/hpack.ts";
import type { OutputReader } from "../models/output_check.ts";
import type { Conversation, Reactions } from "./conversation.ts";
import { patternAt, Script } from "./script.ts";

/** The longest piece that a log grows by. */
const MOST_BYTES = 70_000;

/** Past this a case takes too long. */
const MOST_LOG_BYTES = 600_000;

/** A block that takes more than one frame. */
const LONG_VALUE = "v".repeat(20_000);

const PATHS = ["/test.Service/Method", "/test.Service/Other"];

/** What of ours went out on one stream. */
interface Sent {
  script: Script | undefined;
  heads: number;
  bodyBytes: number;
  /** What the next block must say, where that is not the script's. */
  due: Pairs | undefined;
  /** DATA that came and was not consumed. */
  heldBytes: number;
}

/** Plays whoever owns the connection: answers, relays, gives credit, resets, ends. */
export class Owner implements Reactions, OutputReader {
  /** Nothing new is begun any more. */
  isEnding = false;
  readonly #draws: Draws;
  #talk!: Conversation;
  readonly #sent = new Map<number, Sent>();
  readonly #scripts: Script[] = [];
  #isPaused = false;
  #pings = 0;

  constructor(draws: Draws) {
    this.#draws = draws;
  }

  owns(talk: Conversation): void {
    this.#talk = talk;
    talk.reactions = this;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  // ---- from within

  gotHeaders(stream: Stream<unknown>): void {
    const draws = this.#draws;
    if (draws.chance(0.08)) this.#reset(stream);
    else if (draws.chance(0.002)) this.#end();
    else if (this.#talk.role === "server" && draws.chance(0.4)) this.#begin(stream);
  }

  gotData(stream: Stream<unknown>, length: number): void {
    this.#sentOn(stream.id).heldBytes += length;
    if (this.#draws.chance(0.7)) this.#consume(stream);
    if (this.#draws.chance(0.03)) this.#reset(stream);
  }

  /** A call that was refused is sent again at once, for instance. */
  gotReset(): void {
    if (this.isEnding) return;
    if (this.#talk.role === "client" && this.#draws.chance(0.2)) this.#open();
  }

  gotGoAway(lastStreamId: number): void {
    for (const stream of this.#live()) if (stream.id > lastStreamId) this.#reset(stream);
    this.gotReset();
  }

  gotSettings(): void {
    if (this.isEnding) return;
    if (this.#talk.role === "client" && this.#draws.chance(0.2)) this.#openMany();
  }

  writable(stream: Stream<unknown>): void {
    if (!this.isEnding && this.#draws.chance(0.02)) return this.#reset(stream);
    if (!this.isEnding && this.#draws.chance(0.002)) return this.#end();
    if (stream.log !== undefined) this.#talk.connection.relay(stream, stream.log);
  }

  // ---- what was written

  head(id: number, fields: readonly ModelField[]): void {
    const sent = this.#sentOn(id);
    const expected = sent.due ?? sent.script?.heads[sent.heads];
    if (sent.due === undefined) sent.heads++;
    sent.due = undefined;
    const found: Pairs = fields.map(({ name, value }) => [name, value]);
    assertEquals(found, expected, `head on ${id}`);
  }

  data(id: number, payload: Uint8Array): void {
    const sent = this.#sentOn(id);
    for (let i = 0; i < payload.length; i++) {
      if (payload[i] !== patternAt(sent.bodyBytes + i)) {
        throw new Error(
          `stream ${id} got byte ${sent.bodyBytes + i} wrong: ${toHex(payload.subarray(i, i + 4))}`,
        );
      }
    }
    sent.bodyBytes += payload.length;
  }

  // ---- of its own accord

  act(): void {
    const { connection, role } = this.#talk;
    if (this.#talk.isOver) return;
    const stream = this.#any();
    const act = this.#draws.weighted<() => void>([
      [6, () => stream !== undefined && this.#begin(stream)],
      [6, () => this.#grow()],
      [role === "client" ? 8 : 0, () => this.#open()],
      [role === "client" ? 0.2 : 0, () => this.#openMany()],
      [3, () => stream !== undefined && this.#consume(stream)],
      [1.5, () => stream !== undefined && this.#reset(stream)],
      [role === "server" ? 1 : 0, () => stream !== undefined && this.#final(stream)],
      [2, () => connection.drained()],
      [0.5, () => this.#pause(!this.#isPaused)],
      [0.5, () => this.#ping()],
      [0.2, () => this.#drain()],
      [0.1, () => this.#finishDrain()],
      [0.05, () => this.#end()],
    ]);
    act();
    this.#talk.harvest();
  }

  /** All that is begun is brought to its end, as far as it is for the owner to do. */
  finish(): void {
    this.#pause(false);
    for (const script of this.#scripts) if (!script.log.ended) this.#append(script, true);
    for (const stream of this.#live()) this.#consume(stream, true);
    this.#talk.harvest();
  }

  /** Where both windows are open all of the log has gone out. */
  checkNothingWaits(): void {
    const { state } = this.#talk;
    for (const stream of this.#live()) {
      const { script } = this.#sentOn(stream.id);
      if (script === undefined || stream.localEnded) continue;
      const isOpen = state.sendWindow > 0 && state.live(stream.id)!.sendWindow > 0;
      const where = `stream ${stream.id} is stuck at ${stream.position} of ${script.log.end}`;
      assert(!isOpen || stream.position === script.log.end && !script.log.ended, where);
    }
  }

  /** Our side ends every stream that is left. */
  resetAll(): void {
    for (const stream of this.#live()) this.#reset(stream);
    this.#talk.harvest();
  }

  #live(): Stream<unknown>[] {
    return [...this.#talk.connection.streams()];
  }

  #any(): Stream<unknown> | undefined {
    const live = this.#live().filter(({ id }) => this.#talk.met.has(id));
    return live.length === 0 ? undefined : this.#draws.pick(live);
  }

  #sentOn(id: number): Sent {
    let sent = this.#sent.get(id);
    if (sent === undefined) {
      sent = { script: undefined, heads: 0, bodyBytes: 0, due: undefined, heldBytes: 0 };
      this.#sent.set(id, sent);
    }
    return sent;
  }

  /** Relays a log on the stream: its own, one that others read too, or a new one. */
  #begin(stream: Stream<unknown>): void {
    if (stream.localEnded) return;
    const sent = this.#sentOn(stream.id);
    if (sent.script === undefined) {
      const open = this.#scripts.filter(({ isSealed }) => !isSealed);
      sent.script = open.length > 0 && this.#draws.chance(0.5)
        ? this.#draws.pick(open)
        : this.#newScript();
      sent.script.readers.add(stream);
    }
    this.#draws.note(`relay on ${stream.id}`);
    this.#talk.connection.relay(stream, sent.script.log);
  }

  #newScript(): Script {
    const script = new Script();
    this.#scripts.push(script);
    if (this.#talk.role === "server") {
      const long: Pairs = this.#draws.chance(0.05) ? [["x-long", LONG_VALUE]] : [];
      script.head([...RESPONSE, ...long], false);
    }
    while (!script.log.ended && this.#draws.chance(0.7)) {
      this.#append(script, this.#draws.chance(0.5));
    }
    return script;
  }

  #append(script: Script, ends: boolean): void {
    const { role } = this.#talk;
    const length = script.bodyBytes > MOST_LOG_BYTES ? 0 : this.#draws.small(MOST_BYTES);
    if (role === "client") script.data(length, ends);
    else if (ends) script.head(TRAILERS, true);
    else script.data(length, false);
    this.#draws.note(`a log grows by ${length}${ends ? " and ends" : ""}`);
    for (const stream of script.readers) {
      if (!stream.closed) this.#talk.connection.relay(stream, script.log);
    }
  }

  #grow(): void {
    const growing = this.#scripts.filter(({ log }) => !log.ended);
    const draws = this.#draws;
    if (growing.length > 0) this.#append(draws.pick(growing), draws.chance(0.3));
    if (this.#scripts.length > 0 && draws.chance(0.3)) this.#slide(draws.pick(this.#scripts));
  }

  /** Nobody new may read it from here on, and what all have read is let go. */
  #slide(script: Script): void {
    script.isSealed = true;
    const live = [...script.readers].filter((stream) => !stream.localEnded);
    const slowest = Math.min(script.log.end, ...live.map(({ position }) => position));
    this.#draws.note(`a log is dropped before ${slowest} of ${script.log.end}`);
    script.log.dropBefore(slowest);
    if (live.length === 0 && script.log.ended && this.#draws.chance(0.5)) script.log.clear();
  }

  #open(): void {
    const { connection, cache, met } = this.#talk;
    if (!connection.canOpen) return;
    const draws = this.#draws;
    const fields: Pairs = [
      [":method", "POST"],
      [":scheme", "http"],
      [":path", draws.pick(PATHS)],
      ["te", "trailers"],
      [`x-${draws.below(5)}`, `${draws.below(40)}`],
      ...draws.chance(0.03) ? [["x-long", LONG_VALUE] as const] : [],
    ];
    const extra: Pairs = draws.chance(0.3) ? [["grpc-timeout", `${draws.below(99)}S`]] : [];
    const endStream = draws.chance(0.4);
    const stream = connection.openStream(cache.list(fields), {
      extra: extra.map(([name, value]) => new Field(name, value, { perCall: true })),
      endStream,
    });
    draws.note(`open ${stream.id}${endStream ? ", ended" : ""}`);
    met.set(stream.id, stream);
    this.#sentOn(stream.id).due = [...fields, ...extra];
    if (!endStream && draws.chance(0.6)) this.#begin(stream);
  }

  #openMany(): void {
    for (let left = this.#draws.between(5, 60); left > 0; left--) this.#open();
  }

  #final(stream: Stream<unknown>): void {
    if (stream.localEnded) return;
    const isBegun = this.#talk.state.streams.get(stream.id)!.headsOut > 0;
    const fields: Pairs = isBegun ? TRAILERS : [...RESPONSE, ...TRAILERS];
    this.#sentOn(stream.id).due = fields;
    this.#draws.note(`final headers on ${stream.id}`);
    this.#talk.connection.sendFinalHeaders(
      stream,
      fields.map(([name, value]) => new Field(name, value)),
      { readsOn: this.#draws.chance(0.4) },
    );
  }

  #consume(stream: Stream<unknown>, isAll = false): void {
    const sent = this.#sentOn(stream.id);
    const isPart = !isAll && this.#draws.chance(0.3);
    const bytes = isPart ? this.#draws.below(sent.heldBytes + 1) : sent.heldBytes;
    sent.heldBytes -= bytes;
    this.#talk.connection.consumed(stream, bytes);
  }

  #reset(stream: Stream<unknown>): void {
    this.#draws.note(`reset ${stream.id}`);
    this.#talk.connection.reset(stream, ERROR_CODE.cancel);
  }

  #pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#draws.note(isPaused ? "pause" : "no pause");
    this.#talk.connection.pauseData(isPaused);
  }

  #ping(): void {
    const opaque = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, ++this.#pings);
    this.#talk.check.pingsDue.push(toHex(opaque));
    this.#talk.connection.ping(opaque);
  }

  #drain(): void {
    this.#draws.note("drain");
    this.#talk.connection.drain();
  }

  #finishDrain(): void {
    this.#draws.note("the drain is finished");
    this.#talk.connection.finishDrain();
  }

  #end(): void {
    this.#draws.note("the owner ends the connection");
    this.#talk.endedByUs = true;
    this.#talk.connection.fail(ERROR_CODE.internalError, "the owner wished it");
  }
}
