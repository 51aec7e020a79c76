import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import { Events } from "../../lib/admin/events.ts";
import { Site } from "../../lib/admin/site.ts";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { ask, clientOf } from "../support/client.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { until, within } from "../support/waiting.ts";
import { holdingTimer } from "../support/held_timer.ts";
import { sourcesOf, withAdmin } from "./support.ts";

const MAX_LISTENERS = 16;
const MAX_MISSED = 10;

/** Someone who listens, and what was heard. */
class Ear implements AsyncDisposable {
  heard = "";
  ended = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #done: Promise<void>;

  constructor(response: Response) {
    this.#reader = response.body!.getReader();
    this.#done = this.#listen();
  }

  static async at(port: number): Promise<Ear> {
    const response = await fetch(`http://127.0.0.1:${port}/api/events`);
    assertEquals([response.status, response.headers.get("content-type")], [
      200,
      "text/event-stream",
    ]);
    return new Ear(response);
  }

  get snapshots(): Record<string, unknown>[] {
    return [...this.heard.matchAll(/^event: snapshot\ndata: (.*)\n\n/gm)].map(([, data]) =>
      JSON.parse(data!)
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel().catch(() => {});
    await this.#done;
  }

  async #listen(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for (let part = await this.#reader.read(); !part.done; part = await this.#reader.read()) {
        this.heard += decoder.decode(part.value, { stream: true });
      }
    } catch { /* it was let go */ }
    this.ended = true;
  }
}

Deno.test("/api/events begins with the state, and tells it again each second", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  await using ear = await Ear.at(local.sidecar.metricsPort);
  await until(() => ear.snapshots.length >= 3, "three snapshots");
  assertStringIncludes(ear.heard, "retry: 2000\n\n");
  const [first, , third] = ear.snapshots;
  assertEquals(first!.health, { state: "healthy", words: "Healthy: the backend is reachable" });
  assertGreater(Number(third!.atMs), Number(first!.atMs));
  assert(third!.last !== null);
});

Deno.test("/api/history has a sample for each second", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  await using client = await clientOf(local.port);
  await ask(client, HELLO_PATHS.getGreeting);
  await using ear = await Ear.at(local.sidecar.metricsPort);
  await until(() => ear.snapshots.length >= 3, "three snapshots");
  const samples = JSON.parse((await local.ask("/api/history")).text);
  assertGreater(samples.length, 1);
  assertGreater(samples[0].calls.led, 0);
  assertGreater(samples[1].atMs, samples[0].atMs);
});

Deno.test("Site takes a sample each second once it is started", () => {
  const site = new Site(sourcesOf([]));
  const { timer } = holdingTimer("setInterval", () => site.start());
  assertEquals(timer.ms, 1_000);
  for (let second = 1; second <= 3; second++) {
    timer.goesOff();
    assertEquals(site.history.samples.length, second);
  }
  site.stop();
});

Deno.test("Site makes one snapshot for all who listen, and none when nobody does", () => {
  const sources = sourcesOf([]);
  let made = 0;
  const site = new Site({
    ...sources,
    readiness() {
      made++;
      return { ready: true, reason: "" };
    },
  });
  for (let i = 0; i < 10; i++) site.tick();
  assertEquals([made, site.history.samples.length], [0, 10]);
  for (let i = 0; i < 3; i++) site.events.listen("{}");
  site.tick();
  assertEquals(made, 1);
  const { now } = performance;
  const nowMs = performance.now();
  performance.now = () => nowMs;
  site.tick();
  for (let i = 0; i < 5; i++) site.snapshot(); // what is fresh is not made again for those who ask
  performance.now = now;
  assertEquals(made, 2);
  site.stop();
});

Deno.test("Events tells all the same, in one line each", async () => {
  const events = new Events();
  await using a = new Ear(events.listen("{}"));
  await using b = new Ear(events.listen("{}"));
  await until(() => a.heard !== "" && b.heard !== "", "the first one");
  events.send('{"n":1}');
  await until(() => a.snapshots.length === 2 && b.snapshots.length === 2, "the second one");
  assertEquals([a.heard, a.snapshots[1]!.n], [b.heard, 1]);
  events.close();
  await until(() => a.ended && b.ended, "the end");
});

Deno.test("Events keeps nothing for one that does not read, and lets it go in the end", async () => {
  const events = new Events();
  const { body } = events.listen("first");
  for (let i = 1; i < MAX_MISSED; i++) events.send(`${i}`);
  assertEquals(events.listeners, 1);
  events.send("last straw");
  assertEquals(events.listeners, 0);
  const reader = body!.getReader();
  assertStringIncludes(new TextDecoder().decode((await reader.read()).value), "first");
  assertEquals((await reader.read()).done, true); // there was no second one
});

Deno.test("Events forgives one that was slow for a while", async () => {
  const events = new Events();
  const { body } = events.listen("first");
  const reader = body!.getReader();
  for (let round = 0; round < 5; round++) {
    for (let i = 1; i < MAX_MISSED; i++) events.send("missed");
    await reader.read();
    events.send("read");
  }
  assertEquals(events.listeners, 1);
  await reader.cancel();
  assertEquals(events.listeners, 0);
});

Deno.test("/api/events takes so many and no more, and one more when one has gone", async () => {
  await withAdmin({}, async ({ admin, ask }) => {
    await using ears = new AsyncDisposableStack();
    const first = await Ear.at(admin.port);
    ears.use(first);
    for (let i = 1; i < MAX_LISTENERS; i++) ears.use(await Ear.at(admin.port));
    const { status, text, headers } = await ask("/api/events");
    assertEquals([status, text], [503, "Too many pages are open\n"]);
    assertEquals(headers.get("retry-after"), "5");
    await first[Symbol.asyncDispose]();
    await until(async () => {
      const response = await fetch(`http://127.0.0.1:${admin.port}/api/events`);
      if (response.status === 200) ears.use(new Ear(response));
      else await response.text();
      return response.status === 200;
    }, "a free place");
  });
});

Deno.test("/api/events lets go of a connection that is not read, once the system holds no more for it", async () => {
  const events = new Events();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => events.listen("{}"),
  );
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
  await socket.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
  await until(() => events.listeners === 1, "a listener");
  const large = "x".repeat(2 ** 20);
  await until(() => {
    events.send(large);
    return events.listeners === 0;
  }, "its end");
  socket.close();
  await server.shutdown();
});

Deno.test("Admin.close ends what is listened to, at once", async () => {
  let ear: Ear | undefined;
  await withAdmin({}, async ({ admin }) => {
    ear = await Ear.at(admin.port);
    // The second that a client which does not read would be given never passes.
    const { given: closed, timer } = holdingTimer("setTimeout", () => admin.close());
    await within(closed, "the end of the listener").finally(timer.goesOff);
    await until(() => ear!.ended, "the end of the stream");
  });
  await ear![Symbol.asyncDispose]();
});
