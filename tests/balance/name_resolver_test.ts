import { assertEquals } from "@std/assert";
import { type BackendEntry, NameResolver } from "../../lib/balance/name_resolver.ts";
import { Timers } from "../../lib/transport/mod.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { pass, untilQuiet } from "../support/quiet.ts";

const FIXED: BackendEntry = { name: "fixed", address: { host: "10.9.9.9", port: 1 } };

function named(host: string, port = 7): BackendEntry {
  return { name: host, address: { host, port }, resolves: true };
}

/** A resolver, names that a test makes up, and what was told of them. */
class Names {
  readonly clock = new FakeClock();
  readonly timers = new Timers(this.clock);
  readonly known = new Map<string, readonly string[] | Error>();
  /** When names were asked for, in seconds from the beginning, and which. */
  readonly asked: string[] = [];
  /** Names of the backends, each time that they were told. */
  readonly told: string[][] = [];
  readonly resolver: NameResolver;
  /** Answers wait until the test lets them come. */
  holds = false;
  #held: (() => void)[] = [];
  #moves = 0;
  #startMs = this.clock.now();

  constructor(...entries: BackendEntry[]) {
    this.resolver = new NameResolver(entries, {
      resolve: (host) => this.#resolve(host),
      timers: this.timers,
      isDown: () => false,
      onChange: (backends) => {
        this.#moves++;
        this.told.push(backends.map(({ name }) => name));
        for (const { name, address } of backends) this.addresses.set(name, address);
      },
    });
  }

  readonly addresses = new Map<string, unknown>();

  async start(): Promise<void> {
    this.resolver.start();
    await this.settle();
  }

  settle(): Promise<void> {
    return untilQuiet(this.clock, () => this.#moves + this.clock.woken);
  }

  advance(ms: number): Promise<void> {
    return pass(this.clock, ms, () => this.settle());
  }

  async letCome(): Promise<void> {
    this.holds = false;
    for (const come of this.#held.splice(0)) come();
    await this.settle();
  }

  async #resolve(host: string): Promise<readonly string[]> {
    this.#moves++;
    this.asked.push(`${host} at ${Math.floor((this.clock.now() - this.#startMs) / 1_000)}`);
    if (this.holds) await new Promise<void>((come) => this.#held.push(come));
    this.#moves++;
    const found = this.known.get(host);
    if (found instanceof Error) throw found;
    return found ?? [];
  }
}

Deno.test("NameResolver tells addresses as they stand at once, and asks nobody about them", async () => {
  const names = new Names(FIXED);
  await names.start();
  await names.advance(100_000);
  assertEquals([names.told, names.asked, names.timers.pending], [[["fixed"]], [], 0]);
  assertEquals(names.addresses.get("fixed"), FIXED.address);
  assertEquals(names.resolver.trouble, "");
});

Deno.test("NameResolver makes a backend of each address of a name, under the name that certificates have", async () => {
  const names = new Names(named("db.test"), FIXED);
  names.known.set("db.test", ["10.0.0.1", "10.0.0.2"]);
  await names.start();
  assertEquals(names.told, [["fixed"], ["10.0.0.1:7", "10.0.0.2:7", "fixed"]]);
  assertEquals(names.addresses.get("10.0.0.1:7"), {
    ...{ host: "10.0.0.1", port: 7, serverName: "db.test" },
  });
  names.resolver.stop();
});

Deno.test("NameResolver believes an answer for 30 s, and tells only what has changed", async () => {
  const names = new Names(named("db.test"));
  names.known.set("db.test", ["10.0.0.1"]);
  await names.start();
  await names.advance(29_990);
  assertEquals(names.asked, ["db.test at 0"]);
  await names.advance(60_100);
  assertEquals(names.asked, ["db.test at 0", "db.test at 30", "db.test at 60", "db.test at 90"]);
  assertEquals(names.told, [["10.0.0.1:7"]]);
  names.known.set("db.test", ["10.0.0.1", "10.0.0.2"]);
  await names.advance(30_000);
  assertEquals(names.told, [["10.0.0.1:7"], ["10.0.0.1:7", "10.0.0.2:7"]]);
  names.resolver.stop();
  assertEquals(names.timers.pending, 0);
  await names.advance(100_000);
  assertEquals(names.asked.length, 5);
});

Deno.test("NameResolver keeps the addresses it had while a name cannot be resolved, and asks each second", async () => {
  const names = new Names(named("db.test"), named("other.test"));
  names.known.set("other.test", ["10.0.0.9"]);
  await names.start();
  assertEquals(names.resolver.trouble, '"db.test" has no addresses');
  assertEquals(names.told, [["10.0.0.9:7"]]);
  names.known.set("db.test", new Error("no server answers"));
  await names.advance(1_100);
  assertEquals(names.resolver.trouble, "no server answers");
  names.known.set("db.test", ["10.0.0.1"]);
  await names.advance(1_100);
  assertEquals([names.resolver.trouble, names.told.at(-1)], ["", ["10.0.0.1:7", "10.0.0.9:7"]]);
  names.known.set("db.test", new Error("no server answers"));
  names.known.set("other.test", []);
  await names.advance(30_100);
  assertEquals(names.resolver.trouble, "no server answers"); // the first of both
  assertEquals(names.told.length, 2);
  assertEquals(names.asked.filter((asked) => asked.startsWith("db")).length, 4);
  names.resolver.stop();
});

Deno.test("NameResolver has one backend for an address that stands there twice", async () => {
  const names = new Names(named("a.test"), named("b.test"), named("a.test", 8));
  names.known.set("a.test", ["10.0.0.1"]).set("b.test", ["10.0.0.1", "10.0.0.2"]);
  await names.start();
  assertEquals(names.told, [["10.0.0.1:7", "10.0.0.2:7", "10.0.0.1:8"]]);
  names.resolver.stop();
});

Deno.test("NameResolver.doubt asks sooner than in 30 s, though not twice in a second, and not while it asks", async () => {
  const names = new Names(named("db.test"));
  names.known.set("db.test", ["10.0.0.1"]);
  await names.start();
  for (let i = 0; i < 5; i++) {
    names.resolver.doubt();
    await names.advance(100);
  }
  assertEquals(names.asked.length, 1);
  await names.advance(510);
  assertEquals(names.asked, ["db.test at 0", "db.test at 1"]);
  await names.advance(5_000);
  names.holds = true;
  names.resolver.doubt(); // long after the last time: now
  await names.advance(10);
  assertEquals(names.asked.length, 3);
  names.resolver.doubt();
  await names.advance(5_000);
  assertEquals(names.asked.length, 3);
  await names.letCome();
  await names.advance(29_000);
  assertEquals(names.asked.length, 3);
  names.resolver.stop();
  names.resolver.doubt();
  await names.advance(5_000);
  assertEquals([names.asked.length, names.timers.pending], [3, 0]);
});

Deno.test("NameResolver tells nothing of an answer that comes after it was stopped", async () => {
  const names = new Names(named("db.test"));
  names.known.set("db.test", ["10.0.0.1"]);
  names.holds = true;
  await names.start();
  names.resolver.stop();
  await names.letCome();
  assertEquals([names.told, names.timers.pending], [[], 0]);
});
