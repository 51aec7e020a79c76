/**
 * What the program may do, baked into the binary; `deno task start` has the same.
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
