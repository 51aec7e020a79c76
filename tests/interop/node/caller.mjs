// A grpc-js client on Node that does what it is told on standard input, one JSON object a line, and says on standard
// output what it saw. See caller/main.go, which does the same with grpc-go.
import { Buffer } from "node:buffer";
import process from "node:process";
import { createInterface } from "node:readline";
import { Client, compressionAlgorithms, credentials, Metadata } from "@grpc/grpc-js";

const address = process.argv.at(-1);
const plain = clientOf({});
const pressing = clientOf({
  "grpc.default_compression_algorithm": compressionAlgorithms.gzip,
});

/** Calls under way, by the number that they were given. */
const calls = new Map();

const orders = createInterface({ input: process.stdin });
orders.on("line", (line) => obey(JSON.parse(line)));
// An open connection keeps Node running.
orders.on("close", () => whenQuiet(() => [plain, pressing].forEach((client) => client.close())));

function clientOf(options) {
  return new Client(address, credentials.createInsecure(), {
    "grpc.default_authority": "hello.test",
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.use_local_subchannel_pool": 1,
    // After a restart of the sidecar, what a test waits for is the sidecar.
    "grpc.max_reconnect_backoff_ms": 500,
    ...options,
  });
}

function obey(order) {
  if (order.cancel) {
    calls.get(order.id)?.cancel();
    return;
  }
  const seen = { id: order.id, head: null, messages: [], code: -1, message: "", trailers: null };
  const call = begin(order, (message) => {
    seen.messages.push(message.toString("base64"));
    if (seen.messages.length === order.cancelAfter) call.cancel();
  });
  calls.set(order.id, call);
  call.on("metadata", (head) => seen.head = valuesOf(head));
  call.on("error", () => {}); // the same is in the status
  call.on("status", ({ code, details, metadata }) => {
    seen.code = code;
    seen.message = details;
    seen.trailers = valuesOf(metadata);
    // The message of a call with one reply comes after its status.
    setImmediate(() => {
      calls.delete(order.id);
      process.stdout.write(`${JSON.stringify(seen)}\n`);
    });
  });
}

/** Starts a call of any of the four kinds. */
function begin(order, onMessage) {
  const client = order.gzip ? pressing : plain;
  const { path, kind } = order;
  const messages = order.messages.map((text) => Buffer.from(text, "base64"));
  const asIs = (bytes) => bytes;
  const metadata = metadataOf(order);
  const options = order.deadlineMs ? { deadline: Date.now() + order.deadlineMs } : {};
  const done = (error, reply) => error || onMessage(reply);
  if (kind === "unary") {
    return client.makeUnaryRequest(path, asIs, asIs, messages[0], metadata, options, done);
  }
  if (kind === "server") {
    return client.makeServerStreamRequest(path, asIs, asIs, messages[0], metadata, options)
      .on("data", onMessage);
  }
  const call = kind === "client"
    ? client.makeClientStreamRequest(path, asIs, asIs, metadata, options, done)
    : client.makeBidiStreamRequest(path, asIs, asIs, metadata, options).on("data", onMessage);
  for (const message of messages) call.write(message);
  call.end();
  return call;
}

function metadataOf({ metadata = [] }) {
  const sent = new Metadata();
  for (const [name, value] of metadata) {
    sent.add(name, name.endsWith("-bin") ? Buffer.from(value, "latin1") : value);
  }
  return sent;
}

function valuesOf(metadata) {
  const values = {};
  for (const [name, list] of Object.entries(metadata.toJSON())) {
    values[name] = list.map((value) => Buffer.from(value).toString("base64"));
  }
  return values;
}

function whenQuiet(then) {
  if (calls.size === 0) then();
  else setTimeout(whenQuiet, 10, then);
}
