import {
  type CertificateFile,
  type CertificateFiles,
  type Certificates,
  type FileText,
  judgeCertificates,
  whyUnreadable,
} from "./certificates.ts";
import { CallbackAlarm, type Timers } from "./timers.ts";

/** How often the files are looked at. What is looked at is their content: times of files are too coarse to tell. */
const LOOK_EVERY_MS = 2_000;

/** What is told about a change. */
export interface CertificateNews {
  /** New connections use what the files hold now. */
  renewed(): void;
  /** The files hold something else that cannot be used: what was good goes on. Told once for each such content. */
  refused(problems: readonly string[]): void;
}

/** Certificates that follow their files: whoever rotates them need not restart anything. */
export class CertificateWatch {
  #files: CertificateFiles;
  #current: Certificates;
  /** What the files held when they were looked at last, good or bad. */
  #seen: string;
  #timers: Timers;
  #news: CertificateNews;
  #alarm = new CallbackAlarm(() => this.#look());
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  /** `first` is what was read of the files at the start. */
  constructor(
    files: CertificateFiles,
    first: Certificates,
    { timers, news }: { timers: Timers; news: CertificateNews },
  ) {
    this.#files = files;
    this.#current = first;
    this.#seen = JSON.stringify(asRead(first));
    this.#timers = timers;
    this.#news = news;
    this.#setAlarm();
  }

  /** What new connections are to use. */
  get current(): Certificates {
    return this.#current;
  }

  /** Looks no more; resolves when no file is being read any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timers.cancel(this.#alarm);
    await this.#looking;
  }

  #setAlarm(): void {
    this.#timers.set(this.#alarm, this.#timers.refresh() + LOOK_EVERY_MS);
  }

  #look(): void {
    this.#looking = this.#readAll().finally(() => {
      if (!this.#stopped) this.#setAlarm();
    });
  }

  async #readAll(): Promise<void> {
    const { cert, key, ca } = this.#files;
    const texts = { cert: await read(cert), key: await read(key), ca: await read(ca) };
    const seen = JSON.stringify(texts);
    if (this.#stopped || seen === this.#seen) return;
    this.#seen = seen;
    const reading = judgeCertificates(this.#files, texts);
    if ("problems" in reading) return this.#news.refused(reading.problems);
    this.#current = reading.certificates;
    this.#news.renewed();
  }
}

async function read(file: CertificateFile | undefined): Promise<FileText | undefined> {
  if (file === undefined) return undefined;
  try {
    return { text: await Deno.readTextFile(file.path) };
  } catch (error) {
    return { why: whyUnreadable(error) };
  }
}

function asRead({ cert, key, ca }: Certificates): Record<string, FileText | undefined> {
  const textOf = (text: string | undefined) => text === undefined ? undefined : { text };
  return { cert: textOf(cert), key: textOf(key), ca: textOf(ca) };
}
