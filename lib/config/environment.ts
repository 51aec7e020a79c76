/** The process environment, as the rest of the room is handed it. */
export interface Environment {
  /** Value of a variable; undefined when it is not set. */
  readonly get: (name: string) => string | undefined;
  /** Name of every variable; none where only some may be read. */
  readonly names: readonly string[];
}

/** Reads the environment; the only place that touches it. */
export function readEnvironment(): Environment {
  // Listing needs the permission for all names; reading one needs it for that one alone.
  const { state } = Deno.permissions.querySync({ name: "env" });
  return {
    get: (name) => Deno.env.get(name),
    names: state === "granted" ? Object.keys(Deno.env.toObject()) : [],
  };
}
