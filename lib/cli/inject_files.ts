import type { Injection } from "../inject/mod.ts";
import { BAD_USAGE, FAILED, GOOD } from "./exit_codes.ts";

/** What stands for standard input among paths. */
const STANDARD_INPUT = "-";

/**
 * Reads files one after another as one stream, hands it on, and writes what comes of it to standard output and what is
 * to be said to standard error. Returns the exit code; with one other than 0 nothing was written.
 */
export async function injectFiles(
  files: readonly string[],
  inject: (text: string) => Injection,
): Promise<number> {
  const texts: string[] = [];
  for (const file of files) {
    try {
      texts.push(await textOf(file));
    } catch (error) {
      console.error(`Cannot read "${file}": ${error instanceof Error ? error.message : error}`);
      return FAILED;
    }
  }
  const done = inject(texts.map(endingInLine).join("---\n"));
  if ("problems" in done) {
    console.error(done.problems.join("\n"));
    return BAD_USAGE;
  }
  if (done.notes.length > 0) console.error(done.notes.join("\n"));
  await writeAll(new TextEncoder().encode(done.text));
  return GOOD;
}

async function textOf(file: string): Promise<string> {
  if (file !== STANDARD_INPUT) return await Deno.readTextFile(file);
  return await new Response(Deno.stdin.readable).text();
}

/** Only what another text follows must end in a line feed; one text stays what it is. */
function endingInLine(text: string, index: number, all: readonly string[]): string {
  return index === all.length - 1 || text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

async function writeAll(bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    from += await Deno.stdout.write(bytes.subarray(from));
  }
}
