/** The process environment, as the rest of the room is handed it. */
export interface Environment {
  readonly get: (name: string) => string | undefined;
  /** Every name; none where only some variables may be read. */
  readonly names: readonly string[];
}

/** The only place that touches the environment. */
export function readEnvironment(): Environment {
  // Listing needs the permission for all names; reading one needs it for that one alone.
  const { state } = Deno.permissions.querySync({ name: "env" });
  return {
    get: (name) => Deno.env.get(name),
    names: state === "granted" ? Object.keys(Deno.env.toObject()) : [],
  };
}
