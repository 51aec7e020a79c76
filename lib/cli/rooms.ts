import {
  HOST_PORT,
  type HostPort,
  NAMED_ADDRESS,
  readSettings,
  type Settings,
} from "../config/mod.ts";
import type { SidecarWishes } from "../measure/mod.ts";
import { FAILED } from "./exit_codes.ts";
import { injectFiles } from "./inject_files.ts";
import type { MessageSource, Runners } from "./runners.ts";
import { defaultStallOptions } from "./stall_flags.ts";

/** The demo backend's service: the calls of its methods are those it counts. */
const COUNTED = "/hello.v1.Hello/";

/** Bytes of an admin page that are read: a report of 200 methods is a tenth of it. */
const MAX_ADMIN_BYTES = 4 << 20;

/**
 * The rooms that work, each loaded when its command runs: `--help` and `check` answer at once,
 * and `serve` never loads grpc-js, which is the demo backend's. What measures may not know
 * that backend, so the two are brought together here.
 */
export const ROOMS: Runners = {
  async sidecar(settings, surroundings) {
    const { runSidecar } = await import("../sidecar/mod.ts");
    return await runSidecar(settings, surroundings);
  },
  async fileProblems(settings) {
    const { fileProblems } = await import("../sidecar/mod.ts");
    return fileProblems(settings);
  },
  async fileWarnings(settings) {
    const { fileWarnings } = await import("../sidecar/mod.ts");
    return fileWarnings(settings);
  },
  async explain(path, names, configuration) {
    const { explainOffline } = await import("../sidecar/mod.ts");
    return explainOffline(path, names, configuration);
  },
  async backend(options, { signals }) {
    const { runBackend } = await import("../hello/mod.ts");
    return await runBackend(options, { onStop: (stop) => signals.onSignal(stop) });
  },
  async demo({ shadow, ...options }) {
    const { runDemo, runTrialDemo } = await import("../measure/mod.ts");
    const { encodeGreetingRequest, HELLO_PATHS, startHello } = await import("../hello/mod.ts");
    const parts = { startBackend: startHello, settingsFor: demoSettings };
    if (shadow) {
      const greeting = (echoMetadata: readonly string[]) =>
        encodeGreetingRequest({ name: "everybody", echoMetadata, count: 1 });
      return await runTrialDemo(options, {
        ...parts,
        alike: { path: HELLO_PATHS.getGreeting, message: greeting([]) },
        byTenant: { path: HELLO_PATHS.listGreetings, message: greeting(["x-tenant"]) },
        ignoreFields: ["2"], // `from` is the number of the call
      });
    }
    return await runDemo(options, {
      ...parts,
      method: HELLO_PATHS.getGreeting,
    });
  },
  async load(options) {
    const { runLoad } = await import("../measure/mod.ts");
    if (!options.method.startsWith(COUNTED)) return await runLoad(options);
    return await runLoad(options, { backendCount: await helloCount() });
  },
  async tax({ data, blastMs, ...options }) {
    const { measureBlast, runTax } = await import("../measure/mod.ts");
    const { startHello } = await import("../hello/mod.ts");
    const read = await messageOf(data);
    if ("why" in read) {
      console.error(read.why);
      return FAILED;
    }
    return await runTax({ ...options, message: read.message }, {
      embedded: { startBackend: startHello, settingsFor: demoSettings },
      ...blastMs > 0
        ? {
          runBlastRadius: () =>
            measureBlast({ ...defaultStallOptions(), stallMs: blastMs }, QUIET_STALL),
        }
        : {},
      ...options.method.startsWith(COUNTED) ? { backendCount: await helloCount() } : {},
    });
  },
  async stall(options) {
    const { runStall } = await import("../measure/mod.ts");
    return await runStall(options, { settingsFor: stallSettings });
  },
  async inject({ files, image, services }) {
    const { DEFAULT_IMAGE, inject } = await import("../inject/mod.ts");
    return await injectFiles(
      files,
      (text) => inject(text, { image: image ?? DEFAULT_IMAGE, services }),
    );
  },
  async drain({ url, token, tokenPath }, options) {
    const { tellToDrain } = await import("../sidecar/mod.ts");
    try {
      const read = tokenPath === undefined ? token : (await Deno.readTextFile(tokenPath)).trim();
      return await tellToDrain({ url, token: read }, options);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { drained: false, detail: `the token cannot be read: ${why}` };
    }
  },
  async readAdmin(url, { timeoutMs }) {
    const { httpGet } = await import("../measure/mod.ts");
    try {
      const { status, text } = await httpGet(new URL(url), {
        timeoutMs,
        maxBytes: MAX_ADMIN_BYTES,
      });
      if (status !== 200) return { why: `HTTP ${status}: ${text.trim().slice(0, 200)}` };
      return { value: JSON.parse(text) };
    } catch (error) {
      return { why: error instanceof Error ? error.message : String(error) };
    }
  },
  async probe(target, options) {
    const { probe } = await import("../measure/mod.ts");
    return await probe(target, options);
  },
};

/** How the Hello backend is asked what it counted. */
async function helloCount() {
  const { decodeCountsReply, HELLO_PATHS } = await import("../hello/mod.ts");
  return {
    path: HELLO_PATHS.reportCounts,
    callsOf: (reply: Uint8Array, method: string) => decodeCountsReply(reply).calls[method] ?? 0,
  };
}

/** The message that `data` names; undefined where none was given, or why it cannot be had. */
async function messageOf(
  data: MessageSource | undefined,
): Promise<{ message: Uint8Array | undefined } | { why: string }> {
  if (data === undefined) return { message: undefined };
  if (data.from === "bytes") return { message: data.bytes };
  if (data.from === "greeting") {
    const { encodeGreetingRequest } = await import("../hello/mod.ts");
    return { message: encodeGreetingRequest(data.greeting) };
  }
  try {
    return { message: await Deno.readFile(data.path) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { why: `Cannot read --data "@${data.path}": ${why}` };
  }
}

/** Settings of a sidecar as it comes, on free ports of this machine. */
function demoSettings(backend: HostPort): Settings {
  return ownSettings({ BACKEND_ADDRESS: HOST_PORT.show(backend) });
}

/** Settings of a sidecar as it comes, before shards that a header names, with walls as large as they are told to be. */
function stallSettings(wishes: SidecarWishes): Settings {
  return ownSettings({
    BACKEND_ADDRESS: wishes.backends.map(NAMED_ADDRESS.show).join(","),
    BACKEND_KIND: "shards",
    BACKEND_ROUTING: `header:${wishes.header}`,
    BACKEND_MAX_CONCURRENT: String(wishes.maxConcurrent),
    BACKEND_MAX_PENDING: String(wishes.maxPending),
    BACKEND_OUTLIER_DETECTION: String(wishes.outlierDetection),
  });
}

/** How a stall is run within another measurement, whose report has its own place for what came of it. */
const QUIET_STALL = {
  settingsFor: stallSettings,
  screen: { print() {}, complain: console.error, progress: undefined, colour: false },
};

/** Settings for a sidecar that a measurement starts for itself: nothing that the environment says is for it. */
function ownSettings(wanted: Readonly<Record<string, string>>): Settings {
  const values: Readonly<Record<string, string>> = {
    GRPC_HOST: "127.0.0.1",
    GRPC_PORT: "0",
    METRICS_HOST: "127.0.0.1",
    METRICS_PORT: "0",
    ...wanted,
  };
  const reading = readSettings((name) => values[name]);
  if ("problems" in reading) throw new Error(reading.problems.join("\n"));
  return reading.settings;
}
