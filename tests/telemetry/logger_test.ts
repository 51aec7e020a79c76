import { assertEquals, assertGreater, assertMatch, assertStringIncludes } from "@std/assert";
import { createLogger, type LoggerOptions } from "../../lib/telemetry/mod.ts";
import { MAX_TEXT_CHARS } from "../../lib/telemetry/line_format.ts";
import { MAX_QUEUED_CHARS } from "../../lib/telemetry/line_queue.ts";
import { runChild } from "./child.ts";

const NOON = new Date("2026-01-02T12:00:00.345Z");

/** Everything a caller might try in a value, and what a line or a terminal might make of it. */
const HOSTILE = 'x\n{"level":"error"}\r\x1b[31m\x07\x7f\x9b2J\u2028\u202e"\\ y=1\u200b\ud800';

function recorded(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    level: "info",
    format: "json",
    now: () => NOON,
    write: (line) => void lines.push(line),
    ...options,
  });
  return { lines, logger };
}

/** A writer that is stuck until told otherwise. */
function stalled() {
  const lines: string[] = [];
  let { promise, resolve } = Promise.withResolvers<void>();
  return {
    lines,
    async write(line: string): Promise<void> {
      await promise;
      lines.push(line);
    },
    release: () => resolve(),
    stallAgain: () => ({ promise, resolve } = Promise.withResolvers<void>()),
  };
}

Deno.test("createLogger writes one JSON object a line, time, level and message first", () => {
  const { lines, logger } = recorded();
  logger.info("Listening", { port: 50_052, host: "::", tls: false, proxy: null, left: undefined });
  logger.error("Plain");
  assertEquals(lines, [
    '{"time":"2026-01-02T12:00:00.345Z","level":"info","msg":"Listening",' +
    '"port":50052,"host":"::","tls":false,"proxy":null}',
    '{"time":"2026-01-02T12:00:00.345Z","level":"error","msg":"Plain"}',
  ]);
});

Deno.test("createLogger writes the console format for people", () => {
  const { lines, logger } = recorded({ format: "console", colour: false });
  logger.info("Listening", { port: 50_052, host: "[::]:1", why: "two words", empty: "" });
  logger.warn('Cannot parse X "fast"', { tls: false, proxy: null, left: undefined });
  assertEquals(lines, [
    '2026-01-02T12:00:00.345Z info  Listening port=50052 host=[::]:1 why="two words" empty=""',
    '2026-01-02T12:00:00.345Z warn  Cannot parse X "fast" tls=false proxy=null',
  ]);
});

Deno.test("createLogger colours the frame of a console line and no value", () => {
  const { lines, logger } = recorded({ format: "console", colour: true });
  logger.error("Failed", { why: "x" });
  assertEquals(lines, [
    "\x1b[2m2026-01-02T12:00:00.345Z\x1b[0m \x1b[31merror\x1b[0m Failed \x1b[2mwhy=\x1b[0mx",
  ]);
});

Deno.test("createLogger never colours JSON", () => {
  const { lines, logger } = recorded({ colour: true });
  logger.error("Failed");
  assertEquals(lines[0]?.includes("\x1b"), false);
});

Deno.test("createLogger leaves lines below its level out", () => {
  const levels = ["debug", "info", "warn", "error"] as const;
  for (const [index, level] of levels.entries()) {
    const { lines, logger } = recorded({ level });
    for (const own of levels) logger[own](own);
    assertEquals(lines.map((line) => JSON.parse(line).msg), levels.slice(index));
  }
});

Deno.test("createLogger keeps a hostile value inside its JSON string", () => {
  const { lines, logger } = recorded();
  logger.info(HOSTILE, { value: HOSTILE });
  assertEquals(lines.length, 1);
  assertMatch(lines[0]!, /^[\x20-\x7e]*$/);
  const { msg, value, level } = JSON.parse(lines[0]!);
  assertEquals([msg, value, level], [HOSTILE, HOSTILE, "info"]);
});

