import config from "../../deno.json" with { type: "json" };

/** The version of collapser, as `deno.json` has it. */
export const VERSION: string = config.version;

/** What build/bundle.ts replaces by the commit, in the file that it makes. */
const STAMP = "@collapser-commit@";

/** The commit that the program was built from; "source" where it was not built. */
export const COMMIT: string = STAMP.startsWith("@") ? "source" : STAMP;
