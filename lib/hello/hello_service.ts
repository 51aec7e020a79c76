import type { CallLedger } from "./call_ledger.ts";
import {
  failureOf,
  greet,
  type ReceivedRequest,
  refusalOf,
  type Reply,
  wishesOf,
} from "./greeting.ts";
import type {
  sendUnaryData,
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from "./grpc.ts";
import { Visit } from "./visit.ts";

/** What every handler works with. */
interface Desk {
  readonly ledger: CallLedger;
  readonly delayMs: number;
  readonly serialize: (reply: Reply) => Uint8Array;
}

type UnaryCall = ServerUnaryCall<ReceivedRequest, Reply>;
type UploadCall = ServerReadableStream<ReceivedRequest, Reply>;
type ListCall = ServerWritableStream<ReceivedRequest, Reply>;
type ChatCall = ServerDuplexStream<ReceivedRequest, Reply>;

/** One call and all that it takes to answer it. */
interface Turn<Call = UnaryCall | UploadCall | ListCall | ChatCall> {
  readonly desk: Desk;
  readonly call: Call;
  readonly visit: Visit;
}

/** What one greeting is made from. */
interface Words {
  readonly request: ReceivedRequest;
  readonly sequence: number;
  readonly text?: string;
}

/** Stands in where a stream of requests has ended without one that decides. */
const NOBODY: ReceivedRequest = {
  name: "",
  replyBytes: 0,
  echoMetadata: [],
  failWith: null,
  intervalMs: 0,
};

/** The methods of hello.v1.Hello; `delayMs` is how long they take when the request does not say. */
export function helloHandlers(
  definition: ServiceDefinition,
  options: { ledger: CallLedger; delayMs: number },
): UntypedServiceImplementation {
  // The five methods share one reply type, so any of their serializers does.
  const desk: Desk = { ...options, serialize: definition.GetGreeting!.responseSerialize };
  const one = (call: UnaryCall, done: sendUnaryData<Reply>) => answerOne(begin(desk, call), done);
  return {
    GetGreeting: one,
    CreateGreeting: one,
    ListGreetings: (call: ListCall) => answerWithMany(begin(desk, call)),
    UploadGreetings: (call: UploadCall, done: sendUnaryData<Reply>) =>
      answerUpload(begin(desk, call), done),
    Chat: (call: ChatCall) => answerChat(begin(desk, call)),
  };
}

function begin<Call extends UnaryCall | UploadCall | ListCall | ChatCall>(
  desk: Desk,
  call: Call,
): Turn<Call> {
  return { desk, call, visit: new Visit(desk.ledger, { path: call.getPath(), call }) };
}

async function answerOne(turn: Turn<UnaryCall>, done: sendUnaryData<Reply>): Promise<void> {
  const { request } = turn.call;
  await turn.visit.pause(wishesOf(request, turn.desk.delayMs).delayMs);
  finishOne(turn, { request, sequence: 1, done });
}

async function answerUpload(turn: Turn<UploadCall>, done: sendUnaryData<Reply>): Promise<void> {
  let first: ReceivedRequest | undefined;
  let count = 0;
  for await (const request of requestsOf(turn)) {
    first ??= request;
    count++;
  }
  const request = first ?? NOBODY;
  await turn.visit.pause(wishesOf(request, turn.desk.delayMs).delayMs);
  const text = count > 1 ? `Hello, ${request.name} and ${count - 1} more` : undefined;
  finishOne(turn, { request, sequence: count, done, ...(text && { text }) });
}

async function answerWithMany(turn: Turn<ListCall>): Promise<void> {
  const { visit, call, desk } = turn;
  const { request } = call;
  const { delayMs, intervalMs, count } = wishesOf(request, desk.delayMs);
  for (let sequence = 1; sequence <= count; sequence++) {
    if (!await visit.pause(sequence === 1 ? delayMs : intervalMs)) return;
    if (sequence === 1) call.sendMetadata(visit.head);
    await send(turn, { request, sequence });
  }
  finishMany(turn, request);
}

async function answerChat(turn: Turn<ChatCall>): Promise<void> {
  const { visit, call, desk } = turn;
  // A caller may wait for the head before it says its first word.
  call.sendMetadata(visit.head);
  let sequence = 0;
  let last = NOBODY;
  for await (const request of requestsOf(turn)) {
    if (!await visit.pause(wishesOf(request, desk.delayMs).delayMs)) return;
    if (refusalOf(request) === undefined) await send(turn, { request, sequence: ++sequence });
    if (failureOf(request, visit) !== undefined) {
      last = request;
      break;
    }
  }
  finishMany(turn, last);
}

/** The one answer of a call that has one. */
function finishOne(
  turn: Turn<UnaryCall | UploadCall>,
  answer: Words & { done: sendUnaryData<Reply> },
): void {
  const { call, visit } = turn;
  if (!visit.open) return;
  const failure = failureOf(answer.request, visit);
  call.sendMetadata(visit.head);
  if (failure !== undefined) answer.done(failure);
  else answer.done(null, replyTo(turn, answer), visit.trailers);
  visit.end();
}

/** The end of an answer that is a stream. */
function finishMany(turn: Turn<ListCall | ChatCall>, request: ReceivedRequest): void {
  const { call, visit } = turn;
  if (!visit.open) return;
  const failure = failureOf(request, visit);
  if (failure !== undefined) call.emit("error", failure);
  else call.end(visit.trailers);
  visit.end();
}

/** Writes one message and waits while the caller is slower than we are. */
async function send(turn: Turn<ListCall | ChatCall>, words: Words): Promise<void> {
  if (!turn.call.write(replyTo(turn, words))) await turn.visit.drained(turn.call);
}

function replyTo({ call, visit, desk }: Turn, { request, sequence, text }: Words): Reply {
  const { serialize } = desk;
  const options = { from: visit.number, sequence, serialize, ...(text && { text }) };
  return greet(call, request, options);
}

/** The messages of a call; they end early, and quietly, when its caller goes. */
async function* requestsOf(
  { call, visit }: Turn<UploadCall | ChatCall>,
): AsyncGenerator<ReceivedRequest> {
  try {
    // Whoever stops reading has yet to send a status, which destroying the call would take with it.
    yield* call.iterator({ destroyOnReturn: false });
  } catch (error) {
    // grpc-js destroys the stream of a call that is cancelled, or whose message cannot be read.
    if (visit.open) throw error;
  }
}
