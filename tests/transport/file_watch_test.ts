import { assertEquals } from "@std/assert";
import { type FileText, FileWatch, readFileText, Timers } from "../../lib/transport/mod.ts";
import { until } from "../support/waiting.ts";
import { FakeClock } from "../support/fake_clock.ts";

const EVERY_MS = 1_000;

Deno.test("FileWatch tells what the files hold once they hold something else, and no more than once", async () => {
  await using rig = new Rig();
  await rig.look();
  assertEquals(rig.told, []);
  Deno.writeTextFileSync(rig.path, "two");
  await rig.look();
  await rig.look();
  assertEquals(rig.told, [[{ text: "two" }]]);
});

Deno.test("FileWatch follows another file that takes the name, and one that goes and comes back", async () => {
  await using rig = new Rig();
  Deno.writeTextFileSync(`${rig.path}.new`, "three");
  Deno.renameSync(`${rig.path}.new`, rig.path);
  await rig.look();
  Deno.removeSync(rig.path);
  await rig.look();
  Deno.writeTextFileSync(rig.path, "four");
  await rig.look();
  assertEquals(rig.told, [
    [{ text: "three" }],
    [{ why: "there is no such file" }],
    [{ text: "four" }],
  ]);
});

Deno.test("FileWatch looks at once when it is told to, however often, and goes on as before", async () => {
  await using rig = new Rig();
  Deno.writeTextFileSync(rig.path, "two");
  rig.watch.lookNow();
  Deno.writeTextFileSync(rig.path, "three");
  for (let i = 0; i < 3; i++) rig.watch.lookNow();
  await until(
    () => rig.told.flat().some((told) => "text" in told && told.text === "three"),
    "three",
  );
  Deno.writeTextFileSync(rig.path, "four");
  await rig.look();
  assertEquals(rig.told.at(-1), [{ text: "four" }]);
});

Deno.test("FileWatch looks once more where it is told to while it looks: what it has read may be older", async () => {
  await using rig = new Rig();
  rig.onTold = () => {
    rig.onTold = () => {};
    Deno.writeTextFileSync(rig.path, "three");
    rig.watch.lookNow();
  };
  Deno.writeTextFileSync(rig.path, "two");
  rig.watch.lookNow();
  await until(() => rig.told.length === 2, "two looks, and no time that passed");
  assertEquals(rig.told.flat(), [{ text: "two" }, { text: "three" }]);
});

Deno.test("FileWatch looks at nothing once it was stopped", async () => {
  await using rig = new Rig();
  await rig.watch.stop();
  Deno.writeTextFileSync(rig.path, "two");
  rig.watch.lookNow();
  await rig.watch.stop();
  assertEquals(rig.told, []);
});

class Rig implements AsyncDisposable {
  readonly #folder = Deno.makeTempDirSync();
  readonly path = `${this.#folder}/file`;
  readonly told: (readonly FileText[])[] = [];
  onTold: () => void = () => {};
  readonly #clock = new FakeClock();
  readonly #timers = new Timers(this.#clock);
  readonly watch: FileWatch;

  constructor() {
    Deno.writeTextFileSync(this.path, "one");
    this.watch = new FileWatch([this.path], [readFileText(this.path)], {
      timers: this.#timers,
      everyMs: EVERY_MS,
      onChange: (texts) => {
        this.told.push(texts);
        this.onTold();
      },
    });
  }

  /** Time passes until the files have been looked at. */
  async look(): Promise<void> {
    this.#clock.advance(EVERY_MS + 10);
    await until(() => this.#timers.pending === 1, "the next look to be due");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watch.stop();
    this.#timers.stop();
    Deno.removeSync(this.#folder, { recursive: true });
  }
}
