import type { Connection, Stream } from "../../lib/connection/mod.ts";
import {
  encodeGrpcMessage,
  frameMessage,
  healthReply,
  parseTimeout,
  STATUS,
} from "../../lib/grpc/mod.ts";
import {
  encodeStateless,
  ERROR_CODE,
  Field,
  FrameLog,
  type HeaderList,
} from "../../lib/wire/mod.ts";
import {
  BACKENDS_WORD,
  difference,
  failureText,
  keyIn,
  type Kind,
  METHODS,
  ownerOf,
  type Plan,
  planOf,
  replyMessage,
  requestMessage,
  SHARD_HEADER,
  TENANT_HEADER,
} from "./content.ts";
import { MessageReader } from "./message_reader.ts";
import type { Place } from "./place.ts";

const HEALTH = "/grpc.health.v1.Health/Check";

/** The connection that a call came on. */
export interface ServedOn {
  readonly connection: Connection<ServedCall>;
  readonly refused: Set<string>;
  readonly place: Place;
  /** Resolves when the backend does anything at all. */
  awake(): Promise<void>;
  /** Before a call's last reply, or its end where replies follow requests. */
  atGate?(): Promise<void>;
  flushSoon(): void;
  closeWhenIdle(): void;
}

/** A call at the backend: every message of the request is checked, and what its key plans is done. */
export class ServedCall {
  readonly #session: ServedOn;
  readonly #stream: Stream<ServedCall>;
  readonly #kind: Kind | undefined;
  readonly #owner: string;
  readonly #log = new FrameLog();
  readonly #reader = new MessageReader((message, index) => this.#message(message, index));
  /** What is done one after another, with pauses between. */
  #steps: Promise<void> = Promise.resolve();
  #over = false;
  #key = "";
  #plan: Plan | undefined = undefined;
  #damage: string | undefined = undefined;
  readonly #asksHealth: boolean;
  #deadline: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(
    session: ServedOn,
    stream: Stream<ServedCall>,
    head: { list: HeaderList; perCall: readonly Field[] },
  ) {
    this.#session = session;
    this.#stream = stream;
    const path = head.list.get(":path");
    this.#kind = Object.values(METHODS).find((method) => method.path === path)?.kind;
    const shard = head.list.get(SHARD_HEADER) ?? "";
    this.#owner = ownerOf({ tenant: head.list.get(TENANT_HEADER) ?? "", shard });
    if (!session.place.takes(shard)) this.#damage = `it is for shard ${shard}`;
    this.#asksHealth = path === HEALTH;
    const timeout = head.perCall.find(({ name }) => name === "grpc-timeout");
    if (timeout === undefined) return;
    this.#deadline = setTimeout(
      () => {
        void session.awake().then(() =>
          this.#end(STATUS.deadlineExceeded, `${BACKENDS_WORD} ${timeout.value}`)
        );
      },
      Math.ceil(parseTimeout(timeout.value)),
    );
  }

  receive(bytes: Uint8Array, from: number, to: number): void {
    if (!this.#over) this.#reader.push(bytes, from, to);
  }

  requestEnded(): void {
    if (this.#over) return;
    if (this.#asksHealth) return this.#answerHealth();
    const plan = this.#plan;
    if (this.#reader.isPartial || plan === undefined) this.#damage ??= "no whole message";
    else if (this.#reader.count !== plan.requests.length) {
      this.#damage ??= `${this.#reader.count} messages in place of ${plan.requests.length}`;
    }
    if (this.#damage !== undefined || plan === undefined) {
      return this.#end(STATUS.internal, `the request is damaged: ${this.#damage}`);
    }
    if (plan.ending.how === "refused once" && this.#refuse()) return;
    if (this.#kind !== "bidi") {
      for (const index of plan.replies.keys()) {
        if (index + 1 === plan.replies.length) this.#passGate();
        this.#then(index === 0 ? plan.delayMs : plan.gapMs, () => this.#reply(index));
      }
      if (plan.replies.length === 0) this.#then(plan.delayMs, () => {});
    }
    if (this.#kind === "bidi" || plan.replies.length === 0) this.#passGate();
    this.#then(0, () => this.#conclude(plan));
  }

  /** Nobody waits any more. */
  cancel(): void {
    this.#over = true;
    clearTimeout(this.#deadline);
  }

  relay(): void {
    this.#session.connection.relay(this.#stream, this.#log);
    this.#session.flushSoon();
  }

  /** Some keep health, and some do not: a call must show then that they are well. */
  #answerHealth(): void {
    if (!this.#session.place.keepsHealth) {
      return this.#then(0, () => this.#end(STATUS.unimplemented, "no health here"));
    }
    this.#then(0, () => {
      this.#begin();
      const framed = frameMessage(healthReply(true));
      this.#log.appendData(framed, 0, framed.length);
      this.#end(STATUS.ok, "");
    });
  }

  #message(message: Uint8Array, index: number): void {
    if (this.#asksHealth) return;
    if (index === 0) {
      const key = keyIn(message);
      if (key === undefined) return void (this.#damage ??= "no key");
      this.#key = key;
      this.#plan = planOf(key);
    }
    const plan = this.#plan;
    if (plan === undefined || this.#damage !== undefined) return;
    if (index >= plan.requests.length) return void (this.#damage = "too many messages");
    const wrong = difference(message, requestMessage(this.#key, index));
    if (wrong !== undefined) {
      return void (this.#damage = `message ${index} of ${this.#key}: ${wrong}`);
    }
    if (this.#kind !== "bidi") return;
    this.#then(index === 0 ? plan.delayMs : plan.gapMs, () => this.#reply(index));
  }

  #passGate(): void {
    this.#steps = this.#steps.then(() => this.#over ? undefined : this.#session.atGate?.());
  }

  #then(afterMs: number, step: () => void): void {
    this.#steps = this.#steps.then(async () => {
      if (this.#over) return;
      await this.#session.awake();
      if (afterMs > 0) await new Promise((resume) => setTimeout(resume, afterMs));
      if (!this.#over) step();
    });
  }

  #reply(index: number): void {
    this.#begin();
    const plan = this.#plan!;
    if (index >= plan.replies.length) return;
    const message = replyMessage({ key: this.#key, owner: this.#owner, plan, index });
    const framed = frameMessage(message);
    this.#log.appendData(framed, 0, framed.length);
    this.relay();
  }

  #begin(): void {
    if (this.#log.end === 0) this.#log.appendHeaders(encodeStateless(this.#head), false);
  }

  get #head(): Field[] {
    const fields = [new Field(":status", "200"), new Field("content-type", "application/grpc")];
    if (this.#plan?.isPrivate) fields.push(new Field("cache-control", "private"));
    return fields;
  }

  /** Turns it away the first time. */
  #refuse(): boolean {
    const { refused, place } = this.#session;
    if (refused.delete(this.#key) || !place.refuses(this.#key)) return false;
    refused.add(this.#key);
    this.#reset(ERROR_CODE.refusedStream);
    return true;
  }

  #conclude({ ending }: Plan): void {
    if (ending.how === "reset") this.#reset(ending.code);
    else if (ending.how === "status") {
      this.#end(ending.status, failureText(this.#key, this.#owner));
    } else this.#end(STATUS.ok, "");
  }

  #reset(code: number): void {
    this.cancel();
    this.#session.connection.reset(this.#stream, code);
    this.#session.flushSoon();
    this.#session.closeWhenIdle();
  }

  #end(status: number, text: string): void {
    if (this.#over) return;
    this.cancel();
    const fields = this.#log.end === 0 ? this.#head : [];
    fields.push(new Field("grpc-status", String(status)));
    if (text !== "") fields.push(new Field("grpc-message", encodeGrpcMessage(text)));
    this.#log.appendHeaders(encodeStateless(fields), true);
    this.relay();
    this.#session.closeWhenIdle();
  }
}
