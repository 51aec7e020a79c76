import { respond, respondText } from "./responses.ts";

/** Pages open at once: more than people who look at one sidecar, few enough that nobody can make it work for them. */
const MAX_LISTENERS = 16;

/** Snapshots that a listener may leave unread, none of which is kept for it, before it is let go. */
const MAX_MISSED = 10;

/** When a page asks again after its connection was lost. */
const RETRY_MS = 2_000;

/** When a page may ask again that was refused because of too many. */
const FULL_RETRY_S = 5;

interface Listener {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  missed: number;
}

const encoder = new TextEncoder();

/**
 * Server-sent events (HTML §9.2): the same bytes for all who listen. Nobody is waited for: who has not read the last
 * snapshot is not given the next one, and in the end is let go, so that nothing piles up here.
 */
export class Events {
  readonly #listeners = new Set<Listener>();

  get listeners(): number {
    return this.#listeners.size;
  }

  /** A stream that begins with the snapshot `first`; 503 when too many listen. */
  listen(first: string): Response {
    if (this.#listeners.size >= MAX_LISTENERS) {
      const headers = { "retry-after": String(FULL_RETRY_S) };
      return respondText("Too many pages are open\n", { status: 503, headers });
    }
    const listeners = this.#listeners;
    let listener: Listener;
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        listener = { controller, missed: 0 };
        listeners.add(listener);
        controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n${eventOf(first)}`));
      },
      cancel() {
        listeners.delete(listener);
      },
    });
    return respond(stream, "text/event-stream");
  }

  /** Tells a snapshot to all who listen. */
  send(snapshot: string): void {
    const bytes = encoder.encode(eventOf(snapshot));
    for (const listener of this.#listeners) {
      const { controller } = listener;
      if ((controller.desiredSize ?? 0) > 0) {
        listener.missed = 0;
        controller.enqueue(bytes);
      } else if (++listener.missed >= MAX_MISSED) {
        this.#listeners.delete(listener);
        controller.close(); // an error would be printed, and by nobody's leave
      }
    }
  }

  /** Ends every stream. */
  close(): void {
    for (const { controller } of this.#listeners) controller.close();
    this.#listeners.clear();
  }
}

/** JSON has no line feeds of its own, so a snapshot is one line of data. */
function eventOf(snapshot: string): string {
  return `event: snapshot\ndata: ${snapshot}\n\n`;
}