Deno.test("createLogger keeps a hostile value inside its quotes in the console format", () => {
  const { lines, logger } = recorded({ format: "console", colour: false });
  logger.info("Said", { value: HOSTILE, forged: "a b=c", bare: "a=b" });
  assertEquals(lines, [
    "2026-01-02T12:00:00.345Z info  Said " +
    String
      .raw`value="x\n{\"level\":\"error\"}\r\u001b[31m\u0007\u007f\u009b2J\u2028\u202e\"\\ y=1\u200b\ud800"` +
    ' forged="a b=c" bare="a=b"',
  ]);
});

Deno.test("createLogger keeps a hostile message on one line of printable text", () => {
  const { lines, logger } = recorded({ format: "console", colour: false });
  logger.info(HOSTILE);
  assertMatch(lines[0]!, /^[\x20-\x7e]*$/);
});

Deno.test("createLogger leaves letters of any language as they are", () => {
  for (const format of ["json", "console"] as const) {
    const { lines, logger } = recorded({ format, colour: false });
    logger.info("Grüße 世界 🎉", { name: "naïve 🎉" });
    assertStringIncludes(lines[0]!, "Grüße 世界 🎉");
    assertStringIncludes(lines[0]!, '"naïve 🎉"');
  }
});

Deno.test("createLogger cuts text that is too long and says how long it was", () => {
  for (const format of ["json", "console"] as const) {
    const { lines, logger } = recorded({ format, colour: false });
    logger.info("Long", {
      value: "v".repeat(MAX_TEXT_CHARS + 1),
      whole: "w".repeat(MAX_TEXT_CHARS),
    });
    const cut = `"${"v".repeat(MAX_TEXT_CHARS)}… (${MAX_TEXT_CHARS + 1} characters)"`;
    assertStringIncludes(lines[0]!, cut);
    assertStringIncludes(lines[0]!, "w".repeat(MAX_TEXT_CHARS));
  }
});

Deno.test("createLogger writes numbers that JSON does not have as text", () => {
  const { lines, logger } = recorded();
  logger.info("Odd", { a: Infinity, b: NaN });
  assertStringIncludes(lines[0]!, '"a":"Infinity","b":"NaN"');
});

Deno.test("createLogger waits for one line before it writes the next, in order", async () => {
  const writer = stalled();
  const { logger } = recorded({ write: writer.write });
  for (const message of ["a", "b", "c"]) logger.info(message);
  assertEquals(writer.lines, []);
  writer.release();
  await logger.flush();
  assertEquals(writer.lines.map((line) => JSON.parse(line).msg), ["a", "b", "c"]);
});

Deno.test("createLogger drops what a stalled reader leaves no room for, and says how much in its place", async () => {
  const writer = stalled();
  const { logger } = recorded({ write: writer.write });
  const padding = "p".repeat(MAX_TEXT_CHARS);
  for (let i = 0; i < 1_000; i++) logger.info("Flood", { i, padding });
  writer.release();
  await logger.flush();
  const kept = writer.lines.slice(0, -1).map((line) => JSON.parse(line));
  assertEquals(kept.map(({ i }) => i), kept.map((_, i) => i));
  assertGreater(kept.length, 200);
  const chars = writer.lines.slice(0, -1).reduce((sum, line) => sum + line.length, 0);
  assertEquals(chars <= MAX_QUEUED_CHARS && chars > MAX_QUEUED_CHARS - 5_000, true, `${chars}`);
  assertEquals(JSON.parse(writer.lines.at(-1)!), {
    time: NOON.toISOString(),
    level: "warn",
    msg: "Log lines were dropped: they were not read fast enough",
    dropped: 1_000 - kept.length,
  });

  writer.stallAgain();
  logger.info("After");
  writer.release();
  await logger.flush();
  assertEquals(writer.lines.slice(kept.length + 1).map((line) => JSON.parse(line).msg), ["After"]);
});

