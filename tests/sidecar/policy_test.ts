import { assertEquals, assertThrows } from "@std/assert";
import { openPolicy, policyProblems } from "../../lib/sidecar/policy.ts";
import { BadConfiguration } from "../../lib/sidecar/mod.ts";
import { Timers } from "../../lib/transport/mod.ts";
import { logInto, settingsOf } from "../support/local_sidecar.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { until } from "../support/waiting.ts";

const GOOD = '{ "methodConfig": [{ "name": [{ "service": "a.B" }], "maxConcurrent": 1 }] }';
const OTHER =
  '{ "methodConfig": [{ "name": [{ "service": "a.B" }], "timeout": "1s", "maxConcurrent": 2 }] }';

Deno.test("policyProblems says which file is wrong, and how", () => {
  using file = new File("{}");
  assertEquals(policyProblems(settingsOf({ BACKEND_ADDRESS: "db:1" })), []);
  assertEquals(policyProblems(file.settings), []);
  file.write('{ "methodConfig": [{ "name": 1 }] }');
  assertEquals(policyProblems(file.settings), [
    `Cannot use COLLAPSER_CONFIG "${file.path}": methodConfig[0].name: expected a list such as [{ "service": "pkg.S" }]`,
  ]);
  file.remove();
  assertEquals(policyProblems(file.settings), [
    `Cannot read COLLAPSER_CONFIG "${file.path}": there is no such file`,
  ]);
});

Deno.test("openPolicy throws for a file that cannot be used, and is nothing where none is named", () => {
  using file = new File("{ not json");
  const timers = new Timers(new FakeClock());
  const world = { timers, log: logInto([]) };
  assertThrows(() => openPolicy(file.settings, world), BadConfiguration, "expected JSON");
  assertEquals(openPolicy(settingsOf({ BACKEND_ADDRESS: "db:1" }), world), undefined);
  timers.stop();
});

Deno.test("openPolicy takes what the file says when it changes, and keeps the old policy for a bad one", async () => {
  using file = new File(GOOD);
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const log: string[] = [];
  const used: unknown[] = [];
  const policy = openPolicy(file.settings, { timers, log: logInto(log) })!;
  policy.follow((policies) => used.push(policies));
  assertEquals(policy.policies, [{ service: "a.B", method: "", maxConcurrent: 1 }]);
  const look = async () => {
    while (!clock.step(clock.now() + 1_100));
    await until(() => timers.pending === 1, "the next look to be due");
  };
  file.write("{ not json");
  await look();
  assertEquals([used.length, policy.problems.length], [0, 1]);
  file.write(OTHER);
  await look();
  assertEquals(used, [[{ service: "a.B", method: "", maxConcurrent: 2 }]]);
  assertEquals(policy.problems, []);
  assertEquals(log.map((line) => JSON.parse(line).msg), [
    "Policy file not taken: the old policy goes on",
    "Policy file has settings that are a client's business, and are left to it",
    "Policy file taken",
  ]);
  await policy.stop();
  timers.stop();
});

class File implements Disposable {
  readonly #folder = Deno.makeTempDirSync();
  readonly path = `${this.#folder}/policy.json`;
  readonly settings = settingsOf({ BACKEND_ADDRESS: "db:1", COLLAPSER_CONFIG: this.path });

  constructor(text: string) {
    this.write(text);
  }

  write(text: string): void {
    Deno.writeTextFileSync(this.path, text);
  }

  remove(): void {
    Deno.removeSync(this.path);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#folder, { recursive: true });
  }
}
