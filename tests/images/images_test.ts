/**
 * The images that Dockerfile makes, built on stand-ins for their bases and run as a pod would run them. Skipped, with
 * the reason in the test's name, where there is nothing to build or run them with.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { until } from "../support/waiting.ts";
import { asRoot, Engine, findEngine } from "./engine.ts";
import { filesIn, type Image } from "./image.ts";
import { type Container, Pod, type Unpacked, unpackTo } from "./pod.ts";
import {
  buildStandIns,
  BUNDLE_AT,
  isReal,
  STAND_IN_ARGS,
  STAND_IN_ENV,
  takeBundle,
} from "./stand_in.ts";

const COMMIT = "0123456789ab";

/** Long enough to be told to end in the middle of a call, on a busy machine. */
const SLOW = "2s";

/** A call of a container that has ended. */
interface Ended {
  readonly code: number;
  readonly said: string;
}

/** The two images in one pod, as the manifests put them together. */
class Rig implements AsyncDisposable {
  readonly collapser: Unpacked;
  readonly backend: Unpacked;
  readonly #engine: Engine;
  readonly #pod: Pod;

  private constructor(engine: Engine, parts: { pod: Pod; collapser: Unpacked; backend: Unpacked }) {
    this.#engine = engine;
    this.#pod = parts.pod;
    this.collapser = parts.collapser;
    this.backend = parts.backend;
  }

  static async build(name: Engine["name"]): Promise<Rig> {
    const engine = new Engine(name, await Deno.makeTempDir({ prefix: "collapser-images-" }));
    try {
      const onStandIns = await buildStandIns(engine);
      const args = { ...onStandIns.args, COMMIT };
      for (const target of ["build", "collapser", "backend"]) {
        await engine.build({ ...onStandIns, args, target, tag: target });
      }
      const mount = { from: await takeBundle(engine), at: BUNDLE_AT };
      const unpacked = async (target: string) =>
        await unpackTo(`${engine.folder}/${target}-root`, await engine.image(target), mount);
      const [collapser, backend] = [await unpacked("collapser"), await unpacked("backend")];
      return new Rig(engine, {
        pod: await Pod.start(asRoot(name), mount),
        collapser,
        backend,
      });
    } catch (error) {
      await engine.removeAll();
      throw error;
    }
  }

  /** A container with the arguments that the image says, or others in their place. */
  starts(
    from: Unpacked,
    { args = from.image.config.Cmd, env = {} }: {
      args?: readonly string[];
      env?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<Container> {
    const { Entrypoint } = from.image.config;
    return this.#pod.starts(from, {
      command: [...Entrypoint, ...STAND_IN_ARGS, ...args],
      env: { ...STAND_IN_ENV, ...env },
    });
  }

  async ends(
    from: Unpacked,
    options: { args: readonly string[]; env?: Readonly<Record<string, string>> },
  ): Promise<Ended> {
    await using container = await this.starts(from, options);
    const { code } = await container.end();
    return { code, said: container.said };
  }

  /** The probe that the image has, as an engine runs it. */
  probes(from: Unpacked): Promise<Ended> {
    const { Entrypoint, Healthcheck: { Test: [form, program, ...args] } } = from.image.config;
    assertEquals([form, program], ["CMD", Entrypoint[0]]);
    return this.ends(from, { args });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pod[Symbol.asyncDispose]();
    await this.#engine.removeAll();
  }
}

const { engine, why } = await findEngine();
const program = isReal ? "" : ", no denort: Deno and the bundle in the program's place";

