import { assert, assertEquals, assertThrows } from "@std/assert";
import { openPolicy, policyProblems, policyWarnings } from "../../lib/sidecar/policy.ts";
import { BadConfiguration } from "../../lib/sidecar/mod.ts";
import { MAX_FILE_BYTES, Timers } from "../../lib/transport/mod.ts";
import { logInto, settingsOf } from "../support/local_sidecar.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { until } from "../support/waiting.ts";

const GOOD = '{ "methodConfig": [{ "name": [{ "service": "a.B" }], "maxConcurrent": 1 }] }';
const OTHER =
  '{ "methodConfig": [{ "name": [{ "service": "a.B" }], "waitForReady": true, "maxConcurrent": 2 }] }';
const A_B = { service: "a.B", method: "", entry: 0, line: 1 };

Deno.test("policyProblems says which file is wrong, where, and how", () => {
  using file = new File("{}");
  assertEquals(policyProblems(settingsOf({ BACKEND_ADDRESS: "db:1" })), []);
  assertEquals(policyProblems(file.settings), []);
  file.write('{ "methodConfig": [{ "name": [{}], "collapser": { "ttl": "fast" } }] }');
  assertEquals(policyProblems(file.settings), [
    `Cannot use COLLAPSER_CONFIG "${file.path}": line 1, /methodConfig/0/collapser/ttl: expected a duration such as "100ms", not "fast"`,
  ]);
  file.remove();
  assertEquals(policyProblems(file.settings), [
    `Cannot use COLLAPSER_CONFIG "${file.path}": cannot be read: there is no such file`,
  ]);
});

