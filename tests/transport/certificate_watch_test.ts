import { assertEquals } from "@std/assert";
import {
  type CertificateFiles,
  CertificateWatch,
  readCertificates,
  Timers,
} from "../../lib/transport/mod.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority, type KeyPair } from "../support/certificates.ts";
import { until } from "../support/waiting.ts";
import { FakeClock } from "../support/fake_clock.ts";

/** How often files are looked at. */
const LOOK_EVERY_MS = 2_000;

/** The width of a slot of the timers. */
const SLOT_MS = 4;

const authority = await Authority.make();
const [first, second, third] = [
  await authority.server(),
  await authority.server(),
  await authority.server(),
];

Deno.test("CertificateWatch takes over what the files hold now, once it has looked", async () => {
  await using rig = new Rig(first);
  rig.write(second);
  assertEquals(rig.watch.current.cert, first.cert);
  await rig.look();
  assertEquals([rig.watch.current.cert, rig.watch.current.key], [second.cert, second.key]);
  assertEquals(rig.said, ["renewed"]);
});

Deno.test("CertificateWatch says nothing while the files stay as they are", async () => {
  await using rig = new Rig(first);
  await rig.look();
  rig.write(first); // newer, and the same
  await rig.look();
  assertEquals(rig.said, []);
});

Deno.test("CertificateWatch lets what is bad change nothing, and tells of it once", async () => {
  await using rig = new Rig(first);
  rig.write({ cert: second.cert, key: first.key });
  for (let i = 0; i < 3; i++) await rig.look();
  assertEquals(rig.watch.current.cert, first.cert);
  assertEquals(rig.said.length, 1);
  Deno.removeSync(rig.paths.cert);
  for (let i = 0; i < 3; i++) await rig.look();
  assertEquals(rig.said.length, 2);
  assertEquals(rig.said[1], `Cannot read CERT "${rig.paths.cert}": there is no such file`);
  rig.write(third);
  await rig.look();
  assertEquals(rig.watch.current.key, third.key);
  assertEquals(rig.said.slice(2), ["renewed"]);
});

Deno.test("CertificateWatch follows a link that is moved to another folder", async () => {
  await using rig = new Rig(first);
  const renewed = rig.folder.free("second");
  Deno.mkdirSync(renewed);
  Deno.writeTextFileSync(`${renewed}/a.pem`, second.cert);
  Deno.writeTextFileSync(`${renewed}/a.key`, second.key);
  for (const path of Object.values(rig.paths)) {
    Deno.removeSync(path);
    Deno.symlinkSync(path.replace(rig.folder.path, renewed), path);
  }
  await rig.look();
  assertEquals(rig.watch.current.cert, second.cert);
});

Deno.test("CertificateWatch looks no more once it is stopped, not even at what it was reading", async () => {
  await using rig = new Rig(first);
  rig.write(second);
  rig.clock.advance(LOOK_EVERY_MS + SLOT_MS);
  await rig.watch.stop();
  assertEquals(rig.timers.pending, 0);
  rig.clock.advance(LOOK_EVERY_MS + SLOT_MS);
  assertEquals([rig.watch.current.cert, rig.said, rig.timers.pending], [first.cert, [], 0]);
});

/** Files, and a watch over them whose time a test moves. */
class Rig implements AsyncDisposable {
  readonly folder = new CertificateFolder();
  readonly clock = new FakeClock();
  readonly timers = new Timers(this.clock);
  readonly said: string[] = [];
  readonly paths: { cert: string; key: string };
  readonly watch: CertificateWatch;

  constructor(pair: KeyPair) {
    this.paths = this.write(pair);
    const files: CertificateFiles = {
      cert: { name: "CERT", path: this.paths.cert },
      key: { name: "KEY", path: this.paths.key },
    };
    const reading = readCertificates(files);
    if ("problems" in reading) throw new Error(reading.problems.join("\n"));
    this.watch = new CertificateWatch(files, reading.certificates, {
      timers: this.timers,
      news: {
        renewed: () => this.said.push("renewed"),
        refused: (problems) => this.said.push(...problems),
      },
    });
  }

  write(pair: KeyPair): { cert: string; key: string } {
    return this.folder.writePair("a", pair);
  }

  /** Resolves when the files were looked at once more. */
  async look(): Promise<void> {
    this.clock.advance(LOOK_EVERY_MS + SLOT_MS);
    await until(() => this.timers.pending > 0, "the files to be read");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watch.stop();
    this.folder[Symbol.dispose]();
  }
}
