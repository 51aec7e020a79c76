import { assert } from "@std/assert";
import { compileEligibility } from "../../lib/collapse/mod.ts";

/** Of the methods that `auto` takes, so many are reads whose answers may be shared. */
const LEAST_PRECISION = 0.997;

/** Of the reads whose answers may be shared, `auto` takes so many. */
const LEAST_RECALL = 0.86;

const LEVELS = { N: "no_side_effects", I: "idempotent", "-": undefined } as const;

Deno.test("auto takes public methods that only read, nearly all of them, and hardly any other", async () => {
  const text = await Deno.readTextFile(new URL("public_methods.txt", import.meta.url));
  const judge = compileEligibility(["auto"]);
  const taken: string[] = [];
  const count = { read: 0, takenRead: 0 };
  let service = "";
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    if (line.startsWith("/")) {
      service = line.slice(1);
      continue;
    }
    const [flags = "", method = ""] = line.split(" ");
    const level = LEVELS[flags[2] as keyof typeof LEVELS];
    const { eligible } = judge(service, method, { level, streams: flags[1] === "s" });
    const isRead = flags[0] === "r";
    if (isRead) count.read++;
    if (isRead && eligible) count.takenRead++;
    if (flags[0] === "n" && eligible) taken.push(`/${service}/${method}`);
  }
  const precision = count.takenRead / (count.takenRead + taken.length);
  const recall = count.takenRead / count.read;
  assert(count.read > 4_000, `${count.read} reads`); // else the file is not what it was
  assert(precision >= LEAST_PRECISION, `precision ${precision}: ${taken.join(" ")}`);
  assert(recall >= LEAST_RECALL, `recall ${recall}`);
});
