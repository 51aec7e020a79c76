import { askHttp, type HttpAnswer } from "../http/mod.ts";

/** How often a sidecar that drains is asked whether it has. */
const ASK_EVERY_MS = 100;

/** Longest for one answer: a busy sidecar has a backlog of calls, not of admin requests. */
const ANSWER_MS = 5_000;

/** Which sidecar is told. */
export interface DrainTarget {
  /** The root of its page's listener, such as http://127.0.0.1:2113. */
  readonly url: string;
  /** Needed where others reach that listener too. */
  readonly token: string | undefined;
}

/** What came of it. */
export interface DrainOutcome {
  readonly drained: boolean;
  /** What the sidecar said, or why it could not be asked. */
  readonly detail: string;
}

/**
 * Tells a sidecar to drain, and resolves when it has, has ended altogether, or `timeoutMs` is over. Never rejects.
 *
 * By its admin listener: a signal would need the right to send signals, which the serving process must not have (Deno
 * gives it with that to start programs), a way to know its process id (PID 1 but for pods that share a namespace), and
 * a second way to learn when it is done.
 */
export async function tellToDrain(
  { url, token }: DrainTarget,
  { timeoutMs }: { timeoutMs: number },
): Promise<DrainOutcome> {
  const endMs = performance.now() + timeoutMs;
  const page = new URL("/api/drain", url);
  const limitMs = () => Math.max(1, Math.min(ANSWER_MS, endMs - performance.now()));
  try {
    const headers: Record<string, string> = {};
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    const told = await askHttp(page, { method: "POST", headers, timeoutMs: limitMs() });
    if (told.status !== 202) return { drained: false, detail: refusal(told) };
  } catch (error) {
    return { drained: false, detail: error instanceof Error ? error.message : String(error) };
  }
  while (true) {
    try {
      const { text } = await askHttp(page, { timeoutMs: limitMs() });
      if (JSON.parse(text).state === "drained") return { drained: true, detail: "drained" };
    } catch (error) {
      // It has heard us, so it has not gone before it had drained.
      if (error instanceof Deno.errors.ConnectionRefused) {
        return { drained: true, detail: "drained and ended" };
      }
      if (performance.now() >= endMs) break;
    }
    if (performance.now() >= endMs) break;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  return { drained: false, detail: `not drained within ${timeoutMs} ms` };
}

function refusal({ status, text }: HttpAnswer): string {
  if (status === 404) {
    return "it takes this from its own machine alone, and others reach its page: " +
      "set ADMIN_HOST=127.0.0.1, or ADMIN_TOKEN";
  }
  const [said = ""] = text.trim().split("\n");
  return `HTTP ${status}: ${said.slice(0, 200)}`;
}
