/**
 * What the program may do; `deno task start` has the same.
 *
 * - net: its listeners and its backend;
 * - env: the variables of the configuration. All of them, since a name that begins with COLLAPSER_ and is none of ours is
 *   warned of, and Deno lists variables only to those who may read every one;
 * - read: the certificates that the configuration names;
 * - write: the folders where a `unix:` socket may stand, for Deno counts its making, and joining it, as writing.
 *
 * No processes, no system information, no foreign functions, no code from elsewhere; and never a question at the terminal.
 */
export const PERMISSIONS: readonly string[] = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write=/run,/var/run,/tmp",
  "--no-prompt",
];

/**
 * How V8 is told to keep its heap small; `deno task start` has the same. Requests and replies live just long enough to be
 * promoted, and V8 would let the old space grow to four times what is alive before it collects. With a young generation of
 * 8 MiB and growth of 100 % the process stays at two thirds of the memory, for as much CPU a call within noise
 * (docs/operating.md has the figures).
 */
export const V8_FLAGS = "--v8-flags=--max-semi-space-size=8,--heap-growing-percent=100";

/**
 * What is baked into the binary. No code cache: a pod starts the program once, and writing the cache takes half a second and
 * 30 MiB that the process never gives back.
 */
export const BINARY_FLAGS: readonly string[] = [V8_FLAGS, "--no-code-cache", ...PERMISSIONS];
