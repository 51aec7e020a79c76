import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { addressName, dialPlain, dialTcp, listen, type Socket } from "../../lib/transport/mod.ts";
import { settle } from "./pump_fixture.ts";

const TIMEOUT = { timeoutMs: 5_000 };

Deno.test("dialTcp opens a socket that moves bytes both ways", async () => {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const listening = listen({ hostname: "127.0.0.1", port: 0 }, resolve, (error) => {
    throw error;
  });
  const socket = await dialTcp({ host: "127.0.0.1", port: listening.port }, TIMEOUT);
  const accepted = await promise;
  const bytes = new Uint8Array(8);
  await socket.write(Uint8Array.of(1, 2));
  assertEquals(await accepted.read(bytes), 2);
  await accepted.write(Uint8Array.of(3, 4, 5));
  assertEquals(await socket.read(bytes), 3);
  assertEquals(bytes.subarray(0, 3), Uint8Array.of(3, 4, 5));
  socket.close();
  assertEquals(await accepted.read(bytes), null);
  accepted.close();
  listening.close();
});

Deno.test("dialTcp rejects with what the system says when nobody listens, and leaves no timer", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close(); // so that the port is surely free
  await assertRejects(
    () => dialTcp({ host: "127.0.0.1", port }, TIMEOUT),
    Deno.errors.ConnectionRefused,
  );
});

Deno.test("dialTcp switches Nagle's algorithm off", async () => {
  const socket = {
    noDelay: false,
    setNoDelay(noDelay: boolean): void {
      this.noDelay = noDelay;
    },
  };
  using fake = new FakeConnect(() => Promise.resolve(socket));
  const dialled: unknown = await dialTcp({ host: "backend", port: 9 }, TIMEOUT);
  assertStrictEquals(dialled, socket);
  assert(socket.noDelay);
  assertEquals(fake.asked, [{ hostname: "backend", port: 9 }]);
});

Deno.test("dialTcp gives up with a TimeoutError when the time is over, and not before", async () => {
  using time = new FakeTime();
  using _fake = new FakeConnect((signal) =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason), { once: true })
    )
  );
  let failure: unknown;
  const dialling = dialTcp({ host: "backend", port: 9 }, { timeoutMs: 200 })
    .catch((error) => failure = error);
  time.tick(199);
  await settle();
  assertEquals(failure, undefined);
  time.tick(1);
  await dialling;
  assert(failure instanceof DOMException);
  assertEquals(failure.name, "TimeoutError");
});

Deno.test("dialTcp has no timer left once it is connected", async () => {
  using time = new FakeTime();
  let aborted = false;
  using _fake = new FakeConnect((signal) => {
    signal.addEventListener("abort", () => aborted = true);
    return Promise.resolve({ setNoDelay() {} });
  });
  await dialTcp({ host: "backend", port: 9 }, { timeoutMs: 200 });
  time.tick(1_000);
  assertEquals(aborted, false);
});

Deno.test("dialPlain is TCP for an address without a path", async () => {
  using fake = new FakeConnect(() => Promise.resolve({ setNoDelay() {} }));
  await dialPlain({ host: "backend", port: 9 }, TIMEOUT);
  assertEquals(fake.asked, [{ hostname: "backend", port: 9 }]);
});

Deno.test("addressName puts an address in words", () => {
  assertEquals(addressName({ host: "db", port: 9 }), "db:9");
  assertEquals(addressName({ host: "::1", port: 9 }), "[::1]:9");
  assertEquals(addressName({ host: "", port: 0, path: "/run/db.sock" }), "unix:/run/db.sock");
});

/** Stands in for the system's connecting. */
class FakeConnect {
  readonly asked: { hostname: string; port: number }[] = [];
  #real = Deno.connect;

  constructor(connect: (signal: AbortSignal) => Promise<unknown>) {
    Deno.connect = ((options: { hostname: string; port: number; signal: AbortSignal }) => {
      const { hostname, port, signal } = options;
      this.asked.push({ hostname, port });
      return connect(signal);
    }) as unknown as typeof Deno.connect;
  }

  [Symbol.dispose](): void {
    Deno.connect = this.#real;
  }
}
