import { assertEquals } from "@std/assert";
import { BufferedBytes, FrameLog } from "../../lib/wire/mod.ts";

Deno.test("BufferedBytes tells once when it is over its bound, and again for each 32nd of it more", () => {
  const heard: number[] = [];
  const account: BufferedBytes = new BufferedBytes(3_200, () => heard.push(account.bytes));
  account.add(3_200);
  assertEquals([account.hasRoom(0), account.hasRoom(1), heard], [true, false, []]);
  account.add(1);
  account.add(100);
  account.add(1);
  assertEquals([account.hasRoom(0), heard], [false, [3_201, 3_302]]);
  account.add(-200);
  account.add(98);
  assertEquals(heard.length, 2);
  account.add(11);
  assertEquals(heard, [3_201, 3_302, 3_211]);
});

Deno.test("FrameLog tells its account of its storage, whatever becomes of it", () => {
  const [first, second] = [0, 1].map(() => new BufferedBytes(Infinity, () => {}));
  const log = new FrameLog(first);
  const bytes = new Uint8Array(50_000);
  const expects = () =>
    assertEquals([first!.bytes, second!.bytes], [
      log.account === first ? log.heldBytes : 0,
      log.account === second ? log.heldBytes : 0,
    ]);
  for (let i = 0; i < 5; i++) {
    log.appendData(bytes, 0, bytes.length);
    expects();
  }
  log.dropBefore(log.end - 1_000);
  expects();
  log.countIn(second);
  expects();
  log.settle();
  expects();
  log.countIn(undefined);
  assertEquals([first!.bytes, second!.bytes], [0, 0]);
  log.countIn(first);
  log.clear();
  assertEquals([first!.bytes, log.heldBytes], [0, 0]);
});

Deno.test("FrameLog of which everything was dropped gives large storage back, and goes on where it was", () => {
  const log = new FrameLog();
  const bytes = new Uint8Array(100_000).fill(7);
  log.appendData(bytes, 0, bytes.length);
  log.dropBefore(log.end);
  assertEquals(log.heldBytes, 0);
  const position = log.end;
  log.appendData(bytes, 0, 3, true);
  assertEquals([...log.frames(position)].map(({ from, to }) => [...log.bytes.slice(from, to)]), [[
    7,
    7,
    7,
  ]]);
});

Deno.test("FrameLog that is mostly dropped moves into less storage", () => {
  const log = new FrameLog();
  for (let i = 0; i < 30; i++) log.appendData(new Uint8Array(10_000).fill(i), 0, 10_000);
  const before = log.heldBytes;
  const last = log.end - 10_009;
  log.dropBefore(last);
  assertEquals(log.heldBytes < before / 4, true);
  const [frame] = [...log.frames(last)];
  assertEquals([frame!.to - frame!.from, log.bytes[frame!.from]], [10_000, 29]);
});

Deno.test("FrameLog that is shared stays whole until all but one have cleared it", () => {
  const log = new FrameLog().share().share();
  log.appendData(new Uint8Array(10), 0, 10, true);
  log.dropBefore(log.end);
  log.clear();
  log.clear();
  assertEquals([log.start, log.data().length], [0, 10]);
  log.dropBefore(log.end);
  assertEquals(log.start, log.end);
  log.clear();
  assertEquals(log.end, 0);
});
