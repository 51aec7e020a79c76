import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { StallBackend } from "../../../lib/measure/stall/backend.ts";
import { LocalSidecar } from "../../support/local_sidecar.ts";
import { Process } from "../../support/process.ts";
import { until } from "../../support/waiting.ts";
import { assertShape, slowness, stall, stoodStill, type Told } from "./shape.ts";

/**
 * Latency on a shared machine, and whether it stood still for longer than the pools can bridge, are not ours to
 * decide: such a run is made again. What callers were answered is judged in every run that says anything.
 */
const TRIALS = 3;

async function untilQuiet(run: () => Promise<Told>): Promise<Told> {
  let why = "";
  for (let trial = 1; trial <= TRIALS; trial++) {
    const told = await run();
    if (stoodStill(told)) {
      why = "the process stood still";
      continue;
    }
    assertShape(told);
    why = slowness(told) ?? "";
    if (why === "") return told;
  }
  throw new Error(`In ${TRIALS} runs: ${why}`);
}

Deno.test("runStall finds that walls keep two thirds, and that a shared pool keeps nothing, in one run", async () => {
  const { screen, svg, systems } = await untilQuiet(() => stall({}));
  assertEquals([...systems.keys()], ["direct", "collapser", "shared-pool"]);
  for (const line of screen.text.split("\n")) assert(line.length <= 80, line);
  assertMatch(screen.text, /^collapser {7}[▅▆▇█·▁▂▃▄]{50}$/m);
  assertMatch(screen.text, /^shared-pool {5}\S*·\S*$/m);
  assertStringIncludes(svg, "</svg>");
  const sent = [...systems.values()].map(({ before, during, after }) =>
    before.all.calls + during.all.calls + after.all.calls
  );
  assertEquals(new Set(sent).size, 1, "the same calls for each system");
});

Deno.test("runStall finds the same when a real process is stopped by signal", async () => {
  await using child = new Process([
    ...["run", "-A", "--no-lock", "main.ts", "backend", "--port", "0", "--delay", "5ms"],
  ]);
  const port = () => /127\.0\.0\.1:(\d+)/.exec(child.said)?.[1];
  await until(() => port() !== undefined || !child.isRunning, "a port");
  const others = [0, 1].map(() => new StallBackend({ port: 0, serviceMs: 5 }));
  try {
    const backends = [Number(port()), ...others.map((backend) => backend.port)]
      .map((port, i) => ({ name: ["a", "b", "c"][i]!, host: "127.0.0.1", port }));
    const told = await untilQuiet(() =>
      stall({ fault: "sigstop", backends, backendPid: child.pid })
    );
    assertStringIncludes(told.screen.text, "SIGSTOP to its process");
  } finally {
    await Promise.all(others.map((backend) => backend.close()));
  }
});

Deno.test("runStall measures another proxy by its address, and alone when told to", async () => {
  const names = ["a", "b", "c"];
  const backends = names.map(() => new StallBackend({ port: 0, serviceMs: 1 }));
  try {
    const addresses = backends.map(({ port }, i) => ({ name: names[i]!, host: "127.0.0.1", port }));
    await using proxy = new LocalSidecar({
      BACKEND_ADDRESS: addresses.map(({ name, port }) => `${name}=127.0.0.1:${port}`).join(","),
      BACKEND_KIND: "shards",
      BACKEND_ROUTING: "header:x-shard",
    });
    const { code, systems, screen } = await stall({
      backends: addresses,
      proxies: [{ name: "theirs", host: "127.0.0.1", port: proxy.port }],
      only: ["theirs"],
      fault: "none",
      announce: true,
      beforeMs: 300,
      stallMs: 300,
      afterMs: 300,
    });
    assertEquals([code, [...systems.keys()]], [0, ["theirs"]]);
    const { before, during } = systems.get("theirs")!;
    assertEquals([before.all.good, during.all.good], [before.all.calls, during.all.calls]);
    assertStringIncludes(screen.text, "NOW: begin the fault at a");
    assertStringIncludes(screen.text, "NOW: end the fault at a");
  } finally {
    await Promise.all(backends.map((backend) => backend.close()));
  }
});

Deno.test("runStall says which way cannot be measured, and why, and leaves nothing open", async () => {
  const gone = new StallBackend({ port: 0, serviceMs: 1 });
  const { port } = gone;
  await gone.close();
  const proxies = [{ name: "theirs", host: "127.0.0.1", port }];
  const { code, screen } = await stall({ proxies, only: ["theirs"] });
  assertEquals(code, 1);
  assertMatch(screen.complaints.join(), /^Cannot measure: theirs: Cannot connect to 127\.0\.0\.1:/);

  const taken = new StallBackend({ port: 0, serviceMs: 1 });
  try {
    const refused = await stall({ port: taken.port });
    assertEquals(refused.code, 1);
    assertMatch(refused.screen.complaints.join(), /^Cannot measure: no backends at ports \d+ to/);
  } finally {
    await taken.close();
  }
});

Deno.test("runStall refuses before it measures what it may not do in the end", async () => {
  const at = (path: string) => new URL(`../../../${path}`, import.meta.url).href;
  const script = `
    import { runStall } from "${at("lib/measure/stall/run_stall.ts")}";
    import { settingsFor, SHORT } from "${at("tests/measure/stall/shape.ts")}";
    const backends = [{ name: "a", host: "127.0.0.1", port: 1 }];
    console.log(await runStall({ ...SHORT, svg: "/etc/stall.svg" }, { settingsFor }));
    console.log(await runStall({ ...SHORT, backends, backendPid: 2 }, { settingsFor }));
  `;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, script);
    const config = new URL("../../../deno.json", import.meta.url).pathname;
    const allowed = ["--allow-net", "--allow-read", "--allow-env", "--allow-write=/tmp"];
    const deno = ["run", "--no-lock", "--no-prompt", "--config", config, ...allowed, file];
    await using child = new Process(deno, { JSR_URL: Deno.env.get("JSR_URL") });
    await child.end();
    assertEquals(child.outputLines, ["1", "1"], child.said);
    assertStringIncludes(child.said, "Cannot write /etc/stall.svg: collapser may not write there");
    assertStringIncludes(child.said, "Cannot stop process 2: collapser may not send signals");
  } finally {
    await Deno.remove(file);
  }
});
