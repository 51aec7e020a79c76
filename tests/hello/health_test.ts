import { Metadata, status } from "@grpc/grpc-js";
import { assertEquals } from "@std/assert";
import { readFields, Writer } from "../../lib/hello/protobuf_bytes.ts";
import { type HelloClient, helloPair, outcomeOf } from "./hello_client.ts";

const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";

Deno.test("Health says that the server and its service are serving, until told otherwise", async () => {
  using pair = await helloPair();
  for (const service of ["", "hello.v1.Hello"]) {
    pair.backend.setServing(true);
    assertEquals(await check(pair.client, service), { replies: [1], code: 0 });
    pair.backend.setServing(false);
    assertEquals(await check(pair.client, service), { replies: [2], code: 0 });
  }
});

Deno.test("Health does not know other services", async () => {
  using pair = await helloPair();
  const answer = await check(pair.client, "hello.v1.Other");
  assertEquals(answer, { replies: [], code: status.NOT_FOUND });
});

Deno.test("Health tells those who watch about each change, once", async () => {
  using pair = await helloPair();
  const watch = openWatch(pair.client, "hello.v1.Hello");
  assertEquals(await watch.next(), 1);
  pair.backend.setServing(true); // no change
  pair.backend.setServing(false);
  assertEquals(await watch.next(), 2);
  pair.backend.setServing(true);
  assertEquals(await watch.next(), 1);
  await watch.cancel();
});

Deno.test("Health keeps a watch on an unknown service open, and silent", async () => {
  using pair = await helloPair();
  const watch = openWatch(pair.client, "other");
  assertEquals(await watch.next(), 3);
  pair.backend.setServing(false);
  assertEquals((await check(pair.client, "")).replies, [2]);
  assertEquals((await watch.cancel()).replies, [3]);
});

async function check(client: HelloClient, service: string) {
  const { replies, status } = await client.askRaw(CHECK, question(service), {
    decode: servingStatus,
  });
  return { replies, code: status.code };
}

function openWatch(client: HelloClient, service: string) {
  const call = client.makeServerStreamRequest(
    WATCH,
    (bytes) => bytes,
    servingStatus,
    question(service),
    new Metadata(),
  );
  const outcome = outcomeOf<number>(call);
  const statuses: number[] = [];
  let wake = () => {};
  call.on("data", (status: number) => (statuses.push(status), wake()));
  return {
    async next(): Promise<number> {
      if (statuses.length === 0) await new Promise<void>((resolve) => wake = resolve);
      return statuses.shift()!;
    },
    cancel() {
      call.cancel();
      return outcome;
    },
  };
}

function question(service: string) {
  const writer = new Writer();
  writer.text(1, service);
  return Buffer.from(writer.finish());
}

function servingStatus(bytes: Uint8Array): number {
  return readFields(bytes).find((field) => field.number === 1)?.value ?? 0;
}
