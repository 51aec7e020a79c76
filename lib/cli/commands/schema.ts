import { policySchema } from "../../config/mod.ts";
import { defineCommand } from "../define_command.ts";
import { GOOD } from "../exit_codes.ts";

export const SCHEMA = defineCommand({
  name: "schema",
  summary: "the JSON Schema of the policy file",
  about:
    "Prints the JSON Schema (2020-12) of the policy file that COLLAPSER_CONFIG names. An editor " +
    'that knows it, by "$schema" in the file say, completes keys and marks what serve would ' +
    "refuse. What a schema cannot say, such as a name that stands twice, check does.",
  examples: ["collapser schema > policy.schema.json"],
  flags: {},
  run(_, world) {
    world.print(JSON.stringify(policySchema(), undefined, 2));
    return Promise.resolve(GOOD);
  },
});
