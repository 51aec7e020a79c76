/**
 * Whether memory is flat.
 *
 * Each sample is taken while nothing is under way and after garbage collection, so that it shows what is kept and not
 * what happens to lie about. Until a third of the run is over a heap finds its size and tables fill up to their bounds;
 * over the rest a straight line is laid through the samples (least squares).
 *
 * The bounds. The heap may rise by 128 KiB a minute: at 180 calls a second (the busiest sidecar) that is 12 bytes a
 * call, less than any object takes, so that what leaks by the call or by the connection is caught, and what the engine
 * does with its code is not. Resident memory is judged without what the engine has taken for the heap, which grows in
 * steps of some 45 MiB when a busy machine lets work pile up, and says nothing about what is kept. The rest is still
 * coarser: buffers come in pools, and the allocator keeps for good what one backlog took (TLS, with the same heap and
 * buffers, was seen to end 5 MiB higher or 30). It may rise by 4 MiB a minute, which is 388 bytes a call, two of the
 * smallest buffers that a call has. A rise that is small over the whole span is taken for noise, however steep.
 *
 * @module
 */

export interface MemorySample {
  /** Since the traffic began. */
  readonly atMs: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** What the engine has taken for the heap: it takes more at one go when a busy machine lets work pile up. */
  readonly committedBytes: number;
  /** Buffers outside the heap; not judged by themselves, since pools of them are kept. */
  readonly externalBytes: number;
}

const MIB = 2 ** 20;
const MAX_HEAP_BYTES_PER_MINUTE = 128 * 1_024;
const MAX_RESIDENT_BYTES_PER_MINUTE = 4 * MIB;

/** Rises of the whole line that are taken for noise: what a compiler does once, and what samples of one process differ by. */
const HEAP_NOISE_BYTES = MIB;
const RESIDENT_NOISE_BYTES = 24 * MIB;

/** A shorter run shows the heap finding its size and nothing else. */
export const SHORTEST_JUDGED_MINUTES = 5;

/** Share of the run that is not judged. */
const SETTLING_SHARE = 1 / 3;

const MS_PER_MINUTE = 60_000;

/** How memory went over the last two thirds. */
export interface MemoryVerdict {
  readonly heapBytesPerMinute: number;
  readonly residentBytesPerMinute: number;
  /** What is wrong; empty when it is flat. */
  readonly faults: readonly string[];
}

export function judgeMemory(samples: readonly MemorySample[]): MemoryVerdict {
  const lastMs = samples.at(-1)?.atMs ?? 0;
  const settled = samples.filter(({ atMs }) => atMs >= lastMs * SETTLING_SHARE);
  const spanMinutes = (lastMs - (settled[0]?.atMs ?? 0)) / MS_PER_MINUTE;
  const heap = slope(settled.map(({ atMs, heapBytes }) => [atMs / MS_PER_MINUTE, heapBytes]));
  const resident = slope(
    settled.map((sample) => [sample.atMs / MS_PER_MINUTE, outsideHeap(sample)]),
  );
  const faults: string[] = [];
  if (heap > MAX_HEAP_BYTES_PER_MINUTE && heap * spanMinutes > HEAP_NOISE_BYTES) {
    faults.push(`the heap rises by ${inKib(heap)} a minute`);
  }
  if (resident > MAX_RESIDENT_BYTES_PER_MINUTE && resident * spanMinutes > RESIDENT_NOISE_BYTES) {
    faults.push(`resident memory outside the heap rises by ${inKib(resident)} a minute`);
  }
  return { heapBytesPerMinute: heap, residentBytesPerMinute: resident, faults };
}

/** Resident memory that is not the engine's heap. */
export function outsideHeap({ residentBytes, committedBytes }: MemorySample): number {
  return residentBytes - committedBytes;
}

/** That of the line of least squares; 0 for fewer than two points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const count = points.length;
  if (count < 2) return 0;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  let covariance = 0;
  let variance = 0;
  for (const [x, y] of points) {
    covariance += (x - meanX) * (y - meanY);
    variance += (x - meanX) ** 2;
  }
  return variance === 0 ? 0 : covariance / variance;
}

function inKib(bytes: number): string {
  return `${Math.round(bytes / 1_024)} KiB`;
}
