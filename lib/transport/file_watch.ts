import { CallbackAlarm, type Timers } from "./timers.ts";

/** What a file holds, or why it cannot be read. */
export type FileText = { readonly text: string } | { readonly why: string };

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

  #setAlarm(): void {
    this.#timers.set(this.#alarm, this.#timers.refresh() + this.#everyMs);
  }

  #look(): void {
    this.#looking = this.#readAll().finally(() => {
      if (!this.#stopped) this.#setAlarm();
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
    return { text: Deno.readTextFileSync(path) };
  } catch (error) {
    return { why: whyUnreadable(error) };
  }
}

async function read(path: string): Promise<FileText> {
  try {
    return { text: await Deno.readTextFile(path) };
  } catch (error) {
    return { why: whyUnreadable(error) };
  }
}

/** The text of an error that `readTextFile` throws, for people. */
function whyUnreadable(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such file";
  if (error instanceof Deno.errors.PermissionDenied) return "it may not be read";
  return error instanceof Error ? error.message : String(error);
}