Deno.test("createLogger reports a gap before the line that follows it", async () => {
  const writer = stalled();
  const { logger } = recorded({ level: "error", write: writer.write });
  for (let i = 0; i < 300; i++) logger.error("Flood", { padding: "p".repeat(MAX_TEXT_CHARS) });
  logger.error("Fits"); // short enough for what is left
  logger.error("Fits too");
  writer.release();
  await logger.flush();
  const last = writer.lines.slice(-3).map((line) => JSON.parse(line).msg);
  assertEquals(last, [
    "Log lines were dropped: they were not read fast enough",
    "Fits",
    "Fits too",
  ]);
});

Deno.test("createLogger outlives a writer that fails, and tells what was lost when it works again", async () => {
  const lines: string[] = [];
  let broken = true;
  for (
    const fail of [() => Promise.reject(new Error("EPIPE")), () => {
      throw new Error("EPIPE");
    }]
  ) {
    lines.length = 0;
    broken = true;
    const { logger } = recorded({ write: (line) => broken ? fail() : void lines.push(line) });
    for (let i = 0; i < 3; i++) {
      logger.info("Lost");
      await logger.flush();
    }
    broken = false;
    logger.info("Kept");
    await logger.flush();
    assertEquals(lines.map((line) => JSON.parse(line)).map(({ msg, dropped }) => dropped ?? msg), [
      3,
      "Kept",
    ]);
  }
});

Deno.test("createLogger takes lines that its own writer logs", () => {
  const lines: string[] = [];
  const { logger } = recorded({
    write(line) {
      lines.push(JSON.parse(line).msg);
      if (lines.length < 3) logger.info(`nested ${lines.length}`);
    },
  });
  logger.info("outer");
  assertEquals(lines, ["outer", "nested 1", "nested 2"]);
});

Deno.test("Logger.flush resolves at once when nothing waits, and gives up on a reader that does not read", async () => {
  const writer = stalled();
  const { logger } = recorded({ write: writer.write });
  await logger.flush();
  logger.info("Stuck");
  await logger.flush({ timeoutMs: 1 });
  assertEquals(writer.lines, []);
  writer.release();
  await logger.flush();
  assertEquals(writer.lines.length, 1);
});

Deno.test("createLogger counts only what waits, however much was written before", async () => {
  let lines = 0;
  const { logger } = recorded({ write: () => Promise.resolve().then(() => void lines++) });
  for (let i = 1; i <= 600; i++) {
    logger.info("Line", { padding: "p".repeat(MAX_TEXT_CHARS) });
    if (i % 100 === 0) await logger.flush();
  }
  assertEquals(lines, 600);
});

Deno.test("createLogger writes to standard error, all of it before flush resolves", async () => {
  await using child = await runLogger(`
    for (let i = 0; i < 200; i++) logger.info("Line", { i, padding: "é".repeat(2_000) });
    await logger.flush();
    Deno.exit();
  `);
  const { code, stdout, stderr } = await child.process.output();
  const lines = new TextDecoder().decode(stderr).split("\n");
  assertEquals([code, stdout.length, lines.length, lines[200]], [0, 0, 201, ""]);
  assertMatch(lines[199]!, /Z info {2}Line i=199 padding="é{2000}"$/);
});

Deno.test("createLogger keeps the event loop going while nobody reads standard error", async () => {
  await using child = await runLogger(`
    for (let i = 0; i < 500; i++) logger.info("Line", { i, padding: "x".repeat(2_000) });
    await new Promise((resume) => setTimeout(resume, 20));
    await logger.flush({ timeoutMs: 20 });
    await Deno.stdout.write(new TextEncoder().encode("alive"));
    Deno.exit();
  `);
  assertEquals(await new Response(child.process.stdout).text(), "alive");
  assertEquals((await child.process.status).code, 0);
  await child.process.stderr.cancel();
});

/** A process of its own, whose `logger` writes where a logger does. */
function runLogger(script: string) {
  const door = JSON.stringify(import.meta.resolve("../../lib/telemetry/mod.ts"));
  return runChild(`
    import { createLogger } from ${door};
    const logger = createLogger({ level: "info", format: "console" });
    ${script}
  `);
}
