import { type CertificateFiles, type Certificates, judgeCertificates } from "./certificates.ts";
import { type FileText, FileWatch } from "./file_watch.ts";
import type { Timers } from "./timers.ts";

/** How often the files are looked at. */
const LOOK_EVERY_MS = 2_000;

const PARTS = ["cert", "key", "ca"] as const;

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
  #news: CertificateNews;
  #watch: FileWatch;

  /** `first` is what was read of the files at the start. */
  constructor(
    files: CertificateFiles,
    first: Certificates,
    { timers, news }: { timers: Timers; news: CertificateNews },
  ) {
    this.#files = files;
    this.#current = first;
    this.#news = news;
    const parts = PARTS.filter((part) => files[part] !== undefined);
    this.#watch = new FileWatch(
      parts.map((part) => files[part]!.path),
      parts.map((part) => ({ text: first[part] ?? "" })),
      {
        timers,
        everyMs: LOOK_EVERY_MS,
        onChange: (read) => this.#take(new Map(parts.map((part, i) => [part, read[i]!]))),
      },
    );
  }

  /** What new connections are to use. */
  get current(): Certificates {
    return this.#current;
  }

  /** Ends the watch; resolves when no file is being read any more. */
  stop(): Promise<void> {
    return this.#watch.stop();
  }

  #take(read: ReadonlyMap<keyof CertificateFiles, FileText>): void {
    const texts = { cert: read.get("cert"), key: read.get("key"), ca: read.get("ca") };
    const reading = judgeCertificates(this.#files, texts);
    if ("problems" in reading) return this.#news.refused(reading.problems);
    this.#current = reading.certificates;
    this.#news.renewed();
  }
}
