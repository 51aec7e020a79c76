import config from "../../deno.json" with { type: "json" };

/** The version of collapser, as `deno.json` has it. */
export const VERSION: string = config.version;
