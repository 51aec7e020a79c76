import { CallbackAlarm, type Timers } from "./timers.ts";

/** What a file holds, or why it cannot be read. */
export type FileText = { readonly text: string } | { readonly why: string };

/**
 * Longest file that is read, in bytes: a policy file of ten thousand entries, or four times the certificates that
 * browsers trust.
 */
export const MAX_FILE_BYTES = 2 ** 20;

/** A pipe would be waited for, and a folder cannot be read. */
const NO_FILE: FileText = { why: "it is no regular file" };

/** Follows what files hold: whoever changes them, in place or by another file of the same name, need not restart anything. */
export class FileWatch {
  #paths: readonly string[];
  /** What the files held when they were looked at last. */
  #seen: string;
  #timers: Timers;
  #everyMs: number;
  #onChange: (texts: readonly FileText[]) => void;
  #alarm = new CallbackAlarm(() => this.#look());
  #looking: Promise<void> = Promise.resolve();
  #isLooking = false;
  #again = false;
  #stopped = false;

  /**
   * `first` is what was read of the files at the start, in their order. What is looked at is their content: times of
   * files are too coarse to tell.
   */
  constructor(
    paths: readonly string[],
    first: readonly FileText[],
    options: {
      timers: Timers;
      everyMs: number;
      /** The files hold something else than when they were looked at last. */
      onChange: (texts: readonly FileText[]) => void;
    },
  ) {
    this.#paths = paths;
    this.#seen = JSON.stringify(first);
    this.#timers = options.timers;
    this.#everyMs = options.everyMs;
    this.#onChange = options.onChange;
    this.#setAlarm();
  }

  /** Ends the watch; resolves when no file is being read any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timers.cancel(this.#alarm);
    await this.#looking;
  }

  /** Looks at the files at once, whenever they are due. */
  lookNow(): void {
    if (this.#stopped) return;
    this.#timers.cancel(this.#alarm);
    if (this.#isLooking) this.#again = true; // what is being read may be older than the question
    else this.#look();
  }

  #setAlarm(): void {
    this.#timers.set(this.#alarm, this.#timers.refresh() + this.#everyMs);
  }

  #look(): void {
    this.#isLooking = true;
    this.#again = false;
    this.#looking = this.#readAll().finally(() => {
      this.#isLooking = false;
      if (this.#stopped) return;
      if (this.#again) this.#look();
      else this.#setAlarm();
    });
  }

  async #readAll(): Promise<void> {
    const texts = await Promise.all(this.#paths.map(read));
    const seen = JSON.stringify(texts);
    if (this.#stopped || seen === this.#seen) return;
    this.#seen = seen;
    this.#onChange(texts);
  }
}

/** Reads a file at the start, when there is nothing to wait for. */
export function readFileText(path: string): FileText {
  try {
    if (!Deno.statSync(path).isFile) return NO_FILE;
    using file = Deno.openSync(path);
    const buffer = bufferFor(file.statSync());
    let length = 0;
    for (let n: number | null = 0; n !== null && length < buffer.length; length += n ?? 0) {
      n = file.readSync(buffer.subarray(length));
    }
    return textOf(buffer.subarray(0, length));
  } catch (error) {
    return { why: whyUnreadable(error) };
  }
}

async function read(path: string): Promise<FileText> {
  try {
    if (!(await Deno.stat(path)).isFile) return NO_FILE;
    using file = await Deno.open(path);
    const buffer = bufferFor(await file.stat());
    let length = 0;
    for (let n: number | null = 0; n !== null && length < buffer.length; length += n ?? 0) {
      n = await file.read(buffer.subarray(length));
    }
    return textOf(buffer.subarray(0, length));
  } catch (error) {
    return { why: whyUnreadable(error) };
  }
}

/** A byte more than the file had when it was opened: what comes after that is of the next look. */
function bufferFor({ size }: Deno.FileInfo): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Math.min(size, MAX_FILE_BYTES) + 1);
}

/** What a file holds, a byte order mark aside (RFC 8259 §8.1). */
function textOf(bytes: Uint8Array): FileText {
  if (bytes.length > MAX_FILE_BYTES) return { why: `it has more than ${MAX_FILE_BYTES} bytes` };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { why: "it is not UTF-8" };
  }
}

/** The text of an error that reading throws, for people. */
function whyUnreadable(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such file";
  if (error instanceof Deno.errors.PermissionDenied) return "it may not be read";
  return error instanceof Error ? error.message : String(error);
}
