import { assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  type Screen,
  styled,
  terminalScreen,
  withProgress,
} from "../../../lib/measure/report/screen.ts";
import { RecordedScreen } from "../recorded_screen.ts";

Deno.test("withProgress shows a line once a second while it lasts, and takes it away", async () => {
  using time = new FakeTime();
  const shown: string[] = [];
  const screen: Screen = Object.assign(new RecordedScreen(), {
    progress: (line: string) => void shown.push(line),
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  let seconds = 0;
  const work = withProgress(screen, () => `${++seconds} s`, promise);
  time.tick(999);
  assertEquals(shown, []);
  time.tick(1_501);
  assertEquals(shown, ["1 s", "2 s"]);
  resolve(7);
  assertEquals(await work, 7);
  time.tick(5_000);
  assertEquals(shown, ["1 s", "2 s", ""]);
});

Deno.test("withProgress shows nothing where nobody would see it", async () => {
  const work = withProgress(new RecordedScreen(), () => "never", Promise.resolve(3));
  assertEquals(await work, 3);
});

Deno.test("styled colours where that is wanted", () => {
  assertEquals(styled(new RecordedScreen(), "bold", "text"), "text");
  const coloured = styled(new RecordedScreen({ colour: true }), "bold", "text");
  assertEquals(coloured.length > 4, true);
  assertStringIncludes(coloured, "text");
});

Deno.test("terminalScreen has progress and colour on a terminal alone", () => {
  const screen = terminalScreen();
  assertEquals(screen.progress !== undefined, Deno.stderr.isTerminal());
  assertEquals(screen.colour, Deno.stdout.isTerminal() && !Deno.noColor);
});
