import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { collapser } from "../support.ts";

const DEFAULTS = {
  direct: undefined,
  proxies: [],
  method: "/hello.v1.Hello/GetGreeting",
  data: undefined,
  metadata: [],
  rates: [200, 1_000],
  rounds: 5,
  segmentMs: 1_000,
  blastMs: 3_000,
  arrivals: "poisson",
  seed: 1,
  callers: 64,
  connections: 4,
  keys: 10,
  prices: { perVcpuHour: 0.04, perCrossZoneGb: 0.01 },
  jsonFile: undefined,
  htmlFile: undefined,
};

const BOTH = "--direct db:1 --proxied db:2";

/** What the runner was asked for. */
async function asked(args: string) {
  const { code, ran, err } = await collapser(`tax ${args}`);
  assertEquals([code, err], [0, ""]);
  return ran?.[1] as typeof DEFAULTS & { readonly data: unknown };
}

async function refusal(args: string): Promise<string> {
  const { code, err, ran } = await collapser(`tax ${args}`);
  assertEquals([code, ran], [64, undefined]);
  return err;
}

Deno.test("tax without arguments measures everything embedded", async () => {
  assertEquals(await asked(""), DEFAULTS);
});

Deno.test("tax takes several proxies, each with what is known of it", async () => {
  const { direct, proxies, rates, prices, segmentMs, jsonFile, htmlFile } = await asked(
    "--direct db:1 --proxied envoy=e:2 --proxied nginx=[::1]:3 --pid direct=7 --pid envoy=8 " +
      "--metrics nginx=http://n/m --rates 500,100,500 --price-per-vcpu-hour 1.5 --cross-az-gb 0 " +
      "--each 250ms --json - --html a.html",
  );
  const unknown = { pid: undefined, metricsUrl: undefined };
  assertEquals(direct as unknown, {
    name: "direct",
    address: { host: "db", port: 1 },
    ...unknown,
    pid: 7,
  });
  assertEquals(proxies as unknown, [
    { name: "envoy", address: { host: "e", port: 2 }, ...unknown, pid: 8 },
    { name: "nginx", address: { host: "::1", port: 3 }, ...unknown, metricsUrl: "http://n/m" },
  ]);
  assertEquals([rates, segmentMs, jsonFile, htmlFile], [[100, 500], 250, "-", "a.html"]);
  assertEquals(prices, { perVcpuHour: 1.5, perCrossZoneGb: 0 });
});

Deno.test("tax takes a pid and metrics without a name for those of the first proxy", async () => {
  const { proxies } = await asked(`${BOTH} --proxied db:3 --pid 9 --metrics http://p/metrics`);
  assertEquals(
    (proxies as unknown as { name: string; pid?: number; metricsUrl?: string }[])
      .map(({ name, pid, metricsUrl }) => [name, pid, metricsUrl]),
    [["proxy", 9, "http://p/metrics"], ["proxy-2", undefined, undefined]],
  );
});

Deno.test("tax reads a message in every spelling", async () => {
  const bytes = (text: string) => ({ from: "bytes", bytes: new TextEncoder().encode(text) });
  assertEquals((await asked("--data hex:0a05{nnn}0B")).data as unknown, bytes("\n\x05{nnn}\x0b"));
  assertEquals((await asked("--data hex:")).data as unknown, bytes(""));
  assertEquals((await asked("--data base64:aHtubn0=")).data as unknown, bytes("h{nn}"));
  assertEquals((await asked("--data @a.bin")).data as unknown, { from: "file", path: "a.bin" });
  assertEquals((await asked('--data {"name":"{nn}","delayMs":3}')).data as unknown, {
    from: "greeting",
    greeting: { name: "{nn}", delayMs: 3 },
  });
});

Deno.test("tax refuses a message that it cannot read", async () => {
  for (
    const [data, why] of [
      ["plain", "expected hex:..., base64:..., @FILE, or JSON"],
      ["hex:0", "expected pairs of hexadecimal digits"],
      ["hex:{n}{n}", "and one {n} at most"],
      ["base64:*", "expected base64"],
      ['{"name":', "expected JSON"],
      ['{"nam":1}', '"nam" in it: expected name, delayMs or replyBytes'],
      ['{"delayMs":1.5}', '"delayMs" in it'],
      ['{"toString":1}', '"toString" in it'],
    ] as const
  ) {
    assertStringIncludes(await refusal(`--data ${data}`), why);
  }
  assertMatch(
    await refusal(`${BOTH} --method /a.B/C --data {"name":"x"}`),
    /^Cannot write JSON as a message of "\/a\.B\/C"/,
  );
});

Deno.test("tax refuses what cannot be compared", async () => {
  assertMatch(
    await refusal("--direct db:1"),
    /^Cannot compare without both --direct and --proxied/,
  );
  assertMatch(await refusal("--proxied db:1"), /^Cannot compare without both/);
  assertMatch(await refusal(`${BOTH} --proxied proxy=db:3`), /^Cannot call a proxy "proxy"/);
  assertMatch(await refusal("--direct a:1 --proxied relay=b:1"), /^Cannot call a proxy "relay"/);
  assertMatch(
    await refusal(`${BOTH} --pid envoy=3`),
    /^Cannot tell whose --pid "envoy" is: expected one of direct, proxy\n/,
  );
  assertMatch(await refusal("--metrics http://x/m"), /^Cannot tell whose --metrics "" is/);
});

Deno.test("tax refuses bad numbers, all in one go", async () => {
  const err = await refusal(
    "--rates 5,x --rates 0 --arrivals odd --cross-az-gb -1 --pid 0 --each 0s",
  );
  for (const flag of ["--rates", "--arrivals", "--cross-az-gb", "--pid", "--each"]) {
    assertStringIncludes(err, `Cannot parse ${flag} `);
  }
});

Deno.test("tax explains its method in its help", async () => {
  const { out } = await collapser("tax --help");
  for (const word of ["coordinated omission", "hop is what", "Money", "go direct:", "--proxied"]) {
    assert(out.replace(/\s+/g, " ").includes(word), word);
  }
});

Deno.test("tax ends with 1 when a signal comes before its result", async () => {
  const never = new Promise<number>(() => {});
  const { code } = await collapser("tax", {
    runners: { tax: () => never },
    onSubscribed: (send) => queueMicrotask(send),
  });
  assertEquals(code, 1);
});