Deno.test({
  name: "Dockerfile makes both images, which run as in a pod " +
    (engine === undefined ? `(skipped: ${why})` : `(${engine}, stand-in bases${program})`),
  ignore: engine === undefined,
  fn: async (t) => {
    await using rig = await Rig.build(engine!);
    const { collapser, backend } = rig;

    await t.step("they say how they are to be run", () => {
      for (const { image: { config } } of [collapser, backend]) {
        assertEquals(config.User, "65532:65532");
        assertEquals(config.Entrypoint, ["/collapser"]);
        assertEquals(config.StopSignal, "SIGTERM");
      }
      assertEquals(ports(collapser.image), ["2112/tcp", "50052/tcp"]);
      assertEquals(ports(backend.image), ["50051/tcp"]);
    });

    await t.step("they say what they are", () => {
      assertEquals(labels(collapser.image), { title: "collapser", revision: COMMIT });
      assertEquals(labels(backend.image), { title: "collapser-backend", revision: COMMIT });
      for (const { image: { config: { Labels } } } of [collapser, backend]) {
        assertEquals(
          Labels["org.opencontainers.image.base.name"],
          "localhost/stand-in-runtime",
        );
      }
    });

    await t.step("they add one file to their base, and nobody but root can change it", async () => {
      for (const { image: { layers } } of [collapser, backend]) {
        assertEquals(layers.length, 2, "the stand-in is one layer");
        const [own, ...more] = await filesIn(layers[1]!);
        assertEquals(more, []);
        assertEquals([own?.path, own?.owner, own?.mode], ["collapser", "0/0", "-rwxr-xr-x"]);
        const { size } = await Deno.stat(layers[1]!);
        const overhead = size - own!.size;
        assert(overhead >= 0 && overhead < 64 * 1024, `${size} bytes for a file of ${own!.size}`);
      }
    });

    await t.step("the program says the commit that the build was told", async () => {
      const { code, said } = await rig.ends(collapser, { args: ["--version"] });
      assertEquals(code, 0, said);
      assertStringIncludes(said, `(commit ${COMMIT}, `);
    });

    await t.step("the probes fail while nobody listens", async () => {
      for (const each of [collapser, backend]) {
        const { code, said } = await rig.probes(each);
        assertEquals(code, 1, said);
      }
    });

    await t.step("the backend serves at its port, and ends when told", async () => {
      await using container = await rig.starts(backend);
      await until(() => container.said.includes("Hello backend on 0.0.0.0:50051"), "the backend");
      assertEquals(await isConfined(container), true);
      const { code, said } = await rig.probes(backend);
      assertEquals(code, 0, said);
      await container.stop("SIGTERM");
      assertEquals((await container.end()).code, 0, container.said);
    });

    await t.step("the sidecar serves, and is drained before it ends", async () => {
      await using slow = await rig.starts(backend, {
        args: [...backend.image.config.Cmd, "--delay", SLOW],
      });
      const env = { BACKEND_ADDRESS: "127.0.0.1:50051" };
      await using sidecar = await rig.starts(collapser, { env });
      await until(() => sidecar.said.includes('"msg":"Serving"'), "the sidecar");
      assertEquals(await isConfined(sidecar), true);
      const ready = ["healthcheck", "--http", "http://127.0.0.1:2112/ready"];
      await until(async () => (await rig.ends(collapser, { args: ready })).code === 0, "readiness");
      const { code, said } = await rig.probes(collapser);
      assertEquals(code, 0, said);

      const args = ["load", "--address", "127.0.0.1:50052", "--callers", "10", "--calls", "10"];
      await using load = await rig.starts(collapser, { args });
      await until(() => sidecar.said.includes("Method collapses"), "a call");
      await sidecar.stop("SIGTERM");
      assertEquals((await sidecar.end()).code, 0, sidecar.said);
      assertStringIncludes(sidecar.said, '"msg":"Shutting down"');
      assertEquals((await load.end()).code, 0, load.said);
      assertMatch(load.said, /^statuses +OK 10$/m);
      await slow.stop("SIGTERM");
      await slow.end();
    });
  },
});

/** PID 1, on a root file system that it cannot write to: what is asserted of it is asserted under these conditions. */
async function isConfined(container: Container): Promise<boolean> {
  const pids = await container.status("NSpid");
  return /\b1$/.test(pids) && await container.rootMode() === "ro";
}

function ports({ config }: Image): string[] {
  return Object.keys(config.ExposedPorts).sort();
}

function labels({ config: { Labels } }: Image): Record<string, string | undefined> {
  const of = (name: string) => Labels[`org.opencontainers.image.${name}`];
  return { title: of("title"), revision: of("revision") };
}
