import { assertEquals, assertGreater, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { listen, type Socket } from "../../lib/transport/mod.ts";
import { settle } from "./pump_fixture.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };

/** How long accepting rests after it failed. */
const ACCEPT_RETRY_MS = 50;

function noTrouble(error: Error): void {
  throw error;
}

Deno.test("listen hands over connections and says where it listens", async () => {
  const { socket, promise } = nextSocket();
  const listening = listen(LOOPBACK, socket, noTrouble);
  assertEquals(listening.hostname, "127.0.0.1");
  assertGreater(listening.port, 0);
  using client = await Deno.connect({ ...LOOPBACK, port: listening.port });
  const accepted = await promise;
  await accepted.write(Uint8Array.of(1, 2, 3));
  const bytes = new Uint8Array(10);
  assertEquals(await client.read(bytes), 3);
  assertEquals(bytes.subarray(0, 3), Uint8Array.of(1, 2, 3));
  accepted.close();
  listening.close();
});

Deno.test("listen says who connected", async () => {
  const remotes: string[] = [];
  using _fake = new FakeListen([new FakeTcpConn()]);
  const listening = listen(LOOPBACK, (_, remote) => remotes.push(remote), noTrouble);
  await settle();
  assertEquals(remotes, ["10.0.0.9:4711"]);
  listening.close();
});

Deno.test("listen takes many connections that come at once", async () => {
  const accepted: Socket[] = [];
  const listening = listen(LOOPBACK, (socket) => accepted.push(socket), noTrouble);
  const address = { ...LOOPBACK, port: listening.port };
  const clients = await Promise.all(Array.from({ length: 50 }, () => Deno.connect(address)));
  for (const client of clients) client.close();
  while (accepted.length < clients.length) await turnOfTheLoop();
  for (const socket of accepted) socket.close();
  listening.close();
});

Deno.test("listen switches Nagle's algorithm off and keepalive on before a connection is handed over", async () => {
  using socket = new FakeTcpConn();
  const seen: boolean[] = [];
  using fake = new FakeListen([socket]);
  const listening = listen(LOOPBACK, (conn) => {
    seen.push(asFake(conn).noDelay, asFake(conn).keepsAlive);
  }, noTrouble);
  await settle();
  assertEquals(seen, [true, true]);
  assertEquals(fake.asked, [LOOPBACK]);
  listening.close();
});

Deno.test("Listening.close stops accepting and leaves connections alone", async () => {
  const { socket, promise } = nextSocket();
  const listening = listen(LOOPBACK, socket, noTrouble);
  const address = { ...LOOPBACK, port: listening.port };
  using client = await Deno.connect(address);
  const accepted = await promise;
  listening.close();
  await turnOfTheLoop(); // the accept that waits lets go of the listener
  await assertRejects(() => Deno.connect(address), Deno.errors.ConnectionRefused);
  await client.write(Uint8Array.of(9));
  assertEquals(await accepted.read(new Uint8Array(4)), 1);
  accepted.close();
});

Deno.test("listen throws what the system says when the address is taken", () => {
  const listening = listen(LOOPBACK, () => {}, noTrouble);
  assertThrows(
    () => listen({ ...LOOPBACK, port: listening.port }, () => {}, noTrouble),
    Deno.errors.AddrInUse,
  );
  listening.close();
});

Deno.test("listen goes on after trouble, once it has let the descriptors be for a while", async () => {
  using time = new FakeTime();
  const accepted: Socket[] = [];
  const troubles: string[] = [];
  using first = new FakeTcpConn();
  using second = new FakeTcpConn();
  using _fake = new FakeListen([new Error("EMFILE"), first, "odd", second]);
  const listening = listen(
    LOOPBACK,
    (socket) => accepted.push(socket),
    (error) => troubles.push(error.message),
  );
  await settle();
  time.tick(ACCEPT_RETRY_MS - 1);
  await settle();
  assertEquals([troubles.length, accepted.length], [1, 0]);
  time.tick(1);
  await settle();
  assertEquals([troubles.length, accepted.length], [2, 1]);
  time.tick(ACCEPT_RETRY_MS);
  await settle();
  assertEquals(troubles, ["EMFILE", "odd"]);
  assertEquals(accepted.map(asFake), [first, second]);
  listening.close();
});

Deno.test("listen closes a connection that is gone already, and goes on", async () => {
  using gone = new FakeTcpConn({ isGone: true });
  using next = new FakeTcpConn();
  using _fake = new FakeListen([gone, next]);
  const accepted: Socket[] = [];
  const troubles: string[] = [];
  const listening = listen(
    LOOPBACK,
    (socket) => accepted.push(socket),
    (error) => troubles.push(error.message),
  );
  await settle();
  assertEquals(accepted.map(asFake), [next]);
  assertEquals([gone.isClosed, troubles.length], [true, 1]);
  listening.close();
});

Deno.test("listen passes at once, and in silence, over connections that were reset before it looked", async () => {
  using next = new FakeTcpConn();
  const { NotConnected, ConnectionReset, ConnectionAborted } = Deno.errors;
  using _fake = new FakeListen([
    new NotConnected("Transport endpoint is not connected (os error 107)"),
    new ConnectionReset("Connection reset by peer (os error 104)"),
    new ConnectionAborted("Software caused connection abort (os error 103)"),
    next,
  ]);
  const accepted: Socket[] = [];
  const listening = listen(LOOPBACK, (socket) => accepted.push(socket), noTrouble);
  await settle();
  assertEquals(accepted.map(asFake), [next]);
  listening.close();
});

Deno.test("listen on :: takes IPv4 alone where IPv6 is switched off", () => {
  for (
    const message of [
      "Address family not supported by protocol (os error 97)",
      "EAFNOSUPPORT: address family not supported by protocol",
    ]
  ) {
    using fake = new FakeListen([], (hostname) => {
      if (hostname === "::") throw new Error(message);
    });
    const listening = listen({ hostname: "::", port: 5 }, () => {}, noTrouble);
    assertEquals(fake.asked.map(({ hostname }) => hostname), ["::", "0.0.0.0"]);
    assertEquals(fake.asked[1]?.port, 5);
    listening.close();
  }
});

Deno.test("listen on another address than :: takes no other in its place", () => {
  using fake = new FakeListen([], () => {
    throw new Error("Address family not supported by protocol (os error 97)");
  });
  assertThrows(
    () => listen({ hostname: "::1", port: 0 }, () => {}, noTrouble),
    Error,
    "not supported",
  );
  assertEquals(fake.asked.length, 1);
});

Deno.test("listen on :: throws what has nothing to do with IPv6", () => {
  using fake = new FakeListen([], () => {
    throw new Deno.errors.AddrInUse("Address already in use (os error 98)");
  });
  assertThrows(
    () => listen({ hostname: "::", port: 0 }, () => {}, noTrouble),
    Deno.errors.AddrInUse,
  );
  assertEquals(fake.asked.length, 1);
});

/** A callback and the first socket that it is given. */
function nextSocket(): {
  socket: (socket: Socket) => void;
  promise: Promise<Socket>;
} {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  return { socket: resolve, promise };
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** As much of a connection as `listen` touches. */
class FakeTcpConn {
  readonly remoteAddr = { transport: "tcp", hostname: "10.0.0.9", port: 4711 };
  noDelay = false;
  keepsAlive = false;
  isClosed = false;
  #isGone: boolean;

  constructor({ isGone = false } = {}) {
    this.#isGone = isGone;
  }

  setNoDelay(noDelay = true): void {
    if (this.#isGone) throw new Error("Invalid argument (os error 22)");
    this.noDelay = noDelay;
  }

  setKeepAlive(keepsAlive = true): void {
    this.keepsAlive = keepsAlive;
  }

  close(): void {
    this.isClosed = true;
  }

  [Symbol.dispose](): void {}
}

function asFake(socket: Socket): FakeTcpConn {
  return socket as unknown as FakeTcpConn;
}

/** Puts a listener in place of the system's that accepts or fails as it is told, and then waits. */
class FakeListen {
  readonly asked: { hostname: string; port: number }[] = [];
  #real = Deno.listen;
  #interrupt: (error: Error) => void = () => {};

  constructor(
    events: (FakeTcpConn | Error | string)[],
    refuse: (hostname: string) => void = () => {},
  ) {
    const left = [...events];
    const accept = () => {
      const next = left.shift();
      if (next instanceof FakeTcpConn) return Promise.resolve(next);
      if (next !== undefined) return Promise.reject(next);
      return new Promise((_, reject) => this.#interrupt = reject);
    };
    const listener = {
      addr: { transport: "tcp", hostname: "fake", port: 1 },
      accept,
      close: () => this.#interrupt(new Deno.errors.BadResource("Bad resource ID")),
    };
    Deno.listen = ((address: { hostname: string; port: number }) => {
      this.asked.push(address);
      refuse(address.hostname);
      return listener;
    }) as unknown as typeof Deno.listen;
  }

  [Symbol.dispose](): void {
    Deno.listen = this.#real;
  }
}