Deno.test("policyProblems refuses a size that a setting does not go together with", () => {
  using file = new File(
    '{"methodConfig":[\n{"name":[{}],"collapser":{"maxMessageBytes":"65MiB"}}]}',
  );
  assertEquals(policyProblems(file.settings).map((text) => text.replace(/^.*": /, "")), [
    "line 2, /methodConfig/0/collapser/maxMessageBytes: one slow reader may hold so much; " +
    "expected a quarter of COLLAPSER_MAX_BUFFERED_BYTES (268435456) at most",
  ]);
});

Deno.test("policyProblems refuses in words what is no text, too long, or no file, and takes a byte order mark", () => {
  using file = new File("{}");
  const why = () => policyProblems(file.settings).map((text) => text.replace(/^.*cannot be /, ""));
  Deno.writeFileSync(file.path, Uint8Array.of(0x7b, 0xff, 0x7d));
  assertEquals(why(), ["read: it is not UTF-8"]);
  file.write(`{}${" ".repeat(MAX_FILE_BYTES - 2)}`);
  assertEquals(why(), []);
  file.write(`{"é":1}${" ".repeat(MAX_FILE_BYTES - 7)}`); // as many characters, and a byte more
  assertEquals(why(), ["read: it has more than 1048576 bytes"]);
  file.write(`\ufeff${GOOD}`);
  assertEquals(why(), []);
  file.remove();
  Deno.mkdirSync(file.path);
  assertEquals(why(), ["read: it is no regular file"]);
});

Deno.test("policyWarnings names what is left to clients, what is not heeded, and what is hidden", () => {
  using file = new File(`{ "loadBalancingPolicy": "x", "methodConfig": [
    { "name": [{}], "collapser": { "ttl": "1s", "shared": true } },
    { "name": [{ "service": "a.B" }], "waitForReady": true, "collapser": { "priority": "low" } }
  ] }`);
  assertEquals(policyWarnings(file.settings), [
    "Policy file has settings that are a client's business, and are left to it: loadBalancingPolicy, waitForReady",
    "Policy file has settings that this version does not heed yet: shared, priority",
    "methodConfig[1] (line 3) of a.B hides ttl, shared of methodConfig[0] (line 2): the closest entry holds whole; what is to hold must be said there too",
  ]);
  assertEquals(policyWarnings(settingsOf({ BACKEND_ADDRESS: "db:1" })), []);
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
  await using rig = new Rig(file);
  const { policy } = rig;
  assertEquals(policy.policies, [{ ...A_B, maxConcurrent: 1 }]);
  const first = policy.status;
  assertEquals([first.text, first.file], [GOOD, { hash: first.hash, problems: [] }]);
  for (const bad of ["{ not json", GOOD.slice(0, 40), `[${GOOD}]`]) {
    file.write(bad);
    await rig.look();
    assertEquals([policy.status.text, policy.status.hash], [GOOD, first.hash]);
    assertEquals(policy.status.file.problems.length, 1, bad);
    assert(policy.status.file.hash !== first.hash);
  }
  file.remove();
  await rig.look();
  assertEquals([policy.status.file.hash, policy.status.hash], [undefined, first.hash]);
  assertEquals([rig.used, policy.status.refused, policy.status.taken], [[], 4, 0]);
  file.write(OTHER);
  await rig.look();
  assertEquals(rig.used, [[{ ...A_B, maxConcurrent: 2 }]]);
  assertEquals(policy.policies, rig.used[0]);
  const { hash, file: now, taken } = policy.status;
  assertEquals([now, taken], [{ hash, problems: [] }, 1]);
  assert(hash !== first.hash);
  assertEquals(rig.said.slice(-3), [
    "Policy file not taken: the old policy goes on",
    "Policy file has settings that are a client's business, and are left to it",
    "Policy file taken",
  ]);
});

Deno.test("openPolicy calls the file good again when the text in force comes back, and has nothing judged anew", async () => {
  using file = new File(GOOD);
  await using rig = new Rig(file);
  const { hash } = rig.policy.status;
  file.write("{");
  await rig.look();
  file.write(GOOD);
  await rig.look();
  const { taken, refused, ...status } = rig.policy.status;
  assertEquals([taken, refused, status.hash, status.file.problems], [1, 1, hash, []]);
  assertEquals(rig.used, []);
  assertEquals(rig.said.at(-1), "Policy file is again what is in force");
});

Deno.test("openPolicy follows a link to a folder that is switched, as Kubernetes mounts a ConfigMap", async () => {
  using mount = new File(GOOD);
  const folder = mount.path.replace(/\/[^/]*$/, "");
  mount.remove();
  const put = (version: string, text: string) => {
    Deno.mkdirSync(`${folder}/${version}`);
    Deno.writeTextFileSync(`${folder}/${version}/policy.json`, text);
    Deno.symlinkSync(version, `${folder}/..new`);
    Deno.renameSync(`${folder}/..new`, `${folder}/..data`);
  };
  put("..1", GOOD);
  Deno.symlinkSync("..data/policy.json", mount.path);
  await using rig = new Rig(mount);
  put("..2", OTHER);
  await rig.look();
  assertEquals(rig.used, [[{ ...A_B, maxConcurrent: 2 }]]);
});

Deno.test("openPolicy reads the file at once when it is told to", async () => {
  using file = new File(GOOD);
  await using rig = new Rig(file);
  file.write(OTHER);
  rig.policy.readNow();
  await until(() => rig.used.length === 1, "the file to be taken");
});

/** A policy that is followed, by a clock of its own. */
class Rig implements AsyncDisposable {
  readonly used: unknown[] = [];
  readonly #log: string[] = [];
  readonly #clock = new FakeClock();
  readonly #timers = new Timers(this.#clock);
  readonly policy;

  constructor({ settings }: File) {
    this.policy = openPolicy(settings, { timers: this.#timers, log: logInto(this.#log) })!;
    this.policy.follow((policies) => this.used.push(policies));
  }

  /** What the log says. */
  get said(): string[] {
    return this.#log.map((line) => JSON.parse(line).msg);
  }

  async look(): Promise<void> {
    while (!this.#clock.step(this.#clock.now() + 1_100));
    await until(() => this.#timers.pending === 1, "the next look to be due");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.policy.stop();
    this.#timers.stop();
  }
}

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
