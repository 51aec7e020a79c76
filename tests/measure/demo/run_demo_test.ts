import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { stripVTControlCharacters } from "node:util";
import { HELLO_PATHS, type HelloBackend, startHello } from "../../../lib/hello/mod.ts";
import { type DemoOptions, runDemo } from "../../../lib/measure/demo/run_demo.ts";
import { settingsOf } from "../../support/local_sidecar.ts";
import { RecordedScreen } from "../recorded_screen.ts";

async function demo(options: Partial<DemoOptions>, { colour = false, method = "" } = {}) {
  const screen = new RecordedScreen({ colour });
  let backend: HelloBackend | undefined;
  const code = await runDemo(
    { callers: 200, keys: 1, delayMs: 50, connections: 4, ...options },
    {
      method: method || HELLO_PATHS.getGreeting,
      screen,
      steadyMs: 400,
      startBackend: async (wanted) => backend = await startHello(wanted),
      settingsFor: ({ host, port }) => settingsOf({ BACKEND_ADDRESS: `${host}:${port}` }),
    },
  );
  return { code, screen, total: backend?.total };
}

/** What the text says the backend counted, part by part. */
function counted(text: string): number[] {
  return [...text.matchAll(/backend {3}counted ([\d,]+) call/g)]
    .map(([, digits]) => Number(digits!.replaceAll(",", "")));
}

Deno.test("runDemo answers a burst with one call or two, and every caller", async () => {
  const { code, screen, total } = await demo({});
  assertEquals([code, screen.complaints], [0, []]);
  const [burst, direct, steady, crowd] = counted(screen.text) as [number, number, number, number];
  assert(burst === 1 || burst === 2, `${burst} calls for the burst`);
  assertEquals(direct, 200);
  assert(steady >= 1 && steady <= 8, `${steady} calls in 0.4 s`);
  assert(crowd >= 20 && crowd <= 40, `${crowd} calls for 20 questions`);
  assertEquals(total, burst + direct + steady + crowd, "the backend's own count");
  assertEquals(screen.text.match(/ answered in .*, 0 failed/g)?.length, 4);
  assertMatch(screen.text, /callers {3}200 answered in .*, 0 failed\n/);
  const outcomes = /sidecar {3}(.*)/.exec(screen.text)![1]!.split(", ");
  const answered = outcomes.reduce((sum, outcome) => sum + Number(outcome.split(" ")[1]), 0);
  assertEquals(answered, 200, "each caller has one outcome");
  assertStringIncludes(screen.text, "1. 200 callers at once with one question");
  for (const line of screen.text.split("\n")) assert(line.length <= 80, line);
  assertEquals(screen.text.includes("\x1b"), false);
});

Deno.test("runDemo sends as many questions as it is told, in colour where that is wanted", async () => {
  const { code, screen } = await demo({ callers: 30, keys: 5, delayMs: 10 }, { colour: true });
  assertEquals(code, 0);
  assertStringIncludes(screen.text, "\x1b[1m1. 30 callers at once with 5 questions");
  const plain = stripVTControlCharacters(screen.text);
  const [burst] = counted(plain);
  assert(burst! >= 5 && burst! <= 10, `${burst} calls for 5 questions`);
});

Deno.test("runDemo exits with 1 when calls fail, and says what they were told", async () => {
  const { code, screen } = await demo({ callers: 5 }, { method: "/hello.v1.Hello/GetNothing" });
  assertEquals(code, 1);
  assertStringIncludes(screen.text, "0 answered in");
  assertStringIncludes(screen.text, "5 failed");
  assertMatch(screen.text, /does not implement/);
});
